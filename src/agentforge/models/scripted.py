"""A model whose replies a file dictates: for demonstrations, tests and replays. Everything around it is real.

    replies:
      - stage: red                      # consumed in order, per stage
        role: reviewer                  # optional: a reviewer of the stage (its role, or `arbiter`)
        expects: ["REQ-001", {not: "secret"}]   # patterns that must (must not) be in the context
        reply: {thought: …, actions: […]}       # or a raw text
        stop: length                    # optional: as if the length limit had cut the text here
        usage: {input_tokens: 900, output_tokens: 80, cached_tokens: 0}     # optional

Which reply comes next is decided by the request alone (`ordinal`), so a call that is sent again after a crash
gets the same answer. Patterns are regular expressions; `^` and `$` match at each line.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard, get_args

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.models.base import (
    REFUSED,
    Answer,
    ModelTrouble,
    Request,
    Reservation,
    Stop,
    Usage,
    parse_reply_text,
    render_blocks,
    rough_tokens,
)
from agentforge.models.reply.text import recorded
from agentforge.system.strict_yaml import load

_KEYS = frozenset({"stage", "role", "reply", "expects", "stop", "usage"})
_USAGE_KEYS = frozenset({"input_tokens", "output_tokens", "cached_tokens"})


@dataclass(frozen=True, slots=True)
class Expectation:
    """A pattern that the context must, or must not, hold."""

    pattern: re.Pattern[str]
    present: bool

    def met(self, context: str) -> bool:
        """Whether the context is as expected."""
        return (self.pattern.search(context) is not None) is self.present


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """One entry of a script: a reply, when it is due and what it expects."""

    number: int
    """Its place in the file, from 1."""
    stage: str
    text: str
    expects: tuple[Expectation, ...]
    stop: Stop
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class ScriptedModel:
    """The `Model` that reads from a script."""

    source: str
    """The file, as errors name it."""
    replies: tuple[ScriptedReply, ...]
    name: str = "scripted"

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """The tokens that could be used; a script costs no money."""
        return Reservation(input_tokens + request.max_output_tokens, 0)

    def ask(self, request: Request) -> Answer:
        """The reply that the script has for this stage at this point."""
        entry = self._entry(request)
        context = f"{request.system}\n\n{render_blocks(request.blocks)}"
        sent = f"{context}\n\n{_offered(request)}" if entry.expects else context
        for expectation in entry.expects:
            if not expectation.met(sent):
                fault = (
                    "is not in the context" if expectation.present else "is in the context, and must not be"
                )
                pattern = expectation.pattern.pattern
                raise ModelTrouble(
                    "script",
                    f"Reply {entry.number} of {self.source} (stage {entry.stage}): the pattern "
                    f"{pattern!r} {fault}.",
                )
        refused = entry.stop == "refused"
        reply, mistake = (None, REFUSED) if refused else parse_reply_text(entry.text, entry.stop == "length")
        usage = entry.usage or Usage(rough_tokens(context), rough_tokens(entry.text))
        return Answer(recorded(entry.text), reply, mistake, usage, 0, self.name, entry.stop)

    def _entry(self, request: Request) -> ScriptedReply:
        mine = [entry for entry in self.replies if entry.stage == request.stage]
        if request.ordinal < len(mine):
            return mine[request.ordinal]
        if mine:
            fault = f"has {len(mine)} for stage {request.stage}, and one more was asked for ({request.key})"
        else:
            stages = ", ".join(dict.fromkeys(entry.stage for entry in self.replies)) or "none"
            fault = f"has none for stage {request.stage} ({request.key}); its stages: {stages}"
        raise ModelTrouble("script", f"The script {self.source} is out of replies: it {fault}.")


def load_script(path: Path) -> ScriptedModel:
    """The model that the file at `path` describes; a `UsageError` names the file and the entry at fault."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"There is no script {path}.", "Name a file with `--model scripted:FILE`.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The script {path} cannot be read: {error}.") from error
    return read_script(text, str(path))


