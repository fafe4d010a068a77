"""A gate that a person could satisfy: the role hears it first, then the person is asked, and a yes judges
again.
"""

from agentforge.core.digests import VerdictDigest
from agentforge.core.inputs import Judged, Prepared, Resolution
from agentforge.core.kinds import PROOF_KINDS, is_weaker
from agentforge.core.values import Question, agrees
from tests.core.scenes import Played, accept, begun, reach, submit
from tests.rows import every

ASKED = Question(
    "Is that what you want?", ("yes", "no", "abort"), about=("kind: no_code",), if_no="They want more."
)


@every(
    ("answer", "yes"), [("yes", True), ("Yes.", True), ("allow", True), ("no", False), ("yes, but", False)]
)
def test_only_a_plain_yes_is_one(answer: str, yes: bool) -> None:
    assert agrees(answer) is yes


def test_new_behaviour_is_the_strongest_kind() -> None:
    assert not any(is_weaker(kind, kind) for kind in PROOF_KINDS)
    assert all(is_weaker(kind, "new_behaviour") for kind in PROOF_KINDS if kind != "new_behaviour")


def refused_twice() -> Played:
    task = reach(begun(), "red")
    for _ in range(2):
        submit(task)
        task.end(
            "Judge",
            Judged(VerdictDigest("red", "failed", ("too little",), "verdict"), question=ASKED, ask_after=1),
        )
    return task


def test_the_role_hears_it_once_before_a_person_is_asked() -> None:
    task = reach(begun(), "red")
    submit(task)
    task.end(
        "Judge",
        Judged(VerdictDigest("red", "failed", ("too little",), "verdict"), question=ASKED, ask_after=1),
    )
    assert (task.state.status, task.state.escalations) == ("running", ())
    assert "too little" in task.run.feedback
    assert refused_twice().state.escalations[-1].question == ASKED


def test_a_yes_lets_the_gate_judge_again_and_a_no_goes_back_with_its_words() -> None:
    task = refused_twice()
    task.say(Resolution("ESC-001", "yes", "ada"))
    task.end("Prepare", Prepared(task.state.tree))
    assert task.owes() == ["Judge"]
    accept(task)
    assert task.run.stage == "green"
    for answer, told in (("no", "They want more."), ("also JSON", "They want more. They said: also JSON")):
        task = refused_twice()
        task.say(Resolution("ESC-001", answer, "ada"))
        task.end("Prepare", Prepared(task.state.tree))
        assert (task.owes(), task.run.feedback[0]) == (["Assemble"], told)
