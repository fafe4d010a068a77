"""The step entry of the audit trail: what the line that closes a step says to a reader."""

from agentforge.core.events import Event, StepClosed
from agentforge.core.reply import Json
from agentforge.core.state import State


def step_entry(before: State, events: tuple[Event, ...]) -> dict[str, Json]:
    """The entry's fields (the store adds the timestamp), or nothing where no step closes."""
    closed = next((event for event in events if isinstance(event, StepClosed)), None)
    if closed is None or before.run is None or closed.outcome.startswith(("gate_", "answered")):
        return {}
    before = before.focus(closed.seat)
    run, stage = before.run, before.stage
    assert run is not None
    return {
        "step": closed.step,
        "phase": run.name,
        "agent": {
            "role": stage.role or "engine",
            "version": stage.role_version,
            "mode": "review" if stage.returns_to or closed.seat else "work",
        },
        "context_tokens": run.context_tokens,
        "action": {"type": ", ".join(item.name for item in run.results) or "none", "input_hash": run.reply},
        "result": {"status": closed.outcome, "summary": run.summary, "tree": before.tree},
        "verification": {"passed": run.check.status == "passed", "summary": run.check.summary}
        if run.check
        else None,
        "llm_call": {
            "model": before.model,
            "prompt_tokens": run.usage.input_tokens,
            "completion_tokens": run.usage.output_tokens,
            "cached_tokens": run.usage.cached_tokens,
        },
    }
