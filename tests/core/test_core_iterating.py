"""A person in the loop, as rules: what is presented, what each decision leads to, and what is refused."""

from dataclasses import replace

import pytest

from agentforge.core.dependencies import Dependencies, TaskDependency
from agentforge.core.digests import (
    ContextDigest,
    Extension,
    Handover,
    RequestDigest,
    StageResult,
    VerdictDigest,
)
from agentforge.core.effects import Act, Ask, Assemble, Check, Commit, Deliver, Judge, Prepare, TakeBaseline
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    Escalated,
    IterationPresented,
    IterationStarted,
    PipelineExit,
    StageAccepted,
    StageEntered,
    UserDecision,
)
from agentforge.core.inputs import (
    Acted,
    AskStarted,
    Assembled,
    BaselineReady,
    CheckRan,
    CommitMade,
    Create,
    DeliveryMade,
    DependenciesReady,
    Extend,
    Judged,
    Prepared,
    Resolution,
    Resume,
    Revise,
)
from agentforge.core.lifecycle import OPERATIONS, TRANSITIONS, artifact_state, check_operation
from agentforge.core.pending import pending, worst_case
from agentforge.core.pipeline import Pipeline
from agentforge.core.values import ArtifactRef, Feedback, Issue, Oversight
from tests.core.scenes import (
    BASELINE,
    DESIGN,
    ITERATED,
    LATER,
    PASSED,
    SMALL,
    Played,
    answered,
    created,
    handed_in,
)
from tests.rows import every


def watched(
    pipeline: Pipeline,
    *,
    iterates: tuple[str, ...] = (),
    approves: tuple[str, ...] = (),
    oversight: Oversight = "autonomous",
) -> Played:
    play = Played()
    spec = created(pipeline).spec
    play.say(Create(replace(spec, iterates=iterates, approves=approves, oversight=oversight)))
    return play


def go(play: Played, words: str = "") -> str:
    """Drives until a person is asked or the task is over; what was asked last."""
    for _ in range(200):
        state = play.state
        if state.status in ("blocked", "completed", "failed", "cancelled"):
            return state.open_escalation.kind if state.open_escalation else state.status
        _step(play, words)
    raise AssertionError(f"still {play.state.status}")


def _step(play: Played, words: str) -> None:
    state = play.state
    effect = pending(state)[0]
    match effect:
        case Prepare():
            play.say(Prepared(state.tree), effect.key)
        case TakeBaseline():
            play.say(BaselineReady(BASELINE), effect.key)
        case Assemble():
            play.say(Assembled(ContextDigest("context", 10)), effect.key)
        case Ask():
            reserved = worst_case(state, state.run_of(effect.run))
            play.say(AskStarted(RequestDigest("hash", "scripted", reserved)), f"{effect.key}/sent")
            play.say(answered("success"), effect.key)
        case Act():
            run = state.run_of(effect.run)
            stage = state.stage_of(run)
            done = handed_in(stage, state.tree, f"{words}{run.step if not words else ''}").done
            refs = tuple(replace(ref, version=state.next_version(ref.contract)) for ref in done.artifacts)
            play.say(Acted(replace(done, artifacts=refs)), effect.key)
        case Check():
            play.say(CheckRan(PASSED, "ref"), effect.key)
        case Judge(gate=gate):
            run = state.run_of(effect.run)
            finals = tuple(replace(ref, hash=f"final-{ref.hash}") for ref in run.drafts) or tuple(
                ArtifactRef(item.contract, item.phase, 1, "made") for item in state.stage_of(run).products
            )
            play.say(Judged(VerdictDigest(gate, "passed", (), "ref", finals)), effect.key)
        case Commit():
            play.say(CommitMade(StageResult(state.tree, "commit")), effect.key)
        case Deliver():
            play.say(DeliveryMade(Handover("agentforge/task-1", "commit", "evidence")), effect.key)
        case _:
            raise AssertionError(effect)


def say(
    play: Played, answer: str, feedback: Feedback | None = None, edited: tuple[ArtifactRef, ...] = ()
) -> None:
    waiting = play.state.open_escalation
    assert waiting is not None
    play.say(Resolution(waiting.id, answer, "ada", feedback, edited))


def presented(play: Played) -> list[tuple[str, int]]:
    return [(event.stage, event.iteration) for event in play.events if isinstance(event, IterationPresented)]


