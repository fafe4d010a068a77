"""What the checks after an edit found, as a role is shown it. Pure.

Failures of tests are shown beside this, each whole and once; here are their numbers, and the rules about code
that are not kept.
"""

from typing import Any

from agentforge.core.values import CheckDigest, CheckPart
from agentforge.system import strict_yaml


def verification_status(check: CheckDigest | None) -> str:
    """The status of every kind of check, whether the phase can end, and what to do next."""
    if check is None:
        return ""
    if not check.parts:  # a step of an older release
        return check.summary
    issues = [line for part in check.parts if (line := _issue(part, check))]
    page: dict[str, Any] = {part.name: _part(part) for part in check.parts}
    page |= {"summary": check.summary, "phase_exit_ready": check.status == "passed"}
    if issues:
        page |= {"blocking_issues": issues, "next_suggested_action": _next(check)}
    return strict_yaml.dump(page).rstrip()


def _part(part: CheckPart) -> dict[str, Any]:
    found: dict[str, Any] = {"status": part.status}
    if part.total is not None and part.passing is not None:
        found |= {"total": part.total, "passing": part.passing, "failing": _failing(part)}
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


def _next(check: CheckDigest) -> str:
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
    return ", then ".join(steps)
