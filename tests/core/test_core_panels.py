"""Panels: reviewers side by side, what they decide, and what befalls them on the way."""

from dataclasses import replace

import pytest

from agentforge.core.digests import ActionResults, RequestDigest, VerdictDigest
from agentforge.core.effects import Ask, Effect
from agentforge.core.errors import StateInvalid
from agentforge.core.events import AskLost, Discarded, GateJudged, HandedIn, RevisionAsked
from agentforge.core.evolve import replay
from agentforge.core.inputs import (
    Abort,
    Acted,
    Answered,
    AskStarted,
    AskTrouble,
    DriverStarted,
    Elapsed,
    Judged,
    Prepared,
    Resolution,
    Resume,
    Unclassified,
)
from agentforge.core.pending import pending, worst_case
from agentforge.core.pipeline import Reviewer
from agentforge.core.runs import WORKER, child_id, run_name
from agentforge.core.values import ActionDigest, Amount, Budget, OfRun, Question, ReplyDigest, Usage
from tests.core.panels import (
    ARBITER,
    READER,
    SECURITY,
    act_as,
    assemble,
    commit,
    convened,
    entered,
    full_until,
    hand_in,
    owed_to,
    pass_stage,
    read_all,
    read_as,
    reader,
    reply_as,
    send_as,
    sitting,
)
from tests.core.scenes import FULL, REVIEW, SMALL, Played, answered, begun, judge, submit
from tests.rows import every

READ = ActionDigest("read_file", ok=True, target="a.py")
REVIEW_COST = Amount(1, 36_000, 0)
"""The worst case of one reading of `refactor`: its context and what a review may say."""
ASKS = Acted(
    ActionResults("ref", "t", (READ,)), question=Question("Is this key public?", ("yes", "no"), "no")
)


def _kind(task: Played) -> str:
    waiting = task.state.open_escalation
    assert waiting is not None
    return waiting.kind


def _whose(effect: Effect) -> str:
    return run_name(effect.run) if isinstance(effect, OfRun) else ""


def _asks(task: Played) -> Acted:
    return replace(ASKS, done=replace(ASKS.done, tree=task.state.tree))


# ------------------------------------------------------------------ side by side


def test_the_reviewers_of_a_panel_are_both_owed_at_once() -> None:
    task = convened()
    assert task.owes() == ["Assemble", "Assemble"]
    for name in (SECURITY, READER):
        assemble(task, name)
    assert task.owes() == ["Ask", "Ask"]
    assert {_whose(effect) for effect in pending(task.state)} == {SECURITY, READER}
    assert len({effect.key for effect in pending(task.state)}) == 2


def test_nobody_is_judged_before_everybody_has_read() -> None:
    task = convened()
    read_as(task, READER)
    assert ("Judge" in task.owes(), sitting(task)) == (False, [SECURITY])
    read_as(task, SECURITY)
    assert task.owes() == ["Judge"]
    assert [run_name(event.run) for event in task.told(HandedIn)][-2:] == [READER, SECURITY]


def test_readings_in_any_order_lead_to_the_same_verdict_and_bill() -> None:
    one, other = convened(), convened()
    read_as(one, SECURITY)
    read_as(one, READER)
    send_as(other, READER)
    send_as(other, SECURITY)
    for name in (SECURITY, READER):
        other.say(answered("success", ref=f"read by {name}"), owed_to(other, "Ask", name).key)
    for name in (READER, SECURITY):
        act_as(other, name)
    assert pending(one.state) == pending(other.state)
    assert (one.state.spent, one.state.panel) == (other.state.spent, other.state.panel)


def test_a_reviewer_sees_the_result_as_if_accepted_and_nobodys_steps() -> None:
    task = convened()
    reply_as(task, SECURITY)
    act_as(task, SECURITY, Acted(ActionResults("acts-of-security", task.state.tree, (READ,), notes="mine")))
    view = task.state.seen_by(child_id(WORKER, READER))
    assert (view.run.recent, view.run.acts, view.run.notes, view.run.feedback) == ((), (), "", ())
    assert view.accepted[-1].stage == "refactor"
    assert task.state.accepted[-1].stage == "green"


