"""`doctor`, `sandbox run` and `redact`, as a person runs them."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest

from agentforge.app.setup import machine
from agentforge.core.errors import UsageError
from agentforge.core.pipeline import TIERS
from agentforge.sandbox.walls.probe import ESSENTIAL
from agentforge.surfaces.cli.commands import doctor, sandbox
from tests import forked
from tests.sandbox import engine
from tests.surfaces.scene import COMMAND
from tests.surfaces.shapes import conform


def forge(*words: str, cwd: Path, data: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        (COMMAND, *words),
        cwd=cwd,
        input=data,
        capture_output=True,
        check=False,
        timeout=60,
        env=os.environ | more,
    )


def walled(repository: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """`sandbox run`."""
    return forked.run(("sandbox", "run", *words), repository, os.environ | more)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / "build").mkdir(parents=True)
    (place / ".github/workflows").mkdir(parents=True)
    (place / ".github/workflows/ci.yml").write_text("on: push\n")
    subprocess.run(("git", "init", "-q", str(place)), check=True)
    return place


def test_the_doctor_tries_the_walls_and_says_what_is_missing(tmp_path: Path) -> None:
    done = forge("doctor", "--json", cwd=tmp_path)
    told = conform("doctor", done.stdout.decode())
    wanted = {"python", "git", "sandbox", "container", "toolchains", "engines", "models", "home", "disk"}
    wanted |= {"language_servers"}
    assert {check["name"] for check in told["checks"]} >= wanted
    assert [rung["name"] for rung in told["rungs"]] == ["bubblewrap", "landlock", "container"]
    assert {probe["name"] for rung in told["rungs"] if rung["works"] for probe in rung["probes"]} >= ESSENTIAL
    assert done.returncode == (0 if told["ok"] else 1)
    assert told["ok"] == all(check["state"] != "missing" for check in told["checks"])
    assert {probe["name"] for probe in told["sandbox"]["probes"] if probe["held"]} >= ESSENTIAL


def test_the_doctor_names_the_language_servers_that_a_run_would_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goroot = tmp_path / "go"
    for name in ("bin", "pkg/tool"):
        (goroot / name).mkdir(parents=True)
    (goroot / "bin/gopls").write_text("")
    monkeypatch.setenv("GOROOT", str(goroot))
    assert "gopls" not in machine._language_servers().detail
    (goroot / "bin/gopls").chmod(0o755)
    assert "gopls (Go)" in machine._language_servers().detail


def test_the_doctor_speaks_to_people_too_and_leaves_nothing_behind(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor.doctor.main([], standalone_mode=False) in (0, 1)
    said = capsys.readouterr().out
    assert "tested just now" in said
    assert re.search(r"^ok +landlock +held (\d+) of \1 attempts to get out$", said, re.MULTILINE)
    assert max(map(len, said.splitlines())) < 200
    assert doctor.doctor.main(["--detail"], standalone_mode=False) in (0, 1)
    assert "It promises:" in capsys.readouterr().out
    assert not (home / ".agentforge").exists()


def test_the_doctor_tries_the_configured_container_and_finds_the_toolchains_of_the_project(
    repository: Path, home: Path
) -> None:
    tools = repository.parent / "tools"
    tools.mkdir()
    engine.install(tools)
    (home / ".agentforge").mkdir()
    (home / ".agentforge/config.yaml").write_text(f"container: {{engine: podman, image: '{engine.IMAGE}'}}\n")
    (home / ".nvm/versions/node/v20.1.0/bin").mkdir(parents=True)
    (repository / "package.json").write_text("{}")
    told = json.loads(forge("doctor", "--json", cwd=repository, PATH=f"{tools}:{os.environ['PATH']}").stdout)
    details = {check["name"]: check["detail"] for check in told["checks"]}
    assert details["container"] == f"podman with {engine.IMAGE}"
    assert details["toolchains"] == f"node at {home / '.nvm/versions/node/v20.1.0'}"
    assert {probe["name"] for probe in told["rungs"][2]["probes"] if probe["held"]} >= ESSENTIAL


# A kernel without Landlock: its first call does not exist.
WITHOUT_LANDLOCK = """
import ctypes, os, struct, sys
steps = b"".join(struct.pack("=HBBI", *step) for step in ((0x20, 0, 0, 0), (0x15, 0, 1, 444), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000)))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]
libc = ctypes.CDLL(None)
zero = ctypes.c_ulong(0)
libc.prctl(38, ctypes.c_ulong(1), zero, zero, zero)
assert libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(Program(4, steps)), zero, zero) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_where_no_walls_work_the_doctor_and_the_command_refuse(repository: Path) -> None:
    (repository.parent / "git").symlink_to(shutil.which("git") or "")
    words = (sys.executable, "-c", WITHOUT_LANDLOCK, COMMAND)
    environ = os.environ | {"PATH": str(repository.parent)}
    done = subprocess.run(
        (*words, "doctor", "--json"),
        cwd=repository,
        capture_output=True,
        check=False,
        timeout=60,
        env=environ,
    )
    assert done.returncode == 1
    assert {"name": "sandbox", "state": "missing"}.items() <= next(
        check for check in json.loads(done.stdout)["checks"] if check["name"] == "sandbox"
    ).items()
    command = (*words, "sandbox", "run", "--write", "build", "--", "touch", "build/made")
    assert (
        subprocess.run(
            command, cwd=repository, capture_output=True, check=False, timeout=60, env=environ
        ).returncode
        == 4
    )
    assert not (repository / "build/made").exists()


