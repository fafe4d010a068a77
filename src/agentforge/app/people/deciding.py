"""A person decides about a version that is presented, or whether a task may go on."""

from collections.abc import Sequence

from agentforge.app.drivers.driver import open_driver
from agentforge.app.intake.extending import extend_line
from agentforge.app.people.feedback import Said
from agentforge.app.people.messages import open_question, person, send_answer
from agentforge.app.people.presented import presented
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.record.versions import EditedVersion, edited_versions, keep_edited, put_back
from agentforge.core.decisions import GO_ON, STOP
from agentforge.core.errors import UsageError
from agentforge.core.inputs import Message, Resolution, Revise
from agentforge.core.iterating import ONCE_MORE, REFUSE, read_choice
from agentforge.core.machine import TERMINAL
from agentforge.core.state import State
from agentforge.core.statuses import spell_status
from agentforge.core.values import CHOICES, Choice, Escalation, Feedback, agrees
from agentforge.store.task import inbox
from agentforge.store.task.times import stamp

EDIT = "edit"
"""What a person says who has changed the file of the version by hand, and wants it judged and shown again."""
DECISIONS = ("iteration", "approval")
"""Kinds of questions that are decisions."""


def decision_awaited(task: OpenTask) -> Escalation:
    """The question that a person decides; else a `UsageError` that says where the task is and what is
    possible.
    """
    state, name = task.state, task.task_id
    waiting = state.open_escalation
    if waiting is not None and waiting.kind in DECISIONS and state.status == "blocked":
        return waiting
    if state.status == "completed":
        raise UsageError(f"{name} is completed, so what it made is final.", _after_the_end(state))
    if state.status in TERMINAL:
        raise UsageError(
            f"{name} {spell_status(state.status)}; no version of it waits for a decision.",
            f"`agentforge continue {name}` resumes it.",
        )
    if waiting is not None:
        raise UsageError(
            f"{name} waits for an answer to {waiting.id} ({waiting.kind}); no version waits for a decision.",
            f"Answer with `agentforge resolve {waiting.id} --task {name} --answer …`.",
        )
    at = f"is at stage {state.worker.stage}" if state.worker is not None else "has not begun"
    last = state.iterations[-1] if state.iterations else None
    decided = f", and {last.by} decided about the last: {last.decision}" if last and last.decision else ""
    raise UsageError(
        f"{name} {at}; no version of it waits for a decision{decided}.",
        f"`agentforge status {name}` shows its progress.",
    )


def _after_the_end(state: State) -> str:
    ways = []
    stages = state.pipeline.stages
    if stages and stages[-1].iterable:
        ways.append(f"`agentforge continue {state.task_id} --revise` opens it again")
    if state.pipeline.extends_to:
        last = state.pipeline.extends_to[-1]
        ways.append(f"`agentforge continue {state.task_id} --extend-to {last}` builds on it")
    ways.append(f"`agentforge artifacts show {state.task_id}` prints it")
    return f"{'; '.join(ways)}."


def decide(task: OpenTask, asked: Escalation, words: str, feedback: Feedback | None = None) -> bool:
    """Puts a decision on record; the first one counts. True if no driver runs, so that somebody must drive
    on.
    """
    put_back(task)
    if asked.kind == "approval":
        return _approve(task, asked, words, feedback)
    words, edits = words.strip(), _edits(task)
    if words.lower() == EDIT:
        if not edits:
            raise UsageError("The file of the version has not changed.", "Edit it, or decide otherwise.")
        return _send(task, asked, "revise", None, edits)
    if words.lower() == ONCE_MORE and ONCE_MORE in asked.question.options:
        return _send(task, asked, ONCE_MORE, None, [])
    choice, rest = read_choice(words)
    _check_choice(task, asked, choice)
    if choice == "revise" and feedback is None and not rest and not edits:
        raise UsageError(
            "Say what should be different.",
            f"`agentforge feedback {task.task_id} WORDS` does; or edit the file of the version and run "
            f"`agentforge continue {task.task_id}`.",
        )
    if choice == "extend":
        if not _goes_further(task):
            extend_line(task, rest)
        rest = ""
    return _send(task, asked, f"{choice}: {rest}" if rest else choice, feedback, edits)


def check_about(task: OpenTask, said: Said) -> None:
    """Refuses feedback that is about another task, stage or version than the one that is presented."""
    shown = presented(task.state)
    name = task.task_id
    if said.task_id and said.task_id != name:
        raise UsageError(f"The feedback is about {said.task_id}, not about {name}.")
    if shown is None:
        return
    if said.stage and said.stage != shown.stage:
        raise UsageError(
            f"The feedback is about stage {said.stage}; {name} presents a result of {shown.stage}."
        )
    files = [f"{ref.contract}_v{ref.version}.yaml" for ref in shown.shown]
    if said.version and said.version not in files:
        raise UsageError(f"The feedback is about {said.version}; {name} presents {', '.join(files)} now.")