def test_a_version_is_presented_revised_and_approved_and_the_task_is_done() -> None:
    play = watched(DESIGN, iterates=("spec",))
    assert go(play) == "iteration"
    waiting = play.state.open_escalation
    assert waiting is not None
    assert waiting.question.options == ("approve", "revise", "reject", "exit", "extend")
    assert artifact_state(play.state, "specification", "spec") == "pending_review"
    said = Feedback(
        "More.", (Issue("no errors", "REQ-1", "add one"), Issue("rounding", priority="should_consider"))
    )
    say(play, "revise", said)
    assert artifact_state(play.state, "specification", "spec") == "draft"
    assert play.told(IterationStarted) == [
        IterationStarted("spec", 2, "iteration_history/spec/v1_feedback.yaml")
    ]
    assert said.lines("must_address") == ("REQ-1: no errors. add one.",)
    assert go(play) == "iteration"
    say(play, "approve")
    assert artifact_state(play.state, "specification", "spec") == "approved"
    assert go(play) == "completed"
    assert presented(play) == [("spec", 1), ("spec", 2)]
    assert [event.decision for event in play.events if isinstance(event, UserDecision)] == [
        "revise",
        "approve",
    ]
    assert [event.exit_type for event in play.events if isinstance(event, PipelineExit)] == ["default_exit"]
    accepted = {event.stage: event.approved_by for event in play.events if isinstance(event, StageAccepted)}
    assert accepted == {"intake": "automatic", "clarify": "automatic", "spec": "ada"}
    assert artifact_state(play.state, "specification", "spec") == "final"
    with pytest.raises(StateInvalid, match="possible now: read, export, reference"):
        check_operation(play.state, "specification", "spec", "revise")


def test_words_alone_ask_for_changes_and_revise_alone_is_refused() -> None:
    play = watched(DESIGN, iterates=("spec",))
    go(play)
    with pytest.raises(StateInvalid, match="Say what should be different"):
        say(play, "revise")
    say(play, "Say more about errors")
    assert play.state.iterations[-1].feedback == Feedback("Say more about errors")


def test_the_same_version_again_is_no_revision() -> None:
    play = watched(DESIGN, iterates=("spec",))
    go(play, "same")
    say(play, "revise: say more")
    assert go(play, "same") == "exhausted"
    assert "Nothing changed since a person asked for changes" in str(play.state.open_escalation)


def test_at_the_maximum_a_person_is_asked_whether_there_shall_be_more() -> None:
    play = watched(DESIGN, iterates=("spec",))
    for words in ("first", "second"):
        assert go(play) == "iteration"
        say(play, f"revise: {words}")
    waiting = play.state.open_escalation
    assert waiting is not None
    assert waiting.question.text.startswith("This was version 2 of the specification")
    assert waiting.question.options == ("once more", "approve", "reject", "exit", "extend")
    say(play, "once more")
    assert play.state.iterations[-1].feedback == Feedback("second")
    assert go(play) == "iteration"
    assert presented(play)[-1] == ("spec", 3)
    say(play, "revise: third")
    say(play, "approve")
    assert go(play) == "completed"


def test_what_is_rejected_goes_back_to_the_stage_before_that_somebody_worked_on() -> None:
    play = watched(DESIGN, iterates=("spec",))
    go(play)
    say(play, "reject: it is about something else")
    entered = [event for event in play.events if isinstance(event, StageEntered)][-1]
    assert (entered.stage, entered.drafts[0].contract) == ("clarify", "clarification")
    assert "it is about something else" in entered.feedback[0]
    assert artifact_state(play.state, "clarification", "clarify") == "draft"
    assert go(play) == "iteration"


def test_nothing_before_the_first_stage_can_be_gone_back_to() -> None:
    first = replace(DESIGN, stages=DESIGN.stages[-1:])
    play = watched(first, iterates=("spec",))
    go(play)
    with pytest.raises(
        StateInvalid, match="'reject' is not possible at stage spec; possible are approve, revise"
    ):
        say(play, "reject: no")


def test_who_leaves_with_a_version_ends_the_line_there_and_it_can_be_extended_again() -> None:
    play = watched(ITERATED, iterates=("spec",))
    go(play)
    say(play, "exit")
    assert go(play) == "completed"
    assert play.state.pipeline.exit_stage == "spec"
    assert [event.exit_type for event in play.events if isinstance(event, PipelineExit)] == ["user_exit"]


def longer(play: Played) -> Extend:
    pipeline = play.state.pipeline
    return Extend(
        Extension(replace(pipeline, stages=(*pipeline.stages, LATER), extends_to=()), "cat1", "ada")
    )


def test_a_completed_task_goes_on_where_its_line_got_longer_and_pays_nothing_twice() -> None:
    play = watched(DESIGN)
    assert go(play) == "completed"
    finals, spent = play.state.finals, play.state.spent.calls
    with pytest.raises(StateInvalid, match="only with --extend-to or --revise"):
        play.say(Resume("ada"))
    play.say(longer(play))
    assert (play.state.segment, play.state.delivered) == (2, None)
    assert go(play) == "completed"
    assert play.state.spent.calls == spent + 1
    assert play.state.finals[: len(finals)] == finals
    assert [item.stage for item in play.state.accepted] == ["intake", "clarify", "spec", "later"]
    with pytest.raises(StateInvalid, match="can only go further"):
        play.say(Extend(Extension(DESIGN, "cat1", "ada")))


def test_what_a_design_waits_for_is_waited_for_before_the_first_stage_that_builds_on_it() -> None:
    play = watched(DESIGN)
    assert go(play) == "completed"
    awaited = Dependencies((TaskDependency("task-2", "deliver", ""),))
    play.say(replace(longer(play), dependencies=awaited))
    play.end("Prepare", Prepared("t0"))
    assert (play.state.dependencies, play.owes()) == (awaited, ["Depend"])
    play.end("Depend", DependenciesReady(()))
    assert "Depend" not in play.owes()
    assert go(play) == "completed"


