"""AgentForge: a request and a git repository in; a verified branch with its proof, or one precise question,
out.

AGENTS.md has a path through the code that takes twenty minutes. It begins at `core/machine.py`.

The names below are the Python API (docs/python-api.md); each is loaded when it is first used, so that
importing this package costs nothing.
"""

TYPE_CHECKING = False
"""As tools that read types know it; `typing` itself would have to be loaded."""

if TYPE_CHECKING:
    from agentforge.app.drivers.driver import Driver as Driver
    from agentforge.app.drivers.driver import open_driver as open_driver
    from agentforge.app.drivers.driving import drive as drive
    from agentforge.app.drivers.driving import resume as resume
    from agentforge.app.drivers.hosting import host as host
    from agentforge.app.drivers.remote import follow as follow
    from agentforge.app.drivers.remote import hand_over as hand_over
    from agentforge.app.drivers.remote import take_over as take_over
    from agentforge.app.evidence.proof import verify as verify
    from agentforge.app.intake.forecasts import forecast as forecast
    from agentforge.app.intake.starting import StartOptions as StartOptions
    from agentforge.app.intake.starting import start as start
    from agentforge.app.people.answers import Taken as Taken
    from agentforge.app.people.answers import answer as answer
    from agentforge.app.people.messages import abort as abort
    from agentforge.app.people.permissions import grant as grant
    from agentforge.app.people.permissions import revoke as revoke
    from agentforge.app.people.questions import AskedQuestion as AskedQuestion
    from agentforge.app.people.questions import list_questions as list_questions
    from agentforge.app.ports import Watcher as Watcher
    from agentforge.app.record.open_tasks import OpenTask as OpenTask
    from agentforge.app.record.open_tasks import Site as Site
    from agentforge.app.record.open_tasks import open_task as open_task
    from agentforge.app.record.reports import TaskReport as TaskReport
    from agentforge.app.record.reports import report as report
    from agentforge.app.setup.configuring import Configured as Configured
    from agentforge.app.setup.configuring import configure as configure

__version__ = "0.1.0"

NAMES = {
    "drivers.driver": "Driver open_driver",
    "drivers.driving": "drive resume",
    "drivers.hosting": "host",
    "drivers.remote": "follow hand_over take_over",
    "evidence.proof": "verify",
    "intake.forecasts": "forecast",
    "intake.starting": "StartOptions start",
    "people.answers": "Taken answer",
    "people.messages": "abort",
    "people.permissions": "grant revoke",
    "people.questions": "AskedQuestion list_questions",
    "ports": "Watcher",
    "record.open_tasks": "OpenTask Site open_task",
    "record.reports": "TaskReport report",
    "setup.configuring": "Configured configure",
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
