"""A model's reply as a value, whatever wire it came over."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from agentforge.core.errors import ModelMistake

Json: TypeAlias = "str | int | bool | None | list[Json] | dict[str, Json]"
"""What a recorded value may hold. No floats: they do not survive a canonical form."""

Signal = Literal[
    "success",
    "failure_retryable",
    "failure_terminal",
    "new_tasks_discovered",
    "blocked_on_human",
    "blocked_on_sibling",
]
SIGNALS: tuple[Signal, ...] = get_args(Signal)
STUCK: tuple[Signal, ...] = tuple(signal for signal in SIGNALS if signal != "success")
"""What a model is told of: a stage that is done says so by what it hands in. `success` is still heard."""

MAX_ACTIONS = 32
"""More actions than this in one reply are a mistake: nobody reads the results of that many at once."""

_KEYS = frozenset({"thought", "notes", "actions", "artifacts", "signal", "summary"})


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the model wants done."""

    name: str
    args: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Reply:
    """thought, notes, actions, signal, summary: all of a step that the model decides."""

    thought: str = ""
    notes: str | None = None
    actions: tuple[Action, ...] = ()
    signal: Signal | None = None
    summary: str = ""


def reply_from_json(value: object) -> Reply:
    """The reply that a JSON object spells, or a `ModelMistake` that says exactly what to change.

    `actions` are `{"name": …, "args": {…}}` (or flat, `{"action": …, …arguments}`); `artifacts` is a
    mapping from contract to document and means one `submit_artifact` each, after the actions.
    """
    if not isinstance(value, dict):
        raise ModelMistake("reply_shape", f"a reply is a JSON object, not {_kind(value)}")
    if not set(value) & _KEYS and set(value) & {"name", "action"}:
        value = {"actions": [value]}  # one action, without what is around it
    actions = [
        _action(item, position) for position, item in enumerate(_list(value.get("actions"), "actions"), 1)
    ]
    artifacts = value.get("artifacts") or {}
    if not isinstance(artifacts, dict):
        raise ModelMistake("reply_shape", "`artifacts` is an object from contract name to document")
    actions += [
        Action("submit_artifact", {"contract": str(name), "artifact": document})
        for name, document in artifacts.items()
    ]
    if len(actions) > MAX_ACTIONS:
        raise ModelMistake("too_many_actions", f"{len(actions)} actions in one reply; at most {MAX_ACTIONS}")
    signal = value.get("signal")
    if signal is not None and signal not in SIGNALS:
        raise ModelMistake(
            "unknown_signal", f"unknown signal {str(signal)[:80]!r}; one of {', '.join(SIGNALS)}, or none"
        )
    return Reply(
        thought=_text(value.get("thought"), "thought"),
        notes=_text(value["notes"], "notes") if value.get("notes") is not None else None,
        actions=tuple(actions),
        signal=signal,
        summary=_text(value.get("summary"), "summary"),
    )


def unknown_keys(value: object) -> str:
    """The sentence about keys that a reply does not have; they are left out. Empty if there are none."""
    unknown = sorted(map(str, set(value) - _KEYS)) if isinstance(value, dict) else []
    if not unknown:
        return ""
    return f"Left out of your reply, which has no such key: {', '.join(unknown)[:200]}."


def reply_to_json(reply: Reply) -> dict[str, Json]:
    """The recorded form of a reply; `reply_from_json` reads it back."""
    return {
        "thought": reply.thought,
        "notes": reply.notes,
        "actions": [{"name": action.name, "args": dict(action.args)} for action in reply.actions],
        "signal": reply.signal,
        "summary": reply.summary,
    }


def _action(item: object, position: int) -> Action:
    if not isinstance(item, dict):
        raise ModelMistake("reply_shape", f"action {position} is {_kind(item)}, not an object")
    if "name" in item and set(item) <= {"name", "args"}:
        name, args = item["name"], item.get("args") or {}
    elif "action" in item:
        name, args = item["action"], {key: part for key, part in item.items() if key != "action"}
    else:
        raise ModelMistake("reply_shape", f'action {position} needs "name" and "args"')
    if not isinstance(name, str) or not isinstance(args, dict):
        raise ModelMistake("reply_shape", f'action {position}: "name" is text and "args" an object')
    return Action(name, args)


def _list(value: object, key: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ModelMistake("reply_shape", f"`{key}` is a list, not {_kind(value)}")
    return value


def _text(value: object, key: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ModelMistake("reply_shape", f"`{key}` is text, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    return {
        "NoneType": "null",
        "str": "text",
        "list": "a list",
        "dict": "an object",
        "bool": "a boolean",
    }.get(type(value).__name__, "a number")
