"""How a model says its reply, and the same value from each way. Pure: it knows no wire library.

`calls`: native tool calls, several in one reply. `schema`: the server holds the text to a JSON schema.
`text`: JSON that the model writes by itself, with long contents in fenced blocks. The last two need to be
told the actions; the first declares them.
"""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from agentforge.core.reply import STUCK, Json
from agentforge.models.base import OfferedTool, Parsed, parse_reply_text
from agentforge.models.known.providers import Provider, ReplyFormat, Wire
from agentforge.models.reply.native_calls import ToolCall, parse_calls

_ALL: tuple[ReplyFormat, ...] = ("calls", "schema", "text")
POSSIBLE: Mapping[Wire, tuple[ReplyFormat, ...]] = MappingProxyType(
    {
        "openai": _ALL,
        "openai-responses": _ALL,
        "google": _ALL,
        # Its schemas are strict, and close every object: arguments of free form would arrive empty.
        "anthropic": ("calls", "text"),
        # The library has no schema on this wire.
        "mistral": ("calls", "text"),
    }
)
"""What can be asked of a wire at all, the best first."""

_CLOSING = frozenset({"properties", "additionalProperties", "patternProperties"})

_FIELDS = """\
- "thought": why, in a sentence or two
- "notes": all you want to remember at the next step; replaces the notes you see
- "actions": a list of {"name": …, "args": {…}}, run in order
- "signal": only if the stage cannot be done, one of SIGNALS
- "summary": with a signal, why, in one line"""

_TEXT = """\
Answer with one JSON object in a ```json fence, and no other object. Its keys, all optional:
FIELDS
A long text (a file's content, a patch) goes outside of the JSON: put {"$block": "NAME"} where it \
belongs, and after the JSON a fence
that opens with ```NAME and holds the text as it is; use four backticks if it holds three."""

_SCHEMA = """\
Answer with one JSON object and nothing else. Its keys:
FIELDS"""


def choose(
    provider: Provider, *, tools: bool | None = None, family: ReplyFormat | None = None
) -> ReplyFormat:
    """What a person said; else native calls, unless the library (`tools`) or the table of families knows
    better.
    """
    possible = POSSIBLE[provider.wire]
    if provider.reply is not None:
        return provider.reply
    if tools is False:
        return possible[1]
    return family if family in possible else "calls"


def guide(reply_format: ReplyFormat, tools: Sequence[OfferedTool]) -> str:
    """What the system text must say besides, where the wire declares no tools. The same bytes for the same
    tools.
    """
    if reply_format == "calls" or not tools:
        return ""
    fields = _FIELDS.replace("SIGNALS", ", ".join(STUCK))
    shape = (_TEXT if reply_format == "text" else _SCHEMA).replace("FIELDS", fields)
    actions = "\n".join(
        f"- {tool.name}: {tool.description} args: {json.dumps(dict(tool.schema), ensure_ascii=False)}"
        for tool in tools
    )
    return (
        f"\n\n## How to answer\n{shape}\n\nThe actions, each with the JSON schema of its args:\n{actions}\n"
    )


def reply_schema(tools: Sequence[OfferedTool]) -> dict[str, Json]:
    """The shape of a whole reply: each action's arguments are held to its own schema."""
    kinds: list[Json] = [
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "enum": [tool.name]},
                "args": _opened(dict(tool.schema)),
            },
            "required": ["name", "args"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string"},
            "notes": {"type": "string"},
            "actions": {"type": "array", "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}},
            "signal": {"type": "string", "enum": list(STUCK)},
            "summary": {"type": "string"},
        },
        "required": ["thought", "actions"],
        "additionalProperties": False,
    }


def _opened(schema: Json) -> Json:
    """An object that names no properties takes any: some servers read that silence as none at all."""
    if isinstance(schema, list):
        return [_opened(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _opened(value) for key, value in schema.items()}
    return (
        {**found, "additionalProperties": True}
        if found.get("type") == "object" and len(set(found) & _CLOSING) == 0
        else found
    )


def parse(reply_format: ReplyFormat, text: str, calls: Sequence[ToolCall], *, cut_off: bool) -> Parsed:
    """The reply, in whatever format it came: a model may call though it was asked for text, and write though
    it may call.
    """
    if reply_format == "calls" or calls:
        return parse_calls(text, calls, cut_off=cut_off)
    return parse_reply_text(text, cut_off)
