"""An answer to a question, and what follows from a yes in the user's own files: the approval, and for
`always` the grant.
"""

from datetime import datetime, timedelta
from difflib import get_close_matches
from shlex import quote
from typing import NamedTuple

from agentforge.activities.showing import COMMAND_CHARS
from agentforge.activities.task_permissions import (
    WEAK_CONSENT,
    WEAK_QUESTION,
    permissions_of,
    project_of,
)
from agentforge.app.drivers.world import settings_of
from agentforge.app.people.deciding import DECISIONS, decide
from agentforge.app.people.messages import open_question, send_answer
from agentforge.app.people.offers import NO_SCOPE, Scope, allow_command, offered, scope_of
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import PolicyError, UsageError
from agentforge.core.values import RETRYABLE, Escalation, Feedback, WantedCall, is_yes
from agentforge.store.site import Site
from agentforge.store.task.times import stamp
from agentforge.store.user.approvals import Approved, approvals_file, read_approvals, record_approval
from agentforge.store.user.consents import consent
from agentforge.store.user.grants import (
    PROPOSED_DAYS,
    Approval,
    Grant,
    add_grant,
    grants_file,
    proposals,
    read_grants,
)
from agentforge.system.canon import digest_value
from agentforge.system.visible import command_line


class Taken(NamedTuple):
    """What an answer led to."""

    free: bool
    """No driver runs, so that somebody must drive on."""
    notes: tuple[str, ...]
    """Sentences to show to the person who answered."""


def answer(task: OpenTask, identity: str, words: str, feedback: Feedback | None = None) -> Taken:
    """Puts an answer on record; where it allows a call, on the user's own record too. `feedback` is for
    decisions about a version.

    The order is what makes it safe: the approval, then the inbox, then the journal, then the consent and the
    grant. A driver that hears the answer finds the approval; nothing is granted for an answer that did not
    count.
    """
    site = task.site
    escalation = open_question(task.state, identity)
    if escalation.kind in DECISIONS and words.strip().lower() != "abort":
        return Taken(decide(task, escalation, words, feedback), ())
    _refuse_other_words(task, escalation, words)
    wanted = escalation.question.call
    if escalation.question.text == WEAK_QUESTION and words.strip().lower() == "allow":
        consent(site.home, project_of(site), WEAK_CONSENT, site.clock())
    suggestion = settings_of(site, task.state).suggestion if escalation.kind == "model" else None
    asked = suggestion is not None and escalation.question.text == suggestion.question
    if suggestion is not None and asked and words.strip().lower() == "allow":
        consent(site.home, project_of(site), suggestion.digest, site.clock())
    if wanted is None or escalation.kind != "permission" or not is_yes(words):
        return Taken(send_answer(task, identity, words), ())
    now, project = site.clock(), project_of(site)
    _check(escalation, wanted)
    approved = Approved(_approval(wanted, project), task.state.task_id, wanted.digest, stamp(now))
    record_approval(approvals_file(site.home), approved)
    free = send_answer(task, identity, words)
    if wanted.content:
        consent(site.home, project, wanted.content, now)
    always = words.strip().lower() == "always"
    notes = _granted(site, wanted, project, now) if always else _proposed(site, wanted, project, now)
    return Taken(free, tuple(notes))


def _refuse_other_words(task: OpenTask, escalation: Escalation, words: str) -> None:
    """Where only the options mean something, a misspelled one must not count as an answer."""
    options = (*escalation.question.options, "abort")
    if escalation.kind not in RETRYABLE or words.strip().lower() in [each.lower() for each in options]:
        return
    near = quote((get_close_matches(words, options, n=1) or options)[0])
    known = ", ".join(dict.fromkeys(options))
    raise UsageError(
        f"{words.strip()[:80]!r} is not an answer to {escalation.id}; it takes {known}.",
        f"Answer again: `agentforge resolve {escalation.id} --task {task.task_id} --answer {near}`.",
    )


def _check(escalation: Escalation, wanted: WantedCall) -> None:
    """A journal lies in the repository. What a person has read there must be what their yes would be used
    for.
    """
    if not wanted.command:
        return
    line = command_line(wanted.command)
    if wanted.digest != digest_value([wanted.tool, line]) or (
        line not in escalation.question.text and len(line) <= COMMAND_CHARS
    ):
        raise PolicyError(
            f"{escalation.id} shows a different command from the one it would run.",
            "Do not trust this task; abort it.",
        )


def _approval(wanted: WantedCall, project: str) -> Approval:
    scope = scope_of(wanted) or Scope((), "", "high")
    return Approval(project, wanted.tool, scope.command, scope.path, scope.risk)


def _granted(site: Site, wanted: WantedCall, project: str, now: datetime) -> list[str]:
    scope = scope_of(wanted)
    if scope is None:
        return [f"Allowed for this task only: {NO_SCOPE}."]
    expires = stamp(now + timedelta(days=PROPOSED_DAYS))
    made = Grant(
        project,
        wanted.tool,
        expires,
        scope.command,
        exact=bool(scope.command),
        path=scope.path,
        risk=scope.risk,
    )
    grant = add_grant(grants_file(site.home), made, now)
    return [f"Granted {grant.id}: {offered(wanted)}. `agentforge permissions revoke {grant.id}` removes it."]


def _proposed(site: Site, wanted: WantedCall, project: str, now: datetime) -> list[str]:
    """Said once, with the approval that makes it enough."""
    mine = _approval(wanted, project)
    known = [item.approval for item in read_approvals(approvals_file(site.home))]
    before = known[: len(known) - 1 - known[::-1].index(mine)] if mine in known else known
    grants = read_grants(grants_file(site.home)).grants
    told = {(grant.tool, grant.command, grant.path) for grant in proposals(before, grants, now)}
    new = [
        grant
        for grant in proposals(known, grants, now)
        if (grant.tool, grant.command, grant.path) not in told
    ]
    return [
        f"You allowed this {_times(known, mine)} times; `{allow_command(grant)}` makes it a grant."
        for grant in new
    ]


def _times(known: list[Approval], mine: Approval) -> int:
    return sum(1 for each in known if each == mine)


def may_ask(task: OpenTask) -> bool:
    """Whether the task waits for a yes or no, and nobody said that nobody is to be asked."""
    state = task.state
    waiting = state.open_escalation
    return (
        state.status == "blocked"
        and waiting is not None
        and (waiting.kind in ("permission", *DECISIONS) or "allow" in waiting.question.options)
        and is_interactive(task)
    )


def is_interactive(task: OpenTask) -> bool:
    """Whether nobody said that nobody is to be asked."""
    return permissions_of(task.site, task.state).permissions.interactive


def goes_on_with(task: OpenTask) -> str:
    """What a person is asked when a task is done and its pipeline proposes to go on; empty where it does not,
    or where they said that they want to stop here.
    """
    state = task.state
    last = state.last_shown(state.pipeline.exit_stage)
    if state.status != "completed" or not state.pipeline.extends_to or not is_interactive(task):
        return ""
    return "" if last is not None and last.decision == "exit" else state.pipeline.continue_prompt
