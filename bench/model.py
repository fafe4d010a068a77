"""A model that costs nothing: it frames the request once, and then only reads, or writes one small file."""

from dataclasses import dataclass
from typing import Literal

from agentforge.core.reply import Action, Json, Reply, reply_to_json
from agentforge.models.base import Answer, Request, Reservation, Usage
from agentforge.system.canon import canonical

MODULES = 40
FUNCTIONS = 40
READ_LINES = 120

Work = Literal["read", "edit"]


def module_path(number: int) -> str:
    """A file of the measured repository."""
    return f"src/shop/part_{number % MODULES:02d}.py"


@dataclass(slots=True)
class PlainModel:
    """Answers at once. `work` says what every next step does."""

    work: Work = "read"
    name: str = "plain"

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """Nothing."""
        return Reservation(input_tokens + request.max_output_tokens, 0)

    def ask(self, request: Request) -> Answer:
        """The reply to the n-th call of a stage is always the same."""
        reply = framing() if request.stage == "frame" else self.step(request.ordinal)
        text = canonical(reply_to_json(reply)).decode()
        return Answer(text, reply, None, Usage(1000, 100), 0, self.name, "end")

    def step(self, number: int) -> Reply:
        """One action, never the same twice in a row: the engine would answer a repeated one from the
        record.
        """
        if self.work == "edit":
            action = Action("create_file", {"path": "src/shop/round_up.py", "content": f"STEP = {number}\n"})
        else:
            start = 1 + number // MODULES % 60
            action = Action(
                "read_file", {"path": module_path(number), "start": start, "end": start + READ_LINES - 1}
            )
        return Reply(thought=f"Step {number}.", actions=(action,), summary=f"step {number}")


def framing() -> Reply:
    """Everything that the framing stage owes, in one reply."""
    requirement: dict[str, Json] = {
        "id": "REQ-001",
        "description": "Every total has two places",
        "priority": "must",
        "acceptance_criteria": ["`total_of_00_00(1)` has two places"],
        "verification_method": "test",
    }
    documents: dict[str, dict[str, Json]] = {
        "intake_record": {
            "extracted_intent": {"action": "modify", "target": "shop", "scope": "module"},
            "initial_complexity": "simple",
            "identified_ambiguities": [],
        },
        "clarification": {"questions": []},
        "analysis": {
            "impacted_files": [{"path": module_path(0), "reason": "totals are made there"}],
            "risks": [],
        },
        "specification": {
            "title": "Totals have two places",
            "description": "Every function that makes a total rounds it.",
            "requirements": [requirement],
            "files_to_modify": [module_path(0)],
            "trace_to_request": "The request is the one requirement.",
        },
    }
    actions = tuple(
        Action("submit_artifact", {"contract": name, "artifact": document})
        for name, document in documents.items()
    )
    return Reply(thought="One requirement.", actions=actions, signal="success", summary="framed")
