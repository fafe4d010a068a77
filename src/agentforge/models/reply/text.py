"""From the text a model wrote to a reply, for wires without native tool calls.

Three shapes are read: plain JSON; JSON inside a ```json fence; and either of these with contents in further
fenced blocks, named by their info string and referred to as `{"$block": "name"}`. What cannot be used
comes back as a sentence for the model, never as an exception. All work is linear in the text.
"""

import re
from typing import NamedTuple, NoReturn

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json, Reply, reply_from_json, unknown_keys
from agentforge.models.reply.blocks import Blocks, blocks_of
from agentforge.models.reply.cut_off import Kept, keep_of_broken, keep_of_whole
from agentforge.models.reply.fences import Fence, find_fences
from agentforge.models.reply.json_text import BadJson, place, read_value, read_whole, skip_blank
from agentforge.models.reply.mended import looks_like_yaml, read_nearly, read_yaml
from agentforge.models.reply.shapes import is_call, one_reply, usual_shape

MAX_REPLY_BYTES = 2_000_000
"""A longer reply is refused before anything parses it."""

_RECORDED_CHARACTERS = 64_000
_LINE_BRACE = re.compile(r"^[ \t]*+(?=\{)", re.MULTILINE)
_OPENS = re.compile(r"\{|\[[ \t\r\n]*+\{")
_TAGGED = re.compile(r"(?:</?[A-Za-z_]{1,20}>[ \t\r\n]*+){1,3}(?=\{)")
_THINKING = re.compile(r"\s*+<(?:think|thinking|thought|reasoning|scratchpad)>")
_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning|scratchpad)>")


class Parsed(NamedTuple):
    """What became of a text: a reply, a sentence on what is wrong with it, or both (partly usable)."""

    reply: Reply | None
    mistake: str | None


class _Json(NamedTuple):
    """The part of a text that should be the JSON."""

    body: str
    start: int
    fence: Fence | None


def parse_reply_text(text: str, cut_off: bool = False) -> Parsed:  # noqa: FBT001, FBT002 - one plain question about the text
    """The reply that `text` spells, and what to tell the model if all or a part of it cannot be used."""
    if (size := utf8_size(text)) > MAX_REPLY_BYTES:
        return Parsed(None, too_long(size))
    try:
        return _parse(text, cut_off=cut_off)
    except ModelMistake as mistake:
        return Parsed(None, f"The reply cannot be used: {mistake.text}.")


def holds_json(text: str) -> bool:
    """Whether something in the text could be meant as a reply in JSON."""
    text = text[end_of_thinking(text) :]
    fences = find_fences(text)
    return _find_json(text, fences) is not None or _in_yaml(text, fences) is not None


def recorded(text: str) -> str:
    """What is kept of a raw reply on record: all of it, unless it was refused for its size. Always writable
    as UTF-8.
    """
    if utf8_size(text) > MAX_REPLY_BYTES:
        text = (
            f"{text[:_RECORDED_CHARACTERS]}\n[{len(text) - _RECORDED_CHARACTERS:,} more characters "
            "are not kept]"
        )
    return text.encode("utf-8", "replace").decode()


def too_long(size: int) -> str:
    """What to tell a model whose reply has `size` bytes."""
    return (
        f"The reply is {size:,} bytes long; at most {MAX_REPLY_BYTES:,} are read. Send fewer or "
        "smaller actions."
    )


def utf8_size(text: str) -> int:
    """Bytes of the text, without encoding one that is too long anyway."""
    return len(text) if len(text) > MAX_REPLY_BYTES else len(text.encode("utf-8", "surrogatepass"))


def _parse(text: str, *, cut_off: bool) -> Parsed:
    text = text[end_of_thinking(text) :]
    fences = find_fences(text)
    found = _find_json(text, fences)
    if found is None:
        if not cut_off and (value := _in_yaml(text, fences)) is not None:
            return _whole(value, blocks_of(fences, skip=None))
        what = "it holds no JSON object" if text.strip() else "it is empty"
        raise ModelMistake("not_json", f"{what}; {_ADVICE_CUT if cut_off else _ADVICE}")
    blocks = blocks_of(fences, skip=found.fence)
    try:
        value = _read(found, fences, mend=not cut_off)
    except BadJson as error:
        if cut_off:
            return _partly(keep_of_broken(found.body, blocks), blocks)
        raise ModelMistake(
            "not_json", f"it is not valid JSON: {error.why} ({place(text, found.start + error.position)})"
        ) from None
    if cut_off and isinstance(value, dict) and not blocks.hold_all_of(value):
        return _partly(keep_of_whole(value, blocks), blocks)
    return _whole(value, blocks)


def _whole(value: Json, blocks: Blocks) -> Parsed:
    shaped = usual_shape(value)
    return Parsed(reply_from_json(blocks.fill(shaped, MAX_REPLY_BYTES)), unknown_keys(shaped) or None)


