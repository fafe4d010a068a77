"""One model of one server, over chat completions: what becomes of replies that are not as they should be."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.core.errors import PolicyError, Unusable, UsageError
from agentforge.core.reply import Action, Json
from agentforge.models.base import Answer, Block, Reservation
from agentforge.models.known.prices import Prices
from agentforge.models.known.providers import Provider, known
from agentforge.models.open import open_spec, read_spec
from agentforge.models.provider_model import ProviderModel, pieces
from agentforge.models.scripted import ScriptedModel
from agentforge.system.installation import install_command
from agentforge.testing import Fault, Scripted
from tests.models import wire_talk
from tests.models.wire_talk import ACTIONS, KEY, REPLY, REQUEST
from tests.rows import every

NOWHERE = Provider("mine", "openai", "http://127.0.0.1:9/v1")


def ask(script: list[Scripted]) -> tuple[Answer, object]:
    return wire_talk.ask("openai", *script)


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


def test_the_worst_case_is_all_input_and_the_longest_output() -> None:
    model = ProviderModel(NOWHERE, "m", None, Prices(2_000_000, 8_000_000, 500_000))
    plain = replace(REQUEST, tools=())
    assert model.worst_case(plain, 1500) == Reservation(2000, 1500 * 2 + 500 * 8)
    assert ProviderModel(NOWHERE, "m", None, None).worst_case(plain, 1500) == Reservation(2000, None)


def test_tools_are_sent_beside_the_context_so_the_worst_case_holds_them_too() -> None:
    model = ProviderModel(NOWHERE, "m", None, Prices(2_000_000, 8_000_000, 500_000))
    declared = sum(
        len(json.dumps({"name": tool.name, "description": tool.description, "schema": dict(tool.schema)}))
        for tool in REQUEST.tools
    )
    most = model.worst_case(REQUEST, 1500)
    assert most.tokens > 2000 + declared // 4
    assert most.micro_usd == (most.tokens - 500) * 2 + 500 * 8
    held = replace(model, provider=replace(NOWHERE, reply="schema"))
    assert held.worst_case(REQUEST, 1500).tokens - 2000 == 2 * (most.tokens - 2000)


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


def test_a_cut_before_any_argument_does_not_make_a_call_without_arguments() -> None:
    answer, _ = ask([raw({"content": "", "tool_calls": [call("read_file", "")]}, "length")])
    assert answer.reply is None
    answer, _ = ask([raw({"content": "", "tool_calls": [call("run_tests", "")]}, "tool_calls")])
    assert answer.reply is not None
    assert answer.reply.actions == (Action("run_tests", {}),)


@every(
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


@every(
    ("arguments", "says"),
    [
        ('{"signal": "finished"}', "unknown signal 'finished'"),
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


def test_half_a_surrogate_pair_can_still_be_written_down() -> None:
    body = json.dumps(raw({"content": "a"})).replace('"a"', '"a\\ud800"').encode()
    answer, _ = ask([Fault(body=body)])
    answer.text.encode()


def test_too_many_calls_are_a_mistake() -> None:
    answer, _ = ask([raw({"content": "", "tool_calls": [call("read_file", "{}")] * 33}, "tool_calls")])
    assert answer.reply is None
    assert answer.mistake is not None
    assert "at most 32" in answer.mistake


def test_a_huge_reply_that_can_still_be_read_is_refused_and_not_kept() -> None:
    answer, _ = ask([Fault(body=json.dumps(raw({"content": "a" * 3_000_000})).encode())])
    assert answer.reply is None
    assert answer.mistake is not None
    assert len(answer.text) < 100_000


def test_a_missing_part_is_named_with_the_extra_that_holds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for wire, module, extra in (
        ("openai", "pydantic_ai", "openai"),
        ("openai-responses", "openai", "openai"),
        ("anthropic", "anthropic", "anthropic"),
        ("mistral", "mistralai", "mistral"),
        ("google", "google.genai", "google"),
    ):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, module, None)
            with pytest.raises(Unusable) as caught:
                open_spec(f"{wire}:m", known({}), lambda _: "k")
        assert caught.value.next_step == f"Run: {install_command(extra)}"


def test_opening_every_kind_of_model_loads_nothing_heavy() -> None:
    code = (
        "import sys; from agentforge.models.open import open_spec; from agentforge.models.known.providers "
        "import known\n"
        "for name in known({}): open_spec(name + ':m', known({}), lambda _: 'k')\n"
        "heavy = {'pydantic_ai', 'openai', 'anthropic', 'mistralai', 'google.genai', 'pydantic', "
        "'genai_prices', 'httpx2', 'asyncio'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_spec_opens_the_model_it_names(tmp_path: Path) -> None:
    script = tmp_path / "a:b.yaml"
    script.write_text("replies: []\n")
    assert isinstance(open_spec(f"scripted:{script}", {}, lambda _: None), ScriptedModel)
    model = open_spec("ollama:qwen3:8b", known({}), lambda _: None, local_only=True)
    assert isinstance(model, ProviderModel)
    assert (model.name, model.model, model.provider.local, model.reply_format()) == (
        "ollama:qwen3:8b",
        "qwen3:8b",
        True,
        "calls",
    )
    assert open_spec("ollama:deepseek-r1:7b", known({}), lambda _: None).name == "ollama:deepseek-r1:7b"


@every(
    "spec",
    [
        "",
        "gpt-5",
        "openai:",
        ":gpt-5",
        "google:../../x",
        "google:a//b",
        "openai:a b",
        "openai:a?b=c",
        "openai:" + "a" * 201,
    ],
)
def test_what_is_no_model_is_said_in_one_sentence(spec: str) -> None:
    with pytest.raises(UsageError, match=r"is not a model|is no name of a model"):
        read_spec(spec)


def test_a_provider_nobody_knows_a_missing_key_and_a_place_elsewhere_each_say_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"'acme' is not a provider. Known: anthropic, openai,"):
        open_spec("acme:m", known({}), lambda _: "k")
    with pytest.raises(
        UsageError, match=r"MISTRAL_API_KEY is not set. Export it, run `agentforge auth login mistral`"
    ):
        open_spec("mistral:m", known({}), lambda _: None)
    with pytest.raises(PolicyError, match="only models on this machine"):
        open_spec("mistral:m", known({}), lambda _: "k", local_only=True)
    with pytest.raises(UsageError, match="holds a character that no key has") as caught:
        open_spec("mistral:m", known({}), lambda _: f"{KEY}\n")
    assert KEY not in str(caught.value)
    with pytest.raises(UsageError, match="reply is 'schema'; this wire has calls, text"):
        open_spec("mistral:m", known({}, {"mistral": {"reply": "schema"}}), lambda _: "k")


def test_the_users_text_is_cut_after_what_is_expected_again() -> None:
    blocks = (Block("a", "1", cache=True), Block("b", "2"), Block("c", "3", cache=True))
    assert pieces(blocks) == (
        '<block name="a">\n1\n</block>',
        '\n\n<block name="b">\n2\n</block>\n\n<block name="c">\n3\n</block>',
    )
    assert pieces(()) == ("",)
