"""What can be counted in a Python file: `Measures` for Python."""

import re

from agentforge.languages.python.code_lines import code_lines
from agentforge.languages.python.complexity import complexity
from agentforge.languages.python.coverage import statements
from agentforge.languages.python.interface import CHECKERS, SILENCERS, public_names
from agentforge.languages.python.security import RULES, risks

__all__ = [
    "CHECKERS",
    "LEFTOVER",
    "RULES",
    "SILENCERS",
    "code_lines",
    "complexity",
    "public_names",
    "risks",
    "statements",
]

LEFTOVER = re.compile(
    r"(?m)^[ \t]*(?:breakpoint\(\)|(?:import|from) (?:i?pdb|pudb)\b|(?:i?pdb|pudb)\.set_trace\()"
)
