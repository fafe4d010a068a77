"""Integration tests: by which words projects mark them, and what of a selection leaves them out.

They are no part of the suite that every verdict runs. They run once, at the end of the last stage that
changes code, and are held against the base's run of the same.
"""

import ast
import re
from collections.abc import Mapping

from agentforge.core.errors import UsageError
from agentforge.languages.values import SETTINGS_FILE

_WORD = r"integrations?|integrationtests?|e2e|end[-_ ]?(?:to|2)[-_ ]?end|acceptance|system[-_ ]?tests?"
_NAME = re.compile(rf"(?:.*[^a-z0-9])?(?:{_WORD})(?:[^a-z0-9].*)?", re.IGNORECASE | re.DOTALL)
MOST = 3
"""Kinds of such tests that are run for one project; further ones are named."""


def is_integration(name: str) -> bool:
    """Whether a marker, a script, a folder or a target is named as integration tests are."""
    return _NAME.fullmatch(name) is not None


def left_out_by(expression: str) -> tuple[tuple[str, ...], bool]:
    """The names of integration tests that an expression of `-m` or `-k` leaves out, and whether it leaves
    out nothing else.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (), False
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    if not _holds(tree, frozenset()):  # it asks for something: that is no mark
        return (), False
    out = [name for name in names if not _holds(tree, frozenset({name}))]
    marked = tuple(name for name in out if is_integration(name))
    return marked, bool(marked) and len(marked) == len(out)


def _holds(node: ast.expr, true: frozenset[str]) -> bool:
    match node:
        case ast.BoolOp(op=ast.And()):
            return all(_holds(each, true) for each in node.values)
        case ast.BoolOp():
            return any(_holds(each, true) for each in node.values)
        case ast.UnaryOp(op=ast.Not()):
            return not _holds(node.operand, true)
        case ast.Name():
            return node.id in true
        case _:
            return False


def declared_integration(settings: Mapping[str, object]) -> str | None:
    """The command that the settings name for integration tests; empty if they say that there are none, None
    if they say nothing.
    """
    commands = settings.get("commands")
    told = commands.get("integration") if isinstance(commands, Mapping) else None
    if told is None or isinstance(told, str):
        return told.strip() if told is not None else None
    raise UsageError(
        f"`commands.integration` in `{SETTINGS_FILE}` is not a command: {told!r}.",
        "Write one command line, or an empty one for none; no shell reads it.",
    )
