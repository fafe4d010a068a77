"""Nothing new, nothing worse: what a check found before a change, against what it finds now. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from agentforge.catalog.exits import complexity_limit, exit_numbers
from agentforge.languages.values import CheckRun

NOT_CONFIGURED = "not run: not configured"
"""What is said of a check that the project does not have."""

LEFT_OUT = CheckRun("not_configured", "left out by a person's answer")
_TELLING = (LEFT_OUT.reason, "its environment has none")
"""How reasons end that are not "nobody configured it"; the second is of baselines of older releases."""


def not_run(run: CheckRun) -> str:
    """What is said of a check that nobody configured, that a person left out, or whose program is missing."""
    told = run.status == "not_run" or run.reason.endswith(_TELLING)
    return f"not run: {run.reason}" if told else NOT_CONFIGURED


def incomplete(run: CheckRun) -> bool:
    """Whether a program that the project uses did not run."""
    return run.status == "not_run" or bool(run.missing)


def with_leave(run: CheckRun) -> CheckRun:
    """The run when a person has left out what cannot run: the rest of it counts."""
    if run.status == "not_run":
        return LEFT_OUT
    return replace(run, missing=dict.fromkeys(run.missing, LEFT_OUT.reason))


def gaps(name: str, run: CheckRun) -> dict[str, str]:
    """What of a check did not run, by name, with the reason."""
    found = {} if run.status == "ran" else {name: not_run(run)}
    found |= {f"{name} by {program}": f"not run: {why}" for program, why in run.missing.items()}
    return found | dict.fromkeys(run.limits, "only so it could run")


def worse(before: CheckRun, after: CheckRun) -> list[str]:
    """Each kind of finding that a file has more of than before, with an example."""
    found = []
    for (path, code), count in sorted(after.findings.items()):
        known = before.findings.get((path, code), 0)
        if count > known:
            found.append(f"{path}:{after.samples[path, code]} ({code}, {count} now, {known} before)")
    return found


def worse_complexity(
    before: Mapping[str, int], after: Mapping[str, int], limit: int | None = None
) -> list[str]:
    """Each function that is over the limit and more complex than it was, in words. Where the project sets no
    limit, one that was over ours before may grow a little: a small correction is not the time to take it
    apart.
    """
    spared = exit_numbers().knotted_growth if limit is None else 0
    limit = complexity_limit() if limit is None else limit
    found = []
    for name, count in grown(before, after, limit).items():
        if before.get(name, 0) > limit and count - before[name] <= spared:
            continue
        was = f"it was {before[name]}" if name in before else "it is new"
        found.append(f"{name} has complexity {count}, {was}; {limit} is the limit: take parts out of it")
    return found


def grown(before: Mapping[str, int], after: Mapping[str, int], limit: int | None = None) -> dict[str, int]:
    """Each function that is over the limit and more complex than it was, the most complex first.

    A new name is excused by one that is gone and was as complex: renaming and moving make nothing worse.
    """
    limit = exit_numbers().easy_complexity if limit is None else limit
    gone = Counter(count for name, count in before.items() if name not in after)
    found: dict[str, int] = {}
    for name, count in sorted(after.items(), key=lambda item: (-item[1], item[0])):
        if count <= limit or count <= before.get(name, 0):
            continue
        if name not in before and (room := [was for was in gone if was >= count and gone[was] > 0]):
            gone[min(room)] -= 1
            continue
        found[name] = count
    return found
