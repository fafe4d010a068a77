"""Every wire over real HTTP on the loopback: what we send, what we make of what comes back, and each way to
fail.
"""

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from agentforge.core.reply import Json
from agentforge.models.base import REFUSED, Block, ModelTrouble, Request, TroubleKind, Usage, parse_reply_text
from agentforge.models.known.prices import Prices
from agentforge.models.known.providers import Wire
from agentforge.models.provider_model import ProviderModel
from agentforge.models.reply.format import POSSIBLE
from agentforge.testing import SERVERS, Fault, OpenAIServer, Scripted, WireServer
from tests.depth import SOAK
from tests.models.wire_talk import (
    ACTIONS,
    HAND_IN,
    KEY,
    READ,
    REPLY,
    REQUEST,
    USER,
    WIRES,
    ask,
    body_of,
    elsewhere,
    fail,
    model_of,
)

PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "mistral": "/v1/chat/completions",
}
LIMITS = {
    "openai": "max_tokens",
    "openai-responses": "max_output_tokens",
    "anthropic": "max_tokens",
    "mistral": "max_tokens",
}
HTML = {"content-type": "text/html; charset=utf-8"}


@pytest.mark.parametrize("wire", WIRES)
def test_one_ask_is_one_request_with_the_system_the_blocks_the_tools_a_limit_and_the_key(wire: Wire) -> None:
    answer, server = ask(wire, REPLY)
    (seen,) = server.requests
    assert seen.path.endswith(PATHS.get(wire, "/models/some-model:generateContent"))
    assert (seen.system, seen.user, seen.key) == ("You are a developer.", USER, KEY)
    assert list(seen.tools) == ["read_file", "hand_in", "report"]
    assert seen.tools["read_file"] == READ.schema
    assert json.dumps({**seen.headers}).count(KEY) == 1
    assert KEY not in json.dumps({**seen.body}) + seen.path
    config: Any = seen.body.get("generationConfig", seen.body)
    assert config[LIMITS.get(wire, "maxOutputTokens")] == 500
    assert not {"temperature", "parallel_tool_calls", "prompt_cache_key"} & set(seen.body)
    assert answer.model == "some-model"


@pytest.mark.parametrize("wire", WIRES)
def test_native_calls_become_the_reply_in_order_and_read_back_from_the_record(wire: Wire) -> None:
    answer, _ = ask(wire, REPLY)
    reply = answer.reply
    assert reply is not None
    assert (reply.thought, reply.notes, reply.actions) == ("look first", "f is in a.py", ACTIONS)
    assert (reply.signal, reply.summary, answer.mistake, answer.stop) == (
        "failure_retryable",
        "reading",
        None,
        "end",
    )
    assert answer.delivery == "live"
    assert parse_reply_text(answer.text) == (reply, None)


COUNTS: dict[Wire, tuple[str, Json]] = {
    "openai": (
        "usage",
        {
            "prompt_tokens": 1000,
            "completion_tokens": 200,
            "total_tokens": 1200,
            "prompt_tokens_details": {"cached_tokens": 600},
        },
    ),
    "openai-responses": (
        "usage",
        {
            "input_tokens": 1000,
            "input_tokens_details": {"cached_tokens": 600},
            "output_tokens": 200,
            "output_tokens_details": {"reasoning_tokens": 150},
            "total_tokens": 1200,
        },
    ),
    # These two count parts that the others count in: what came from the cache or went into it, and the
    # thoughts.
    "anthropic": (
        "usage",
        {
            "input_tokens": 100,
            "cache_read_input_tokens": 600,
            "cache_creation_input_tokens": 300,
            "output_tokens": 200,
        },
    ),
    "google": (
        "usageMetadata",
        {
            "promptTokenCount": 1000,
            "cachedContentTokenCount": 600,
            "candidatesTokenCount": 50,
            "thoughtsTokenCount": 150,
            "totalTokenCount": 1200,
        },
    ),
    "mistral": (
        "usage",
        {
            "prompt_tokens": 1000,
            "completion_tokens": 200,
            "total_tokens": 1200,
            "prompt_tokens_details": {"cached_tokens": 600},
        },
    ),
}


@pytest.mark.parametrize("wire", WIRES)
def test_all_input_what_came_from_a_cache_and_what_went_into_it_are_counted(wire: Wire) -> None:
    name, counts = COUNTS[wire]
    with SERVERS[wire]([{**body_of(wire, REPLY), name: counts}]) as server:
        answer = model_of(server, prices=Prices(2_000_000, 10_000_000, 2_000_000)).ask(REQUEST)
    assert answer.usage == Usage(1000, 200, 600, 300 if wire == "anthropic" else 0)
    assert answer.micro_usd is not None
    assert answer.micro_usd >= 1000 * 2 + 200 * 10


