"""Somebody is told when a task waits for them or is over, in the ways of their own `notify:`.

What is to be told is on disk before it is sent. What cannot be delivered stays there, and the next task that
has something to tell tries again; the question itself is in the inbox all the same.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentforge.app.record.listed import repo_word
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.setup.settings import read_own_settings
from agentforge.core.errors import UsageError, UserError
from agentforge.core.machine import TERMINAL
from agentforge.core.state import State
from agentforge.integrations.notify import Webhook, post, run
from agentforge.store.layout import Home
from agentforge.store.user.notifications import Notification, Notifications, notification_id
from agentforge.system.secrets.redact import redact
from agentforge.system.visible import brief

_MOST_TEXT = 500


@dataclass(frozen=True, slots=True)
class NotifyWays:
    """How a person wants to be told."""

    bell: bool = False
    command: tuple[str, ...] = ()
    webhook: Webhook | None = None

    @property
    def elsewhere(self) -> bool:
        """Whether anybody beyond this terminal is told."""
        return bool(self.command) or self.webhook is not None


def notify_ways(home: Home, environ: Mapping[str, str] = os.environ) -> NotifyWays:
    """What `notify:` in the user's configuration says; nothing, where it says nothing."""
    _, own = read_own_settings(home.path / "config.yaml")
    said: Mapping[str, Any] = own.notify
    hook = said.get("webhook")
    webhook = None
    if hook is not None:
        name = hook.get("secret_env", "")
        secret = environ.get(name, "") if name else ""
        if name and not secret:
            raise UsageError(
                f"notify: the variable {name} of the webhook's secret is not set.",
                "Set it, or take `secret_env` out.",
            )
        webhook = Webhook(hook["url"], secret)
    return NotifyWays(said.get("bell", False), tuple(said.get("command", ())), webhook)


def announce(task: OpenTask, before: State, notice: Callable[[str], None]) -> None:
    """Tells of what is new since `before`: a question, or the end of the task. Never in the way of a task."""
    occasion = _occasion(task, before)
    if occasion is None:
        return
    try:
        ways = notify_ways(task.site.home)
    except UserError as error:
        notice(str(error))
        return
    if not ways.elsewhere:
        return
    box = Notifications(task.site.home)
    box.keep(occasion)
    for each in box.left():
        problem = _deliver(ways, each)
        if problem:
            box.keep(replace(each, failures=each.failures + 1, problem=problem))
            notice(
                f"A notification could not be delivered: {brief(problem, 200)}. It is kept, and tried again."
            )
        else:
            box.drop(each)


def _deliver(ways: NotifyWays, notification: Notification) -> str:
    body = json.dumps({"id": notification.id, **notification.body}, ensure_ascii=False).encode()
    problems = [
        run(ways.command, body) if ways.command else "",
        post(ways.webhook, notification.id, body) if ways.webhook else "",
    ]
    return "; ".join(problem for problem in problems if problem)


def _occasion(task: OpenTask, before: State) -> Notification | None:
    """What there is to tell, without a word that could be a secret and without a name of a file."""
    state, waiting = task.state, task.state.open_escalation
    told: dict[str, Any] = {
        "task_id": task.task_id,
        "repo": repo_word(task.site),
        "request": _told(state.request),
        "status": state.status,
    }
    if state.status == "blocked" and waiting is not None:
        if any(item.id == waiting.id for item in before.escalations):
            return None
        question = waiting.question
        told |= {
            "event": "question",
            "escalation": waiting.id,
            "kind": waiting.kind,
            "stage": waiting.stage,
            "question": _told(question.text),
            "options": [_told(option) for option in question.options],
            "recommendation": _told(question.recommendation) or None,
            "opened_at": dict(task.journal.times.opened).get(waiting.id),
            "answer_with": f"agentforge resolve {task.task_id}/{waiting.id}",
        }
        return Notification(notification_id(str(task.site.git.top), task.task_id, waiting.id), told)
    if state.status in TERMINAL and before.status not in TERMINAL and state.status != "cancelled":
        told |= {"event": state.status}
        end = f"{state.status}/{state.segment}"
        return Notification(notification_id(str(task.site.git.top), task.task_id, end), told)
    return None


def _told(text: str) -> str:
    return brief(redact(text)[0], _MOST_TEXT)
