"""What the checks after an edit found, and what the gates measured, as a role is shown it. Pure.

Failures of tests are shown beside this, each whole and once; here are their numbers, and the rules about code
that are not kept.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.core.values import CheckDigest, CheckPart
from agentforge.system import strict_yaml

_TOLD = "the feedback"


def verification_status(check: CheckDigest | None, feedback: Sequence[str] = ()) -> str:
    """The status of every kind of check, whether the phase can end, and what to do next. While a role is told
    of anything, such as a gate that failed, it cannot, whatever the checks found.
    """
    if check is None:
        return ""
    if not check.parts:  # a step of an older release
        return check.summary
    issues = [line for part in check.parts if (line := _issue(part, check))]
    page: dict[str, Any] = {part.name: _part(part) for part in check.parts}
    passed = check.status == "passed"  # else the feedback says the same again
    issues += [_TOLD] if passed and feedback else []
    page |= {"summary": check.summary, "phase_exit_ready": passed and not feedback}
    if issues:
        steps = _next(check) or [f"act on {_TOLD}"]
        page |= {"blocking_issues": issues, "next_suggested_action": ", then ".join(steps)}
    return strict_yaml.dump(page).rstrip()


def _part(part: CheckPart) -> dict[str, Any]:
    found: dict[str, Any] = {"status": part.status}
    if part.total is not None and part.passing is not None:
        failing = (
            "failing" if part.status == "failing" or not _failing(part) else "failing_without_the_change_too"
        )
        found |= {"total": part.total, "passing": part.passing, failing: _failing(part)}
        found |= {"skipped": part.skipped} if part.skipped else {}
    if part.errors is not None:
        found |= {"errors": part.errors, "warnings": part.warnings or 0}
    if part.violations:
        found["violations"] = [
            {
                "check_id": each.check_id,
                "contract": each.contract,
                "severity": each.severity,
                "file": each.file,
                "line": each.line,
                "message": each.message,
                "fix_hint": each.fix_hint,
            }
            for each in part.violations
        ]
    return found


def _failing(part: CheckPart) -> int:
    return (part.total or 0) - (part.passing or 0) - part.skipped


def _issue(part: CheckPart, check: CheckDigest) -> str:
    if part.status not in ("failing", "not_run"):
        return ""
    if part.violations:
        names = ", ".join(dict.fromkeys(each.check_id for each in part.violations))
        number = len(part.violations)
        return f"{number} conformance violation{'s' if number > 1 else ''}: {names}"
    if part.name == "tests" and part.total is not None and part.passing is not None:
        number = _failing(part)
        return f"{number} test{'s' if number != 1 else ''} failing"
    said = [line for line in check.summary.split("; ") if line.startswith(part.name.split("_")[0])]
    return said[0] if said else f"{part.name}: {part.status.replace('_', ' ')}"


def _next(check: CheckDigest) -> list[str]:
    """What to do first: what does not parse, then the rules, then what fails."""
    failing = [part for part in check.parts if part.status in ("failing", "not_run")]
    steps = []
    for part in failing:
        if part.violations:
            first = part.violations[0]
            steps.append(f"settle {first.check_id} in {first.file}:{first.line}")
        else:
            steps.append(
                {"tests": "fix the failing tests", "syntax": "make every file parse"}.get(
                    part.name, f"settle what {part.name.replace('_', ' ')} found"
                )
            )
    return steps


_NUMBERS = {
    "complexity": ("highest complexity", "complexity_acceptable", "the change makes none too complex"),
    "duplicates": ("lines that stand elsewhere too", "no_code_smells", "none of them added"),
    "coverage": ("coverage in per cent", "", ""),
}
"""What a number of the gate on quality is called; and where that of a whole file says nothing of the change,
the verdict on it, and what that means.
"""


def on_the_base(records: Mapping[str, Any]) -> list[str]:
    """How the new tests did on the base; of the cases of one function with one outcome the first alone is
    told whole.
    """
    tests = records["red"]["tests"] if records.get("red") is not None else {}
    alike: dict[tuple[str, str], list[str]] = {}
    for identity, entry in tests.items():
        why = f" ({entry['reason']})" if entry["reason"] else ""
        function = identity.partition("[")[0] if identity.endswith("]") else identity
        alike.setdefault((function, entry["outcome"]), []).append(f"- {identity}: {entry['outcome']}{why}")
    said = [
        first + (f"; {len(more)} more case{'s' if len(more) > 1 else ''} of it likewise" if more else "")
        for first, *more in alike.values()
    ]
    return ["Before the change, measured by the engine:", *said] if said else []


def measured(records: Mapping[str, Any]) -> list[str]:
    """What the gates on tests and quality found, for who reviews the change or puts it into words."""
    lines = on_the_base(records)
    if (green := records.get("green")) is not None:
        if "proved_as" in green:
            asked = green["asked"]  # which words ask for new behaviour is no news: the request is above
            why = "" if asked["kind"] == "new_behaviour" else f" The request asks for: {asked['why']}."
            lines.append(f"Proved as: {green['proved_as']}.{why}")
        ran = (
            "the project has no tests"
            if green.get("no_suite")
            else f"{green['passed']} tests pass, no regression"
        )
        missing = f"; not configured: {', '.join(green['not_configured'])}" if green["not_configured"] else ""
        lines.append(f"After it: {ran}{missing}.")
    if (quality := records.get("quality")) is not None:
        numbers = [
            f"{said} {quality[name]}" + (f" ({means})" if quality[name] and quality.get(verdict) else "")
            for name, (said, verdict, means) in _NUMBERS.items()
            if quality.get(name) is not None
        ]
        lines.append(f"Measured on the files it touches: {'; '.join(numbers) or 'nothing is configured'}.")
    return lines
