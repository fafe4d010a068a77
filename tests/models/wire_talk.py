"""One request, one reply, and every wire to send them over."""

from collections.abc import Mapping
from typing import get_args

from agentforge.core.reply import Action, Json
from agentforge.models.base import Answer, Block, ModelTrouble, OfferedTool, Request
from agentforge.models.known.prices import Prices
from agentforge.models.known.providers import Provider, ReplyFormat, Wire
from agentforge.models.provider_model import ProviderModel
from agentforge.testing import SERVERS, Scripted, WireServer

WIRES: tuple[Wire, ...] = get_args(Wire)
KEY = "key-of-one-person-4711"
READ = OfferedTool(
    "read_file",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
HAND_IN = OfferedTool(
    "hand_in",
    "Hand in.",
    {"type": "object", "properties": {"paper": {"type": "object"}}, "required": ["paper"]},
)
REQUEST = Request(
    "green/1/1/ask/1",
    "green",
    "You are a developer.",
    (Block("task_frame", "sort it"), Block("map", "a.py", cache=True), Block("working_set", "def f(): ...")),
    (READ, HAND_IN),
    500,
)
USER = "\n\n".join(f'<block name="{block.name}">\n{block.text}\n</block>' for block in REQUEST.blocks)
REPLY: dict[str, Json] = {
    "thought": "look first",
    "notes": "f is in a.py",
    "actions": [
        {"name": "read_file", "args": {"path": "a.py"}},
        {"name": "hand_in", "args": {"paper": {"ü": [1, {"x": None}]}}},
    ],
    "signal": "failure_retryable",
    "summary": "reading",
}
ACTIONS = (Action("read_file", {"path": "a.py"}), Action("hand_in", {"paper": {"ü": [1, {"x": None}]}}))


def model_of(
    server: WireServer,
    *,
    reply_format: ReplyFormat | None = None,
    prices: Prices | None = None,
    timeout_s: int = 20,
    key: str | None = KEY,
    name: str = "some-model",
) -> ProviderModel:
    provider = Provider("mine", server.dialect.wire, server.base_url, reply=reply_format, timeout_s=timeout_s)
    return ProviderModel(provider, name, key, prices)


def ask(
    wire: Wire, *script: Scripted, request: Request = REQUEST, reply_format: ReplyFormat | None = None
) -> tuple[Answer, WireServer]:
    """The answer to the first entry of the script."""
    with SERVERS[wire](list(script)) as server:
        return model_of(server, reply_format=reply_format).ask(request), server


def fail(
    wire: Wire, *script: Scripted, timeout_s: int = 20, reply_format: ReplyFormat | None = None
) -> tuple[ModelTrouble, WireServer]:
    """What went wrong, and the server it went wrong at."""
    with SERVERS[wire](list(script)) as server:
        try:
            model_of(server, timeout_s=timeout_s, reply_format=reply_format).ask(REQUEST)
        except ModelTrouble as trouble:
            return trouble, server
    raise AssertionError("it went well")


def elsewhere(wire: Wire, base_url: str) -> ProviderModel:
    """A model at some address."""
    return ProviderModel(Provider("mine", wire, base_url, timeout_s=20), "some-model", KEY, None)


def body_of(wire: Wire, reply: Mapping[str, Json]) -> dict[str, Json]:
    """A whole body of the wire that says `reply`, to be changed."""
    from agentforge.testing.dialects import said  # noqa: PLC0415 - of one test

    return SERVERS[wire].dialect.reply(
        said(reply, "calls"), {"model": "some-model"}, "/models/some-model:generateContent"
    )