def test_a_reviewer_that_only_reads_must_leave_the_tree_as_it_is() -> None:
    task = convened()
    reply_as(task, READER)
    act_as(task, READER, Acted(ActionResults("ref", "another tree", (READ,))))
    assert (task.state.status, _kind(task)) == ("blocked", "confused")
    assert task.state.tree != "another tree"


# ------------------------------------------------------------------ the cap


def test_two_calls_together_do_not_pass_the_cap() -> None:
    task = convened()
    spent = task.state.spent.plus(REVIEW_COST)
    tight = convened(Budget(calls=spent.calls, tokens=10**9))
    for name in (SECURITY, READER):
        assemble(tight, name)
    assert [_whose(effect) for effect in pending(tight.state)] == [SECURITY]
    send_as(tight, SECURITY)
    worst = worst_case(tight.state, reader(tight, READER))
    tight.say(AskStarted(RequestDigest("hash", "scripted", worst)), "refactor/reviewer/1/8/ask/0/sent")
    assert [run_name(flight.run) for flight in tight.state.flights] == [SECURITY]
    assert tight.state.status == "running"


def test_the_second_reading_is_owed_when_the_first_cost_less_than_its_worst_case() -> None:
    spent = convened().state.spent
    task = convened(Budget(calls=100, tokens=spent.tokens + REVIEW_COST.tokens + 5000))
    assemble(task, SECURITY)
    assemble(task, READER)
    assert task.owes() == ["Ask"]
    task.say(
        Answered(ReplyDigest("reply", Usage(900, 100), Amount(1, 1000), 1, signal="success")),
        send_as(task, SECURITY).key,
    )
    assert task.owes() == ["Act", "Ask"]


