"""Where a task enters a line and where it leaves it: the stages in between, behind one computed stage for
what the task is given and what is derived.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentforge.catalog.extends import Document
from agentforge.catalog.line import Parts
from agentforge.core.conditions import PROVIDED
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import PHASE_OF, Part

HANDED_IN_BY: Mapping[Part, str] = {
    "requirements": "--spec FILE or --from-task TASK",
    "tests": "--from-tests DIRECTORY or --from-task TASK",
    "options": "`agentforge debate`, which takes --options",
}
"""How a person hands it in."""

_DERIVED: frozenset[Part] = frozenset({"request", "questions", "analysis"})
"""What the engine can write without asking anybody."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Where a task begins and ends, as a person said it, and the contracts that are handed in."""

    enter: str = ""
    leave: str = ""
    given: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Cut:
    """The part of a line that a task takes."""

    stages: tuple[Document, ...]
    enters: str = ""
    passed_over: tuple[tuple[str, str], ...] = ()
    ends_early: bool = False

    def told(self) -> Document:
        """The keys of a kept pipeline; what says nothing is left out."""
        skipped = [{"stage": stage, "reason": reason} for stage, reason in self.passed_over]
        found = {"enters": self.enters, "passed_over": skipped, "ends_early": self.ends_early}
        return {key: value for key, value in found.items() if value}


def required_from_outside(template: Mapping[str, Any]) -> list[str]:
    """The contracts without which a task of this pipeline cannot begin."""
    return [item["contract"] for item in template.get("requires_external", {}).values()]


def shown_what_is_required(template: Mapping[str, Any], stage: Document) -> Document:
    """A stage that is shown what its pipeline cannot begin without: everybody works on that."""
    needs = stage.get("requires", [])
    more = [name for name in required_from_outside(template) if name not in needs]
    return {**stage, "requires": [*needs, *more]} if more else stage


def taken_from_outside(template: Mapping[str, Any]) -> list[str]:
    """The contracts that may be handed in."""
    accepted = [item["contract"] for item in template.get("accepts_external", {}).values()]
    return [*dict.fromkeys((*required_from_outside(template), *accepted))]


def enters_at(template: Mapping[str, Any], ends: Ends, names: Sequence[str]) -> str:
    """The stage that the work begins at: what a person said, else the furthest that something handed in leads
    to; empty for the first of the line.
    """
    if ends.enter:
        return ends.enter
    leads = [
        item["skips_to"]
        for item in template.get("accepts_external", {}).values()
        if item["contract"] in ends.given
    ]
    known = [name for name in leads if name in names]
    return max(known, key=names.index, default="")


def reaches(template: Mapping[str, Any], ends: Ends, stages: Sequence[Document]) -> bool:
    """Whether this line has both ends."""
    names = [stage["name"] for stage in stages]
    led = [
        item["skips_to"]
        for item in template.get("accepts_external", {}).values()
        if item["contract"] in ends.given
    ]
    wanted = [ends.enter] if ends.enter else led
    return all(name in names for name in wanted) and (not ends.leave or ends.leave in legal_exits(stages))


def legal_exits(stages: Sequence[Document]) -> list[str]:
    """The stages that a task may end at."""
    return [stage["name"] for stage in stages if stage.get("exit_point")]


def legal_entries(template: Mapping[str, Any], stages: Sequence[Document]) -> list[str]:
    """The stages that a task may begin at, as a person reads them."""
    led = {item["skips_to"]: item["contract"] for item in template.get("accepts_external", {}).values()}
    found = []
    for stage in stages:
        name = stage["name"]
        if name in led:
            found.append(f"{name} (with a {led[name]})")
        elif stage.get("entry_point"):
            found.append(name)
    return found


