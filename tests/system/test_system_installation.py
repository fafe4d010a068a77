"""The command that adds a part to this copy, for copies that were really installed in each of the usual ways."""

import json
import os
import shlex
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from agentforge.system.installation import (
    DISTRIBUTION,
    InstallationSource,
    _command,
    _source_of,
    install_command,
)
from tests.wheels import pack

ROOT = Path(__file__).parents[2]
UV = str(Path(sys.executable).with_name("uv"))
NEEDED = (
    *("cffi", "click", "cryptography", "jsonschema-rs", "markdown-it-py", "mdurl", "pycparser", "pygments"),
    *("pyyaml", "rich", "uv"),
)
ASK = (
    "from agentforge.system.installation import install_command as command; print(command({}))"
    "; from importlib.metadata import version; from agentforge import __version__"
    "; assert version('agentforge-pipeline') == __version__"
)


def run(*words: str | Path, env: dict[str, str] | None = None) -> str:
    variables = {**os.environ, "PATH": f"{Path(UV).parent}:/usr/bin:/bin", **(env or {})}
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def hint(python: Path, *extras: str) -> list[str]:
    """What a copy in another environment says, as the words that a shell makes of it."""
    return shlex.split(run(python, "-c", ASK.format(", ".join(map(repr, extras)))))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this project, and of what it needs."""
    place = tmp_path_factory.mktemp("wheels")
    run(UV, "build", "--quiet", "--wheel", "--out-dir", place, ROOT)
    for name in NEEDED:
        pack(distribution(name), place)
    return place


@pytest.fixture(scope="module")
def wheel(wheels: Path) -> Path:
    (found,) = wheels.glob("agentforge_pipeline-*.whl")
    return found


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of a new, empty environment."""
    run(UV, "venv", "--quiet", "--python", sys.executable, tmp_path / "env")
    return tmp_path / "env/bin/python"


def test_a_copy_that_uv_put_into_an_environment_from_a_file(python: Path, wheel: Path) -> None:
    run(UV, "pip", "install", "--quiet", "--no-deps", "--python", python, wheel)
    wanted = f"{DISTRIBUTION}[anthropic] @ {wheel.as_uri()}"
    said = hint(python, "anthropic")
    assert said == ["uv", "pip", "install", "--python", str(python), wanted]
    run(*said, "--no-deps", "--offline")


@pytest.mark.slow
def test_a_copy_from_an_index(python: Path, wheels: Path) -> None:
    run(
        UV,
        "pip",
        "install",
        "--no-deps",
        "--python",
        python,
        "--no-index",
        "--find-links",
        wheels,
        DISTRIBUTION,
    )
    assert hint(python, "openai", "anthropic")[-1] == f"{DISTRIBUTION}[anthropic,openai]"
    run(*hint(python), "--no-deps", "--no-index", "--find-links", str(wheels))


@pytest.mark.slow
def test_a_copy_that_uv_installed_as_a_tool_keeps_the_extras_it_has(
    tmp_path: Path, wheel: Path, wheels: Path
) -> None:
    places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    offline = ("--offline", "--no-index", "--find-links", str(wheels), "--python", sys.executable)
    run(UV, "tool", "install", *offline, f"{DISTRIBUTION}[spare] @ {wheel.as_uri()}", env=places)
    python = tmp_path / "tools" / DISTRIBUTION / "bin/python"
    start = ["uv", "tool", "install", "--force"]
    assert hint(python, "anthropic") == [*start, f"{DISTRIBUTION}[anthropic,spare] @ {wheel.as_uri()}"]
    assert hint(python) == [*start, f"{DISTRIBUTION}[spare] @ {wheel.as_uri()}"]
    run(*hint(python), *offline, env=places)
    assert run(tmp_path / "bin/agentforge", "--version").startswith("agentforge ")
    assert run(tmp_path / "bin/forge", "--version").startswith("agentforge ")


@pytest.mark.slow
def test_a_copy_that_pipx_installed_keeps_the_extras_it_has(python: Path, wheel: Path) -> None:
    run(UV, "pip", "install", "--quiet", "--no-deps", "--python", python, wheel)
    noted = {"main_package": {"package_or_url": f"{DISTRIBUTION}[openai]"}}
    (python.parents[1] / "pipx_metadata.json").write_text(json.dumps(noted))
    wanted = f"{DISTRIBUTION}[anthropic,openai] @ {wheel.as_uri()}"
    assert hint(python, "anthropic") == ["pipx", "install", "--force", wanted]


def test_a_checkout_that_is_installed_to_be_worked_on() -> None:
    assert shlex.split(install_command("temporal")) == [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--editable",
        f"{ROOT}[temporal]",
    ]


def test_a_checkout_that_is_only_on_the_path(python: Path) -> None:
    said = run(
        python,
        "-c",
        "from agentforge.system.installation import install_command as command; print(command('openai'))",
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    assert shlex.split(said)[-2:] == ["--editable", f"{ROOT}[openai]"]


@pytest.mark.parametrize(
    ("noted", "expected"),
    [
        ({}, InstallationSource()),
        (
            {"url": "https://example.invalid/r", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            InstallationSource("git+https://example.invalid/r@c0ffee"),
        ),
        (
            {
                "url": "https://example.invalid/r",
                "vcs_info": {"vcs": "git", "commit_id": "c0ffee", "requested_revision": "v1"},
            },
            InstallationSource("git+https://example.invalid/r@v1"),
        ),
        (
            {"url": "https://example.invalid/a.whl", "archive_info": {}},
            InstallationSource("https://example.invalid/a.whl"),
        ),
        ({"url": "file:///gone/a.whl", "archive_info": {}}, InstallationSource()),
        ({"url": "file:///gone", "dir_info": {"editable": True}}, InstallationSource()),
    ],
)
def test_where_a_copy_came_from_is_where_its_parts_come_from(
    noted: dict[str, object], expected: InstallationSource
) -> None:
    assert _source_of(noted) == expected


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ('{name = "rich", specifier = ">=13"}', "--with 'rich>=13'"),
        ('{name = "rich", extras = ["jupyter"]}', "--with 'rich[jupyter]'"),
        (
            '{name = "own", git = "https://host.example/own?rev=v1"}',
            "--with 'own @ git+https://host.example/own@v1'",
        ),
        (
            '{name = "own", url = "https://host.example/own.whl"}',
            "--with 'own @ https://host.example/own.whl'",
        ),
        ('{name = "own", editable = "/src/own"}', "--with-editable /src/own"),
        ('{name = "own", directory = "/src/own"}', "--with /src/own"),
        ("3", ""),
        ("{}", ""),
    ],
)
def test_what_was_installed_beside_the_tool_comes_from_where_it_came(
    tmp_path: Path, listed: str, words: str
) -> None:
    (tmp_path / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{listed}]\n")
    said = _command(tmp_path, tmp_path / "bin/python", InstallationSource(), ["temporal"])
    assert said == f"uv tool install --force {words} '{DISTRIBUTION}[temporal]'".replace("  ", " ")
