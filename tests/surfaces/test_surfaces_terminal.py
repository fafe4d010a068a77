"""What a terminal is shown: no command lets a character through that the terminal would obey."""

import ast
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from agentforge.surfaces import cli
from agentforge.system import strict_yaml
from agentforge.system.visible import harmless, harmless_json
from tests import forked
from tests.rows import every
from tests.surfaces.scene import make_scene

HOSTILE = "a\x1b]0;owned\x07b\x9b2Jc\u202ed\u2066e\x7ff\rg\u200bh"
_SEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_HIDDEN = re.compile("[\U000e0000-\U000e0fff\u2028\u2029\u3164]|[a-z]\u200d[a-z]")
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
        # The front page holds our own words alone.
        if path.name not in ("entry.py", "printing.py", "screen.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")) in ways
    ]
    assert found == []


@pytest.mark.slow
@every(
    "words",
    [
        ["cost", "--by", HOSTILE],
        ["diff", HOSTILE],
        ["escalations", "show", HOSTILE],
        ["report", HOSTILE],
        ["audit", HOSTILE],
        ["compare", HOSTILE, "@1"],
        ["replay", HOSTILE],
        ["fork", HOSTILE, "--set", HOSTILE],
        ["defect", HOSTILE, "--note", HOSTILE],
        ["metrics", "--since", HOSTILE],
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
    _, shown = forked.at_a_terminal(words, where, env)
    assert shown.strip(), words
    assert not _SEEN.search(_OURS.sub("", shown)), (words, shown)
    assert "owned\x07" not in shown


UNSEEN = "x\U000e0041y\u2028z\u200dw\u3164"
"""Tags, a line that is none, a joiner that joins nothing, and a filler."""


@pytest.mark.slow
def test_a_hostile_repository_and_a_hostile_model_move_nothing_on_a_terminal(tmp_path: Path) -> None:
    """Names of files and branches, ids of tests, and what a model asks: through every page of a task."""
    words = HOSTILE.replace("\r", "") + UNSEEN
    scene = make_scene(tmp_path, {f"notes {words}.md": words, "a.txt": words})
    scene.git("checkout", "-q", "-b", f"b\u202e{UNSEEN}".replace("\u2028", "").replace("\u3164", ""))
    question = {
        "actions": [
            {"name": "read_file", "args": {"path": f"notes {words}.md"}},
            {
                "name": "escalate",
                "args": {"question": words, "options": [words, "no"], "recommendation": words},
            },
        ],
        "notes": words,
        "summary": words,
        "thought": words,
    }
    script = tmp_path / "script.yaml"
    script.write_text(strict_yaml.dump({"replies": [{"stage": "analyze", "reply": question}] * 3}), "utf-8")
    env = {**scene.environ, "TERM": "xterm"}
    start = ["start", f"Look at {words}", "--mode", "audit", "--model", f"scripted:{script}"]
    pages = [forked.at_a_terminal(start, scene.top, env)[1]]
    assert (scene.top / ".agentforge/tasks").exists(), pages
    task = scene.task
    for page in (
        ["status"],
        ["status", task],
        ["status", task, "--json"],
        ["status", "--all"],
        ["status", task, "--detail"],
        ["status", task, "--phase", "analyze"],
        ["status", task, "--step", "1"],
        ["logs", task],
        ["logs", task, "--json"],
        ["diff", task],
        ["escalations", "list"],
        ["escalations", "show", "ESC-001", "--task", task],
        ["escalations", "show", "ESC-001", "--task", task, "--json"],
        ["inspect", task],
        ["inspect", task, "--step", "1", "--no-walk"],
        ["inspect", task, "--json"],
        ["report", task],
        ["cost"],
        ["verify", task],
        ["abort", task, "--reason", words],
    ):
        pages.append(forked.at_a_terminal(page, scene.top, env)[1])
        assert pages[-1].strip(), page
        found = _SEEN.search(_OURS.sub("", pages[-1])) or _HIDDEN.search(pages[-1])
        assert not found, (page, ascii(pages[-1][max(0, found.start() - 80) : found.end() + 20]))
    assert any("owned" in page for page in pages)  # the words are there, and do nothing
