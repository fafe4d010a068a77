"""What checks ask of Python: `CheckReader` for Python."""

from collections.abc import Sequence

from agentforge.languages.python.conformance import read_python as read
from agentforge.languages.python.mending import menders
from agentforge.languages.python.module_paths import PythonModules
from agentforge.languages.python.tool_limits import import_layers as layers
from agentforge.languages.python.tool_limits import tool_limits as limits

__all__ = ["layers", "limits", "menders", "modules", "read"]


def modules(paths: Sequence[str], roots: Sequence[str] = ()) -> PythonModules:
    """The modules of a project."""
    return PythonModules(paths, roots)
