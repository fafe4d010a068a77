"""Which kind of proof a task owes: by the words of its request, and by what a person answered."""

from agentforge.activities.world import Document, World
from agentforge.core.conditions import Fact
from agentforge.core.state import RunView, State
from agentforge.gates.change.kind import KindOfChange
from agentforge.gates.change.kinds import Allowed, allowed_kind, failed_before

_REMOVES = ("remove", "delete", "drop")


def allowed_now(state: State) -> Allowed:
    """The weakest kind that will do for this task."""
    return allowed_kind(state.request, state.escalations, state.pipeline.goal)


def owes_failing_test(state: State) -> bool:
    """Whether a test must fail without the change."""
    return allowed_now(state).kind == "new_behaviour"


def kind_of_change(world: World, state: RunView, red: Document | None = None) -> KindOfChange:
    """The change of a task as it stands, with the record of RED if there is one. The tree that its old tests
    are taken from is kept: whoever verifies needs it again.
    """
    change = KindOfChange(
        world.pristine_runner(state),
        state.base_tree,
        state.tree,
        state.request,
        red or {},
        state.escalations,
        state.pipeline.goal,
    )
    if change.base_tests != state.base_tree:
        world.workspace.keep(change.base_tests)
    return change


def kind_facts(state: State, red: Document) -> tuple[Fact, ...]:
    """What a pipeline may ask about the kind: whose work is not needed."""
    allowed = allowed_now(state)
    kind = allowed.kind
    if kind == "tests_only":
        return () if failed_before(red) else ("only_tests",)
    if (
        kind == "same_behaviour"
        and allowed.asked.words.lower().startswith(_REMOVES)
        and not allowed.asked.dead_code
    ):
        return ()  # code that somebody uses goes with its tests, and these are given up in RED
    return ("no_test_owed",) if kind != "new_behaviour" else ()