def end_of_thinking(text: str) -> int:
    """Where a reply begins whose model wrote its thinking before it, between tags. A tag inside a file's text
    is none: it stands after the first fence or the first brace that nothing closes.
    """
    opened = _THINKING.match(text)
    closed = _THOUGHT.search(text, opened.end() if opened else 0)
    if closed is None:
        return 0
    if opened is not None:
        return closed.end()
    fences = find_fences(text)
    alone = closed.end() == len(text) or text[closed.end()] in "\r\n"
    return closed.end() if alone and not (fences and fences[0].start < closed.start()) else 0


def _in_yaml(text: str, fences: tuple[Fence, ...]) -> Json:
    """A reply in YAML: all of the text, or the one fence that says so."""
    named = [fence.body for fence in fences if fence.closed and fence.info.lower() in ("yaml", "yml")]
    if len(named) == 1 and looks_like_yaml(named[0]):
        return read_yaml(named[0])
    return read_yaml(text) if looks_like_yaml(text) else None


_ADVICE = (
    "answer with one JSON object, plain or in a ```json fence, whose `actions` is a list of objects with "
    "`name` (a tool) and `args` (its arguments)"
)
_ADVICE_CUT = "it was cut off at the length limit before the first action; send a shorter reply"


def _partly(part: Kept, blocks: Blocks) -> Parsed:
    if not part.kept:
        return Parsed(None, part.sentence())
    return Parsed(reply_from_json(blocks.fill(part.document, MAX_REPLY_BYTES)), part.sentence())


def _find_json(text: str, fences: tuple[Fence, ...]) -> _Json | None:
    """A bare object or list that opens the text, else the first ```json fence, else a bare object on a line
    of its own after prose.
    """
    first = skip_blank(text, 0)
    if _OPENS.match(text, first):
        return _Json(text[first:], first, None)
    for fence in fences:
        if _is_json(fence):
            return _Json(fence.body, text.index("\n", fence.start) + 1, fence)
    position = 0
    for fence in fences:
        if found := _LINE_BRACE.search(text, position, fence.start):
            return _Json(text[found.end() :], found.end(), None)
        position = fence.end
    found = _LINE_BRACE.search(text, position)
    return _Json(text[found.end() :], found.end(), None) if found else None


def _is_json(fence: Fence) -> bool:
    named = fence.info.lower() in ("json", "json5", "tool_call", "tool_code", "")
    return named and _OPENS.match(fence.body.lstrip()) is not None


def _read(found: _Json, fences: tuple[Fence, ...], *, mend: bool) -> Json:
    """The JSON value. Calls that follow it, each an object of its own, belong to it; prose and blocks may
    follow, and no other object.
    """
    if found.fence is not None:
        return _joined(
            [_one(found.body, mend=mend), *_later_fences(found.fence.end, fences)], len(found.body)
        )
    try:
        value, end = read_value(found.body)
    except BadJson as error:
        return read_nearly(_before_fence(found, fences), error) if mend else _fail(error)
    values = [value]
    while (next_one := _next_object(found.body, end, straight=not is_call(value))) is not None:
        at = next_one
        value, end = read_value(found.body, at)
        values.append(value)
    return _joined([*values, *_later_fences(found.start + end, fences)], end)


def _fail(error: BadJson) -> NoReturn:
    raise error


def _one(body: str, *, mend: bool) -> Json:
    try:
        return read_whole(body)
    except BadJson as error:
        values = _in_a_row(body)
        if values is not None:
            return values
        if not mend:
            raise
        return read_nearly(body, error)


def _in_a_row(body: str) -> Json:
    """Calls in one fence, one after the other; None if it holds anything else."""
    values, end = [], 0
    try:
        while (at := skip_blank(body, end)) < len(body):
            value, end = read_value(body, at)
            values.append(value)
    except BadJson:
        return None
    return values if len(values) > 1 and all(map(is_call, values)) else None


def _later_fences(after: int, fences: tuple[Fence, ...]) -> list[Json]:
    """What further ```json fences hold, where that is a reply or a call: the text of a file is none."""
    found: list[Json] = []
    for fence in fences:
        if fence.start >= after and fence.closed and _is_json(fence):
            try:
                value = read_whole(fence.body)
            except BadJson:
                continue
            if is_call(value) or (isinstance(value, dict) and {"actions", "artifacts"} & set(value)):
                found.append(value)
    return found


def _joined(values: list[Json], end: int) -> Json:
    if len(values) == 1:
        return values[0]
    whole = one_reply(values)
    if whole is None:
        raise BadJson("a second JSON object follows the first; send one, with all actions in its list", end)
    return whole


def _next_object(body: str, end: int, *, straight: bool) -> int | None:
    """Where another object begins: straight after the last one, or, after a call, on a later line or behind a
    tag.
    """
    after = skip_blank(body, end)
    if body.startswith("{", after):
        return after
    if straight:
        return None
    found = _TAGGED.match(body, after)
    return found.end() if found else None


def _before_fence(found: _Json, fences: tuple[Fence, ...]) -> str:
    """The text up to the next fence: blocks follow the JSON that refers to them."""
    ends = [fence.start - found.start for fence in fences if fence.start > found.start]
    return found.body[: ends[0]] if ends else found.body
