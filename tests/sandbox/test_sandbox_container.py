"""The container rung: what the engine is told, that its room works with nothing but the machine's programs,
and who may ask for it.
"""

import os
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agentforge.core.errors import PolicyError, Unusable, UsageError
from agentforge.sandbox.base import Confinement
from agentforge.sandbox.network.destinations import destinations
from agentforge.sandbox.walls import ladder
from agentforge.sandbox.walls.container import Container, ContainerSpec, find_engine
from agentforge.sandbox.walls.limits import Limits
from agentforge.sandbox.walls.probe import ESSENTIAL, probe
from tests.rows import every
from tests.sandbox import engine
from tests.sandbox.rungs import INTERPRETER, py, sh


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    return tmp_path / "tools"


@pytest.fixture
def walls(tools: Path) -> Container:
    return engine.install(tools)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


def test_the_engine_is_told_to_build_every_wall(walls: Container, tools: Path, room: Path) -> None:
    (room / "locked").mkdir()
    odd = room.parent / "a,b:c"
    odd.mkdir()
    confinement = Confinement(
        cwd=room,
        write=(room,),
        read=(room / "locked", odd),
        env={"TOKEN": "s3cret"},
        limits=Limits(memory=1 << 30, processes=99),
    )
    assert walls.run(("/bin/echo", "x"), confinement).out == b"x\n"
    words = engine.calls(tools)[-1]
    assert {"--rm", "--pull=never", "--network=none", "--read-only", "--cap-drop=all"} <= set(words)
    assert {
        "--security-opt=no-new-privileges",
        "--pids-limit=99",
        f"--memory={1 << 30}b",
        f"--user={os.getuid()}:{os.getgid()}",
    } <= set(words)
    assert f"--mount=type=bind,source={room},target={room}" in words
    assert f"--mount=type=bind,source={room / 'locked'},target={room / 'locked'},readonly" in words
    assert f'--mount=type=bind,"source={odd}","target={odd}",readonly' in words
    assert "--mount=type=bind,source=/usr,target=/usr,readonly" in words
    assert not [
        word for word in words if "privileged" in word or word.startswith(("--pid=", "--device", "--cap-add"))
    ]
    assert "s3cret" not in " ".join(words)
    assert words[words.index("--entrypoint") + 2] == engine.IMAGE


def test_the_engine_hands_on_standard_input_where_there_is_some(
    walls: Container, tools: Path, room: Path
) -> None:
    for given in (b"one", b""):
        assert walls.run(("/bin/cat",), Confinement(cwd=room, write=(room,), input=given)).out == given
        assert ("--interactive" in engine.calls(tools)[-1]) is bool(given)


def test_programs_of_the_machine_run_on_an_image_with_nothing_in_it(walls: Container, room: Path) -> None:
    done = py(
        walls,
        "import getpass, os, ssl, sys; open('made', 'w').write('x'); print(getpass.getuser(), "
        "sorted(os.environ))",
        room,
    )
    assert done.code == 0, done.err
    assert done.argv[-2] == "-c"
    assert (room / "made").stat().st_uid == os.getuid()
    # Neither the image's variables nor the engine's are there.
    assert not {name for name in ("GPG_KEY", "HOSTNAME", "container") if repr(name) in done.out.decode()}
    assert sh(walls, "kill -9 $$", room).code == 137
    assert sh(walls, "exit 42", room).code == 42
    assert sh(walls, "ulimit -n; touch /usr/x /etc/x", room, limits=Limits(open_files=77)).out == b"77\n"
    with pytest.raises(Unusable, match="no-such-program"):
        walls.run(("no-such-program",), Confinement(cwd=room, write=(room,)))


