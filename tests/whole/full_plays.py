"""The lines of a model that goes all eight stages in the shop of the plays, and what is left on disk when it
has.
"""

import json
from pathlib import Path
from typing import Any

from agentforge.store.task.journal import read_lines
from agentforge.system import strict_yaml
from tests.whole.checkouts import Done
from tests.whole.plays import BUILT, FRAMED, REQUEST, Entry, Expected, Play, say

OPEN = "Is the discount rounded down?"
"""A question that the request leaves open."""
SECURITY, READER, ARBITER = "security_architect", "reviewer", "arbiter"
WORDS = {
    "summary": "net takes the discount off.",
    "changelog_entry": "`net` takes the discount off the price.",
    "release_notes": "Prices are lower now.",
}

EVERY_ROLE = {
    ".agentforge/pipelines/implement.yaml": """\
extends: "agentforge:implement"
pipeline:
  lanes:
    full:
      replace:
        refactor: {name: refactor, required: true, skip_if: never}
        deliver: {name: deliver, required: true, default_exit: true, skip_if: never}
"""
}
"""A project that asks every role, whatever the change is like."""


def ambiguity(question: str, impact: str, area: str = "rounding") -> dict[str, str]:
    return {"area": area, "question": question, "impact": impact}


def answer(question: str, said: str, confidence: int) -> dict[str, Any]:
    return {"question": question, "answer": said, "confidence": confidence, "source": "agent_inference"}


def intake(
    *ambiguities: dict[str, str], complexity: str = "simple", expects: tuple[Expected, ...] = ()
) -> Entry:
    record = {
        **FRAMED["intake_record"],
        "initial_complexity": complexity,
        "identified_ambiguities": [*ambiguities],
    }
    return say("intake", artifacts={"intake_record": record}, signal="success", expects=expects)


def clarify(
    *questions: dict[str, Any], blocking: tuple[str, ...] = (), expects: tuple[Expected, ...] = ()
) -> Entry:
    found: dict[str, Any] = {"questions": [*questions], **({"blocking": [*blocking]} if blocking else {})}
    return say("clarify", artifacts={"clarification": found}, signal="success", expects=expects)


def analyze(*, expects: tuple[Expected, ...] = ()) -> Entry:
    return say("analyze", artifacts={"analysis": FRAMED["analysis"]}, signal="success", expects=expects)


def spec(
    title: str = "net takes the discount off", *, expects: tuple[Expected, ...] = (), thought: str = ""
) -> Entry:
    return say(
        "spec",
        artifacts={"specification": {**FRAMED["specification"], "title": title}},
        signal="success",
        expects=expects,
        thought=thought,
    )


def refactor(
    *actions: dict[str, Any], summary: str = "nothing is worth changing", expects: tuple[Expected, ...] = ()
) -> Entry:
    return say(
        "refactor",
        *actions,
        artifacts={"implementation": {"summary": summary}},
        signal="success",
        expects=expects,
    )


def deliver(*, expects: tuple[Expected, ...] = ()) -> Entry:
    return say("deliver", artifacts={"delivery_report": WORDS}, signal="success", expects=expects)


def approves(stage: str, seat: str, *notes: str, expects: tuple[Expected, ...] = ()) -> Entry:
    return _reading(stage, seat, "approve", notes, expects)


def blocks(stage: str, seat: str, *findings: str, expects: tuple[Expected, ...] = ()) -> Entry:
    return _reading(stage, seat, "block", findings, expects)


def _reading(
    stage: str, seat: str, verdict: str, lines: tuple[str, ...], expects: tuple[Expected, ...]
) -> Entry:
    bad = verdict == "block"
    found: list[dict[str, Any]] = [
        {
            "id": f"{'SEC' if seat == SECURITY else 'REV'}-{number:03d}",
            "description": line,
            **({"remediation": "Mend it."} if bad else {}),
        }
        for number, line in enumerate(lines, 1)
    ]
    review: dict[str, Any] = {"verdict": verdict, "summary": f"{seat} says {verdict}"}
    if seat == SECURITY:
        review["blocking_issues" if bad else "advisory_issues"] = [
            {**item, "severity": "low"} for item in found
        ]
    else:
        review["findings"] = [{**item, "severity": "minor", "blocking": bad} for item in found]
    contract = "security_review" if seat == SECURITY else "review"
    return {**say(stage, artifacts={contract: review}, signal="success", expects=expects), "role": seat}


def revised(*actions: dict[str, Any], expects: tuple[Expected, ...]) -> Entry:
    return say("green", *actions, artifacts=BUILT, signal="success", expects=expects)


# ------------------------------------------------------------------ what is left


def events(top: Path) -> list[dict[str, Any]]:
    """Every event of the newest task, in order."""
    return [event for line in _lines(top) for event in line["events"]]


def steps(top: Path) -> list[dict[str, Any]]:
    """The lines of the journal that end a step, as a reader of the file sees them."""
    return [line for line in _lines(top) if "agent" in line]


def entered(top: Path) -> list[str]:
    """The stages as they were entered, by reviewers too."""
    found = [event for event in events(top) if event["type"] == "stage_entered"]
    return [event["stage"] + event["run"].removeprefix("worker") for event in found]


def final(top: Path, phase: str, contract: str) -> dict[str, Any]:
    path = newest(top) / f"artifacts/phases/{phase}/{contract}_final.yaml"
    value = strict_yaml.load(path.read_text(encoding="utf-8"), path.name, floats="text")
    assert isinstance(value, dict)
    return value


def evidence(top: Path) -> dict[str, Any]:
    value = json.loads((newest(top) / "evidence.json").read_bytes())
    assert isinstance(value, dict)
    return value


def open_points(top: Path) -> list[str]:
    """What a person should know before merging."""
    found = final(top, "deliver", "delivery_report")["readiness"]["open_points"]
    assert isinstance(found, list)
    return found


def newest(top: Path) -> Path:
    return max((top / ".agentforge/tasks").iterdir(), key=lambda place: place.stat().st_ctime_ns)


def _lines(top: Path) -> list[dict[str, Any]]:
    return [dict(line.body) for line in read_lines(newest(top) / "actions.yaml")]


def waits(done: Done, kind: str) -> dict[str, Any]:
    """The question that the task ended with."""
    assert done.code == 3, done.said
    found: dict[str, Any] = done.data["escalation"]
    assert found["kind"] == kind, done.said
    return found


def start(play: Play, *entries: Entry, words: tuple[str, ...]) -> Done:
    """`start` with options of one's own."""
    play.person.scripted(*entries)
    model = ("--model", f"scripted:{play.person.script}")
    return play.person.run("start", REQUEST, *model, "--json", *words)
