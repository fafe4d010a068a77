"""Debates: who is heard before the work of a stage, side by side, and what befalls them on the way."""

from dataclasses import replace

from agentforge.core.digests import ActionResults
from agentforge.core.events import AskAnswered, HandedIn, StageAccepted, StageEntered, StepOpened
from agentforge.core.evolve import replay
from agentforge.core.inputs import Abort, Acted, DriverStarted, Prepared, Resolution, Resume
from agentforge.core.pending import pending
from agentforge.core.runs import WORKER, child_id
from agentforge.core.values import ActionDigest, Budget, OfRun, Question
from tests.core.panels import (
    act_as,
    assemble,
    commit,
    full_until,
    owed_to,
    read_all,
    read_as,
    reader,
    reply_as,
    send_as,
    sitting,
)
from tests.core.scenes import DEBATE, DEBATED, RISING, Played, begun, judge, submit

THREE = ["advocate", "skeptic", "operator"]


def _argued(budget: Budget | None = None) -> Played:
    task = full_until("debate", DEBATED, budget)
    assert sitting(task) == THREE
    return task


def _drafts(task: Played, run: str) -> set[str]:
    """What a run sees as handed over in the stage under way."""
    return {ref.contract for item in task.state.seen_by(run).accepted[2:] for ref in item.finals}


def test_three_are_asked_at_once_and_nobody_else() -> None:
    task = _argued()
    assert task.owes() == ["Assemble"] * 3
    for name in THREE:
        assemble(task, name)
    assert task.owes() == ["Ask"] * 3
    assert {effect.run for effect in pending(task.state) if isinstance(effect, OfRun)} == {
        child_id(WORKER, name) for name in THREE
    }
    for name in THREE:
        send_as(task, name)
    assert len(task.state.flights) == 3


def test_who_decides_begins_when_all_are_heard_and_sees_what_they_wrote() -> None:
    task = _argued()
    for name in THREE:
        assert not [event for event in task.told(StepOpened) if event.run == WORKER and event.step > 2]
        read_as(task, name)
    assert task.why == "everybody is heard: the work begins"
    assert task.owes() == ["Assemble"]
    assert _drafts(task, WORKER) == {item.contract for item in DEBATE.debaters}


def test_nobody_who_is_heard_sees_what_another_wrote() -> None:
    task = _argued()
    read_as(task, "advocate")
    for name in ("skeptic", "operator"):
        assert _drafts(task, child_id(WORKER, name)) == set()
    # The control: what was accepted before all of them see.
    assert {
        ref.contract
        for item in task.state.seen_by(child_id(WORKER, "skeptic")).accepted
        for ref in item.finals
    }


def test_they_are_heard_once_however_often_the_decision_is_refused() -> None:
    task = _argued()
    read_all(task)
    submit(task)
    judge(task, "failed", "decision_unclear: Final Decision takes none of the options")
    assert task.run.feedback[1].startswith("decision_unclear")
    assert sitting(task) == []
    assert len(task.state.panel) == 3
    assert _drafts(task, WORKER) == {item.contract for item in DEBATE.debaters}
    submit(task)
    judge(task, "failed", "still unclear")  # the round that is allowed is over: a fresh attempt
    assert task.run.attempt == 2
    assert sitting(task) == []
    assert len([event for event in task.told(StageEntered) if event.owner == "debater"]) == 3
    assert task.owes() == ["Assemble"]


