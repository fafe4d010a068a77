"""The lines of models that argue and decide, each as a change of one good reply."""

from collections.abc import Mapping
from typing import Any

from tests.whole.plays import Entry, Expected, say

OPTIONS = ("Redis", "Postgres", "signed cookies")
QUESTION = "Where do sessions live?"

ADVOCATE: dict[str, Any] = {
    "option": "Postgres",
    "core_argument": "The shop has Postgres already, so sessions cost no new server and are backed up.",
    "key_strengths": [
        {"strength": "Nothing new to run", "evidence": "pyproject.toml names no other service"},
        {"strength": "Sessions survive a restart", "evidence": "tables are durable"},
    ],
    "comparative_advantages": [
        {"over": "Redis", "advantage": "one service less"},
        {"over": "signed cookies", "advantage": "a session can be ended by the server"},
    ],
    "success_criteria": ["p95 of a session read is below 5 ms"],
    "risk_acceptance": ["A slow query slows logins; the table is small"],
}
SKEPTIC: dict[str, Any] = {
    "critical_questions": [f"What if assumption {number} fails?" for number in range(1, 6)],
    "hidden_assumptions": ["Postgres is never the bottleneck"],
    "failure_modes": [{"option": "Postgres", "failure": "vacuum stalls", "leads_to": "slow logins"}],
    "risk_analysis": [{"risk": "table grows", "probability": "high", "impact": "medium"}],
    "second_order_effects": ["Reports run against the same disk"],
}
OPERATOR: dict[str, Any] = {
    "resource_requirements": [
        {"option": name, "time": "2 days", "cost": "none", "dependencies": "none"} for name in OPTIONS
    ],
    "timeline_reality_check": [
        {"option": name, "optimistic": "1 day", "realistic": "2 days", "pessimistic": "a week"}
        for name in OPTIONS
    ],
    "dependency_analysis": ["A migration comes first"],
    "operational_constraints": ["Old rows are deleted each night"],
    "go_no_go_recommendation": [
        {"option": "Redis", "verdict": "no go", "reason": "nobody runs it"},
        {"option": "Postgres", "verdict": "go", "reason": "it is there"},
        {"option": "signed cookies", "verdict": "go if", "reason": "sessions stay small"},
    ],
}
SYNTHESIS: dict[str, Any] = {
    "debate_summary": {"advocate": "Use what is there.", "skeptic": "It may stall.", "operator": "Go."},
    "key_tradeoffs": [{"gain": "one service less", "give_up": "the fastest reads"}],
    "final_decision": {
        "option": "Postgres",
        "decision": "Sessions live in a table of the database that is there.",
        "rationale": "It costs no new service, and the stall is noticed in time.",
    },
    "decision_criteria": [
        {
            "criterion": "what has to be run",
            "weight": 5,
            "scores": [
                {"option": name, "score": score} for name, score in zip(OPTIONS, (2, 8, 7), strict=True)
            ],
        }
    ],
    "kill_switch_criteria": [
        {
            "condition": "Session reads are slow",
            "threshold": "p95 above 50 ms for a day",
            "detection": "the latency panel",
            "timeline": "every week",
            "fallback": "Redis",
        }
    ],
    "fallback_plan": "Move the table to Redis; the interface stays.",
    "risks_accepted": [{"risk": "stalls", "probability": "low", "impact": "medium", "owner": "platform"}],
    "action_items": [{"action": "write the migration", "owner": "platform", "due": "before the release"}],
}
PLAN: dict[str, Any] = {
    "objective": QUESTION,
    "options": [{"name": name, "description": f"sessions are kept in {name}"} for name in OPTIONS],
}
SAID = {"advocate": ADVOCATE, "skeptic": SKEPTIC, "operator": OPERATOR}


def entry(
    stage: str,
    contract: str,
    document: Mapping[str, object],
    role: str = "",
    expects: tuple[Expected, ...] = (),
) -> Entry:
    """One reply that hands a document in."""
    said = say(stage, artifacts={contract: document}, signal="success", expects=expects)
    return {**said, "role": role} if role else said


def argued(expects: tuple[Expected, ...] = (), **changed: Mapping[str, object]) -> list[Entry]:
    """What the three say; by role, what one says instead."""
    return [
        entry("debate", f"debate_{role}", {**said, **changed.get(role, {})}, role, expects)
        for role, said in SAID.items()
    ]


def decided(expects: tuple[Expected, ...] = (), **changed: object) -> Entry:
    """What the synthesizer says."""
    return entry("debate", "debate_synthesis", {**SYNTHESIS, **changed}, expects=expects)


def planned(expects: tuple[Expected, ...] = ()) -> Entry:
    """What is to be decided, where nobody brought it."""
    return entry("options", "debate_plan", PLAN, expects=expects)


def script(*more: Entry) -> dict[str, Any]:
    """A debate about a plan that somebody brought, as a file of replies."""
    return {"replies": [*argued(), *(more or (decided(),))]}
