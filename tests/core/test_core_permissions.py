"""A call that waits for a person: no mistake of the model, a yes for this call alone, and anything else a
no.
"""

from agentforge.core.digests import ActionResults
from agentforge.core.events import event_from_json, event_to_json
from agentforge.core.evolve import replay
from agentforge.core.inputs import Abort, Acted, Prepared, Resolution, Resume
from agentforge.core.values import PERMISSION_OPTIONS, ActionDigest, Question, WantedCall
from tests.core.panels import READER, SECURITY, act_as, convened, read_as, reader, reply_as
from tests.core.scenes import Played, answered, begun, step
from tests.rows import every

CALL = WantedCall("d1", "run_command", "medium", ("make", "docs"))
QUESTION = Question("May software_architect use run_command?\n\n  make docs\n", PERMISSION_OPTIONS, call=CALL)
RESULTS = (
    ActionDigest("read_file", ok=True, target="a.py"),
    ActionDigest(
        "run_command",
        ok=False,
        target="make docs",
        mistake="asked",
        text="not done: it needs a person's permission",
    ),
    ActionDigest("edit_file", ok=False, target="a.py", mistake="waits", text="not done"),
)


def asking(tree: str = "t0") -> Acted:
    return Acted(ActionResults("results", tree, RESULTS), question=QUESTION)


def blocked() -> Played:
    task = begun()
    step(task, answered(), asking())
    return task


def test_a_call_that_waits_blocks_the_task_and_is_no_mistake() -> None:
    task = blocked()
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (task.state.status, waiting.kind, task.owes()) == ("blocked", "permission", ["Await"])
    assert (task.run.mistakes, task.run.tried, task.run.feedback) == (0, (), ())
    assert task.state.permits == frozenset()
    assert replay([event_from_json(event_to_json(event)) for event in task.events]) == task.state


@every("said", ["allow", "always", " Allow\n"])
def test_a_yes_permits_this_call_and_the_role_is_told_to_send_it_again(said: str) -> None:
    task = blocked()
    task.say(Resolution("ESC-001", said, "ada"))
    task.end("Prepare", Prepared("t0"))
    assert task.state.permits == {"d1"}
    assert task.state.denial("d1") is None
    assert "Send the same call again" in task.run.feedback[0]
    assert "make docs" in task.run.feedback[0]
    assert task.owes() == ["Assemble"]


@every(
    ("said", "told"),
    [("deny", "another way."), ("yes", "They said: yes"), ("not on Fridays", "They said: not on Fridays")],
)
def test_anything_else_denies_it_and_the_words_are_passed_on(said: str, told: str) -> None:
    task = blocked()
    task.say(Resolution("ESC-001", said, "ada"))
    assert task.state.permits == frozenset()
    assert task.state.denial("d1") == said
    assert "denied the call of run_command make docs" in task.run.feedback[0]
    assert told in task.run.feedback[0]


def test_abort_ends_the_task_and_denies_nothing_for_the_time_after() -> None:
    for words in (Resolution("ESC-001", "abort", "ada"), Abort("ada")):
        task = blocked()
        task.say(words)
        assert task.state.status == "cancelled"
        task.say(Resume("ada"))
        assert (task.state.permits, task.state.denial("d1")) == (frozenset(), None)


def test_a_long_question_reaches_the_role_in_short() -> None:
    task = begun()
    step(
        task,
        answered(),
        Acted(
            ActionResults("results", "t0", RESULTS),
            question=Question("x" * 30_000, PERMISSION_OPTIONS, call=CALL),
        ),
    )
    task.say(Resolution("ESC-001", "allow", "ada"))
    assert len(task.run.feedback[0]) < 5000
    assert "characters are left out" in task.run.feedback[0]


def test_a_reviewer_of_a_panel_asks_in_its_own_name() -> None:
    task = convened()
    read_as(task, READER)
    reply_as(task, SECURITY)
    act_as(task, SECURITY, asking(task.state.tree))
    waiting = task.state.open_escalation
    assert waiting is not None
    assert (waiting.kind, waiting.run) == ("permission", f"worker/{SECURITY}")
    task.say(Resolution("ESC-001", "allow", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert "Send the same call again" in reader(task, SECURITY).feedback[0]
    assert reader(task, READER).point == "handed_in"
    assert task.state.permits == {"d1"}