def test_without_git_something_essential_is_missing(tmp_path: Path) -> None:
    done = forge("doctor", "--json", cwd=tmp_path, PATH=str(tmp_path))
    assert done.returncode == 1
    assert {"name": "git", "state": "missing"}.items() <= next(
        c for c in json.loads(done.stdout)["checks"] if c["name"] == "git"
    ).items()


def test_a_home_that_cannot_be_written_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "file/home"))
    assert [check.state for check in machine._home()] == ["missing"]


def test_a_configured_model_is_named_for_every_tier(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTFORGE_HOME", str(home / ".agentforge"))
    monkeypatch.setenv("AGENTFORGE_MODEL", "scripted:some")
    checks, told = machine._models()
    assert {check.name: check.detail for check in checks if check.state == "ok"} == dict.fromkeys(
        reversed(TIERS), "scripted:some"
    )
    assert told is not None
    assert told.can_answer


def test_a_machine_where_no_model_can_answer_is_not_ready(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTFORGE_HOME", str(home / ".agentforge"))
    checks, _ = machine._models()
    assert [(check.name, check.state) for check in checks if check.state == "missing"] == [
        ("models", "missing")
    ]


def test_a_command_runs_as_an_agents_would_and_its_exit_code_is_ours(repository: Path) -> None:
    done = walled(repository, "--", "sh", "-c", "echo out $MY_SECRET; echo x > made; exit 7", MY_SECRET="s3")
    assert done.returncode == 7
    assert done.stdout == "out\n"
    assert done.stderr.startswith("sandbox: ")
    assert "no network" in done.stderr
    assert not (repository / "made").exists()


def test_only_the_named_directory_can_be_changed(repository: Path) -> None:
    done = walled(repository, "--write", "build", "--", "sh", "-c", "echo x > build/a; echo x > b; true")
    assert done.returncode == 0
    assert (repository / "build/a").exists()
    assert not (repository / "b").exists()


def test_what_runs_later_outside_stays_read_only_even_so(repository: Path) -> None:
    script = (
        "echo x > made; echo x > .git/hooks/pre-commit; echo x >> .github/workflows/ci.yml; mv .git "
        "g; mv .github h; true"
    )
    walled(repository, "--write", ".", "--", "sh", "-c", script)
    assert (repository / "made").exists()
    assert not (repository / ".git/hooks/pre-commit").exists()
    assert (repository / ".github/workflows/ci.yml").read_text() == "on: push\n"


@pytest.mark.parametrize(
    "place", [".git", ".github/workflows", "/", "/etc", "/usr/lib", "missing", "keys/.ssh"]
)
def test_a_place_that_no_command_may_change_is_refused(
    repository: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    Path("keys/.ssh").mkdir(parents=True)
    with pytest.raises(UsageError):
        sandbox.run.main(["--write", place, "--", "true"], standalone_mode=False)


def test_there_are_no_walls_called_none(repository: Path) -> None:
    assert walled(repository, "--sandbox", "none", "--", "true").returncode == 2


def test_what_a_command_says_is_shown_as_it_comes(repository: Path) -> None:
    script = "echo first; while ! test -e build/go; do sleep 0.02; done; echo last"
    words = (COMMAND, "sandbox", "run", "--timeout", "60", "--", "sh", "-c", script)
    with subprocess.Popen(
        words, cwd=repository, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"first\n"
        (repository / "build/go").touch()
        assert running.stdout.read() == b"last\n"
    assert running.returncode == 0


def test_only_the_named_host_is_reached_and_the_other_is_said(repository: Path) -> None:
    script = (
        "import sys, urllib.request as u\n"
        "for place in sys.argv[1:]:\n"
        "    try: print(u.urlopen(f'http://{place}/', timeout=20).status)\n"
        "    except OSError as error: print(error.code)"
    )
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_port}"
        words = (
            "--json",
            "--network",
            place,
            "--",
            "/usr/bin/python3",
            "-I",
            "-c",
            script,
            place,
            "127.0.0.1:9",
        )
        done = walled(repository, *words)
        server.shutdown()
    told = json.loads(done.stdout)
    assert (told["code"], told["out"].split(), told["refused"]) == (0, ["200", "403"], ["127.0.0.1:9"])
    assert walled(repository, "--network", "user@host", "--", "true").returncode == 2


def test_a_hook_that_a_command_makes_is_taken_away_again(repository: Path) -> None:
    script = (
        "mkdir .husky .circleci; echo evil > .husky/pre-commit; echo evil > .circleci/config.yml; "
        "echo fine > made"
    )
    done = walled(repository, "--write", ".", "--", "sh", "-c", script)
    assert "was removed: it would run later" in done.stderr
    assert (repository / "made").exists()
    assert not (repository / ".husky").exists()
    assert not (repository / ".circleci").exists()


def test_a_command_whose_time_is_up_is_ended(repository: Path) -> None:
    done = walled(repository, "--timeout", "0.5", "--", "sleep", "60")
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