@pytest.mark.filterwarnings("ignore:Failed to extract usage")
@pytest.mark.parametrize("wire", WIRES)
def test_a_server_that_does_not_count_gets_a_rough_count_and_one_that_lies_no_negative_one(
    wire: Wire,
) -> None:
    name, counts = COUNTS[wire]
    body = body_of(wire, REPLY)
    assert isinstance(counts, dict)
    for number in (0, -7):
        count: dict[str, Json] = dict.fromkeys(
            (key for key, value in counts.items() if isinstance(value, int)), number
        )
        answer, _ = ask(wire, {**body, name: count})
        assert answer.usage.input_tokens > 10
        assert answer.usage.output_tokens > 10


def test_the_cache_is_marked_after_the_system_text_and_after_each_block_that_asks_for_it() -> None:
    blocks = tuple(Block(f"b{at}", "x", cache=at in (0, 1, 3, 4)) for at in range(6))
    request = Request("k", "green", "You are a developer.", blocks, (READ,), 500)
    _, server = ask("anthropic", REPLY, request=request)
    body: Any = server.requests[0].body
    assert [part.get("cache_control", {}).get("type") for part in body["system"]] == ["ephemeral"]
    marked = [
        "".join(name for name in ("b0", "b1", "b2", "b3", "b4", "b5") if f'"{name}"' in part["text"])
        for part in body["messages"][0]["content"]
    ]
    assert marked == ["b0b1", "b2b3", "b4", "b5"]
    assert ["cache_control" in part for part in body["messages"][0]["content"]] == [True, True, True, False]
    assert not any("cache_control" in tool for tool in body["tools"])
    assert json.dumps(body).count("cache_control") == 4
    without, _ = ask("anthropic", REPLY, request=Request("k", "green", "", blocks[-1:], (READ,), 500))
    assert without.reply is not None
    _, server = ask("anthropic", REPLY, request=replace(request, blocks=blocks[-1:]))
    assert "cache_control" not in json.dumps(server.requests[0].body)


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "anthropic"])
def test_a_wire_that_finds_its_cache_by_itself_is_sent_one_text_and_no_marks(wire: Wire) -> None:
    _, server = ask(wire, REPLY)
    assert "cache_control" not in json.dumps({**server.requests[0].body})
    user = json.dumps({**server.requests[0].body}).count("<block name")
    assert user == 3


@pytest.mark.parametrize("wire", WIRES)
def test_a_cut_off_reply_is_known_by_each_means_and_keeps_only_what_is_surely_whole(wire: Wire) -> None:
    for reply_format in POSSIBLE[wire]:
        answer, _ = ask(
            wire, Fault(reply={"actions": REPLY["actions"]}, cut_off=True), reply_format=reply_format
        )
        assert answer.stop == "length", reply_format
        assert answer.reply is not None, reply_format
        assert answer.reply.actions == ACTIONS[:1], reply_format
        assert "cut off at the length limit" in (answer.mistake or ""), reply_format


def refusals(wire: Wire) -> list[Scripted]:
    body = body_of(wire, {"thought": "I can"})
    match wire:
        case "openai":
            message: Json = {"role": "assistant", "content": None, "refusal": "I cannot."}
            return [
                {**body, "choices": [{"index": 0, "finish_reason": "stop", "message": message}]},
                {
                    **body,
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "content_filter",
                            "message": {"role": "assistant", "content": "I"},
                        }
                    ],
                },
            ]
        case "openai-responses":
            refusal: Json = {"type": "refusal", "refusal": "I cannot."}
            item: Json = {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [refusal],
            }
            return [
                {**body, "output": [item]},
                {**body, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            ]
        case "anthropic":
            return [{**body, "content": [], "stop_reason": "refusal"}]
        case "google":
            return [
                {
                    "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
                    "usageMetadata": {"promptTokenCount": 9},
                    "modelVersion": "m",
                },
                {
                    **body,
                    "candidates": [
                        {
                            "index": 0,
                            "content": {"role": "model", "parts": [{"text": "I"}]},
                            "finishReason": "SAFETY",
                        }
                    ],
                },
            ]
        case "mistral":
            return []


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "mistral"])
def test_a_refusal_is_an_answer_and_not_an_error(wire: Wire) -> None:
    for body in refusals(wire):
        answer, _ = ask(wire, body)
        assert (answer.stop, answer.reply, answer.mistake) == ("refused", None, REFUSED)
        assert answer.usage.input_tokens > 0


