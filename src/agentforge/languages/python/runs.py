"""What runs in the environment of a Python project: `Runs` for Python."""

from agentforge.languages.python.coverage import measure
from agentforge.languages.python.direct import call_tests
from agentforge.languages.python.elsewhere import call_functions
from agentforge.languages.python.formatting import formatted
from agentforge.languages.python.lint import lint
from agentforge.languages.python.testrun import foreign, judge_hash, run_tests
from agentforge.languages.python.typecheck import typecheck

__all__ = [
    "call_functions",
    "call_tests",
    "foreign",
    "formatted",
    "judge_hash",
    "lint",
    "measure",
    "run_tests",
    "typecheck",
]
