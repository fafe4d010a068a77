"""`doctor`, `sandbox run` and `redact`, as a person runs them."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from agentforge.sandbox.probe import ESSENTIAL
from tests.surfaces.scene import COMMAND


def forge(*words: str, cwd: Path, data: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run((COMMAND, *words), cwd=cwd, input=data, capture_output=True, check=False, timeout=60, env=os.environ | more)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / "build").mkdir(parents=True)
    (place / ".github/workflows").mkdir(parents=True)
    (place / ".github/workflows/ci.yml").write_text("on: push\n")
    subprocess.run(("git", "init", "-q", str(place)), check=True)
    return place


def test_the_doctor_tries_the_walls_and_says_what_is_missing(tmp_path: Path) -> None:
    started = time.monotonic()
    done = forge("doctor", "--json", cwd=tmp_path)
    assert time.monotonic() - started < 6
    told = json.loads(done.stdout)
    assert {check["name"] for check in told["checks"]} >= {"python", "git", "sandbox", "model", "home", "disk"}
    assert done.returncode == (0 if told["ok"] else 1)
    assert told["ok"] == all(check["state"] != "missing" for check in told["checks"])
    assert {probe["name"] for probe in told["sandbox"]["probes"] if probe["held"]} >= ESSENTIAL


def test_the_doctor_speaks_to_people_too_and_leaves_nothing_behind(tmp_path: Path, home: Path) -> None:
    done = forge("doctor", cwd=tmp_path)
    assert b"tried just now" in done.stdout
    assert b"What they promise" in done.stdout
    assert not (home / ".agentforge").exists()


def test_without_git_something_essential_is_missing(tmp_path: Path) -> None:
    done = forge("doctor", "--json", cwd=tmp_path, PATH=str(tmp_path))
    assert done.returncode == 1
    assert {"name": "git", "state": "missing"}.items() <= next(c for c in json.loads(done.stdout)["checks"] if c["name"] == "git").items()


def test_a_home_that_cannot_be_written_is_missing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = forge("doctor", "--json", cwd=tmp_path, AGENTFORGE_HOME=str(tmp_path / "file/home"))
    assert done.returncode == 1


def test_a_configured_model_is_named(tmp_path: Path) -> None:
    told = json.loads(forge("doctor", "--json", cwd=tmp_path, AGENTFORGE_MODEL="openai:some").stdout)
    assert next(check for check in told["checks"] if check["name"] == "model")["detail"] == "openai:some"


def test_a_command_runs_as_an_agents_would_and_its_exit_code_is_ours(repository: Path) -> None:
    done = forge("sandbox", "run", "--", "sh", "-c", "echo out; echo x > made; exit 7", cwd=repository, MY_SECRET="s3")
    assert done.returncode == 7
    assert done.stdout == b"out\n"
    assert done.stderr.startswith(b"sandbox: ")
    assert b"no network" in done.stderr
    assert not (repository / "made").exists()


def test_nothing_of_the_persons_environment_reaches_the_command(repository: Path) -> None:
    assert b"MY_SECRET" not in forge("sandbox", "run", "--", "env", cwd=repository, MY_SECRET="s3").stdout


def test_only_the_named_directory_can_be_changed(repository: Path) -> None:
    done = forge("sandbox", "run", "--write", "build", "--", "sh", "-c", "echo x > build/a; echo x > b; true", cwd=repository)
    assert done.returncode == 0
    assert (repository / "build/a").exists()
    assert not (repository / "b").exists()


def test_what_runs_later_outside_stays_read_only_even_so(repository: Path) -> None:
    script = "echo x > made; echo x > .git/hooks/pre-commit; echo x >> .github/workflows/ci.yml; mv .git g; mv .github h; true"
    forge("sandbox", "run", "--write", ".", "--", "sh", "-c", script, cwd=repository)
    assert (repository / "made").exists()
    assert not (repository / ".git/hooks/pre-commit").exists()
    assert (repository / ".github/workflows/ci.yml").read_text() == "on: push\n"


@pytest.mark.parametrize("place", [".git", ".github/workflows", "/", "missing"])
def test_a_place_that_no_command_may_change_is_refused(repository: Path, place: str) -> None:
    assert forge("sandbox", "run", "--write", place, "--", "true", cwd=repository).returncode == 2


def test_there_are_no_walls_called_none(repository: Path) -> None:
    assert forge("sandbox", "run", "--sandbox", "none", "--", "true", cwd=repository).returncode == 2


def test_a_command_whose_time_is_up_is_ended(repository: Path) -> None:
    done = forge("sandbox", "run", "--timeout", "0.5", "--", "sleep", "60", cwd=repository)
    assert done.returncode == 124


def test_secrets_leave_a_stream_and_everything_else_stays(tmp_path: Path) -> None:
    done = forge("redact", cwd=tmp_path, data="db_password=hunter2 # für\r\n".encode() + b"\xff\xfe\0end")
    assert done.stdout == "db_password=[REDACTED:password] # für\r\n".encode() + b"\xff\xfe\0end"
    assert done.returncode == 0


def test_a_file_is_copied_without_its_secrets_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("password: hunter2\n")
    assert forge("redact", ".env", cwd=tmp_path).stdout == b"password: [REDACTED:password]\n"
    assert (tmp_path / ".env").read_text() == "password: hunter2\n"
    assert forge("redact", "missing", cwd=tmp_path).returncode == 2
