"""What can be saved of a reply that the length limit cut off.

The complete leading actions are kept. Actions run in order, so one after the first incomplete action is lost
too; so are `signal` and `summary`, which speak for the whole reply. Artifacts are submitted after all
actions, so they stand only if no action is missing.
"""

import re
from dataclasses import dataclass, field, replace
from itertools import takewhile

from agentforge.core.reply import MAX_ACTIONS, Json
from agentforge.models.reply.blocks import Blocks
from agentforge.models.reply.json_text import BadJson, read_value, skip_blank

_NAME = re.compile(r'"(?:name|action)"\s*:\s*"([^"\\\n]{1,80})"')


@dataclass(frozen=True, slots=True)
class Kept:
    """The complete part of a reply, in its own JSON shape, and the names of what it does and of what was
    lost.
    """

    document: dict[str, Json]
    kept: tuple[str, ...]
    lost: tuple[str, ...]

    def sentence(self) -> str:
        """The sentence that tells the model what of its reply was lost."""
        lost = (
            f"Lost: {', '.join(self.lost[:MAX_ACTIONS]) or 'what came next'}, and everything after; "
            "send that again, in a shorter reply."
        )
        if not self.kept:
            return f"The reply was cut off at the length limit before its first action was complete. {lost}"
        names = ", ".join(f"{at}. {name}" for at, name in enumerate(self.kept, 1))
        return f"The reply was cut off at the length limit. Kept, in order: {names}. {lost}"


@dataclass(slots=True)
class _Members:
    """The members of a top-level object as far as they are complete."""

    steady: dict[str, Json] = field(default_factory=dict)
    actions: list[Json] = field(default_factory=list)
    all_actions: bool = False
    artifacts: dict[str, Json] = field(default_factory=dict)
    rest: int = 0
    """Where the first incomplete part begins."""


def keep_of_broken(body: str, blocks: Blocks) -> Kept:
    """What is complete in JSON that breaks off somewhere."""
    members = _read_members(body)
    kept = _keep(members, blocks)
    found = _NAME.search(body, members.rest)
    return replace(kept, lost=(*kept.lost, found[1])) if found else kept


def keep_of_whole(value: dict[str, Json], blocks: Blocks) -> Kept:
    """What is complete in JSON that is whole, but whose blocks break off."""
    actions, artifacts = value.get("actions"), value.get("artifacts")
    members = _Members(
        steady=_steady(value),
        actions=actions if isinstance(actions, list) else [],
        all_actions=True,
        artifacts=artifacts if isinstance(artifacts, dict) else {},
    )
    return _keep(members, blocks)


def _keep(members: _Members, blocks: Blocks) -> Kept:
    actions = list(takewhile(blocks.hold_all_of, members.actions))
    named: list[tuple[str, Json]] = []
    if members.all_actions and len(actions) == len(members.actions):
        named = list(takewhile(lambda item: blocks.hold_all_of(item[1]), members.artifacts.items()))
    document: dict[str, Json] = {**members.steady, "actions": actions, "artifacts": dict(named)}
    names = [_name(action) for action in members.actions]
    artifacts = [f"artifact {name}" for name in members.artifacts]
    return Kept(
        document,
        kept=(*names[: len(actions)], *artifacts[: len(named)]),
        lost=(*names[len(actions) :], *artifacts[len(named) :]),
    )


def _read_members(body: str) -> _Members:
    members = _Members()
    position = skip_blank(body, 0) + 1
    try:
        while True:
            members.rest = position
            key, position = read_value(body, _past(body, position, ","))
            position = _past(body, position, ":")
            if key == "actions" and body.startswith("[", position):
                position = _read_actions(body, position, members)
            elif key == "artifacts" and body.startswith("{", position):
                position = _read_artifacts(body, position, members)
            else:
                value, position = read_value(body, position)
                members.steady |= _steady({str(key): value})
    except BadJson:
        return members


def _read_actions(body: str, position: int, members: _Members) -> int:
    position = skip_blank(body, position + 1)
    while not body.startswith("]", position):
        members.rest = position
        if len(members.actions) > MAX_ACTIONS:
            raise BadJson("too many actions to go on", position)
        action, position = read_value(body, _past(body, position, ","))
        members.actions.append(action)
        position = skip_blank(body, position)
    members.all_actions = True
    return position + 1


def _read_artifacts(body: str, position: int, members: _Members) -> int:
    position = skip_blank(body, position + 1)
    while not body.startswith("}", position):
        members.rest = position
        name, position = read_value(body, _past(body, position, ","))
        document, position = read_value(body, _past(body, position, ":"))
        members.artifacts[str(name)] = document
        position = skip_blank(body, position)
    return position + 1


def _past(body: str, position: int, mark: str) -> int:
    """After blanks and, if it is there, one `mark`."""
    position = skip_blank(body, position)
    return skip_blank(body, position + 1) if body.startswith(mark, position) else position


def _steady(value: dict[str, Json]) -> dict[str, Json]:
    """The members that mean the same without the rest of the reply."""
    return {key: part for key, part in value.items() if key in ("thought", "notes") and isinstance(part, str)}


def _name(action: Json) -> str:
    name = action.get("name", action.get("action")) if isinstance(action, dict) else None
    return name[:80] if isinstance(name, str) else "?"
