"""From native tool calls to a reply. Pure: it knows no wire library.

Each call is an action, in order. One more tool, `report`, carries what a tool call cannot: thought, notes,
signal and summary. Text beside the calls is the thought. Without calls the text itself may be a reply in
JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import STUCK, Json, Reply, reply_from_json, reply_to_json
from agentforge.models.base import MAX_REPLY_BYTES, OfferedTool, Parsed, parse_reply_text
from agentforge.models.reply.cut_off import Kept
from agentforge.models.reply.json_text import BadJson, read_whole
from agentforge.models.reply.mended import read_nearly
from agentforge.models.reply.text import holds_json, recorded, too_long, utf8_size
from agentforge.system.canon import canonical

NO_ACTION = "The reply holds no action: call at least one tool."

REPORT = OfferedTool(
    "report",
    "Notes to keep for the next step (they replace the old ones), or a signal if the stage cannot be done. "
    "Neither is needed to be done.",
    {
        "type": "object",
        "properties": {
            "notes": {
                "type": "string",
                "description": "All you want to remember at the next step; replaces the notes you see.",
            },
            "signal": {"type": "string", "enum": list(STUCK)},
            "summary": {"type": "string", "description": "With a signal: why, in one line."},
        },
        "additionalProperties": False,
    },
)
_REPORT_KEYS = frozenset({"thought", "notes", "signal", "summary"})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call as it came over the wire: the arguments are text that should be a JSON object."""

    name: str
    arguments: str


class _Read(NamedTuple):
    """The calls that could be read, up to the first that could not."""

    actions: list[Json]
    report: dict[str, Json]
    fault: str
    """What is wrong with the first unreadable call; empty if all were read."""
    lost: tuple[str, ...]


def parse_calls(text: str, calls: Sequence[ToolCall], *, cut_off: bool) -> Parsed:
    """The reply that text and calls are together, and what to tell the model if a part of it cannot be
    used.
    """
    if not calls:
        return parse_reply_text(text, cut_off) if cut_off or holds_json(text) else Parsed(None, NO_ACTION)
    size = utf8_size(text) + sum(utf8_size(call.name) + utf8_size(call.arguments) for call in calls)
    if size > MAX_REPLY_BYTES:
        return Parsed(None, too_long(size))
    read = _read(calls, cut_off=cut_off)
    partial = cut_off or bool(read.lost)
    report, report_fault = _checked_report(read.report, partial=partial)
    faults = [report_fault] if report_fault else []
    if partial:
        faults.append(_sentence(read, cut_off=cut_off))
    thought = "\n\n".join(part for part in (text.strip(), str(report.pop("thought", ""))) if part)
    if not read.actions and (partial or not report):
        return Parsed(None, " ".join(faults) or NO_ACTION)
    try:
        reply = reply_from_json({**report, "thought": thought, "actions": read.actions})
    except ModelMistake as mistake:
        return Parsed(None, f"The reply cannot be used: {mistake.text}.")
    return Parsed(reply, " ".join(faults) or None)


def recorded_calls(text: str, calls: Sequence[ToolCall], reply: Reply | None, mistake: str | None) -> str:
    """What goes on record: the reply itself if all of it was used, else what came over the wire."""
    if not calls:
        return recorded(text)
    if reply is not None and mistake is None:
        return canonical(reply_to_json(reply)).decode()
    wire: list[Json] = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return recorded(canonical({"content": text, "tool_calls": wire}).decode())


def _read(calls: Sequence[ToolCall], *, cut_off: bool) -> _Read:
    actions: list[Json] = []
    report: dict[str, Json] = {}
    for at, call in enumerate(calls):
        last = cut_off and at == len(calls) - 1
        try:
            arguments = _arguments(call, may_be_empty=not last, cut_off=last)
        except BadJson as error:
            fault = f"The arguments of call {at + 1} ({call.name}) are not a JSON object: {error.why}."
            return _Read(actions, report, fault, tuple(lost.name for lost in calls[at:]))
        if call.name == REPORT.name:
            report |= arguments
        else:
            actions.append({"name": call.name, "args": arguments})
    return _Read(actions, report, "", ())


def _arguments(call: ToolCall, *, may_be_empty: bool, cut_off: bool) -> dict[str, Json]:
    # Several servers send no text at all for a call without arguments; after a cut it means that none
    # arrived.
    if may_be_empty and not call.arguments.strip():
        return {}
    try:
        value = read_whole(call.arguments)
    except BadJson as error:
        if cut_off:
            raise
        value = read_nearly(call.arguments, error)
    if not isinstance(value, dict):
        raise BadJson("it is some other value")
    return value


def _checked_report(report: dict[str, Json], *, partial: bool) -> tuple[dict[str, Json], str]:
    """The usable part of a report; of a partial reply only what does not speak for the whole."""
    report = {key: value for key, value in report.items() if key in _REPORT_KEYS}
    try:
        reply_from_json(report)
    except ModelMistake as mistake:
        return {}, f"`report` was not used: {mistake.text}."
    return {
        key: value
        for key, value in report.items()
        if value is not None and not (partial and key in ("signal", "summary"))
    }, ""


def _sentence(read: _Read, *, cut_off: bool) -> str:
    kept = tuple(str(action["name"]) for action in read.actions if isinstance(action, dict))
    if cut_off:
        return Kept({}, kept, read.lost).sentence()
    names = ", ".join(f"{at}. {name}" for at, name in enumerate(kept, 1)) or "none"
    return f"{read.fault} Kept, in order: {names}. Not run: {', '.join(read.lost)}; send these again."