def test_a_decision_that_stays_unclear_is_a_question_to_a_person_whose_answer_is_told() -> None:
    task = _argued()
    read_all(task)
    for _ in range(4):
        submit(task)
        judge(task, "failed", "decision_unclear: it names no option")
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (waiting.kind, waiting.stage) == ("exhausted", "debate")
    assert "it names no option" in waiting.question.text
    task.say(Resolution(waiting.id, "take the second option", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert "A person answered: take the second option" in task.run.feedback
    assert task.owes() == ["Assemble"]
    assert len(task.state.panel) == 3


def test_once_it_is_decided_nobody_stays_and_the_next_stage_sees_the_decision() -> None:
    task = _argued()
    read_all(task)
    submit(task)
    while task.run.point == "judge":
        judge(task)
    commit(task)
    assert task.run.stage == "spec"
    assert task.state.panel == ()
    assert [item.stage for item in task.told(StageAccepted)][-1] == "debate"
    assert task.state.artifact("debate_synthesis") is not None


def test_a_debate_that_is_not_owed_asks_nobody() -> None:
    line = replace(
        DEBATED,
        stages=tuple(
            replace(stage, skip_if="minor_decision") if stage.name == "debate" else stage
            for stage in DEBATED.stages
        ),
    )
    task = full_until("clarify", line)
    submit(task)
    while task.run.point == "judge":
        judge(task)
    commit(task, "minor_decision")
    assert (task.run.stage, task.run.skipped) == ("debate", "minor_decision")
    assert task.state.panel == ()
    assert task.owes() == ["Judge"]


def test_a_question_of_one_of_them_keeps_what_the_others_wrote() -> None:
    task = _argued()
    read_as(task, "operator")
    asks = Acted(
        ActionResults("ref", task.state.tree, (ActionDigest("read_file", ok=True),)),
        question=Question("Which cloud?"),
    )
    reply_as(task, "advocate")
    act_as(task, "advocate", asks)
    waiting = task.state.open_escalation
    assert waiting is not None
    assert waiting.stage == "debate/advocate"
    task.say(Resolution(waiting.id, "ours", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert sitting(task) == ["advocate", "skeptic"]
    assert reader(task, "advocate").feedback[0] == "A person answered: ours"
    read_all(task)
    assert task.why == "everybody is heard: the work begins"


def test_one_who_writes_rubbish_to_the_end_is_a_question_and_the_others_wait() -> None:
    task = _argued()
    for name in ("advocate", "skeptic"):
        read_as(task, name)
    while task.state.open_escalation is None:
        reply_as(task, "operator")
        nothing = (ActionDigest("submit", ok=False, mistake="invalid", text=f"wrong {task.state.step}"),)
        act_as(task, "operator", Acted(ActionResults(f"r{task.state.step}", task.state.tree, nothing)))
    assert task.state.open_escalation.stage == "debate/operator"
    assert not [event for event in task.told(AskAnswered) if event.run == WORKER and task.run.steps]


def test_a_cap_that_holds_one_call_lets_them_speak_one_after_the_other() -> None:
    room = full_until("debate", DEBATED).state.spent.tokens
    task = _argued(Budget(tokens=room + 2 * 12_500))
    for name in THREE:
        assemble(task, name)
    assert 1 <= task.owes().count("Ask") < 3


def test_a_driver_that_dies_anywhere_asks_nobody_again_who_has_handed_in() -> None:
    whole = _argued()
    read_all(whole)
    events = whole.events
    for cut in range(len(events) + 1):
        state = replay(events[:cut])
        if not any(run.owner == "debater" for run in state.runs):
            continue
        task = Played(state, list(events[:cut]))
        task.say(DriverStarted())
        done = {event.run for event in task.told(HandedIn)}
        assert not done & {effect.run for effect in pending(task.state) if isinstance(effect, OfRun)}


def test_resumed_after_an_abort_the_debate_goes_on_where_it_was() -> None:
    task = _argued()
    read_as(task, "skeptic")
    task.say(Abort("ada"))
    task.say(Resume("ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert sitting(task) == ["advocate", "operator"]
    assert task.owes() == ["Assemble", "Assemble"]
    owed_to(task, "Assemble", "advocate")
    read_all(task)
    assert task.why == "everybody is heard: the work begins"
    submit(task)
    assert task.owes() == ["Judge"]


def test_a_debated_lane_rises_and_does_not_argue_again() -> None:
    line = replace(RISING, stages=(DEBATE, *RISING.stages))
    task = begun(line)
    read_all(task)
    for stage in ("debate", "frame", "red"):
        assert task.run.stage == stage
        submit(task)
        while task.run.point == "judge":
            judge(task)
        commit(task)
    submit(task)
    while task.run.point == "judge":
        judge(task)
    commit(task, files=9)  # more than the small lane carries
    assert task.state.pipeline.lane == "full"
    assert task.run.stage == "refactor"
    assert len([event for event in task.told(StageEntered) if event.owner == "debater"]) == 3


def test_those_who_share_a_tier_take_turns_with_its_models() -> None:
    task = _argued()
    turns = {name: task.state.seen_by(child_id(WORKER, name)).turn for name in THREE}
    assert turns == {"advocate": 1, "skeptic": 0, "operator": 2}  # who decides asks `generation` here, too
    assert task.state.seen_by(WORKER).turn == 0