def test_a_panel_without_room_for_any_reading_asks_for_more_and_reads_on() -> None:
    spent = convened().state.spent
    task = convened(Budget(calls=spent.calls + 1))
    read_as(task, SECURITY)
    assemble(task, READER)
    assert (task.state.status, _kind(task)) == ("blocked", "budget")
    task.say(Resolution("ESC-001", "double", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert sitting(task) == [READER]
    assert task.owes() == ["Ask"]


# ------------------------------------------------------------------ what happens to one of them


def test_a_reviewer_that_asks_a_person_is_told_the_answer_and_the_other_keeps_what_it_has() -> None:
    task = convened()
    read_as(task, READER)
    reply_as(task, SECURITY)
    act_as(task, SECURITY, _asks(task))
    assert (task.state.status, _kind(task), task.owes()) == ("blocked", "question", ["Await"])
    with pytest.raises(StateInvalid, match="is waiting for an answer"):
        task.say(Resume("ada"))
    task.say(Resolution("ESC-001", "It is public.", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert reader(task, SECURITY).feedback[0] == "A person answered: It is public."
    assert reader(task, READER).point == "handed_in"
    assert (task.owes(), task.run.point) == (["Assemble"], "judge")
    read_as(task, SECURITY)
    assert task.owes() == ["Judge"]


def test_an_answer_that_comes_while_a_person_is_asked_is_kept() -> None:
    task = convened()
    reply_as(task, SECURITY)
    late = send_as(task, READER)
    act_as(task, SECURITY, _asks(task))
    before = task.state.spent
    task.say(answered("success"), late.key)
    assert (task.state.spent, task.state.flights, task.state.status) == (
        before.plus(Amount(1, 1000)),
        (),
        "blocked",
    )
    assert task.told(Discarded) == []
    task.say(Resolution("ESC-001", "yes", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert [(type(effect).__name__, _whose(effect)) for effect in pending(task.state)] == [
        ("Assemble", SECURITY),
        ("Act", READER),
    ]


def test_trouble_that_comes_while_a_person_is_asked_asks_nothing_more() -> None:
    task = convened()
    reply_as(task, SECURITY)
    late = send_as(task, READER)
    act_as(task, SECURITY, _asks(task))
    task.say(AskTrouble("timeout", "no answer", retryable=False, maybe_billed=True), late.key)
    assert (len(task.state.escalations), task.state.unaccounted, task.state.flights) == (1, REVIEW_COST, ())


def test_an_answer_for_a_panel_that_has_risen_is_only_billed() -> None:
    task = convened()
    late = send_as(task, READER)
    task.say(Abort("ada", "enough"))
    task.say(answered("success"), late.key)
    assert task.told(Discarded) == [Discarded(late.key, Amount(1, 1000))]
    assert (task.state.status, task.state.flights) == ("cancelled", ())


def test_calls_of_both_reviewers_that_a_driver_lost_are_both_billed_and_both_sent_again() -> None:
    task = convened()
    keys = [send_as(task, name).key for name in (SECURITY, READER)]
    assert task.say(DriverStarted()) == tuple(
        AskLost(child_id(WORKER, name), key, REVIEW_COST)
        for key, name in zip(keys, (SECURITY, READER), strict=True)
    )
    assert (task.state.unaccounted, task.state.flights) == (REVIEW_COST.plus(REVIEW_COST), ())
    again = [effect for effect in pending(task.state) if isinstance(effect, Ask)]
    assert [(effect.key, effect.ordinal) for effect in again] == [
        (key.removesuffix("0") + "1", 0) for key in keys
    ]


def test_trouble_of_one_reviewer_is_its_own() -> None:
    task = convened()
    refused = AskTrouble("rate_limit", "slow down", retryable=True, maybe_billed=False)
    task.say(refused, send_as(task, SECURITY).key)
    read_as(task, READER)
    assert task.owes() == ["Pause"]
    task.end("Pause", Elapsed())
    read_as(task, SECURITY)
    assert task.owes() == ["Judge"]


def test_a_provider_that_fails_one_reviewer_for_good_leaves_the_others_reading_and_resume_tries_again() -> (
    None
):
    task = convened()
    read_as(task, READER)
    task.say(
        AskTrouble("auth", "The key is refused.", retryable=False, maybe_billed=False),
        send_as(task, SECURITY).key,
    )
    assert (task.state.status, _kind(task)) == ("blocked", "model")
    task.say(Resume("ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert (reader(task, READER).point, task.owes()) == ("handed_in", ["Ask"])


def test_a_reviewer_that_fails_twice_is_a_question_and_one_more_attempt_is_its_own() -> None:
    task = convened()
    read_as(task, READER)
    for attempt in (1, 2):
        assert reader(task, SECURITY).attempt == attempt
        reply_as(task, SECURITY, answered("failure_retryable", summary="too long"))
        act_as(task, SECURITY, Acted(ActionResults("ref", task.state.tree, ())))
    assert (task.state.status, _kind(task)) == ("blocked", "exhausted")
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (waiting.stage, len(waiting.reports)) == ("refactor/security_architect", 2)
    task.say(Resolution(waiting.id, "retry", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert (reader(task, SECURITY).attempt, reader(task, READER).point, task.run.attempt) == (
        3,
        "handed_in",
        1,
    )
    read_as(task, SECURITY)
    assert task.owes() == ["Judge"]


def test_a_reviewer_that_hands_nothing_in_is_stopped_by_its_own_bounds() -> None:
    task = convened()
    read_as(task, READER)
    steps = 0
    while reader(task, SECURITY).attempt == 1:
        reply_as(task, SECURITY, answered())
        act_as(task, SECURITY, Acted(ActionResults("ref", task.state.tree, (READ,))))
        steps += 1
    assert steps == 6
    assert "step budget of 6" in entered(task, SECURITY)[-1].feedback[0]


def test_what_confuses_one_reviewer_is_asked_about_and_that_reviewer_goes_on() -> None:
    task = convened()
    read_as(task, READER)
    reply_as(task, SECURITY)
    task.say(Unclassified("a riddle"), owed_to(task, "Act", SECURITY).key)
    assert _kind(task) == "confused"
    task.say(Resolution("ESC-001", "retry", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    read_as(task, SECURITY)
    assert task.owes() == ["Judge"]


def test_an_aborted_panel_reads_again_where_nothing_was_handed_in() -> None:
    task = convened()
    read_as(task, READER)
    reply_as(task, SECURITY)
    task.say(Abort("ada", "enough"))
    task.say(Resume("ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert (sitting(task), task.owes(), task.run.point) == ([SECURITY], ["Assemble"], "judge")
    read_as(task, SECURITY)
    assert task.owes() == ["Judge"]


def test_a_person_who_edits_under_a_panel_sends_the_work_back_to_its_role_and_a_new_panel_reads_it() -> None:
    task = convened()
    read_as(task, READER)
    task.say(Abort("ada", "let me"))
    task.say(Resume("ada"))
    task.end("Prepare", Prepared("mine", (), "feedfacefeedface", ("a.py",)))
    assert (task.state.panel, task.run.point, task.state.tree) == ((), "assemble", "mine")
    hand_in(task)
    assert sitting(task) == [SECURITY, READER]


# ------------------------------------------------------------------ verdicts


def test_a_split_panel_calls_the_arbiter_once_and_tells_what_it_is_about() -> None:
    task = convened()
    read_all(task)
    judge(task, "split", "REV-001 (reviewer): a name is odd")
    assert sitting(task) == [ARBITER]
    assert reader(task, ARBITER).feedback == ("The reviewers disagree:", "REV-001 (reviewer): a name is odd")
    assert task.state.stage_of(reader(task, ARBITER)).tier == "reasoning"
    read_as(task, ARBITER)
    judge(task)
    commit(task)
    assert (task.run.stage, task.state.panel, task.state.blocks) == ("deliver", (), 0)


def test_a_second_split_counts_as_a_block() -> None:
    task = convened()
    read_all(task)
    judge(task, "split", "one says so")
    read_as(task, ARBITER)
    judge(task, "split", "still")
    assert task.told(GateJudged)[-1].verdict.status == "blocked"
    assert (task.state.blocks, task.told(RevisionAsked)[-1].findings) == (1, ("still",))


def test_without_an_arbiter_a_split_is_a_block() -> None:
    stages = tuple(replace(stage, arbiter=None) for stage in FULL.stages)
    task = full_until("refactor", replace(FULL, stages=stages))
    hand_in(task)
    read_all(task)
    judge(task, "split", "one says so")
    assert (task.state.blocks, task.state.panel, task.run.point) == (1, (), "assemble")


def test_each_split_of_a_new_round_has_its_own_arbiter() -> None:
    task = convened()
    for _ in range(2):
        read_all(task)
        judge(task, "split", "one says so")
        read_as(task, ARBITER)
        judge(task, "blocked", "so it is")
        hand_in(task)
    assert len(entered(task, ARBITER)) == 2


def test_a_block_sends_the_stage_its_findings_and_its_own_artifacts_and_the_next_panel_is_told() -> None:
    task = full_until("spec")
    hand_in(task)
    read_all(task)
    judge(task, "blocked", "SEC-001: say what happens to nothing")
    back = entered(task)[-1]
    assert (back.stage, back.feedback) == (
        "spec",
        ("The reviewer blocks:", "SEC-001: say what happens to nothing"),
    )
    assert [ref.contract for ref in back.drafts] == ["specification"]
    assert (task.state.panel, task.run.drafts, task.run.attempt) == ((), back.drafts, 1)
    hand_in(task)
    assert reader(task, SECURITY).feedback == (
        "The version before was sent back for:",
        "SEC-001: say what happens to nothing",
    )
    read_all(task)
    judge(task)
    commit(task)
    assert (task.run.stage, task.state.findings) == ("red", ())


@every("bound", [0, 1, 3])
def test_so_many_revisions_mean_one_review_more(bound: int) -> None:
    stages = tuple(replace(stage, max_revisions=bound) for stage in FULL.stages)
    task = full_until("spec", replace(FULL, stages=stages))
    while task.state.status == "running":
        hand_in(task)
        read_all(task)
        judge(task, "blocked", "SEC-001: no")
    assert (_kind(task), task.state.revised_times("spec"), task.state.blocks) == ("review", bound, bound + 1)
    assert len(entered(task, SECURITY)) == bound + 1
    task.say(Resolution("ESC-001", "Leave it open on purpose.", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert task.run.feedback[0] == "A person answered: Leave it open on purpose."
    assert "SEC-001: no" in task.run.feedback
    hand_in(task)
    read_all(task)
    judge(task, "blocked", "SEC-001: no")
    assert (_kind(task), task.state.revised_times("spec")) == ("review", bound + 1)


def test_abort_ends_a_panel_at_any_point_and_what_was_recorded_replays() -> None:
    for point in range(4):
        task = convened()
        if point > 0:
            send_as(task, READER)
        if point > 1:
            send_as(task, SECURITY)
            task.say(answered("success"), owed_to(task, "Ask", SECURITY).key)
        if point > 2:
            act_as(task, SECURITY, _asks(task))
        task.say(Abort("ada", "enough"))
        assert (task.state.status, pending(task.state)) == ("cancelled", ())
        assert replay(task.events) == task.state
        task.say(DriverStarted())
        task.say(Resume("ada"))
        task.end("Prepare", Prepared(task.state.tree))
        read_all(task)
        judge(task)
        commit(task)
        assert task.run.stage == "deliver"


# ------------------------------------------------------------------ parts


def unread(task: Played, parts: int) -> None:
    task.end(
        "Judge",
        Judged(VerdictDigest("review", "unread", ("reviewer has not seen b.py",), "ref"), parts=parts),
    )


def test_what_does_not_fit_one_reader_is_read_in_parts_each_by_a_run_of_its_own() -> None:
    task = convened()
    read_all(task)
    unread(task, 3)
    names = [f"{name}-{part}" for part in (2, 3) for name in (SECURITY, READER)]
    assert sitting(task) == names
    assert (task.state.status, task.run.point) == ("running", "judge")
    second = reader(task, f"{READER}-2")
    assert (second.parent, second.owner, second.label) == (WORKER, "reviewer", "refactor/reviewer-2")
    assert task.state.stage_of(second).role == READER
    read_all(task)
    judge(task)
    assert task.run.point == "commit"


def test_a_stage_that_is_a_review_itself_is_read_in_parts_beside_it_and_sees_no_other_review() -> None:
    task = begun(SMALL)
    while task.run.stage != "review":
        pass_stage(task)
    submit(task)
    unread(task, 2)
    assert sitting(task) == [f"{READER}-2"]
    stage = task.state.stage_of(reader(task, f"{READER}-2"))
    assert (stage.role, stage.requires) == (READER, task.state.pipeline.stage("review").requires)
    read_all(task)
    judge(task)
    judge(task)
    assert task.run.point == "commit"


def test_parts_that_all_had_a_reader_and_are_still_unread_have_not_been_reviewed() -> None:
    task = convened()
    read_all(task)
    unread(task, 2)
    read_all(task)
    unread(task, 2)
    assert task.told(GateJudged)[-1].verdict.status == "not_run"
    assert task.state.panel == ()
    assert task.run.point == "assemble"


def test_a_block_of_one_part_sends_the_work_back_and_the_next_version_is_read_anew() -> None:
    task = convened()
    read_all(task)
    unread(task, 2)
    read_all(task)
    judge(task, "blocked", "REV-002: no")
    assert task.state.revised_times("refactor") == 1
    hand_in(task)
    assert sitting(task) == [SECURITY, READER]


# ------------------------------------------------------------------ readers on a condition


@every("facts", [(), ("delicate_change",)])
def test_a_delicate_change_has_one_reader_for_security_beside_the_review(facts: tuple[str, ...]) -> None:
    security = Reviewer(SECURITY, "security_review")
    review = replace(REVIEW, reviewers=(security,), reviewers_if="delicate_change")
    task = begun(replace(SMALL, stages=(*SMALL.stages[:3], review, SMALL.stages[4])))
    while task.run.stage != "green":
        pass_stage(task)
    pass_stage(task, *facts)
    submit(task)
    assert sitting(task) == ([SECURITY] if facts else [])
