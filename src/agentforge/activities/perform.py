"""From an effect to its outcome: the one place where effects meet the world."""

import threading
from typing import assert_never

from agentforge.activities.act import act
from agentforge.activities.ask import ask_model
from agentforge.activities.assemble import assemble_step
from agentforge.activities.check import check
from agentforge.activities.commit import commit_stage, deliver
from agentforge.activities.dependencies import depend
from agentforge.activities.judge import judge
from agentforge.activities.prepare import prepare, take_baseline
from agentforge.activities.world import World
from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Depend,
    Effect,
    Judge,
    Pause,
    Prepare,
    RunEffect,
    TakeBaseline,
)
from agentforge.core.errors import UserError
from agentforge.core.inputs import Elapsed, Outcome, Unclassified
from agentforge.core.state import RunView, State
from agentforge.core.values import OfRun
from agentforge.system.files import exhausted
from agentforge.system.secrets.redact import redact


def perform(world: World, effect: Effect, state: State) -> Outcome:
    """Makes one effect real. A `UserError` stops the driver; what nobody foresaw becomes a question."""
    try:
        if isinstance(effect, OfRun):
            return _perform_of_run(world, effect, state.seen_by(effect.run))
        return _perform_of_task(world, effect, state)
    except UserError:
        raise
    # the border where an effect becomes an outcome: halt when confused
    except Exception as error:
        if isinstance(error, OSError) and (trouble := exhausted(error)) is not None:
            raise trouble from error
        return Unclassified(f"{effect.key}: {type(error).__name__}: {redact(str(error))[0][:500]}")


def _perform_of_task(world: World, effect: Prepare | TakeBaseline | Depend | Await, state: State) -> Outcome:
    match effect:
        case Prepare():
            return prepare(world, effect, state)
        case TakeBaseline():
            return take_baseline(world, state)
        case Depend():
            return depend(world, state, _off(world))
        case Await():
            raise AssertionError("a person's answer cannot be performed")
        case _:
            assert_never(effect)


def _off(world: World) -> threading.Event:
    """An event that is set when the task is over, so that no effect waits any longer."""
    return world.batch_outbox.off if world.batch_outbox is not None else threading.Event()


def _perform_of_run(world: World, effect: RunEffect, state: RunView) -> Outcome:
    match effect:
        case Assemble():
            return assemble_step(world, state)
        case Ask():
            return ask_model(world, effect, state)
        case Pause():
            # Nobody waits for the model of a task that is over.
            _off(world).wait(effect.left(world.now()))
            return Elapsed()
        case Act():
            return act(world, effect, state)
        case Check():
            return check(world, state)
        case Judge():
            return judge(world, effect, state)
        case Commit():
            return commit_stage(world, state)
        case Deliver():
            return deliver(world, state)
        case _:
            assert_never(effect)
