"""Rules that a project brings: each kind as a person runs it, and what a hostile one cannot do."""

import os
from pathlib import Path

import pytest

from agentforge.languages import patterns
from tests.surfaces.scene import Scene, make_scene

HEAD = "description: it is not done so here\nfix_hint: Use the helper of shop/net.py.\n"
RULES = {
    "no-sleep": f"check: no-sleep\nkind: regex\n{HEAD}pattern: '\\bsleep\\('\nexcept: [tests]\n"
    "examples: {failing: ['time.sleep(1)'], passing: ['wait(1)']}\n",
    "no-bare-get": f"check: no-bare-get\nkind: ast-grep\n{HEAD}pattern: requests.get($URL)\nseverity: minor\n"
    "examples: {failing: ['requests.get(address)'], passing: ['requests.get(address, timeout=5)']}\n",
    "no-sockets": f"check: no-sockets\nkind: imports\n{HEAD}forbid: [socket, 'shop/old/**']\nfiles: ['shop/**']\n",
    "short-functions": f"check: short-functions\nkind: metric\n{HEAD}metric: function_lines\nlimit: 3\n",
    "own-script": f"check: own-script\nkind: command\n{HEAD}run: [python3, scripts/look.py]\n",
    "kind-words": "check: kind-words\nkind: model\n" + HEAD + "rule: Messages to customers are kind.\n",
}
LOOK = (
    "import pathlib\n"
    "for path in sorted(pathlib.Path('.').rglob('*.py')):\n"
    "    for at, line in enumerate(path.read_text().splitlines(), 1):\n"
    "        if 'FORBIDDEN' in line and 'in line' not in line:\n"
    "            print(f'{path}:{at}: the word is forbidden')\n"
    "try:\n    pathlib.Path('planted').write_text('x')\nexcept OSError:\n    pass\n"
)
FILES = {
    "shop/__init__.py": "",
    "shop/old/__init__.py": "",
    "shop/old/wire.py": "WIRE = 1\n",
    "shop/net.py": (
        "import socket\nimport time\n\nimport requests\n\nfrom shop.old import wire\n\n\n"
        "def fetch(address):\n    '''What is there.'''\n    time.sleep(1)\n    requests.get(address, timeout=3)\n"
        "    found = requests.get(address)\n    return found, socket, wire  # FORBIDDEN\n"
    ),
    "scripts/look.py": LOOK,
    **{f".agentforge/checks/{name}.yaml": text for name, text in RULES.items()},
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return make_scene(tmp_path, FILES)


def test_every_kind_of_rule_finds_what_it_is_about(scene: Scene) -> None:
    data = scene.data("check")
    found = {(each["check_id"], each["file"], each["line"]) for each in data["violations"]}
    assert found == {
        ("no-sleep", "shop/net.py", 11),
        ("no-bare-get", "shop/net.py", 13),
        ("no-sockets", "shop/net.py", 1),
        ("no-sockets", "shop/net.py", 6),
        ("short-functions", "shop/net.py", 9),
    }
    ends = {each["check_id"]: (each["status"], each["reason"]) for each in data["checks"]}
    assert ends["own-script"][0] == "not_run"
    assert "agentforge check --allow-commands" in ends["own-script"][1]
    assert ends["kind-words"] == ("not_run", "it is in words, and a reviewer is told")
    assert scene.data("check") == data  # from what is kept
    listed = {each["check_id"]: each for each in scene.data("check", "--list")}
    assert listed["no-sleep"]["checked_by"]["Go"] == "a rule of the project (regex)"


@pytest.mark.slow
def test_a_command_runs_behind_walls_once_a_person_has_agreed_to_it_as_it_is(scene: Scene) -> None:
    agreed = scene.run("check", "--allow-commands", "--format", "json")
    assert '"the word is forbidden"' in agreed.stdout
    assert not (scene.top / "planted").exists()
    assert "the word is forbidden" in scene.run("check").stdout  # agreed to once
    rule = scene.top / ".agentforge/checks/own-script.yaml"
    rule.write_text(RULES["own-script"].replace("look.py", "look.py, --deep"), encoding="utf-8")
    again = scene.run("check")
    assert "the word is forbidden" not in again.stdout
    assert "own-script" in again.stdout.split("Not run: ")[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a", f"check: a\nkind: regex\n{HEAD}pattern: '('\n", "its pattern is not valid"),
        ("a", f"check: a\nkind: ast-grep\n{HEAD}rule: {{kindd: x}}\n", "its pattern is not valid"),
        ("a", f"check: b\nkind: regex\n{HEAD}pattern: x\n", "the file is not called b.yaml"),
        ("a", f"check: a\nkind: regex\n{HEAD}pattern: x\nrun: [ls]\n", "`run` means nothing"),
        ("a", f"check: a\nkind: metric\n{HEAD}metric: lines\n", "needs `limit`"),
        ("line-length", f"check: line-length\nkind: regex\n{HEAD}pattern: x\n", "comes with AgentForge"),
        (
            "a",
            f"check: a\nkind: regex\n{HEAD}pattern: y\nexamples: {{failing: [x]}}\n",
            "its failing example passes",
        ),
    ],
)
def test_a_rule_that_cannot_be_one_is_refused_or_has_not_run(
    tmp_path: Path, name: str, text: str, told: str
) -> None:
    scene = make_scene(tmp_path, {"a.py": "x = 1\n", f".agentforge/checks/{name}.yaml": text})
    done = scene.run("check", "--json")
    assert "Traceback" not in done.stderr
    assert told in done.stdout + done.stderr
    assert '"status": "passed",\n      "reason": "its' not in done.stdout


@pytest.mark.slow
def test_a_pattern_that_runs_for_ever_ends_and_has_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 2)
    found = patterns.lines_matching("regex", "(a+)+$", {"a.py": "a" * 60 + "b\n"})
    assert found == "its pattern took longer than 2 s"


def test_a_rule_that_is_no_file_or_too_large_is_named_in_a_sentence(scene: Scene) -> None:
    folder = scene.top / ".agentforge/checks"
    os.mkfifo(folder / "a-pipe.yaml")
    assert ".agentforge/checks/a-pipe.yaml cannot be read: it is no regular file." in _refused(scene)
    (folder / "a-pipe.yaml").unlink()
    with (folder / "large.yaml").open("wb") as file:
        file.truncate(3 << 30)
    assert ".agentforge/checks/large.yaml cannot be read: it is larger than 4 MiB." in _refused(scene)


def _refused(scene: Scene) -> str:
    done = scene.run("check")
    assert done.returncode == 2
    return done.stderr
