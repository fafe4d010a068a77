"""What people decided about versions, for people: `iteration_history/`, and the rounds of a stage in
`state.yaml`.
"""

from pathlib import Path

from agentforge.core.iterating import history_name, version_name
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.core.values import Iteration
from agentforge.store.layout import TaskFiles
from agentforge.store.task.times import Times


def round_name(iteration: Iteration) -> str:
    """The name under which the times of a round are kept."""
    return f"{iteration.stage}/{iteration.number}"


def history_files(files: TaskFiles, state: State, times: Times) -> dict[Path, dict[str, Json]]:
    """Every decision as a file of its own: feedback in the form in which it can also be handed in."""
    return {
        files.root / history_name(item.stage, item.number, item.decision): _decision(state, item, times)
        for item in state.iterations
        if item.decision
    }


def _decision(state: State, item: Iteration, times: Times) -> dict[str, Json]:
    known: dict[str, Json] = {"task_id": state.task_id, "stage": item.stage, "iteration": item.number}
    at: dict[str, Json] = {"timestamp": dict(times.decided).get(round_name(item))}
    if item.decision in ("revise", "reject"):
        said = item.feedback
        feedback: dict[str, Json] = {
            **known,
            "previous_version": version_name(item.shown[0]),
            "decision": item.decision,
            "overall_comments": said.overall if said else "",
            "specific_issues": [
                {
                    "location": issue.location,
                    "issue": issue.issue,
                    "suggestion": issue.suggestion,
                    "priority": issue.priority,
                }
                for issue in (said.issues if said else ())
            ],
            "by": item.by,
            **at,
        }
        if item.edited:
            feedback["written_by_hand"] = [version_name(ref) for ref in item.edited]
        return {"feedback": feedback}
    approval: dict[str, Json] = {
        **known,
        "decision": item.decision,
        "artifacts": [{"artifact": version_name(ref), "artifact_hash": ref.hash} for ref in item.settled],
        "by": item.by,
        **at,
    }
    return {"approval": approval}


def rounds(state: State, stage: str, times: Times) -> dict[str, Json]:
    """The rounds of a stage; nothing where none was presented."""
    mine = [item for item in state.iterations if item.stage == stage]
    if not mine:
        return {}
    last = mine[-1]
    now = last.number + (last.decision == "revise")
    waits = not last.decision and state.status == "blocked"
    return {
        "current": now,
        "max": state.pipeline.stage(stage).max_iterations,
        "history": [
            {
                "version": item.number,
                "artifact": version_name(item.shown[0]),
                "presented_at": dict(times.presented).get(round_name(item)),
                "decision": item.decision,
                "by": item.by,
                "feedback_ref": history_name(stage, item.number, item.decision),
            }
            for item in mine
            if item.decision
        ],
        "awaiting": "user_decision" if waits else None,
    }