def thoughtful(wire: Wire) -> dict[str, Json]:
    """The reply with a thought of the model's own before it."""
    body: Any = body_of(wire, {"actions": REPLY["actions"]})
    match wire:
        case "openai":
            body["choices"][0]["message"]["reasoning_content"] = "hm hm"
        case "openai-responses":
            body["output"].insert(
                0, {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm hm"}]}
            )
        case "anthropic":
            body["content"].insert(0, {"type": "thinking", "thinking": "hm hm", "signature": "s"})
        case "google":
            body["candidates"][0]["content"]["parts"].insert(0, {"text": "hm hm", "thought": True})
        case "mistral":
            body["choices"][0]["message"]["content"] = [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm hm"}]}
            ]
    whole: dict[str, Json] = body
    return whole


@pytest.mark.parametrize("wire", WIRES)
def test_what_a_model_thinks_is_no_part_of_its_reply(wire: Wire) -> None:
    answer, _ = ask(wire, thoughtful(wire))
    assert answer.reply is not None
    assert (answer.reply.thought, answer.reply.actions, answer.mistake) == ("", ACTIONS, None)
    assert "hm hm" not in answer.text


FAULTS: list[tuple[str, Fault, TroubleKind, bool, bool]] = [
    ("400", Fault(status=400), "bad_request", False, False),
    ("401", Fault(status=401), "auth", False, False),
    ("403", Fault(status=403), "auth", False, False),
    ("404", Fault(status=404), "no_model", False, False),
    ("429", Fault(status=429, headers={"retry-after": "7"}), "rate_limit", True, False),
    ("500", Fault(status=500), "server", True, True),
    (
        "502 with a web page",
        Fault(status=502, body=b"<html>bad gateway</html>", headers=HTML),
        "server",
        True,
        True,
    ),
    ("529", Fault(status=529, headers={"retry-after": "7"}), "server", True, False),
    (
        "307 to elsewhere",
        Fault(status=307, headers={"location": "http://127.0.0.1:9/"}),
        "bad_request",
        False,
        False,
    ),
    ("a web page", Fault(body=b"<html>welcome</html>", headers=HTML), "server", True, True),
    ("a plain text", Fault(body=b"hello", headers={"content-type": "text/plain"}), "server", True, True),
    ("half of the JSON", Fault(reply=REPLY, half="json"), "server", True, True),
    ("half of the body", Fault(reply=REPLY, half="connection"), "unreachable", True, True),
    (
        "compressed",
        Fault(body=b"\x1f\x8b\x08\x00", headers={"content-encoding": "gzip"}),
        "server",
        True,
        True,
    ),
    ("no connection", Fault(drop=True), "unreachable", True, True),
]


# Each way on two of the wires and each wire with six of the ways; with SOAK=1 all.
MET = [
    (wire, name)
    for at, (name, *_) in enumerate(FAULTS)
    for place, wire in enumerate(WIRES)
    if SOAK or (place - at) % 5 in (0, 2)
]


@pytest.mark.parametrize(("wire", "name"), MET)
def test_each_way_to_fail_has_its_kind_on_every_wire_and_is_tried_once(wire: Wire, name: str) -> None:
    fault, kind, retryable, maybe_billed = next(row[1:] for row in FAULTS if row[0] == name)
    trouble, server = fail(wire, fault, REPLY)
    assert (trouble.kind, trouble.retryable, trouble.maybe_billed) == (kind, retryable, maybe_billed), (
        trouble.user_sentence
    )
    assert trouble.retry_after_s == (7 if "retry-after" in fault.headers else None)
    assert f"127.0.0.1:{server.base_url.split(':')[2].split('/')[0]}" in trouble.user_sentence
    assert trouble.user_sentence.endswith((".", "?", f"{fault.status}"))
    assert "/v1" not in trouble.user_sentence
    assert len(server.requests) == 1
    assert (trouble.__cause__, trouble.__context__) == (None, None)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b"null",
        b'{"choices": [], "content": [], "output": [], "candidates": []}',
        b'"hello"',
        b"[" * 99_999,
        b"\xff\x00",
    ],
)
def test_json_that_is_no_reply_is_never_a_crash(wire: Wire, body: bytes) -> None:
    with SERVERS[wire]([Fault(body=body)]) as server:
        try:
            answer = model_of(server).ask(REQUEST)
        except ModelTrouble as trouble:
            assert (trouble.kind, trouble.retryable, trouble.maybe_billed) == ("server", True, True)  # noqa: PT017 - either is right
        else:
            assert answer.reply is None
            assert answer.mistake


