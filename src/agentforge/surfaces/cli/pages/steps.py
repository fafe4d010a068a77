"""The steps of a task, for a table, a page and programs."""

from collections.abc import Iterable

from agentforge.app.record.steps import Step, beside_words
from agentforge.core.values import NOT_DONE
from agentforge.system.visible import brief


def step_cells(step: Step) -> tuple[str, ...]:
    """The step as a row of a table."""
    done = ", ".join(
        f"{item.name} {item.target}".strip() + ("" if item.ok else f" ({item.mistake or 'failed'})")
        for item in step.actions
    )
    used = (f"{step.context_tokens:,}", f"{step.usage.input_tokens:,}", f"{step.usage.output_tokens:,}")
    return (
        str(step.number),
        step.stage,
        f"{step.role} ({'argues' if step.heard else 'reads'})" if step.seat else step.role,
        *used,
        outcome_words(step.outcome),
        brief(done or "-"),
    )


def outcome_words(outcome: str) -> str:
    """How a step ended, for people; the journal and `--json` have the name itself."""
    return "asks you" if outcome == "blocked_on_human" else outcome.replace("_", " ")


def step_headline(step: Step) -> str:
    """The step in a few lines."""
    reads = beside_words(step.seat, heard=step.heard)
    lines = [
        (
            f"step {step.number}: stage {step.stage}{reads}, attempt {step.attempt}, role {step.role}, "
            f"{step.started}"
        ),
        f"  context {step.context_tokens:,} tokens"
        + (f"; left out: {brief(', '.join(step.dropped))}" if step.dropped else ""),
        f"  reply   {step.usage.input_tokens:,} tokens in, {step.usage.output_tokens:,} out"
        + (f": {brief(step.summary)}" if step.summary else ""),
        f"  outcome {outcome_words(step.outcome)}",
    ]
    lines += [f"  flagged {brief(flag, 400)}" for flag in step.flagged]
    lines += [f"  mistake {brief(step.mistake, 600)}"] if step.mistake else []
    lines += [f"  checks  {brief(step.check, 600)}"] if step.check else []
    lines += [f"  gates   {', '.join(step.gates)}"] if step.gates else []
    return "\n".join(lines)


def caught(steps: Iterable[Step]) -> list[str]:
    """Every mistake of the model that was met and fed back, in a line each."""
    found: list[str] = []
    for step in steps:
        where = f"step {step.number}, {step.stage}{beside_words(step.seat, heard=step.heard)}"
        found += [f"{where}: the reply could not be used: {brief(step.mistake, 120)}"] if step.mistake else []
        wrong = [item for item in step.actions if not item.ok and item.mistake not in NOT_DONE]
        found += [f"{where}: {item.name} {item.target}: {brief(item.text, 120)}" for item in wrong]
        if step.outcome.startswith(("gate_", "reverted")):
            found.append(f"{where}: {brief(' '.join(step.feedback), 160)}")
        if "review blocked" in step.gates:
            found.append(f"{where}: the reviewers sent it back")
    return found
