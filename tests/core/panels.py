"""What the tests of panels share: a task of the full line, played reviewer by reviewer."""

from agentforge.core.digests import ContextDigest, RequestDigest, StageResult
from agentforge.core.effects import Ask, Effect
from agentforge.core.events import StageEntered
from agentforge.core.inputs import Acted, Answered, AskStarted, Assembled, CommitMade
from agentforge.core.pending import pending, worst_case
from agentforge.core.pipeline import Pipeline
from agentforge.core.runs import WORKER, Run, child_id
from agentforge.core.values import Budget, OfRun, Price
from tests.core.scenes import FULL, Played, answered, begun, handed_in, judge, submit

SECURITY, READER, ARBITER = "security_architect", "reviewer", "arbiter"


def reader(task: Played, name: str) -> Run:
    return task.state.run_of(child_id(WORKER, name))


def owed_to(task: Played, name: str, by: str) -> Effect:
    """The effect of this class that this reviewer is owed; says what is owed instead."""
    found = [
        item
        for item in pending(task.state)
        if type(item).__name__ == name and isinstance(item, OfRun) and item.run == child_id(WORKER, by)
    ]
    assert len(found) == 1, f"{by} is not owed {name}; owed: {pending(task.state)}"
    return found[0]


def assemble(task: Played, by: str) -> None:
    task.say(Assembled(ContextDigest(f"context-{by}", 500)), owed_to(task, "Assemble", by).key)


def send_as(task: Played, by: str) -> Ask:
    """One reviewer's request is on its way."""
    if reader(task, by).point == "assemble":
        assemble(task, by)
    ask = owed_to(task, "Ask", by)
    assert isinstance(ask, Ask)
    worst = worst_case(task.state, reader(task, by))
    task.say(AskStarted(RequestDigest("hash", "scripted", worst)), f"{ask.key}/sent")
    return ask


def reply_as(task: Played, by: str, answer: Answered | None = None) -> None:
    task.say(answer or answered("success", ref=f"read by {by}"), send_as(task, by).key)


def act_as(task: Played, by: str, acted: Acted | None = None) -> None:
    stage = task.state.stage_of(reader(task, by))
    task.say(acted or handed_in(stage, task.state.tree), owed_to(task, "Act", by).key)


def read_as(task: Played, by: str) -> None:
    """One reviewer reads and hands in."""
    reply_as(task, by)
    act_as(task, by)


def sitting(task: Played) -> list[str]:
    """Who has not handed in yet."""
    return [run.name for run in task.state.panel if run.point != "handed_in"]


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
    while task.run.point == "judge" and not task.state.panel:
        judge(task)


def commit(task: Played, *facts: str, files: int = 1, lines: int = 1) -> None:
    task.end(
        "Commit",
        CommitMade(StageResult(task.state.tree, f"commit-{task.run.stage}", facts), files=files, lines=lines),
    )


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
    while task.run.stage != stage:
        pass_stage(task)
    return task


def convened(budget: Budget | None = None, price: Price | None = None) -> Played:
    """The result of `refactor` before its two readers."""
    task = full_until("refactor", budget=budget, price=price)
    hand_in(task)
    assert sitting(task) == [SECURITY, READER]
    return task


def entered(task: Played, by: str = "") -> list[StageEntered]:
    run = child_id(WORKER, by) if by else WORKER
    return [event for event in task.told(StageEntered) if event.run == run]
