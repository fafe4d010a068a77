"""A gate that a person could satisfy: the role hears it first, then the person is asked, and a yes judges again."""

from agentforge.core.kinds import PROOF_KINDS, is_weaker
from agentforge.core.values import Question, agrees
from tests.rows import every


@every(
    ("answer", "yes"), [("yes", True), ("Yes.", True), ("allow", True), ("no", False), ("yes, but", False)]
)
def test_only_a_plain_yes_is_one(answer: str, yes: bool) -> None:
    assert agrees(answer) is yes


def test_no_kind_is_weaker_than_itself_and_new_behaviour_is_the_strongest() -> None:
    assert not any(is_weaker(kind, kind) for kind in PROOF_KINDS)
    assert all(is_weaker(kind, "new_behaviour") for kind in PROOF_KINDS if kind != "new_behaviour")
    assert Question("?").if_no == ""
