"""What a role is shown that makes another version: what a person said of the last one, and that version."""

from collections.abc import Mapping

from agentforge.activities.world import World
from agentforge.core.iterating import rejection, to_revise, version_name
from agentforge.core.reply import Json
from agentforge.core.state import RunView
from agentforge.core.values import Iteration
from agentforge.system import strict_yaml


def asked_changes(state: RunView) -> Iteration | None:
    """The version that a person wants changed by this run; None where nobody does."""
    asked = None if state.run.parent else to_revise(state, state.run.stage)
    return asked if asked is not None and asked.feedback is not None else None


def iteration_context(state: RunView) -> str:
    """What a person asks for, whole, as long as the next version is not presented."""
    asked = asked_changes(state)
    if asked is None or asked.feedback is None:
        return ""
    said, stage = asked.feedback, state.stage
    names = " and ".join(ref.contract for ref in asked.settled)
    must, should = said.lines("must_address"), said.lines("should_consider")
    instruction = [
        "Settle every point of MUST_ADDRESS." if must else f"Revise the {names} as the person asks.",
        *(["Consider those of SHOULD_CONSIDER."] if should else []),
        f"Hand in version {asked.number + 1} of the {names}; the keys that change are enough.",
    ]
    feedback: dict[str, Json] = {
        **({"overall": said.overall} if said.overall else {}),
        **({"must_address": [*must]} if must else {}),
        **({"should_consider": [*should]} if should else {}),
    }
    return strict_yaml.dump(
        {
            "iteration": asked.number + 1,
            "max_iterations": stage.max_iterations,
            "previous_artifact": version_name(asked.settled[0]),
            "feedback": feedback,
            "instruction": " ".join(instruction),
        }
    )


def versions_shown(world: World, state: RunView) -> tuple[tuple[str, str], ...]:
    """Contract and text of each document that the person wants changed."""
    asked = asked_changes(state)
    if asked is None:
        return ()
    return tuple((ref.contract, strict_yaml.dump(world.pack.get_json(ref.hash))) for ref in asked.settled)


def version_before(world: World, state: RunView, contract: str) -> Mapping[str, Json] | None:
    """The version that a person wants changed: what is not handed in again stays as it says."""
    asked = asked_changes(state)
    ref = next((item for item in asked.settled if item.contract == contract), None) if asked else None
    value = world.pack.get_json(ref.hash) if ref is not None else None
    return value if isinstance(value, dict) else None


def rejected_before(state: RunView) -> tuple[str, ...]:
    """What a stage is told whose last version a person rejected."""
    last = None if state.run.parent else state.last_shown(state.run.stage)
    if last is None or last.decision != "reject":
        return ()
    return (rejection(last).replace("that was built on this", "of before"),)