def test_what_is_late_is_a_timeout_before_the_body_and_in_it() -> None:
    late = [
        (wire, fault)
        for wire in WIRES
        for fault in (Fault(reply=REPLY, delay_s=2.5), Fault(reply=REPLY, drip_s=2.5))
    ]
    with ThreadPoolExecutor(len(late)) as pool:
        troubles = list(pool.map(lambda each: fail(each[0], each[1], timeout_s=1)[0], late))
    assert {(each.kind, each.retryable, each.maybe_billed) for each in troubles} == {("timeout", True, True)}
    assert all("did not answer within 1 s" in each.user_sentence for each in troubles)


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_without_end_is_not_read_to_its_end_and_is_billed_in_full(wire: Wire) -> None:
    with SERVERS[wire]([Fault(body=b" " * 9_000_000)]) as server:
        answer = model_of(server, prices=Prices(1_000_000, 1_000_000, 1_000_000)).ask(REQUEST)
    assert (answer.reply, answer.text, answer.usage.output_tokens) == (None, "", 500)
    assert "far longer than" in (answer.mistake or "")
    assert (answer.micro_usd or 0) > 500


@pytest.mark.parametrize("wire", WIRES)
def test_a_server_that_is_not_there_was_not_billed(wire: Wire) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ModelTrouble) as caught:
        elsewhere(wire, f"http://user:pass@127.0.0.1:{port}/v1").ask(REQUEST)
    assert caught.value.user_sentence == f"Nothing answers at 127.0.0.1:{port}; is the model server running?"
    assert (caught.value.kind, caught.value.retryable, caught.value.maybe_billed) == (
        "unreachable",
        True,
        False,
    )


SAID: list[tuple[Wire, Fault, TroubleKind, str]] = [
    (
        "openai",
        Fault(status=429, body=b'{"error": {"code": "insufficient_quota", "message": "no money"}}'),
        "quota",
        "quota is used up",
    ),
    (
        "anthropic",
        Fault(status=400, message="Your credit balance is too low to use it"),
        "quota",
        "quota is used up",
    ),
    ("openai", Fault(status=402), "quota", "quota is used up"),
    (
        "openai",
        Fault(status=400, message="This model's maximum context length is 8192 tokens"),
        "window",
        "longer than some-model",
    ),
    (
        "anthropic",
        Fault(status=400, message="prompt is too long: 210000 tokens > 200000 maximum"),
        "window",
        "longer than some-model",
    ),
    (
        "openai",
        Fault(status=400, message="the request exceeds the available context size, try increasing it"),
        "window",
        "longer than",
    ),
    (
        "mistral",
        Fault(status=400, message="Invalid model: some-model"),
        "no_model",
        "knows no model some-model",
    ),
    (
        "openai",
        Fault(status=404, message='model "some-model" not found, try pulling it first'),
        "no_model",
        "try pulling it first",
    ),
    ("anthropic", Fault(status=404, message="model: some-model"), "no_model", "knows no model some-model"),
    (
        "openai",
        Fault(status=400, message="llama2 does not support tools"),
        "bad_request",
        "`providers.mine.reply` to `schema` or `text`",
    ),
    (
        "openai",
        Fault(status=500, message="tools param requires --jinja flag"),
        "bad_request",
        "`providers.mine.reply`",
    ),
    (
        "openai",
        Fault(status=400, message='"auto" tool choice requires --enable-auto-tool-choice'),
        "bad_request",
        "`providers.mine.reply`",
    ),
    ("openai", Fault(status=400, message="a" * 5000), "bad_request", "aaa"),
    (
        "google",
        Fault(status=400, message="API key not valid. Please pass a valid API key."),
        "bad_request",
        "API key not valid",
    ),
    (
        "mistral",
        Fault(status=422, body=b'{"detail": [{"msg": "field required", "loc": ["x"]}]}'),
        "bad_request",
        "It says: field required",
    ),
]


@pytest.mark.parametrize(("wire", "fault", "kind", "says"), SAID)
def test_what_the_server_says_decides_and_is_passed_on(
    wire: Wire, fault: Fault, kind: TroubleKind, says: str
) -> None:
    trouble, _ = fail(wire, fault)
    assert (trouble.kind, trouble.retryable) == (kind, False), trouble.user_sentence
    assert says in trouble.user_sentence
    assert len(trouble.user_sentence) < 600


def test_a_server_without_schemas_names_the_setting_too() -> None:
    trouble, _ = fail(
        "openai",
        Fault(status=400, message="response_format json_schema is not supported"),
        reply_format="schema",
    )
    assert "Set `providers.mine.reply` to `text`" in trouble.user_sentence


