"""What a report says of the proof: kinds, runs, reviews, and what a person should look at."""

from typing import Any

from agentforge.app.record.reports import TaskReport
from agentforge.core.pipeline import Pipeline
from agentforge.surfaces.cli.pages.words import count
from agentforge.system.visible import brief

TESTS_SHOWN = 8
NAMED_SHOWN = 10


def proof(report: TaskReport) -> str:
    """What was proved and how, and what nobody proved; empty where there is no evidence yet."""
    evidence = report.evidence
    if not evidence:
        return "  proof     the evidence cannot be read; `agentforge verify` says why"
    lines = _kind(evidence)
    for item in evidence.get("requirements", []):
        lines.append(f"{item['id']} {brief(str(item.get('description') or ''), 100)}")
        tests = item.get("tests", [])
        lines += [
            f"  {_flip(test)}  {test['id']}{' (guard)' if test['red'] == 'passed' else ''}"
            for test in tests[:TESTS_SHOWN]
        ]
        if len(tests) > TESTS_SHOWN:
            lines.append(f"  and {len(tests) - TESTS_SHOWN} more tests")
    lines += [
        f"not proved by a test: {brief(str(line))}" for line in evidence.get("not_proved_by_test") or []
    ]
    lines += [brief(str(line)) for line in evidence.get("mutants") or []]
    lines += [brief(line, 400) for line in _runs(evidence)]
    lines += [brief(str(line), 200) for line in evidence.get("examined") or []]
    lines += [brief(str(line), 200) for line in evidence.get("integration") or []]
    lines += [
        f"old test dropped: {brief(str(row['id']))} ({row['after']}), for {row['requirement']}: "
        f"{brief(str(row['reason']), 200)}"
        for row in evidence.get("superseded") or []
    ]
    lines += not_judged(report.state.pipeline)
    lines += [f"debate: {line}" for line in debate_lines(evidence)]
    lines += reviews(evidence)
    lines += _named(evidence)
    if evidence.get("same_author"):
        lines.append("one role wrote both the test and the change")
    lines += [f"assumed: {brief(str(line), 200)}" for line in evidence.get("assumptions") or []]
    for item in evidence.get("not_checked") or []:
        said = str(item) if ": " in str(item) else f"{item}: not configured"  # older evidence: a name
        lines.append(brief(f"not checked: {said.replace(': not run: ', ': ', 1)}"))
    return "  proof     " + "\n            ".join(lines)


def _flip(test: dict[str, Any]) -> str:
    """What a test did before the change and with it; with no change there is only the first."""
    return str(test["red"]) if test["green"] == "missing" else f"{test['red']} → {test['green']}"


def not_judged(pipeline: Pipeline) -> list[str]:
    """What a task that ends before its delivery leaves open, a line each."""
    if is_judged(pipeline):
        return []
    gates = {gate for stage in pipeline.stages for gate in stage.gates}
    if "green" not in gates:
        return ["not proved yet: no change makes these tests pass; that is what they are for"]
    return (
        [f"not reviewed: the task ends at {pipeline.exit_stage}, before anybody reads the change"]
        if "review" not in gates
        else []
    )


def _kind(evidence: dict[str, Any]) -> list[str]:
    """The kind of proof, first of all; and why less than new behaviour will do, if it is less."""
    found = evidence.get("proved_as") or {}
    if not found:
        return []
    asked = found.get("asked") or {}
    why = (
        f" (the request: {brief(str(asked.get('why') or ''), 120)})"
        if found["kind"] != "new_behaviour"
        else ""
    )
    return [f"proved as {brief(str(found['proved_as']), 300)}{why}"]


def _runs(evidence: dict[str, Any]) -> list[str]:
    """Which runs the verdicts rest on, and which of the plan were left out and why."""
    rows = evidence.get("plan") or []
    made = ", ".join(f"{row['name']} {row['made']}x" for row in rows if row["made"])
    left: dict[str, list[str]] = {}
    for row in rows:
        if row["why"]:
            left.setdefault(str(row["why"]), []).append(str(row["name"]))
    told = [f"not run: {', '.join(names)} ({why})" for why, names in left.items()]
    return [f"runs: {made}", *told] if made else []


def _named(evidence: dict[str, Any]) -> list[str]:
    """What the engine named and did not decide, each with what the reviewer ruled on it."""
    alike: dict[tuple[str, str], list[str]] = {}
    for item in evidence.get("named") or []:
        ruled = (
            f" (reviewer: {item['verdict']}, {brief(str(item.get('reason') or ''), 80)})"
            if item.get("verdict")
            else ""
        )
        about = str(item.get("about"))
        said = f"{brief(str(item.get('text')), 200)}{ruled}"
        alike.setdefault((about.partition("[")[0], said), []).append(about)
    lines: dict[str, list[str]] = {}
    for (_, said), abouts in alike.items():
        lines.setdefault(f"{brief(abouts[0], 120)}{_others(abouts)}", []).append(said)
    shown = [f"look at {about}: {'; '.join(said)}" for about, said in lines.items()]
    more = len(shown) - NAMED_SHOWN
    return shown[:NAMED_SHOWN] + ([f"and {more} more to look at, in the report"] if more > 0 else [])


def _others(abouts: list[str]) -> str:
    """How many more cases of one test the same is said of."""
    return f" and {count(len(abouts) - 1, 'more case')}" if len(abouts) > 1 else ""


def reviews(evidence: dict[str, Any]) -> list[str]:
    """Who read the result and what they said; one line for each panel, or for the one reviewer."""
    lines = []
    panels = evidence.get("panels") or {}
    for stage, panel in panels.items():
        said = ", ".join(f"{reader} {verdict}" for reader, verdict in (panel.get("verdicts") or {}).items())
        lines.append(
            f"panel on {stage}: {said}"
            + (f"; the arbiter decided: {panel['arbiter']}" if panel.get("arbiter") else "")
        )
        lines += [f"  dissent: {brief(str(line))}" for line in panel.get("dissent") or []]
        lines += [f"  note: {brief(str(line))}" for line in panel.get("advisory") or []]
    review = evidence.get("review") or {}
    if review.get("verdict") and not panels:
        findings = len(review.get("findings") or [])
        lines.append(
            f"review: {review['verdict']}, {count(findings, 'finding')}: "
            f"{brief(str(review.get('summary') or ''), 200)}"
        )
    return lines


def debate_lines(evidence: dict[str, Any]) -> list[str]:
    """What was argued about and decided, or why nobody argued; a line for each debate."""
    lines = []
    for debate in (evidence.get("debates") or {}).values():
        if not debate.get("held"):
            lines.append(f"none was held: {brief(str(debate.get('why') or ''), 200)}")
            continue
        others = [str(name) for name in debate.get("options") or [] if name != debate.get("option")]
        over = f", not {', '.join(others)}" if others else ""
        chosen = brief(f"{debate.get('option')}{over}", 200)
        lines.append(f"{chosen}: {brief(str(debate.get('decision') or ''), 200)}")
    return lines


def is_judged(pipeline: Pipeline) -> bool:
    """Whether the last stage of a line judges everything before it, so that its branch may be merged."""
    return "delivery" in pipeline.stages[-1].gates