def cut(
    template: Mapping[str, Any],
    stages: Sequence[Document],
    ends: Ends,
    entry: Callable[[], Document],
    parts: Parts,
) -> Cut:
    """The stages between two ends of a line, with what was handed in or is derived in front; or a
    `UsageError` that names the legal ends. `entry` is the definition of the stage in front.
    """
    names = [stage["name"] for stage in stages]
    _check_given(template, ends)
    last = _exit(template, ends.leave, stages)
    start = enters_at(template, ends, names)
    first = _entry(template, start, ends, stages) if start else 0
    if first > last:
        raise UsageError(
            f"A task that begins at {names[first]} cannot end at {names[last]}, which comes before."
        )
    inside = stages[first : last + 1]
    front = _in_front(template["name"], stages[:first], inside, ends.given, parts)
    reason = _why(ends, parts)
    passed = tuple((name, reason) for name in names[:first])
    early = last + 1 < len(stages)
    if not front:
        return Cut(tuple(inside), "", passed, early)
    proves = any(parts(item["contract"]) == "tests" for item in front)
    whole = {
        **entry(),
        "produces": front,
        "gates": ["red", "contracts"] if proves else ["contracts"],
        "needs_environment": proves,
    }
    return Cut((whole, *inside), inside[0]["name"], passed, early)


def _check_given(template: Mapping[str, Any], ends: Ends) -> None:
    taken = taken_from_outside(template)
    if strange := sorted(ends.given - {*taken}):
        raise UsageError(
            f"The pipeline {template['name']} takes no {strange[0]} from outside; it takes "
            f"{' and '.join(taken) or 'nothing'}."
        )
    for item in template.get("accepts_external", {}).values():
        missing = [name for name in item.get("requires", ()) if name not in ends.given]
        if item["contract"] in ends.given and missing:
            raise UsageError(
                f"A {item['contract']} from outside needs its {missing[0]} too.",
                "Hand in both: --from-spec FILE --from-tests DIRECTORY.",
            )


def _exit(template: Mapping[str, Any], name: str, stages: Sequence[Document]) -> int:
    if not name:
        return len(stages) - 1
    legal = legal_exits(stages)
    if name not in legal:
        raise UsageError(
            f"A task of the pipeline {template['name']} cannot end at {name}; it can end at "
            f"{', '.join(legal)}."
        )
    return [stage["name"] for stage in stages].index(name)


def _entry(template: Mapping[str, Any], name: str, ends: Ends, stages: Sequence[Document]) -> int:
    names = [stage["name"] for stage in stages]
    legal = legal_entries(template, stages)
    led = {item["skips_to"]: item["contract"] for item in template.get("accepts_external", {}).values()}
    allowed = name in names and (stages[names.index(name)].get("entry_point") or led.get(name) in ends.given)
    if not allowed:
        raise UsageError(
            f"A task of the pipeline {template['name']} cannot begin at {name}; it can begin at "
            f"{', '.join(legal)}."
        )
    return names.index(name)


def _in_front(
    pipeline: str,
    before: Sequence[Document],
    inside: Sequence[Document],
    given: frozenset[str],
    parts: Parts,
) -> list[Document]:
    """What the stages inside need and do not make, and what those before them would have made: each is handed
    in or derived.
    """
    wanted = {item["contract"]: item["phase"] for stage in before for item in stage["produces"]}
    made: set[str] = set()
    needed: set[str] = set()
    for stage in inside:
        needed |= {name for name in stage.get("requires", ()) if name not in made}
        made |= {item["contract"] for item in stage["produces"]}
    known = {name: parts(name) for name in {*wanted, *needed, *given}}
    front: dict[Part, Document] = {}
    for name, part in known.items():
        if part is None or part not in PHASE_OF:
            continue
        if (name in given or part in _DERIVED) and (name not in made or name in needed):
            phase = wanted.get(name) or PHASE_OF[part]
            front[part] = {"contract": name, "phase": phase, "derived": name not in given}
    missing = [name for name in sorted(needed, key=lambda item: str(known[item])) if known[name] not in front]
    if missing and before:
        part = known[missing[0]]
        hint = HANDED_IN_BY.get(part, "") if part else ""
        raise UsageError(
            f"To begin at {inside[0]['name']} the pipeline {pipeline} needs a {missing[0]}.",
            f"Hand it in with {hint}." if hint else "",
        )
    return [front[part] for part in PHASE_OF if part in front]


def _why(ends: Ends, parts: Parts) -> str:
    given = {parts(name) for name in ends.given}
    provided = [PROVIDED[part] for part in HANDED_IN_BY if part in given]
    return " and ".join(provided) or "asked for with --skip-to"