@pytest.mark.parametrize("wire", WIRES)
def test_a_refusal_by_status_is_one_whatever_its_body(wire: Wire) -> None:
    for body in (
        b"",
        b'{"a":' * 99_999,
        b"\xff\x00",
        b"[]",
        b'{"error": [{"message": 3}]}',
        b'{"error": null, "message": {"detail": []}}',
    ):
        trouble, _ = fail(wire, Fault(status=400, body=body))
        assert (trouble.kind, trouble.retryable, trouble.maybe_billed) == ("bad_request", False, False), body


@pytest.mark.parametrize(
    ("url", "theirs"),
    [
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://openai.com.example.org/v1", False),
        ("http://127.0.0.1:1/v1", False),
    ],
)
def test_only_openai_itself_is_given_its_newer_names(url: str, theirs: bool) -> None:
    from agentforge.models.wire.openai import own_names  # noqa: PLC0415 - heavy
    from agentforge.models.wire.send import request_settings  # noqa: PLC0415 - heavy

    model = elsewhere("openai", url)
    outgoing = model.outgoing(REQUEST, "calls")
    assert (own_names(model.endpoint) is None) is theirs
    assert ("openai_prompt_cache_key" in request_settings(model.endpoint, outgoing)) is theirs
    responses = elsewhere("openai-responses", url)
    assert ("openai_prompt_cache_key" in request_settings(responses.endpoint, outgoing)) is theirs


def test_what_the_library_knows_to_be_impossible_is_said_before_anything_is_sent() -> None:
    with SERVERS["openai"]([REPLY]) as server:
        model = model_of(server, reply_format="schema", name="some-model")
        odd = replace(model, provider=replace(model.provider, wire="mistral", reply=None))
        trouble = impossible(odd)
    assert trouble.kind == "bad_request"
    assert (trouble.retryable, trouble.maybe_billed, server.requests) == (False, False, [])


def impossible(model: ProviderModel) -> ModelTrouble:
    """A schema, where the library has none."""
    from agentforge.models.wire.send import send  # noqa: PLC0415 - heavy

    with pytest.raises(ModelTrouble, match="cannot be asked in this way") as caught:
        send(model.endpoint, model.outgoing(REQUEST, "schema"))
    return caught.value


def test_a_function_can_answer_an_empty_script_says_so_and_other_paths_have_nothing() -> None:
    def answer(request: object) -> Scripted:
        return {"signal": "success"} if isinstance(request, dict) else (500, {})

    with OpenAIServer(answer) as server:
        assert model_of(server).ask(REQUEST).reply == model_of(server).ask(REQUEST).reply
    with OpenAIServer([]) as server:
        with pytest.raises(ModelTrouble, match="has 0 replies, and this is request 1"):
            model_of(server).ask(REQUEST)
        with pytest.raises(ModelTrouble, match="or its address is wrong"):
            elsewhere("openai", server.base_url + "/x").ask(REQUEST)


def test_a_server_that_wants_a_key_refuses_another() -> None:
    for wire, kind in SERVERS.items():
        with (
            kind([REPLY], key="another") as server,
            pytest.raises(ModelTrouble, match="does not accept the API key"),
        ):
            model_of(server).ask(REQUEST)
        assert wire in WIRES


def test_tools_that_are_not_given_are_not_declared() -> None:
    for wire in WIRES:
        _, server = ask(
            wire, {"signal": "success"}, request=Request("k", "s", "You are.", (Block("b", "x"),), (), 500)
        )
        assert server.requests[0].tools == {}
    assert HAND_IN.name == "hand_in"


def listed(server: WireServer, path: str) -> Any:  # noqa: ANN401 - JSON
    from urllib.request import urlopen  # noqa: PLC0415 - of one test

    with urlopen(server.base_url.removesuffix("/v1") + path, timeout=5) as response:
        return json.load(response)


def test_each_server_lists_its_models_in_its_own_shape() -> None:
    with OpenAIServer(models=("a", "b:7b")) as server:
        assert [entry["id"] for entry in listed(server, "/v1/models")["data"]] == ["a", "b:7b"]
        assert [entry["name"] for entry in listed(server, "/api/tags")["models"]] == ["a", "b:7b"]
        assert [each.path for each in server.others] == ["/v1/models", "/api/tags"]
    with SERVERS["anthropic"](models=("a",)) as server:
        assert listed(server, "/v1/models")["data"][0]["type"] == "model"
    with SERVERS["google"](models=("a",)) as server:
        assert listed(server, "/v1beta/models")["models"][0]["name"] == "models/a"
