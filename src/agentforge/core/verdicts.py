"""What a verdict means: the next gate, a round of feedback, a revision, an arbiter, a higher lane, the next
stage.
"""

from agentforge.core.conditions import holds
from agentforge.core.events import GateJudged, LaneRaised, Reverted, StageAccepted, StepClosed
from agentforge.core.inputs import CommitMade, Judged
from agentforge.core.pipeline import ARBITER, Stage
from agentforge.core.state import State
from agentforge.core.story import (
    FEEDBACK_LINES,
    Story,
    attempts_left,
    convene,
    enter,
    escalate,
    fail_attempt,
    give_up,
    next_step,
    remaining,
    send_back,
    with_seat,
)
from agentforge.core.values import GateStatus, Question


def judged(story: Story, given: Judged) -> str:
    """A gate has spoken."""
    stage = story.state.stage
    undecided = (
        given.status == "split"
        and stage.arbiter is not None
        and all(item.seat != ARBITER for item in story.state.seats)
    )
    status: GateStatus = "blocked" if given.status == "split" and not undecided else given.status
    story.tell(GateJudged(given.gate, status, given.reasons, given.ref, given.finals))
    run = story.run
    if status == "passed":
        convene(story)
        return f"gate {given.gate} passed"
    if status == "split":
        with_seat(story, ARBITER, ("The reviewers disagree:", *given.reasons))
        return "the reviewers disagree: one at a higher tier decides"
    if status == "blocked":
        return _revise(story, given.reasons)
    words = "could not run, and not run is not passed" if given.status == "not_run" else "failed"
    feedback = (f"Gate {given.gate} {words}:", *given.reasons)[:FEEDBACK_LINES]
    if run.skipped:
        again = attempts_left(story.state, run, stage)
        return (
            enter(story, stage, run.entry_tree, feedback, drafts=run.drafts)
            if again
            else give_up(story, "; ".join(feedback))
        )
    if stage.role is None:
        return fail_attempt(story, "; ".join(feedback))
    if stage.reverts and run.entry_tree != story.state.tree:
        story.tell(Reverted(run.entry_tree, given.reasons))
        feedback = (*feedback[: FEEDBACK_LINES - 1], "All edits of this stage were undone.")
    tried = (f"gate {given.gate}: {given.reasons[0] if given.reasons else words}",)
    story.tell(
        StepClosed(story.state.step, f"gate_{given.gate}_{given.status}", feedback, tried, mistake=False)
    )
    if run.rounds > stage.feedback_rounds:
        return fail_attempt(story, " ".join(feedback))
    return next_step(story, feedback[0])


def makes_worse(story: Story) -> bool:
    """Whether an edit must be undone: only where the stage may keep nothing that makes anything worse."""
    check = story.run.check
    return story.state.stage.reverts and check is not None and check.status != "passed"


def undo(story: Story, summary: str, failures: tuple[str, ...]) -> str:
    """The tree goes back to the last one that passed, and the role is told why."""
    story.tell(Reverted(story.run.good_tree or story.run.entry_tree, (summary, *failures)))
    told = (f"Your edit made something worse and was undone: {summary}.", *failures)[:FEEDBACK_LINES]
    tried = tuple(f"{item.name} {item.target}: undone, {summary}" for item in story.run.results if item.ok)
    story.tell(StepClosed(story.state.step, "reverted", told, tried))
    return next_step(story, "the edit made something worse and was undone")


def _revise(story: Story, findings: tuple[str, ...]) -> str:
    """The work goes back, in a higher lane if this one cannot carry it."""
    state, run, stage = story.state, story.run, story.state.stage
    target = stage.returns_to or (stage.name if stage.reviewers else None)
    given_up = target is None or state.revised_times(target) >= stage.max_revisions + state.grants.count(
        stage.name
    )
    rise = state.pipeline.rises
    if rise is not None and rise.blocks and state.blocks >= rise.blocks:
        _rise(story, rise.to, f"a review blocked {state.blocks} times")
        target, given_up = _maker(story.state), False
    if given_up or target is None:
        if stage.role is not None and not run.skipped:
            told = ("The reviewer blocks:", *findings)[:FEEDBACK_LINES]
            story.tell(StepClosed(state.step, "gate_review_blocked", told))
        text = (
            f"The reviewer still blocks after {state.revised_times(target or stage.name)} revisions: "
            f"{' '.join(findings)[:600]}"
        )
        return escalate(story, "review", Question(text, ("retry", "abort"), ""))
    send_back(story, target, ("The reviewer blocks:", *findings), findings)
    return f"the reviewer blocks; revision {story.state.revised_times(target)}"


def _maker(state: State) -> str:
    """The stage that works on a block: the first that makes the implementation."""
    return next(
        stage.name
        for stage in state.pipeline.stages
        if any(item.contract == "implementation" for item in stage.products)
    )


def _rise(story: Story, lane: str, why: str) -> None:
    story.tell(LaneRaised(lane, why))


def accepted(story: Story, given: CommitMade) -> str:
    """A stage's commit is made: the next stage begins, in a higher lane if the change spreads."""
    run, finals = story.run, story.run.finals
    story.tell(
        StageAccepted(run.name, given.tree, given.commit, finals, given.facts, given.branch, given.kept)
    )
    if why := _spreads(story.state, given):
        _rise(story, story.state.pipeline.rises.to if story.state.pipeline.rises else "", why)
        return f"the lane rises: {why}; " + _go_to(story, remaining(story.state), given.tree)
    pipeline = story.state.pipeline
    position = pipeline.index(run.name) + 1
    if position == len(pipeline.stages):
        return "the last stage is accepted"
    return _go_to(story, pipeline.stages[position], given.tree)


def _go_to(story: Story, stage: Stage, tree: str) -> str:
    skipped = stage.skip_if if stage.role is not None and holds(stage.skip_if, story.state.facts) else ""
    return enter(story, stage, tree, skipped=skipped)


def _spreads(state: State, given: CommitMade) -> str:
    """Why the change is more than its lane can carry; empty if it is not."""
    rise = state.pipeline.rises
    if rise is None:
        return ""
    if rise.files and given.files > rise.files:
        return f"the edit spreads over {given.files} files"
    if rise.lines and given.lines > rise.lines:
        return f"the edit changes {given.lines} lines"
    return ""
