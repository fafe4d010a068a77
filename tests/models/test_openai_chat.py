"""The OpenAI wire, over real HTTP on the loopback."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from agentforge.core.errors import Unusable
from agentforge.core.reply import Action, Json
from agentforge.models.base import (
    REFUSED,
    Answer,
    Block,
    ModelTrouble,
    Request,
    Reservation,
    ToolSpec,
    TroubleKind,
    Usage,
    parse_reply_text,
)
from agentforge.models.openai_chat import OpenAIChat
from agentforge.models.prices import Prices
from agentforge.testing import Fault, OpenAIServer, Scripted, completion

READ = ToolSpec("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
REQUEST = Request(
    "green/1/1/ask/1", "green", "You are a developer.", (Block("task_frame", "sort it"), Block("working_set", "def f(): ...")), (READ,), 500
)
REPLY: dict[str, Json] = {
    "thought": "look first",
    "notes": "f is in a.py",
    "actions": [{"name": "read_file", "args": {"path": "a.py"}}, {"name": "read_file", "args": {"path": "ü.py", "line": 3}}],
    "signal": "failure_retryable",
    "summary": "reading",
}
ACTIONS = (Action("read_file", {"path": "a.py"}), Action("read_file", {"path": "ü.py", "line": 3}))


def ask(script: list[Scripted], prices: Prices | None = None, timeout_s: int = 20) -> tuple[Answer, OpenAIServer]:
    with OpenAIServer(script) as server:
        return OpenAIChat("some-model", server.base_url, "the-key", timeout_s, prices).ask(REQUEST), server


def raw(message: dict[str, Json], finish: str = "stop") -> dict[str, Json]:
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "some-model-2026",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}],
    }


def call(name: str, arguments: str) -> Json:
    return {"id": f"c-{name}", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_one_ask_is_one_request_of_two_messages_with_the_tools_and_a_limit() -> None:
    _, server = ask([REPLY])
    (seen,) = server.requests
    messages = seen.body["messages"]
    assert isinstance(messages, list)
    assert len(messages) == 2
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == "Bearer the-key"
    assert seen.message("system") == "You are a developer."
    assert seen.message("user") == '<block name="task_frame">\nsort it\n</block>\n\n<block name="working_set">\ndef f(): ...\n</block>'
    assert seen.body["max_tokens"] == 500
    assert "parallel_tool_calls" not in seen.body
    tools = seen.body["tools"]
    assert isinstance(tools, list)
    functions = [tool["function"] for tool in tools if isinstance(tool, dict)]
    assert [function["name"] for function in functions if isinstance(function, dict)] == ["read_file", "report"]
    assert functions[0] == {"name": "read_file", "description": "Read a file.", "parameters": dict(READ.schema)}


def test_native_calls_become_the_reply_in_order_and_read_back_from_the_record() -> None:
    answer, _ = ask([REPLY])
    reply = answer.reply
    assert reply is not None
    assert (reply.thought, reply.notes, reply.actions) == ("look first", "f is in a.py", ACTIONS)
    assert (reply.signal, reply.summary, answer.mistake, answer.stop) == ("failure_retryable", "reading", None, "end")
    assert parse_reply_text(answer.text) == (reply, None)


def test_usage_cached_tokens_and_price_are_those_of_the_provider() -> None:
    body = completion(REPLY, {"model": "m"})
    body["usage"] = {
        "prompt_tokens": 1000,
        "completion_tokens": 200,
        "total_tokens": 1200,
        "prompt_tokens_details": {"cached_tokens": 600},
    }
    answer, _ = ask([body], Prices(input=2_500_000, output=10_000_000, cached=1_250_000))
    assert answer.usage == Usage(1000, 200, 600)
    assert answer.micro_usd == 400 * 2.5 + 600 * 1.25 + 200 * 10
    assert ask([body])[0].micro_usd is None


def test_a_server_that_does_not_count_gets_a_rough_count() -> None:
    answer, _ = ask([raw({"content": None, "tool_calls": [call("read_file", '{"path": "a"}')]}, "tool_calls")])
    assert answer.usage.input_tokens > 10 < answer.usage.input_tokens + answer.usage.output_tokens
    assert answer.model == "some-model-2026"


def test_the_worst_case_is_all_input_and_the_longest_output() -> None:
    model = OpenAIChat("m", "http://127.0.0.1:9/v1", None, 1, Prices(2_000_000, 8_000_000, 500_000))
    assert model.worst_case(REQUEST, 1500) == Reservation(2000, 1500 * 2 + 500 * 8)
    assert OpenAIChat("m", "http://127.0.0.1:9/v1", None, 1, None).worst_case(REQUEST, 1500) == Reservation(2000, None)


def test_a_malformed_call_is_a_mistake_and_the_calls_before_it_stay() -> None:
    calls: list[Json] = [
        call("read_file", '{"path": "a.py"}'),
        call("read_file", '{"path": '),
        call("read_file", "{}"),
        call("report", '{"signal": "success"}'),
    ]
    answer, _ = ask([raw({"content": "", "tool_calls": calls}, "tool_calls")])
    assert answer.reply is not None
    assert answer.reply.actions == ACTIONS[:1]
    assert answer.reply.signal is None
    assert answer.mistake is not None
    assert "arguments of call 2 (read_file) are not a JSON object" in answer.mistake
    assert "Not run: read_file, read_file, report" in answer.mistake
    assert json.loads(answer.text)["tool_calls"][1]["arguments"] == '{"path": '


def test_a_cut_off_reply_keeps_its_complete_calls() -> None:
    answer, _ = ask([Fault(reply={"actions": REPLY["actions"]}, cut_off=True)])
    assert answer.stop == "length"
    assert answer.reply is not None
    assert answer.reply.actions == ACTIONS[:1]
    assert answer.mistake is not None
    assert "Kept, in order: 1. read_file. Lost: read_file" in answer.mistake


def test_a_cut_before_any_argument_does_not_make_a_call_without_arguments() -> None:
    answer, _ = ask([raw({"content": "", "tool_calls": [call("read_file", "")]}, "length")])
    assert answer.reply is None
    answer, _ = ask([raw({"content": "", "tool_calls": [call("run_tests", "")]}, "tool_calls")])
    assert answer.reply is not None
    assert answer.reply.actions == (Action("run_tests", {}),)


@pytest.mark.parametrize(
    ("content", "finish", "says"),
    [
        ("I am done.", "stop", "holds no action"),
        ("", "stop", "holds no action"),
        ('{"actions": [', "stop", "not valid JSON"),
        ("Well, let me", "length", "cut off at the length limit"),
    ],
)
def test_text_without_an_action_is_a_mistake(content: str, finish: str, says: str) -> None:
    answer, _ = ask([raw({"content": content}, finish)])
    assert answer.reply is None
    assert answer.mistake is not None
    assert says in answer.mistake
    assert answer.text == content


def test_a_model_without_tool_calls_may_answer_in_json() -> None:
    text = f"```json\n{json.dumps(REPLY)}\n```"
    answer, _ = ask([raw({"content": text})])
    assert answer.reply is not None
    assert answer.reply.actions == ACTIONS
    assert answer.text == text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"signal": "finished"}', "unknown signal 'finished'"),
        ('{"mood": "good"}', "unknown keys: mood"),
        ('{"notes": 3}', "`notes` is text"),
    ],
)
def test_a_faulty_report_is_left_out_and_the_actions_stay(arguments: str, says: str) -> None:
    calls: list[Json] = [call("read_file", '{"path": "a.py"}'), call("report", arguments)]
    answer, _ = ask([raw({"content": "", "tool_calls": calls}, "tool_calls")])
    assert answer.reply is not None
    assert answer.reply.actions == ACTIONS[:1]
    assert answer.mistake is not None
    assert says in answer.mistake


def test_a_signal_alone_is_a_reply() -> None:
    answer, _ = ask([{"signal": "success"}])
    assert answer.reply is not None
    assert (answer.reply.signal, answer.reply.actions, answer.mistake) == ("success", (), None)


def test_a_refusal_is_an_answer_and_not_an_error() -> None:
    for body in (raw({"content": None, "refusal": "I cannot."}), raw({"content": "I can"}, "content_filter")):
        answer, _ = ask([body])
        assert (answer.stop, answer.reply, answer.mistake) == ("refused", None, REFUSED)


def test_half_a_surrogate_pair_can_still_be_written_down() -> None:
    body = json.dumps(raw({"content": "a"})).replace('"a"', '"a\\ud800"').encode()
    answer, _ = ask([Fault(body=body)])
    answer.text.encode()


def test_too_many_calls_are_a_mistake() -> None:
    answer, _ = ask([raw({"content": "", "tool_calls": [call("read_file", "{}")] * 33}, "tool_calls")])
    assert answer.reply is None
    assert answer.mistake is not None
    assert "at most 32" in answer.mistake


@pytest.mark.parametrize("size", [3_000_000, 50_000_000])
def test_a_huge_reply_is_refused_and_billed_and_not_kept(size: int) -> None:
    body = json.dumps(raw({"content": "a" * size})).encode()
    answer, _ = ask([Fault(body=body)], Prices(1_000_000, 1_000_000, 1_000_000))
    assert answer.reply is None
    assert answer.mistake is not None
    assert answer.micro_usd is not None
    assert answer.micro_usd > 0
    assert len(answer.text) < 100_000


@pytest.mark.parametrize(
    ("fault", "kind", "retryable", "maybe_billed"),
    [
        (Fault(status=401), "auth", False, False),
        (Fault(status=403), "auth", False, False),
        (Fault(status=429, headers={"retry-after": "7"}), "rate_limit", True, False),
        (Fault(status=429, body=b'{"error": {"code": "insufficient_quota", "message": "no money"}}'), "rate_limit", False, False),
        (Fault(status=400), "bad_request", False, False),
        (Fault(status=404), "bad_request", False, False),
        (Fault(status=500), "server", True, True),
        (Fault(status=503), "server", True, True),
        (Fault(body=b"<html>hello</html>"), "server", True, True),
        (Fault(body=b"hello", headers={"content-type": "text/plain"}), "server", True, True),
        (Fault(body=b'{"choices": []}'), "server", True, True),
        (Fault(body=b"{}"), "server", True, True),
        (Fault(drop=True), "unreachable", True, True),
        (Fault(reply=REPLY, delay_s=3), "timeout", True, True),
    ],
)
def test_each_way_to_fail_has_its_kind_and_is_tried_once(fault: Fault, kind: TroubleKind, retryable: bool, maybe_billed: bool) -> None:
    with OpenAIServer([fault, REPLY]) as server, pytest.raises(ModelTrouble) as caught:
        OpenAIChat("some-model", server.base_url, "the-key", 1 if fault.delay_s else 20, None).ask(REQUEST)
    trouble = caught.value
    assert (trouble.kind, trouble.retryable, trouble.maybe_billed) == (kind, retryable, maybe_billed)
    assert trouble.retry_after_s == (7 if fault.headers.get("retry-after") else None)
    assert "127.0.0.1" in trouble.user_sentence
    assert "/v1" not in trouble.user_sentence
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_was_not_billed() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ModelTrouble) as caught:
        OpenAIChat("m", f"http://user:pass@127.0.0.1:{port}/v1", None, 5, None).ask(REQUEST)
    assert caught.value.user_sentence == f"Nothing answers at 127.0.0.1:{port}; is the model server running?"
    assert (caught.value.kind, caught.value.retryable, caught.value.maybe_billed) == ("unreachable", True, False)


def test_the_key_is_in_no_message_and_no_repr() -> None:
    error: Scripted = (400, {"error": {"message": "bad key the-key for you"}})
    with OpenAIServer([error]) as server, pytest.raises(ModelTrouble) as caught:
        OpenAIChat("m", server.base_url, "the-key", 20, None).ask(REQUEST)
    assert caught.value.user_sentence.endswith("It says: bad key [key] for you")
    assert "the-key" not in repr(OpenAIChat("m", server.base_url, "the-key", 20, None))


def test_a_function_can_answer_and_an_empty_script_says_so() -> None:
    def answer(request: object) -> Scripted:
        return {"signal": "success"} if isinstance(request, dict) else (500, {})

    script: Callable[[object], Scripted] = answer
    with OpenAIServer(script) as server:
        model = OpenAIChat("m", server.base_url, None, 20, None)
        assert model.ask(REQUEST).reply == model.ask(REQUEST).reply
    with OpenAIServer([]) as server, pytest.raises(ModelTrouble, match="has 0 replies, and this is request 1"):
        OpenAIChat("m", server.base_url, None, 20, None).ask(REQUEST)


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(Unusable) as caught:
        OpenAIChat("m", "http://127.0.0.1:9/v1", None, 20, None)
    assert "pip install 'agentforge[openai]'" in caught.value.next_step


def test_making_a_model_loads_nothing_heavy() -> None:
    code = (
        "import sys; from agentforge.models.openai_chat import OpenAIChat; OpenAIChat('m', 'http://127.0.0.1:9/v1', None, 20, None);"
        "assert not {'pydantic_ai', 'openai', 'pydantic', 'genai_prices', 'httpx2', 'asyncio'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("url", "theirs"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://openai.com.example.org/v1", False),
        ("http://127.0.0.1:1/v1", False),
    ],
)
def test_only_openai_itself_is_given_the_newer_name_of_the_limit(url: str, theirs: bool) -> None:
    from agentforge.models.openai_wire import Endpoint, _profile  # noqa: PLC0415 - heavy, and not needed by most tests here

    assert (_profile(Endpoint("m", url, None, 1)) is None) is theirs
