"""Old journals stay readable: one pure function per old version of the events, applied one after the other on
reading.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from agentforge.core.reply import Json

VERSION = 2
"""The version of the events that this program writes."""

Recorded: TypeAlias = dict[str, Json]
Upgrade: TypeAlias = Callable[[Recorded], Recorded]

_OF_RUN = frozenset(
    {
        "stage_entered",
        "step_opened",
        "context_assembled",
        "ask_sent",
        "ask_ticketed",
        "ask_promoted",
        "ask_answered",
        "ask_lost",
        "ask_failed",
        "wait_ended",
        "actions_performed",
        "checked",
        "step_closed",
        "gate_opened",
        "gate_judged",
        "review_given",
        "reverted",
        "attempt_failed",
        "stage_accepted",
    }
)
"""Events of the first version that belong to a run."""
_OF_REPLY = ("ref", "usage", "cost", "actions", "priced", "signal", "mistake", "summary", "model", "delivery")
"""What an answered call said of its reply in the first version."""


def _name_runs(event: Recorded) -> Recorded:
    """From version 1, where an event named the seat of a reviewer, and nothing if it was the worker's.

    Since version 2 every event of a run names the run; the reply and what a task was started with are values
    of their own.
    """
    kind = event["type"]
    if kind == "task_created":
        return {"type": kind, "spec": {name: part for name, part in event.items() if name != "type"}}
    seat = event.get("seat", "")
    new = {name: part for name, part in event.items() if name != "seat"}
    if kind in _OF_RUN:
        new["run"] = f"worker/{seat}" if seat else "worker"
    if kind == "stage_entered" and seat:
        new |= {"owner": "reviewer", "parent": "worker"}
    elif kind == "review_given":
        new["type"] = "handed_in"
    elif kind == "ask_answered":
        new["reply"] = {name: new.pop(name) for name in _OF_REPLY if name in new}
    elif kind == "escalated":
        new["escalation"] = _name_asking_run(event["escalation"])
    return new


def _name_asking_run(escalation: Json) -> Json:
    assert isinstance(escalation, dict)
    seat = escalation.get("seat", "")
    new = {name: part for name, part in escalation.items() if name != "seat"}
    if seat:
        new["run"] = f"worker/{seat}"
    elif escalation["stage"] != "prepare":  # what it said where no stage was under way
        new["run"] = "worker"
    return new


UPGRADES: Mapping[int, Upgrade] = MappingProxyType({1: _name_runs})
"""By version: what turns a recorded event of that version into one of the next."""


class TooNew(ValueError):
    """The event's version is not known here."""


def upcast(
    version: int, event: Recorded, upgrades: Mapping[int, Upgrade] = UPGRADES, target: int = VERSION
) -> Recorded:
    """The event as `target` would have recorded it. A version beyond `target` raises `TooNew`."""
    if version > target:
        raise TooNew(f"events of version {version}; this program knows {target}")
    for old in range(version, target):
        event = upgrades[old](event)
    return event