def take_edits(task: OpenTask) -> bool:
    """Takes in what a person changed by hand in the version that is presented. True if somebody must drive
    on with it.
    """
    put_back(task)
    waiting = task.state.open_escalation
    if waiting is None or waiting.kind != "iteration" or not _edits(task):
        return False
    return decide(task, waiting, EDIT)


def revise_again(state: State, length: int) -> Sequence[tuple[str, Message]]:
    """What puts the last result of a completed task before a person again."""
    return ((f"revise/{length}", Revise(person())),) if state.status == "completed" else ()


def reopen(task: OpenTask) -> Escalation:
    """The question about the last result: of a task that waits for it, or of a completed one that is taken up
    again.
    """
    state = task.state
    if state.status != "completed":
        return decision_awaited(task)
    stage = state.pipeline.stages[-1]
    if not stage.iterable:
        able = [each.name for each in state.pipeline.stages if each.iterable]
        raise UsageError(
            f"{task.task_id} ended at {stage.name}, whose result cannot be revised.",
            f"Only {', '.join(able)} can, while it is presented: start with --iterate."
            if able
            else "Start a new task for more work.",
        )
    with open_driver(task) as driver:
        for key, message in revise_again(driver.journal.state, driver.journal.length):
            driver.tell(key, message)
    return decision_awaited(task)


def _edits(task: OpenTask) -> list[EditedVersion]:
    shown = presented(task.state)
    return [] if shown is None else edited_versions(task, shown)


def _goes_further(task: OpenTask) -> bool:
    state = task.state
    assert state.worker is not None
    return state.pipeline.index(state.worker.stage) + 1 < len(state.pipeline.stages)


def _check_choice(task: OpenTask, asked: Escalation, choice: Choice) -> None:
    legal = [option for option in asked.question.options if option in CHOICES]
    if choice not in legal and not (choice == "revise" and ONCE_MORE in asked.question.options):
        raise UsageError(
            f"{choice!r} is not possible at stage {asked.stage} of {task.task_id}.",
            f"Possible are {', '.join(legal)}.",
        )


def _approve(task: OpenTask, asked: Escalation, words: str, feedback: Feedback | None) -> bool:
    """An answer to somebody who wanted to be asked: yes, or no with a reason."""
    first, _, rest = words.strip().partition(":")
    word, rest = first.strip().lower(), rest.strip() or (feedback.overall if feedback else "")
    yes, no = (GO_ON, STOP) if GO_ON in asked.question.options else ("approve", REFUSE)
    if word in ("approve", GO_ON) or agrees(word):
        return _send(task, asked, yes, None, [])
    if word in (REFUSE, STOP, "reject", "no", "n"):
        return _send(task, asked, f"{no}: {rest}" if rest else no, None, [])
    if yes == GO_ON and word not in CHOICES:
        return _send(task, asked, words.strip(), None, [])
    if yes == GO_ON and word == "revise" and rest:
        return _send(task, asked, rest, None, [])
    raise UsageError(
        f"{words.strip()[:80]!r} is not an answer to {asked.id}; stage {asked.stage} is approved or refused.",
        f"`agentforge approve {task.task_id}`, or `agentforge reject {task.task_id} WHY`.",
    )


def _send(
    task: OpenTask, asked: Escalation, answer: str, feedback: Feedback | None, edits: list[EditedVersion]
) -> bool:
    if not edits:
        return send_answer(task, asked.id, answer, feedback)
    # With the lock, so that nobody else writes the version of this number; the answer names it by its hash.
    with open_driver(task) as driver:
        open_question(task.state, asked.id)
        refs = keep_edited(task, edits)
        message = Resolution(asked.id, answer, person(), feedback, refs)
        times = inbox.QuestionTimes(
            dict(task.journal.times.opened).get(asked.id, ""),
            inbox.shown_at(task.files, asked.id),
            stamp(task.site.clock()),
        )
        if not inbox.send(task.files, message, asked.id, times):
            raise UsageError(
                f"{asked.id} of {task.task_id} already has an answer, and the first one counts.",
                f"`agentforge continue {task.task_id}` uses it if no process is running the task.",
            )
        driver.tell(f"inbox/{asked.id}", message)
    put_back(task)
    return True
