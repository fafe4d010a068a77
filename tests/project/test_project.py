"""The shape of the project itself: pins, packaging, the scripts of a fresh machine, and the border around
tests.
"""

import ast
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import agentforge
from tests.rows import every

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "agentforge"
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
HEAVY = frozenset({"asyncio", "httpx2", "jsonschema_rs", "openai", "pydantic", "pydantic_ai", "rich", "yaml"})


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def pins(lock: Path) -> dict[str, str]:
    """Each requirement of a lock file by name, with its version, marker and hashes as one text."""
    lines = [
        line
        for line in lock.read_text(encoding="utf-8").splitlines()
        if line and not line.lstrip().startswith("#")
    ]
    requirements = "\n".join(lines).replace("\\\n", " ").splitlines()
    return {re.split(r"[=<>~!; \[]", line, maxsplit=1)[0]: line for line in requirements}


def version(pin: str) -> str:
    return pin.split("==", 1)[1].split(maxsplit=1)[0]


@every("lock", LOCKS)
def test_every_requirement_is_pinned_by_hash(lock: Path) -> None:
    found = pins(lock)
    assert found
    assert [
        name
        for name, pin in found.items()
        if not re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", pin)
    ] == []


@every("lock", LOCKS)
def test_a_lock_file_names_no_index_and_no_path(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert (
        re.findall(r"\S*://\S*|--(?:extra-)?index\S*|--find-links\S*|(?:^|\s)[~.]?/\S+", text, re.MULTILINE)
        == []
    )


def test_the_locks_agree_with_one_another() -> None:
    boot, product, dev = (pins(ROOT / "requirements" / f"{name}.txt") for name in ("boot", "run", "dev"))
    assert {name: version(pin) for name, pin in boot.items()} == {"uv": version(product["uv"])}
    assert {name: version(pin) for name, pin in product.items()} == {
        name: version(dev[name]) for name in product
    }


def test_the_locks_hold_every_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[\[<>=]", item, maxsplit=1)[0] for item in project["dependencies"]}
    extras = {
        re.split(r"[\[<>=]", item, maxsplit=1)[0]
        for items in project["optional-dependencies"].values()
        for item in items
    }
    assert names <= set(pins(ROOT / "requirements" / "run.txt"))
    assert names | extras <= set(pins(ROOT / "requirements" / "dev.txt"))


def test_the_package_and_the_project_name_one_version() -> None:
    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        == agentforge.__version__
    )


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    built = run(
        shutil.which("uv", path=Path(sys.executable).parent) or "uv",
        "build",
        "--wheel",
        "--out-dir",
        tmp_path,
        ROOT,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("agentforge/")}
    ours = {
        path.relative_to(ROOT / "src").as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "agentforge/py.typed" in held
    assert ours - held == set()


def test_the_core_imports_the_standard_library_alone() -> None:
    roots = {
        (name, path.name)
        for path in (PACKAGE / "core").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
        if not name.startswith("agentforge.core") and name.split(".")[0] not in sys.stdlib_module_names
    }
    assert roots == set()


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case _:
            return []


def test_importing_the_package_prints_nothing_and_loads_nothing_else() -> None:
    code = "import sys; known = set(sys.modules); import agentforge; print(sorted(set(sys.modules) - known))"
    done = run(sys.executable, "-c", code)
    assert (done.stdout, done.stderr) == ("['agentforge']\n", "")


@every("command", ["agentforge", "forge"])
@every("option", ["--help", "--version"])
def test_a_command_that_only_tells_about_itself_loads_nothing_heavy(command: str, option: str) -> None:
    done = run(Path(sys.executable).parent / command, option, PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0, done.stderr
    loaded = {
        line.rsplit("|", 1)[1].strip().split(".")[0]
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "agentforge" in loaded
    assert loaded & HEAVY == set()


def fake(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("exit 1", "is older than 3.11"),
        ('[ "$1" = -c ]', "cannot make a virtual environment"),
    ],
)
def test_an_interpreter_that_cannot_be_used_is_one_sentence_with_the_next_step(
    tmp_path: Path, script: str, sentence: str
) -> None:
    python = fake(tmp_path / "python3", script)
    done = run(
        ROOT / "scripts" / "make-venv",
        tmp_path / "venv",
        ROOT / "requirements" / "boot.txt",
        PYTHON=str(python),
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr
    assert "install" in done.stderr


def test_a_missing_interpreter_is_one_sentence_with_the_next_step(tmp_path: Path) -> None:
    done = run(
        ROOT / "scripts" / "make-venv",
        tmp_path / "venv",
        ROOT / "requirements" / "boot.txt",
        PYTHON=str(tmp_path / "none"),
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "was not found: install Python 3.11 or newer" in done.stderr


def test_bubblewrap_that_cannot_be_installed_is_one_line_and_no_failure(tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    done = run("/bin/sh", ROOT / "scripts" / "system-deps", PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout
        == "bubblewrap is missing and was not installed (no apt-get): its tests will be skipped.\n"
    )


def test_a_test_cannot_reach_beyond_this_machine() -> None:
    for reach in (
        lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
        lambda: socket.getaddrinfo("example.invalid", 80),
    ):
        with pytest.raises(RuntimeError, match="a test tried to reach"):
            reach()


def test_a_test_can_speak_to_itself() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=5),
    ):
        pass


def test_a_test_sees_nothing_of_the_person_who_runs_it(home: Path, tmp_path: Path) -> None:
    assert Path.home() == home
    assert [path.name for path in home.iterdir()] == [".gitconfig"]
    run("git", "init", "--quiet", tmp_path)
    listed = run("git", "-C", tmp_path, "config", "--list", "--show-scope").stdout
    assert {line.split("\t")[0] for line in listed.splitlines()} <= {"global", "local"}
    assert run("git", "-C", tmp_path, "var", "GIT_AUTHOR_IDENT").stdout.startswith(
        "Ada Tester <ada@example.invalid>"
    )


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Before Python 3.11.5 a repetition like `(?:ab|c)*+` eats the `a` of an `ab` that is not there; an
    atomic group does not.
    """
    found = {
        str(path.relative_to(PACKAGE)): re.findall(
            r".{0,40}\)(?:[*+?]|\{\d*,?\d*\})\+.{0,20}", path.read_text(encoding="utf-8")
        )
        for path in PACKAGE.rglob("*.py")
    }
    assert {path: lines for path, lines in found.items() if lines} == {}
