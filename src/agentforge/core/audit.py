"""The step entry of the audit trail: what the line that closes a step says to a reader."""

from agentforge.core.events import Event, StepClosed
from agentforge.core.reply import Json
from agentforge.core.runs import Run
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
        check = {
            "passed": run.check.status == "passed",
            "contract": run.drafts[-1].contract if run.submitted and run.drafts else None,
            "summary": run.check.summary,
        }
    return {
        "step": closed.step,
        "phase": run.stage,
        "agent": {
            "role": stage.role or "engine",
            "version": stage.role_version,
            "mode": "debate" if run.rules.heard else "review" if stage.returns_to or run.parent else "work",
        },
        "context_tokens": run.context_tokens,
        "action": _action(before, run),
        "result": _result(before, run, closed),
        "verification": check,
        "llm_call": {
            "model": run.reply.model or before.model,
            "prompt_tokens": used.input_tokens,
            "completion_tokens": used.output_tokens,
            "cached_tokens": used.cached_tokens,
        },
    }


def _action(before: State, run: Run) -> Json:
    names = list(dict.fromkeys(item.name for item in run.results))
    targets = list(dict.fromkeys(item.target for item in run.results if item.target))
    return {
        "type": ", ".join(item.name for item in run.results) or "none",
        "tool": ", ".join(names) or None,
        "target": ", ".join(targets) or None,
        "params": {
            "actions": [
                {"tool": item.name, "target": item.target or None, "success": item.ok} for item in run.results
            ]
        },
        "input_hash": run.reply.ref,
        "revision_for": [*before.findings] if not run.parent else [],
    }


def _result(before: State, run: Run, closed: StepClosed) -> Json:
    """What the step left. What a reviewer found is in the artifact, which this line only names."""
    issues: Json = None if run.parent or before.stage_of(run).returns_to else []
    made = run.drafts[-1] if run.submitted and run.drafts else None
    where = None if made is None else f"artifacts/phases/{made.phase}/{made.contract}_v{made.version}.yaml"
    changed = bool(run.entry_tree) and before.tree != run.entry_tree and bool(run.reply.summary)
    return {
        "status": closed.outcome,
        "success": not closed.mistake and all(item.ok for item in run.results),
        "summary": run.reply.summary,
        "changes": [run.reply.summary] if changed and not run.parent else [],
        "output_artifact": where,
        "artifact_path": where,
        "output_hash": made.hash if made else None,
        "blocking_issues": issues,
        "advisory_issues": issues,
        "tree": before.tree,
    }
