"""A repository of documents and data, and the script of a model that answers a question in it."""

from typing import Any

QUESTION = "Research how long a session is kept and write it down in reports/sessions.md"
CHECKS, REPORT = "reports/sessions.checks.yaml", "reports/sessions.md"
LIBRARY = {
    "README.md": "# Notes of the desk\n\nWhat the desk decided, and why.\n",
    "policy/sessions.md": (
        "# Sessions\n\nA session is kept for thirty minutes after the last request.\n"
        "Whoever asks to be remembered is kept for fourteen days.\n"
    ),
    "data/sessions.csv": "kind,minutes\nplain,30\nremembered,20160\nguest,15\n",
}
DEMANDS = """\
checks:
  - name: answers-in-order
    file: reports/sessions.md
    sections: [Question, Findings, Open]
    words: {min: 30, max: 200}
  - name: findings-are-cited
    file: reports/sessions.md
    within: Findings
    cites: {min: 2, each: paragraph}
    numbers:
      - {from: data/sessions.csv, column: minutes, take: max}
"""
ANSWER = """\
# How long a session is kept

## Question

How long does the desk keep a session, and who can make it longer?

## Findings

A plain session ends half an hour after the last request [policy/sessions.md:3 "kept for thirty minutes"].

Whoever asks for it is remembered for fourteen days, which is 20,160 minutes.[^1]

## Open

The notes do not say who decided this.

[^1]: policy/sessions.md:4 "kept for fourteen days"
"""
TITLE: dict[str, Any] = {
    "title": "How long a session is kept",
    "description": "a report that answers it from the policy and the data",
    "requirements": [
        {
            "id": "REQ-001",
            "description": "the report answers the question",
            "acceptance_criteria": ["it has a question, findings and what is open"],
        },
        {
            "id": "REQ-002",
            "description": "what it claims is cited",
            "acceptance_criteria": ["every finding cites a place that says it"],
        },
    ],
    "files_to_create": [REPORT],
}
FRAMED: dict[str, Any] = {
    "intake_record": {
        "extracted_intent": {"action": "create", "target": REPORT, "scope": "file"},
        "identified_ambiguities": [],
    },
    "clarification": {},
    "analysis": {},
    "specification": TITLE,
}
SUITE: dict[str, Any] = {
    "test_files": [
        {
            "path": CHECKS,
            "tests": [
                {
                    "name": "answers-in-order",
                    "requirement_ref": "REQ-001",
                    "acceptance_criterion": "REQ-001.1",
                },
                {
                    "name": "findings-are-cited",
                    "requirement_ref": "REQ-002",
                    "acceptance_criterion": "REQ-002.1",
                },
            ],
        }
    ]
}


def frame() -> dict[str, Any]:
    return {"stage": "frame", "reply": {"artifacts": FRAMED, "signal": "success"}}


def demand(text: str = DEMANDS) -> dict[str, Any]:
    write = {"name": "create_file", "args": {"path": CHECKS, "content": text}}
    return {
        "stage": "demand",
        "reply": {"actions": [write], "artifacts": {"test_suite": SUITE}, "signal": "success"},
    }


def compose(files: dict[str, str] | None = None, tool: str = "create_file") -> dict[str, Any]:
    actions = [
        {"name": tool, "args": {"path": path, "content": text}}
        for path, text in (files or {REPORT: ANSWER}).items()
    ]
    done = {"implementation": {"summary": "the report is written"}}
    return {"stage": "compose", "reply": {"actions": actions, "artifacts": done, "signal": "success"}}


def approve() -> dict[str, Any]:
    review = {"verdict": "approve", "summary": "the claims are where they say"}
    return {"stage": "review", "reply": {"artifacts": {"review": review}, "signal": "success"}}
