"""What can be counted in a Python file: `Measures` for Python."""

import re

from agentforge.languages.python.changes import changed_code, same_code
from agentforge.languages.python.code_lines import code_lines
from agentforge.languages.python.complexity import complexity
from agentforge.languages.python.coverage import statements
from agentforge.languages.python.emptied import emptied
from agentforge.languages.python.interface import CHECKERS, SILENCERS, public_names
from agentforge.languages.python.mutants import mutants
from agentforge.languages.python.other_numbers import other_numbers
from agentforge.languages.python.security import RULES, risks

__all__ = [
    "CHECKERS",
    "LEFTOVER",
    "RULES",
    "SILENCERS",
    "changed_code",
    "code_lines",
    "complexity",
    "emptied",
    "mutants",
    "other_numbers",
    "public_names",
    "risks",
    "same_code",
    "statements",
]

LEFTOVER = re.compile(
    r"(?m)^[ \t]*(?:breakpoint\(\)|(?:import|from) (?:i?pdb|pudb)\b|(?:i?pdb|pudb)\.set_trace\()"
)
