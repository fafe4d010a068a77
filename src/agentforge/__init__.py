"""AgentForge: a request and a git repository in; a verified branch with its proof, or one precise question,
out.

AGENTS.md has a path through the code that takes twenty minutes. It begins at `core/machine.py`.

The names below are the Python API (docs/python-api.md); each is loaded when it is first used, so that
importing this package costs nothing.
"""

TYPE_CHECKING = False
"""As tools that read types know it; `typing` itself would have to be loaded."""

if TYPE_CHECKING:
    from agentforge.app.answers import Taken as Taken
    from agentforge.app.answers import answer as answer
    from agentforge.app.configuring import Configured as Configured
    from agentforge.app.configuring import configure as configure
    from agentforge.app.driver import Driver as Driver
    from agentforge.app.driver import open_driver as open_driver
    from agentforge.app.driving import drive as drive
    from agentforge.app.driving import resume as resume
    from agentforge.app.forecasts import forecast as forecast
    from agentforge.app.hosting import host as host
    from agentforge.app.messages import abort as abort
    from agentforge.app.permissions import grant as grant
    from agentforge.app.permissions import revoke as revoke
    from agentforge.app.ports import Watcher as Watcher
    from agentforge.app.proof import verify as verify
    from agentforge.app.questions import AskedQuestion as AskedQuestion
    from agentforge.app.questions import list_questions as list_questions
    from agentforge.app.remote import follow as follow
    from agentforge.app.remote import hand_over as hand_over
    from agentforge.app.remote import take_over as take_over
    from agentforge.app.reports import TaskReport as TaskReport
    from agentforge.app.reports import report as report
    from agentforge.app.starting import StartOptions as StartOptions
    from agentforge.app.starting import start as start
    from agentforge.app.tasks import OpenTask as OpenTask
    from agentforge.app.tasks import Site as Site
    from agentforge.app.tasks import open_task as open_task

__version__ = "0.1.0"

NAMES = {
    "answers": "Taken answer",
    "configuring": "Configured configure",
    "driver": "Driver open_driver",
    "driving": "drive resume",
    "forecasts": "forecast",
    "hosting": "host",
    "messages": "abort",
    "permissions": "grant revoke",
    "ports": "Watcher",
    "proof": "verify",
    "questions": "AskedQuestion list_questions",
    "remote": "follow hand_over take_over",
    "reports": "TaskReport report",
    "starting": "StartOptions start",
    "tasks": "OpenTask Site open_task",
}
"""What the Python API consists of, by module of `agentforge.app`; the imports above are the same for tools
that read types.
"""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module  # noqa: PLC0415 - who needs no name loads nothing

        for module, names in NAMES.items():
            if name in names.split():
                return getattr(import_module(f"agentforge.app.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
