"""From the text a model wrote to a reply, for wires without native tool calls.

Three shapes are read: plain JSON; JSON inside a ```json fence; and either of these with contents in further
fenced blocks, named by their info string and referred to as `{"$block": "name"}`. What cannot be used
comes back as a sentence for the model, never as an exception. All work is linear in the text.
"""

import re
from typing import NamedTuple

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json, Reply, reply_from_json, unknown_keys
from agentforge.models.reply.blocks import Blocks, blocks_of
from agentforge.models.reply.cut_off import Kept, keep_of_broken, keep_of_whole
from agentforge.models.reply.fences import Fence, find_fences
from agentforge.models.reply.json_text import BadJson, place, read_value, read_whole, skip_blank

MAX_REPLY_BYTES = 2_000_000
"""A longer reply is refused before anything parses it."""

_RECORDED_CHARACTERS = 64_000
_LINE_BRACE = re.compile(r"^[ \t]*+(?=\{)", re.MULTILINE)


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
    return _find_json(text, find_fences(text)) is not None


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
    fences = find_fences(text)
    found = _find_json(text, fences)
    if found is None:
        what = "it holds no JSON object" if text.strip() else "it is empty"
        raise ModelMistake("not_json", f"{what}; {_ADVICE_CUT if cut_off else _ADVICE}")
    blocks = blocks_of(fences, skip=found.fence)
    try:
        value = _read(found)
    except BadJson as error:
        if cut_off:
            return _partly(keep_of_broken(found.body, blocks), blocks)
        raise ModelMistake(
            "not_json", f"it is not valid JSON: {error.why} ({place(text, found.start + error.position)})"
        ) from None
    if cut_off and isinstance(value, dict) and not blocks.hold_all_of(value):
        return _partly(keep_of_whole(value, blocks), blocks)
    return Parsed(reply_from_json(blocks.fill(value, MAX_REPLY_BYTES)), unknown_keys(value) or None)


_ADVICE = "answer with one JSON object, plain or in a ```json fence"
_ADVICE_CUT = "it was cut off at the length limit before the first action; send a shorter reply"


def _partly(part: Kept, blocks: Blocks) -> Parsed:
    if not part.kept:
        return Parsed(None, part.sentence())
    return Parsed(reply_from_json(blocks.fill(part.document, MAX_REPLY_BYTES)), part.sentence())


def _find_json(text: str, fences: tuple[Fence, ...]) -> _Json | None:
    """A bare object that opens the text, else the first ```json fence, else a bare object on a line of its
    own after prose.
    """
    first = skip_blank(text, 0)
    if text.startswith("{", first):
        return _Json(text[first:], first, None)
    for fence in fences:
        if fence.info.lower() in ("json", "") and fence.body.lstrip().startswith("{"):
            return _Json(fence.body, text.index("\n", fence.start) + 1, fence)
    position = 0
    for fence in fences:
        if found := _LINE_BRACE.search(text, position, fence.start):
            return _Json(text[found.end() :], found.end(), None)
        position = fence.end
    found = _LINE_BRACE.search(text, position)
    return _Json(text[found.end() :], found.end(), None) if found else None


def _read(found: _Json) -> Json:
    """The JSON value; outside a fence prose and blocks may follow it, but no second object."""
    if found.fence is not None:
        return read_whole(found.body)
    value, end = read_value(found.body)
    after = skip_blank(found.body, end)
    if found.body.startswith("{", after):
        raise BadJson("a second JSON object follows the first; send one", after)
    return value
