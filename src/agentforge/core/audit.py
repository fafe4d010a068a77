"""The step entry of the audit trail: what the line that closes a step says to a reader."""

from agentforge.core.events import Event, StepClosed
from agentforge.core.reply import Json
from agentforge.core.state import State


def step_entry(before: State, events: tuple[Event, ...]) -> dict[str, Json]:
    """The entry's fields (the store adds the timestamp), or nothing where no step closes."""
    closed = next((event for event in events if isinstance(event, StepClosed)), None)
    if closed is None or closed.outcome.startswith(("gate_", "answered")):
        return {}
    run = before.run_of(closed.run)
    stage, used = before.stage_of(run), run.reply.usage
    check: Json = None
    if run.check is not None:
        check = {"passed": run.check.status == "passed", "summary": run.check.summary}
    return {
        "step": closed.step,
        "phase": run.stage,
        "agent": {
            "role": stage.role or "engine",
            "version": stage.role_version,
            "mode": "review" if stage.returns_to or run.parent else "work",
        },
        "context_tokens": run.context_tokens,
        "action": {
            "type": ", ".join(item.name for item in run.results) or "none",
            "input_hash": run.reply.ref,
        },
        "result": {"status": closed.outcome, "summary": run.reply.summary, "tree": before.tree},
        "verification": check,
        "llm_call": {
            "model": before.model,
            "prompt_tokens": used.input_tokens,
            "completion_tokens": used.output_tokens,
            "cached_tokens": used.cached_tokens,
        },
    }
