"""AgentForge: a request and a git repository in; a verified branch with its proof, or one precise question,
out.

Read in this order: `core/events.py`, `core/decide.py`, `engines/local.py`, `activities/perform.py`,
`catalog/pipelines/implement.yaml`, then one scenario in `tests/`.

The names below are the Python API (docs/python-api.md); each is loaded when it is first used, so that importing
this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentforge.app.answers import Taken, answer
    from agentforge.app.configuring import Configured, configure
    from agentforge.app.driver import Driver, open_driver
    from agentforge.app.driving import drive, resume
    from agentforge.app.forecasts import forecast
    from agentforge.app.hosting import host
    from agentforge.app.messages import abort
    from agentforge.app.permissions import grant, revoke
    from agentforge.app.ports import Ask, Unwatched, Watcher
    from agentforge.app.proof import verify
    from agentforge.app.questions import Question, list_questions
    from agentforge.app.remote import follow, hand_over, take_over
    from agentforge.app.reports import TaskReport, report
    from agentforge.app.starting import StartOptions, start
    from agentforge.app.tasks import OpenTask, Site, open_task

__version__ = "0.1.0"

__all__ = [
    "Ask",
    "Configured",
    "Driver",
    "OpenTask",
    "Question",
    "Site",
    "StartOptions",
    "Taken",
    "TaskReport",
    "Unwatched",
    "Watcher",
    "abort",
    "answer",
    "configure",
    "drive",
    "follow",
    "forecast",
    "grant",
    "hand_over",
    "host",
    "list_questions",
    "open_driver",
    "open_task",
    "report",
    "resume",
    "revoke",
    "start",
    "take_over",
    "verify",
]

_HOMES = {
    "answers": "Taken answer",
    "configuring": "Configured configure",
    "driver": "Driver open_driver",
    "driving": "drive resume",
    "forecasts": "forecast",
    "hosting": "host",
    "messages": "abort",
    "permissions": "grant revoke",
    "ports": "Ask Unwatched Watcher",
    "proof": "verify",
    "questions": "Question list_questions",
    "remote": "follow hand_over take_over",
    "reports": "TaskReport report",
    "starting": "StartOptions start",
    "tasks": "OpenTask Site open_task",
}
"""The modules of `agentforge.app` that the names come from."""


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"agentforge.app.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
