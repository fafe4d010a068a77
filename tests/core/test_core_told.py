"""What a language server said is shown from the step after the one at whose end it is on record, and to no other."""

from dataclasses import replace

from agentforge.core.codec import decode, encode
from agentforge.core.digests import ActionResults
from agentforge.core.events import ActionsPerformed
from agentforge.core.inputs import Acted, Create
from agentforge.core.runs import WORKER
from agentforge.core.values import Told
from tests.core.scenes import MISS, Played, answered, begun, created, send, step


def now(task: Played) -> str:
    return task.state.seen_by(WORKER).told_now


def test_it_is_shown_from_the_next_step_on_and_a_context_that_is_made_again_stays_as_it_was() -> None:
    task = begun()
    send(task)
    assert now(task) == ""
    opened = task.state.step
    task.say(answered(), task.owed("Ask").key)
    task.end("Act", Acted(ActionResults("results", task.state.tree, (MISS,), told="said")))
    assert task.state.told == Told("said", opened + 1)
    assert task.state.step == opened + 1
    assert now(task) == "said"
    again = replace(task.state, runs=(replace(task.run, step=opened),))
    assert again.seen_by(WORKER).told_now == ""


def test_the_first_word_counts_and_no_word_changes_nothing() -> None:
    task = begun()
    step(task, answered(), Acted(ActionResults("results", task.state.tree, (MISS,))))
    assert task.state.told is None
    step(task, answered(), Acted(ActionResults("results", task.state.tree, (MISS,), told="first")))
    known = task.state.told
    step(task, answered(), Acted(ActionResults("results", task.state.tree, (MISS,), told="second")))
    assert task.state.told == known


def test_a_task_that_is_played_again_is_told_the_same_at_the_same_step() -> None:
    first = created()
    task = Played()
    task.say(Create(replace(first.spec, told=Told("said", 3))))
    assert task.state.told == Told("said", 3)
    untold = ActionsPerformed(WORKER, ActionResults("ref", "tree", ()))
    assert "told" not in str(encode(untold)), "lines of tasks without a server are as they were"
    told = ActionsPerformed(WORKER, ActionResults("ref", "tree", (), told="said"))
    assert decode(ActionsPerformed, encode(told)) == told