def test_extend_is_to_approve_and_then_to_go_further() -> None:
    play = watched(DESIGN, iterates=("spec",))
    go(play)
    play.say(longer(play))
    assert play.state.status == "blocked"
    say(play, "extend")
    assert go(play) == "completed"
    assert play.state.accepted[-1].stage == "later"


def test_a_completed_result_is_presented_again_without_a_call_and_the_old_final_stays() -> None:
    play = watched(DESIGN)
    go(play)
    finals, spent = play.state.finals, play.state.spent.calls
    play.say(Revise("ada"))
    assert play.state.open_escalation is not None
    assert artifact_state(play.state, "specification", "spec") == "final"
    say(play, "approve")
    assert go(play) == "completed"
    assert (play.state.spent.calls, play.state.finals) == (spent, finals)
    play.say(Revise("ada"))
    say(play, "revise: say more")
    assert go(play) == "completed"
    assert play.state.finals[: len(finals)] == finals
    assert len(play.state.finals) == len(finals) + 1


def test_what_a_person_wrote_is_judged_and_what_they_approved_is_not_shown_twice() -> None:
    mine = (ArtifactRef("specification", "spec", 2, "by hand"),)
    play = watched(DESIGN, iterates=("spec",))
    go(play)
    say(play, "approve", edited=mine)
    assert play.state.worker is not None
    assert (play.state.worker.point, play.state.panel) == ("judge", ())
    assert go(play) == "completed"
    assert play.state.accepted[-1].drafts == mine
    assert presented(play) == [("spec", 1)]
    again = watched(DESIGN, iterates=("spec",))
    go(again)
    say(again, "revise", edited=mine)
    assert go(again) == "iteration"
    assert presented(again) == [("spec", 1), ("spec", 2)]


def test_supervised_asks_before_every_stage_and_a_refusal_ends_the_task_with_its_work() -> None:
    play = watched(SMALL, oversight="supervised")
    asked = []
    while go(play) == "approval":
        waiting = play.state.open_escalation
        assert waiting is not None
        asked.append(waiting.question.text.partition(".")[0].partition(":")[0])
        say(play, "go on" if "go on" in waiting.question.options else "approve")
    assert play.state.status == "completed"
    stages = ("frame", "red", "green", "review", "deliver")
    assert asked == [
        "The task begins with stage frame",
        *(f"Stage {name} has passed its gates" for name in stages),
    ]
    other = watched(SMALL, approves=("red",))
    assert go(other) == "approval"
    with pytest.raises(StateInvalid, match="takes approve, or refuse with a reason"):
        say(other, "well")
    say(other, "refuse: these tests are too few")
    assert (other.state.status, other.state.iterations[-1].decision) == ("cancelled", "reject")
    # Whoever continues it all the same is asked again: a refusal is not got round.
    other.say(Resume("ada"))
    assert go(other) == "approval"
    say(other, "approve")
    assert go(other) == "completed"


def test_interactive_asks_before_every_step_and_takes_a_word_along() -> None:
    play = watched(SMALL, oversight="interactive")
    assert go(play) == "approval"
    assert "Step 1, stage frame, is next (software_architect)." in str(play.state.open_escalation)
    say(play, "Keep it short")
    assert play.state.worker is not None
    assert play.state.worker.feedback == ("A person says: Keep it short",)
    steps = 1
    while go(play) == "approval":
        say(play, "yes")
        steps += 1
    assert (play.state.status, steps) == ("completed", 4)
    other = watched(SMALL, oversight="interactive")
    go(other)
    say(other, "stop: not now")
    assert other.state.status == "cancelled"


@every("choice", ["approve", "revise: x", "reject: x", "exit"])
def test_a_decision_about_a_version_that_is_gone_changes_nothing(choice: str) -> None:
    play = watched(DESIGN, iterates=("spec",))
    go(play)
    waiting = play.state.open_escalation
    assert waiting is not None
    say(play, "approve")
    before = play.state
    with pytest.raises(StateInvalid, match="already answered by ada"):
        play.say(Resolution(waiting.id, choice, "bob"))
    assert play.state == before


def test_the_lives_of_artifacts_are_those_of_the_table() -> None:
    assert sum(map(len, TRANSITIONS.values())) == 6
    assert OPERATIONS["final"] == ("read", "export", "reference")
    play = watched(ITERATED, iterates=("spec",))
    seen = []
    for answer in ("revise: more", "reject: no", "approve"):
        assert go(play) == "iteration"
        seen.append(artifact_state(play.state, "specification", "spec"))
        say(play, answer)
        seen.append(artifact_state(play.state, "specification", "spec"))
    assert seen == ["pending_review", "draft", "pending_review", None, "pending_review", "approved"]
    assert go(play) == "completed"
    assert not [
        event for event in play.events if isinstance(event, Escalated) and event.escalation.kind == "confused"
    ]
