"""What the tests of panels share: a task of the full line, played seat by seat."""

from agentforge.core.effects import Ask, Effect
from agentforge.core.events import StageEntered
from agentforge.core.inputs import Acted, Answered, AskStarted, Assembled, CommitMade
from agentforge.core.pending import pending, worst_case
from agentforge.core.pipeline import Pipeline
from agentforge.core.state import StageRun
from agentforge.core.values import Budget, Price
from tests.core.scenes import FULL, Played, answered, begun, handed_in, judge, submit

SECURITY, READER, ARBITER = "security_architect", "reviewer", "arbiter"


def seat(task: Played, name: str) -> StageRun:
    return next(item for item in task.state.seats if item.seat == name)


def owed_to(task: Played, name: str, seated: str) -> Effect:
    """The effect of this class that this seat is owed; says what is owed instead."""
    found = [
        item
        for item in pending(task.state)
        if type(item).__name__ == name and getattr(item, "seat", "") == seated
    ]
    assert len(found) == 1, f"{seated} is not owed {name}; owed: {pending(task.state)}"
    return found[0]


def assemble(task: Played, seated: str) -> None:
    task.say(Assembled(f"context-{seated}", 500), owed_to(task, "Assemble", seated).key)


def send_as(task: Played, seated: str) -> Ask:
    """One reviewer's request is on its way."""
    if seat(task, seated).point == "assemble":
        assemble(task, seated)
    ask = owed_to(task, "Ask", seated)
    assert isinstance(ask, Ask)
    view = task.state.focus(seated)
    task.say(AskStarted("hash", "scripted", worst_case(view, view.stage)), f"{ask.key}/sent")
    return ask


def reply_as(task: Played, seated: str, answer: Answered | None = None) -> None:
    task.say(answer or answered("success"), send_as(task, seated).key)


def act_as(task: Played, seated: str, acted: Acted | None = None) -> None:
    view = task.state.focus(seated)
    task.say(acted or handed_in(view.stage, task.state.tree), owed_to(task, "Act", seated).key)


def read_as(task: Played, seated: str) -> None:
    """One reviewer reads and hands in."""
    reply_as(task, seated)
    act_as(task, seated)


def sitting(task: Played) -> list[str]:
    """Who has not handed in yet."""
    return [item.seat for item in task.state.seats if item.point != "given"]


def read_all(task: Played) -> None:
    for name in sitting(task):
        read_as(task, name)


def hand_in(task: Played) -> None:
    """The role works, and every gate before the panel passes."""
    if task.run.point == "assemble":
        submit(task)
    to_the_panel(task)


def to_the_panel(task: Played) -> None:
    """The gates before the review pass."""
    while task.run.point == "judge" and not task.state.seats:
        judge(task)


def commit(task: Played, *facts: str, files: int = 1, lines: int = 1) -> None:
    task.end("Commit", CommitMade(task.state.tree, f"commit-{task.run.name}", facts, files, lines))


def pass_stage(task: Played, *facts: str) -> None:
    """A stage without a hitch, whoever reads it."""
    hand_in(task)
    read_all(task)
    while task.run.point == "judge":
        judge(task)
    commit(task, *facts)


def full_until(
    stage: str, pipeline: Pipeline = FULL, budget: Budget | None = None, price: Price | None = None
) -> Played:
    """A task whose stages before this one went well."""
    task = begun(pipeline, budget, price)
    while task.run.name != stage:
        pass_stage(task)
    return task


def convened(budget: Budget | None = None, price: Price | None = None) -> Played:
    """The result of `refactor` before its two readers."""
    task = full_until("refactor", budget=budget, price=price)
    hand_in(task)
    assert sitting(task) == [SECURITY, READER]
    return task


def entered(task: Played, seated: str = "") -> list[StageEntered]:
    return [event for event in task.told(StageEntered) if event.seat == seated]
