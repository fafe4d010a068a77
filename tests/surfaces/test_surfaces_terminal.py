"""What a terminal is shown: no command lets a character through that the terminal would obey."""

import ast
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from agentforge.surfaces import cli
from agentforge.system.visible import harmless, harmless_json
from tests.rows import every

HOSTILE = "a\x1b]0;owned\x07b\x9b2Jc\u202ed\u2066e\x7ff\rg\u200bh"
_SEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_OURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def test_a_sentence_is_harmless_and_json_reads_back_as_the_same_value() -> None:
    assert not _SEEN.search(harmless(HOSTILE))
    spelled = harmless_json(json.dumps({"a": HOSTILE}, ensure_ascii=False))
    assert not _SEEN.search(spelled)
    assert json.loads(spelled) == {"a": HOSTILE}
    assert harmless("naïve 日本 👩\u200d💻 x\ty\n") == "naïve 日本 👩\u200d💻 x\ty\n"


def test_one_module_writes_to_the_terminal() -> None:
    ways = {"echo", "secho", "print", "echo_via_pager"}
    found = [
        f"{path.name}:{node.lineno}"
        for path in sorted(Path(cli.__path__[0]).rglob("*.py"))
        if path.name not in ("printing.py", "screen.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) in ways
    ]
    assert found == []


def _on_a_terminal(words: list[str], cwd: Path, env: dict[str, str]) -> str:
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from agentforge.surfaces.cli.main import main; raise SystemExit(main())",
            *words,
        ],
        cwd=cwd,
        env=env,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    child.wait(30)
    os.close(master)
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")


@every(
    "words",
    [
        ["cost", "--by", HOSTILE],
        ["diff", HOSTILE],
        ["escalations", "show", HOSTILE],
        ["report", HOSTILE],
        ["verify", HOSTILE],
        ["keys", "trust", HOSTILE, HOSTILE],
        ["status", HOSTILE, "--json"],
        ["start", "x", "--base", HOSTILE],
        ["context", "--dry-run", "x", "--base", HOSTILE],
        ["permissions", "explain", HOSTILE],
    ],
)
def test_no_command_lets_an_escape_through(words: list[str], tmp_path: Path) -> None:
    where = tmp_path / "ab"
    where.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", "."], cwd=where, check=True)
    env = {**os.environ, "AGENTFORGE_HOME": str(tmp_path / "home"), "TERM": "xterm"}
    shown = _on_a_terminal(words, where, env)
    assert shown.strip(), words
    assert not _SEEN.search(_OURS.sub("", shown)), (words, shown)
    assert "owned\x07" not in shown
