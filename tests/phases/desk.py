"""Whoever works in a workflow: they fill in what each phase asks for, write a debate by hand, and tick their
boxes. In memory, with a clock of its own; the same words go into files of a checkout.
"""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from agentforge.documents.outline import named, with_body
from agentforge.phases import advance
from agentforge.phases.advance import Advance
from agentforge.phases.tree import STATE, WorkflowTree
from tests.gates.debates import FILES

OPTIONS = """\
1. **JWT with refresh tokens**: stateless
2. **Server sessions**: a table
3. **External provider**: somebody else's
"""

WORK: dict[str, dict[str, str]] = {
    "brainstorm": {
        "Problem Statement": "Users cannot log in.",
        "Success Criteria": "Nine of ten log in within five seconds.",
        "Assumptions": "- The provider supports refresh tokens\n- Clocks agree",
        "Constraints": "- No new service",
    },
    "research": {
        "Findings": "The provider supports refresh tokens; see its manual.",
        "Assumption Results": (
            "| ID | Result | Evidence | Mitigation |\n|---|---|---|---|\n"
            "| A1 | validated | manual, page 3 | |\n| A2 | invalidated | one host drifts | NTP |"
        ),
    },
    "design": {
        "System Design": "A module `tokens` behind one interface.",
        "UI/UX Design": "Nothing to see.",
        "Components": "| Component | Change | Risk |\n|---|---|---|\n| tokens | new | Medium |",
        "Decisions": "- Tokens live in one module: one place to audit",
    },
    "plan": {"Plan Items": "- [ ] P1: double doubles its number\n- [ ] P2: The token expires"},
    "test": {
        "Test Strategy": "Unit tests for both items.",
        "Test Cases": (
            "| ID | Plan Item | Case | Risk |\n|---|---|---|---|\n| T1 | P1 | two becomes four | Low |\n"
            "| T2 | P2 | an old token is refused | High |"
        ),
    },
    "build": {
        "Build Log": (
            "| Item | Task | Branch | Status | Evidence |\n|---|---|---|---|---|\n"
            "| P1 | by hand | feat/a | done | tests/test_a.py |\n| P2 | by hand | feat/b | done | tests/test_b.py |"
        )
    },
    "validate": {
        "Evidence": (
            "| Requirement | Task | Evidence | Status |\n|---|---|---|---|\n"
            "| two becomes four | by hand | tests/test_a.py | passed |"
        )
    },
    "review": {"Review Findings": "None that stand."},
    "learn": {"What Worked": "Debates.", "What Did Not Work": "Clocks.", "Patterns": "Tokens in one module."},
}


def fill(files: MutableMapping[str, str], phase: str) -> None:
    """Do the work of a phase: every section it asks for, and every box."""
    path = f"docs/forge/phases/{phase}.md"
    text = files[path]
    for title, words in WORK[phase].items():
        section = named(text, title)
        assert section is not None, title
        text = with_body(text, section, words)
    files[path] = text.replace("[ ]", "[x]") if phase != "plan" else text.replace(". [ ]", ". [x]")
    if phase == "brainstorm":
        options = files["docs/forge/brainstorm-options.md"]
        section = named(options, "Options Under Consideration")
        assert section is not None
        files["docs/forge/brainstorm-options.md"] = with_body(options, section, OPTIONS)


def argue(files: MutableMapping[str, str], debate_id: str) -> None:
    """Write the four files of the roles."""
    for name, text in FILES.items():
        if name != "debate-plan.md":
            files[f"docs/forge/debate/{debate_id}/{name}"] = text


@dataclass
class Desk:
    """A workflow in memory."""

    files: dict[str, str] = field(default_factory=dict)
    now: datetime = datetime(2030, 1, 31, 10, 0, 0, tzinfo=UTC)

    def do(self, step: Callable[[WorkflowTree], Advance], minutes: int = 10) -> Advance:
        """Take one step and write what it says."""
        tree = WorkflowTree(dict(self.files), self.now, "main")
        done = step(tree)
        self.files |= tree.written
        self.now += timedelta(minutes=minutes)
        return done

    @property
    def state_text(self) -> str:
        """The file that holds the state."""
        return self.files[STATE]


def decided_desk(criteria: str) -> Desk:
    """A workflow in research, whose one decision is given up by these criteria."""
    desk = Desk()
    desk.do(lambda tree: advance.start(tree, "Sessions"))
    desk.do(advance.resume)
    fill(desk.files, "brainstorm")
    debate_id = desk.do(advance.resume).state.debate_id
    argue(desk.files, debate_id)
    path = f"docs/forge/debate/{debate_id}/synthesis.md"
    text = desk.files[path]
    start, end = text.index("- Login latency"), text.index("## Fallback Plan")
    desk.files[path] = f"{text[:start]}{criteria}\n{text[end:]}"
    assert desk.do(advance.resume).action == "completed"
    assert desk.do(advance.resume).action == "entered"
    return desk
