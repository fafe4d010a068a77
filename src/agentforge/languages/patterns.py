"""Where texts match a pattern that a project brings: by line, or by syntax, through the wheel of ast-grep."""

import json
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentforge.languages import pattern_child
from agentforge.system.processes import run

SECONDS = 30
_SYNTAX: Mapping[str, str] = {
    "py": "python",
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "mts", "cts"), "typescript"),
    "tsx": "tsx",
    "go": "go",
    "rs": "rust",
    "java": "java",
    "c": "c",
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp"), "cpp"),
    "rb": "ruby",
    "php": "php",
    "kt": "kotlin",
    "swift": "swift",
    "lua": "lua",
    "scala": "scala",
    "sh": "bash",
}
"""How ast-grep calls the language of a suffix."""


def unavailable(kind: str) -> str:
    """Why patterns of a kind cannot be looked for here; empty if they can."""
    if kind == "ast-grep" and find_spec("ast_grep_py") is None:
        return "the extra `patterns` of AgentForge is not installed"
    return ""


def is_searched(kind: str, path: str) -> bool:
    """Whether a pattern of a kind can be looked for in a file of that name."""
    return kind != "ast-grep" or path.rpartition(".")[2] in _SYNTAX


def lines_matching(kind: str, pattern: object, texts: Mapping[str, str]) -> dict[str, list[int]] | str:
    """The lines of each text that match; or why that could not be found out, in a sentence."""
    asked = {
        "kind": kind,
        "pattern": pattern,
        "texts": {path: [_SYNTAX.get(path.rpartition(".")[2], ""), text] for path, text in texts.items()},
    }
    argv = [sys.executable, "-I", str(Path(pattern_child.__file__))]
    done = run(argv, cwd=Path("/"), env={}, timeout_s=SECONDS, input=json.dumps(asked).encode())
    if done.timed_out:
        return f"its pattern took longer than {SECONDS} s"
    try:
        answer: Any = json.loads(done.out)
    except ValueError:
        return "its pattern cannot be searched for"
    if "error" in answer:
        return f"its pattern is not valid: {answer['error']}"
    return {path: [int(line) for line in lines] for path, lines in answer["hits"].items()}