def read_script(text: str, source: str) -> ScriptedModel:
    """The model that this YAML text describes; `source` is what errors call it."""
    document: object = load(text, source)
    if (
        not _is_object(document)
        or set(document) != {"replies"}
        or not isinstance(entries := document["replies"], list)
    ):
        raise UsageError(f"{source}: a script is a mapping with one key, `replies`, which is a list.")
    return ScriptedModel(
        source,
        tuple(
            _entry(item, number, _EntryPlace(source, text, number)) for number, item in enumerate(entries, 1)
        ),
    )


@dataclass(frozen=True, slots=True)
class _EntryPlace:
    """The entry that is being read, so that an error can name its file and line."""

    source: str
    text: str
    number: int

    def fault(self, sentence: str, near: str = "") -> UsageError:
        """The error for this entry, with the line of `near` if it occurs once in the file."""
        lines = [
            at
            for at, line in enumerate(self.text.splitlines(), 1)
            if near and re.match(rf"[\s\-{{]*{re.escape(near)}\s*:", line)
        ]
        line = f":{lines[0]}" if len(lines) == 1 else ""
        return UsageError(f"{self.source}{line}: reply {self.number}: {sentence}")


def _entry(item: object, number: int, place: _EntryPlace) -> ScriptedReply:
    if not _is_object(item):
        raise place.fault("it is not a mapping")
    if unknown := sorted(set(item) - _KEYS):
        raise place.fault(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}", near=unknown[0])
    stage, reply = item.get("stage"), item.get("reply")
    if not isinstance(stage, str) or not stage:
        raise place.fault("`stage` is missing or not a text")
    if not isinstance(reply, dict | str):
        raise place.fault("`reply` is missing, or neither a mapping nor a text")
    stop = item.get("stop", "end")
    if not _is_stop(stop):
        raise place.fault(f"`stop` is {stop!r}; one of {', '.join(get_args(Stop))}", near="stop")
    role = item.get("role", "")
    if not isinstance(role, str):
        raise place.fault("`role` is not a text", near="role")
    stage = f"{stage}/{role}" if role else stage
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    return ScriptedReply(
        number, stage, text, _expectations(item.get("expects"), place), stop, _usage(item.get("usage"), place)
    )


def _expectations(value: object, place: _EntryPlace) -> tuple[Expectation, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise place.fault("`expects` is a list of patterns", near="expects")
    return tuple(_expectation(item, place) for item in value)


def _expectation(item: object, place: _EntryPlace) -> Expectation:
    present = not _is_object(item)
    if _is_object(item) and set(item) == {"not"}:
        item = item["not"]
    if not isinstance(item, str):
        raise place.fault("each of `expects` is a pattern, or `{not: pattern}`", near="expects")
    try:
        return Expectation(re.compile(item, re.MULTILINE), present)
    except re.error as error:
        raise place.fault(f"the pattern {item!r} is not a regular expression: {error}") from error


def _usage(value: object, place: _EntryPlace) -> Usage | None:
    if value is None:
        return None
    if not _is_object(value) or set(value) - _USAGE_KEYS:
        raise place.fault(f"`usage` is a mapping of {', '.join(sorted(_USAGE_KEYS))}", near="usage")
    counts: dict[str, int] = {}
    for key, count in value.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise place.fault(f"`usage.{key}` is not a whole number of tokens", near=key)
        counts[key] = count
    return Usage(**counts)


def _is_object(value: object) -> TypeGuard[Mapping[str, Json]]:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


def _is_stop(value: object) -> TypeGuard[Stop]:
    return isinstance(value, str) and value in get_args(Stop)


def _offered(request: Request) -> str:
    """The tools as a model reads them: what is owed is described there."""
    return "\n".join(
        f"{tool.name}: {tool.description}\n{json.dumps(dict(tool.schema), ensure_ascii=False)}"
        for tool in request.tools
    )
