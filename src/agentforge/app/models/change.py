"""Another model for a task on record: looked at as for a new task, then put on record with who named it."""

from collections.abc import Callable, Sequence

from agentforge.activities.task_permissions import project_of
from agentforge.app.drivers.driver import open_driver
from agentforge.app.drivers.world import settings_of, suggested_for
from agentforge.app.intake.preflight import check_models
from agentforge.app.models.answering import Answering
from agentforge.app.people.messages import person, resume_where_halted
from agentforge.app.ports import Messages
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.setup.settings import read_settings, with_tier
from agentforge.catalog.modes import mode_named
from agentforge.core.digests import ModelChoice
from agentforge.core.errors import UsageError
from agentforge.core.inputs import ChangeModel, ChangeWait, Message, Resolution
from agentforge.core.state import State
from agentforge.core.values import STUCK
from agentforge.store.user.consents import consent, consented


def model_change(task: OpenTask, spec: str, notice: Callable[[str], None], tier: str = "") -> ChangeModel:
    """The change as a message, if the model can be used for this task; with `tier` for that kind of work
    alone. Who names a model agrees to it: a record that came from elsewhere is not asked about again.
    """
    site, state = task.site, task.state
    if tier:
        settings = with_tier(settings_of(site, state), tier, spec)
    else:
        settings = read_settings(
            site.git, state.base_commit, model=spec, sandbox=state.sandbox, budget_usd=None
        )
    answering = Answering.of(site.home, settings, local_only=mode_named(state.pipeline.mode).local_only)
    answering.check()
    price = answering.price(spec)
    if state.budget.micro_usd is not None and price is None:
        raise UsageError(
            f"The price of {spec} is not known, and {task.task_id} has a budget in dollars.",
            "Name a model with a known price, or set AGENTFORGE_PRICE_INPUT and AGENTFORGE_PRICE_OUTPUT.",
        )
    check_models(answering, notice)
    asked = suggested_for(site, state, settings)
    if asked is not None and not consented(site.home, project_of(site), asked.digest):
        consent(site.home, project_of(site), asked.digest, site.clock())
    return ChangeModel(ModelChoice(spec, person(), price, tier))


def resume_with(change: ChangeModel | None, *, no_wait: bool = False) -> Messages:
    """What puts a halted task back to work, after the changes: another model, or no waiting for a quota."""

    def messages(state: State, length: int) -> Sequence[tuple[str, Message]]:
        before: list[tuple[str, Message]] = []
        if no_wait and state.max_wait_s:
            before.append((f"wait/{length}", ChangeWait(0, person())))
        if change is not None and change.choice.model != state.model:
            before.append((f"model/{length}", change))
            before += _try_again(state)
        return (*before, *resume_where_halted(state, length))

    return messages


def _try_again(state: State) -> list[tuple[str, Message]]:
    """The answer that another model gives by itself where the one before got no further."""
    waiting = state.open_escalation
    if state.status != "blocked" or waiting is None or waiting.kind not in STUCK:
        return []
    return [(f"inbox/{waiting.id}", Resolution(waiting.id, waiting.question.options[0], person()))]


def change_model(task: OpenTask, change: ChangeModel) -> None:
    """Puts the change on record, without driving on."""
    with open_driver(task) as driver:
        driver.tell(f"model/{driver.journal.length}", change)
