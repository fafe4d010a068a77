"""What waits for a person, in all repositories: one kind of record, whatever asked.

A record is the task's own escalation, with what somebody needs who comes to it cold: where the files are, and
what waiting costs. Its `kind` is data: a new kind of question needs nothing here.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentforge.app.people.questions import AskedQuestion, list_questions, question_of, waiting_question
from agentforge.app.record.listed import list_all_tasks, repo_word
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import UsageError, UserError
from agentforge.core.values import Amount, Escalation
from agentforge.store.layout import Home
from agentforge.store.site import Site
from agentforge.store.task import inbox
from agentforge.store.task.summary import seconds_between
from agentforge.store.task.times import stamp
from agentforge.store.task.views import escalation_view
from agentforge.store.user.listed import ListedQuestion, keep_listed, last_listed

_NAME = re.compile(r"(?:ESC-)?0*(\d{1,6})", re.IGNORECASE)
"""What a question of a task is called; all but its number may be left out."""


@dataclass(frozen=True, slots=True)
class InboxRecord:
    """A question that a person owes an answer to, or has answered."""

    task: OpenTask
    escalation: Escalation
    times: inbox.QuestionTimes
    worktree: Path
    """Where the work is, for somebody who wants to look or to repair it by hand."""
    waited_s: int
    """For how long it has been open."""
    reserved: Amount
    """What calls without an answer hold back of the budget meanwhile."""

    @property
    def name(self) -> str:
        """How it is called where the name alone would not do: `TASK/ESC-001`."""
        return f"{self.task.task_id}/{self.escalation.id}"

    @property
    def options(self) -> tuple[str, ...]:
        """What can be chosen, in the order of their numbers."""
        return self.escalation.question.options

    def option(self, number: int) -> str:
        """The words of an option by its number."""
        if not 1 <= number <= len(self.options):
            listed = "; ".join(f"{at} {words}" for at, words in enumerate(self.options, 1))
            raise UsageError(
                f"{self.escalation.id} has no option {number}.",
                f"It has: {listed}." if listed else "Answer in your own words with --answer.",
            )
        return self.options[number - 1]


def record_of(asked: AskedQuestion) -> InboxRecord:
    """The record of a question."""
    task, escalation = asked
    site, times = task.site, task.journal.times
    opened = dict(times.opened).get(escalation.id, "")
    answered = dict(times.answered).get(escalation.id, "")
    shown = inbox.shown_at(task.files, escalation.id)
    return InboxRecord(
        task,
        escalation,
        inbox.QuestionTimes(opened, shown, answered),
        site.home.trees(site.git.top, task.task_id).worktree,
        seconds_between(opened, answered or stamp(site.clock())),
        task.state.in_flight(),
    )


def mark_shown(record: InboxRecord) -> None:
    """A person has the question before them now; only the first time counts."""
    inbox.note_shown(record.task.files, record.escalation.id, stamp(record.task.site.clock()))


def inbox_records(
    home: Home, notice: Callable[[str], None] = lambda _: None, *, answered: bool = False
) -> list[InboxRecord]:
    """The open questions of every repository of this user, the longest waiting first; with `answered` the old
    ones too.
    """
    rows = list_all_tasks(home, notice)
    repos = dict.fromkeys(row.repo for row in rows if answered or row.status == "blocked")
    found: list[InboxRecord] = []
    for repo in repos:
        try:
            site = Site.open(Path(repo))
        except UserError as error:
            notice(f"{repo} was left out: {error}")
            continue
        found += [record_of(asked) for asked in list_questions(site, answered=answered)]
    return sorted(found, key=lambda record: (record.times.opened_at, record.name))


def record_fields(record: InboxRecord) -> dict[str, Any]:
    """The record as data."""
    task, reserved = record.task, record.reserved
    view = escalation_view(task.files, task.state, record.escalation, task.journal.times)
    assert isinstance(view, dict)
    top = task.site.git.top
    return {
        **view,
        "repo": repo_word(task.site),
        "repo_path": str(top),
        "worktree": str(record.worktree) if record.worktree.is_dir() else None,
        "shown_at": record.times.shown_at or None,
        "waiting_costs": {
            "seconds": record.waited_s,
            "reserved": {
                "calls": reserved.calls,
                "tokens": reserved.tokens,
                "usd": reserved.micro_usd / 1_000_000,
            },
            "depends_on_it": dependents(task.site.home, task.task_id),
        },
    }


def dependents(home: Home, task_id: str) -> list[str]:
    """The tasks of all repositories that wait for this one."""
    rows = (row for row in list_all_tasks(home) if row.summary)
    return sorted(row.task_id for row in rows if task_id in json.loads(row.summary)["depends_on"])


def keep_numbers(home: Home, records: Sequence[InboxRecord]) -> None:
    """From now on a number means a question of this list, also once others have come or gone."""
    keep_listed(home, map(_listed, records))


def find_records(names: tuple[str, ...], task: str | None, here: Path, home: Home) -> list[InboxRecord]:
    """The records that a person names: `2` of the last list, `ESC-001` of this repository, `TASK/ESC-001` of
    any; a task alone, or `@1`, means what it waits for.
    """
    return [_find_record(name, task, here, home) for name in names]


def _find_record(name: str, task: str | None, here: Path, home: Home) -> InboxRecord:
    if name.isascii() and name.isdigit() and task is None:
        return _numbered(int(name), home)
    of, _, identity = name.rpartition("/")
    if (named := _NAME.fullmatch(identity)) is None:
        return record_of(waiting_question(Site.open(here), name))
    identity = f"ESC-{int(named[1]):03d}"
    try:
        return record_of(question_of(Site.open(here), identity, of or task))
    except UsageError:
        if not of:
            raise
    known = inbox_records(home, answered=True)
    found = [each for each in known if (each.task.task_id, each.escalation.id) == (of, identity)]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(str(each.task.site.git.top) for each in found)
        raise UsageError(
            f"{of}/{identity} is a question of {len(found)} repositories: {places}.", "Answer it in its own."
        )
    raise UsageError(
        f"No task on this machine has asked {of}/{identity}.",
        "`agentforge inbox` lists what waits, with the names that you can use here.",
    )


def _listed(record: InboxRecord) -> ListedQuestion:
    return ListedQuestion(str(record.task.site.git.top), record.task.task_id, record.escalation.id)


def _numbered(number: int, home: Home) -> InboxRecord:
    """The question with this number in the list that was shown last, or in that of now."""
    listed = last_listed(home)
    if listed is None:
        listed = [*map(_listed, inbox_records(home))]
    if not 1 <= number <= len(listed):
        raise UsageError(
            f"There is no question {number} in your inbox.",
            "`agentforge inbox` lists the open questions with their numbers.",
        )
    repo, task_id, identity = listed[number - 1]
    return record_of(question_of(Site.open(Path(repo)), identity, task_id))