def test_set_up_reaches_the_places_on_its_list_and_no_other(walls: Container, room: Path) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"package")

        def log_message(self, *_: object) -> None:
            pass

    refused: list[str] = []
    script = (
        "import urllib.request as u\n"
        "for place in sys.argv[1:]:\n"
        "    try: print(u.urlopen(f'http://{place}/x', timeout=20).read())\n"
        "    except OSError as error: print(type(error).__name__, getattr(error, 'code', ''))"
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_port}"
        confinement = Confinement(
            cwd=room, write=(room,), network=destinations((place,), private=True), on_refusal=refused.append
        )
        done = walls.run(
            (INTERPRETER, "-I", "-c", "import sys\n" + script, place, "127.0.0.1:9"), confinement
        )
        server.shutdown()
    assert done.out.decode().splitlines() == ["b'package'", "HTTPError 403"], done.err
    assert refused == ["127.0.0.1:9"]


def test_the_probe_finds_every_essential_wall(walls: Container) -> None:
    assert not {each.name for each in probe(walls) if not each.held} & ESSENTIAL


def test_a_path_given_through_a_link_works_by_both_names(
    walls: Container, room: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").symlink_to(room)
    confinement = Confinement(cwd=tmp_path / "other", write=(tmp_path / "other",))
    assert (
        walls.run(("/bin/sh", "-c", f"echo x > {tmp_path}/other/f; cat {room}/f"), confinement).out == b"x\n"
    )


def test_a_run_whose_time_is_up_is_ended_by_its_name(walls: Container, tools: Path, room: Path) -> None:
    done = sh(walls, "sleep 60.5 & wait", room, timeout_s=1)
    assert done.timed_out
    started, *ended = engine.calls(tools)[1:]
    name = started[started.index("--name") + 1]
    assert ended == [["kill", name], ["rm", "--force", name]]


def test_an_image_that_is_not_here_is_never_fetched(tools: Path, room: Path) -> None:
    with pytest.raises(Unusable, match="cannot be used"):
        sh(engine.install(tools, "other:2"), "true", room)
    assert [words[:2] for words in engine.calls(tools)] == [["image", "inspect"]]


@every("image", ["", "--privileged", "-v", "a b", "x" * 300, "a\nb", "$(id)"])
def test_a_name_that_is_no_image_is_refused(image: str) -> None:
    with pytest.raises(UsageError, match="is not the name of an image"):
        ContainerSpec("podman", image)


def test_a_container_is_only_chosen_if_the_user_configured_one(
    walls: Container, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PolicyError, match="No container is configured") as caught:
        ladder.choose("container")
    assert "your config.yaml" in caught.value.next_step
    with pytest.raises(PolicyError, match=r"docker (is not installed|does not work here)"):
        ladder.choose("container", ContainerSpec("docker", "no-such-image"))
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    assert ladder.choose("container", walls.spec) == walls
    assert ladder.choose("auto", walls.spec).name != "container"


def test_the_container_is_the_last_rung_and_nothing_comes_after_it() -> None:
    assert [name for name, _ in ladder.rungs()] == ["bubblewrap", "landlock", "container"]


def test_an_engine_that_builds_no_walls_is_not_believed(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tools / "docker"
    fake.write_text(
        '#!/bin/sh\n[ "$1" = run ] || exit 0\nwhile [ "$1" != bare ]; do shift; done; shift; exec '
        '/bin/sh "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    with pytest.raises(PolicyError, match="docker does not work here"):
        ladder.choose("container", ContainerSpec("docker", "bare"))


def _real() -> Container | None:
    """An engine of this machine with an image of ours: empty, made here, nothing fetched."""
    for name in ("podman", "docker"):
        if not (program := shutil.which(name)):
            continue
        words = (program, "import", "-", "agentforge-empty:test")
        try:
            made = subprocess.run(words, input=bytes(10240), capture_output=True, check=False, timeout=60)
        except subprocess.TimeoutExpired:
            continue
        if made.returncode == 0:
            return find_engine(
                ContainerSpec("podman" if name == "podman" else "docker", "agentforge-empty:test")
            )
    return None


@pytest.mark.slow
def test_a_real_engine_holds_the_essential_walls(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = _real()
    if real is None:
        pytest.skip("no engine works on this machine")
    assert ladder.works(real)
    assert not {each.name for each in probe(real) if not each.held} & ESSENTIAL
    assert sh(real, "sleep 60.75 & wait", room, timeout_s=3).timed_out
