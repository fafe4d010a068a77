"""The third choice of walls: a container of podman or docker, only if the user's own configuration names an
engine and an image.

The image gives an empty room and nothing else. The machine's own programs are laid over it read-only, at the
same places, because the environment of a task is made from the machine's interpreter and would not start with
another C library. So any image will do, an empty one too; it is never pulled here, and no repository can name
it.
"""

import base64
import contextlib
import csv
import functools
import io
import os
import re
import secrets
import socket
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentforge.core.errors import Unusable, UsageError
from agentforge.sandbox.base import (
    ETC_ALWAYS,
    ETC_NETWORK,
    SYSTEM_ROOTS,
    Confinement,
    check_inside,
    not_started,
    shielded,
    toolchain_roots,
    variables,
)
from agentforge.sandbox.network.gateway import PORT, Way, way_out
from agentforge.sandbox.walls import seccomp
from agentforge.sandbox.walls.limits import limits_in_words, under_limits
from agentforge.system.processes import Completed, run
from agentforge.system.programs import find_program

Engine = Literal["podman", "docker"]

LAUNCHER = Path(__file__).with_name("_filter.py")
NAME = "container"
ENGINE_FAILED = 125
COULD_NOT_START = (126, 127)
TEMPORARY_BYTES = 4 << 30
# Links in most images, and nothing can be mounted on a link that leads nowhere. The time zone of a run is
# fixed anyway.
_ETC_LINKS = frozenset({"/etc/localtime", "/etc/os-release", "/etc/ssl/cert.pem"})
_IMAGE = re.compile(r"[A-Za-z0-9][\w.\-/:@]{0,254}")
# What the engine's own program may know of the caller: how to find its service and its store. Nothing of it
# is passed on.
_OF_THE_ENGINE = (
    "PATH",
    "HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
)
_PREFIXES_OF_THE_ENGINE = ("DOCKER_", "CONTAINER_", "CONTAINERS_", "PODMAN_")
# Engines and images set variables of their own. A run has a fixed list, here too.
_SET_BY_ENGINES = ("HOSTNAME", "TERM", "container")
# The first process ends all others with it, so a program that outlives a killed driver has at most its time.
_BEGIN = 'for name in $1; do unset "$name"; done; mkdir -p "$HOME"; shift; exec timeout -s KILL "$@"'


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """What the user's own `config.yaml` says: `container: {engine: podman, image: NAME}`."""

    engine: Engine
    image: str

    def __post_init__(self) -> None:
        """A name that could be an option is refused."""
        if not _IMAGE.fullmatch(self.image):
            raise UsageError(
                f"{self.image!r} is not the name of an image.",
                "Correct `container:` in your config.yaml.",
            )


@dataclass(frozen=True, slots=True)
class Container:
    """Runs programs through the engine's command line."""

    spec: ContainerSpec
    executable: str
    """Of the engine."""
    name: Literal["container"] = "container"

    def run(self, argv: Sequence[str], confinement: Confinement) -> Completed:
        """Run `argv` in a new container where only the paths of `confinement` and the system's programs
        exist.
        """
        check_inside(confinement)
        name = f"agentforge-{secrets.token_hex(8)}"
        with (
            tempfile.TemporaryDirectory(prefix="agentforge-", ignore_cleanup_errors=True) as temporary,
            way_out(confinement, own_network=True) as way,
            _door(way, Path(temporary)) as door,
        ):
            given = variables(confinement, "/tmp") | way.env  # noqa: S108 - the private one inside
            variable_file = _variable_file(Path(temporary), given)
            launched = _launched(argv, confinement, door)
            words = (
                *(
                    "run",
                    "--name",
                    name,
                    *_walls(self.spec.engine, confinement),
                    "--env-file",
                    str(variable_file),
                ),
                *_mounts(confinement, _stand_ins(Path(temporary)), door),
                *("--workdir", str(confinement.cwd.resolve()), "--entrypoint", "/bin/sh", self.spec.image),
                *("-c", _BEGIN, NAME, " ".join(_foreign(self.executable, self.spec.image, given))),
                *(f"{confinement.timeout_s + 10:.0f}", *launched),
            )
            done = self._converse(name, words, confinement)
        _refuse_failure(argv[0], done)
        return replace(done, argv=tuple(argv))

    def _converse(self, name: str, words: Sequence[str], confinement: Confinement) -> Completed:
        """One call of the engine. Ended before its time, it may leave the container behind."""
        try:
            done = run(
                (self.executable, *words),
                cwd=Path("/"),
                env=_engine_environment(os.environ),
                timeout_s=confinement.timeout_s,
                input=confinement.input,
                pass_fds=confinement.pass_fds,
                output_limit=confinement.output_limit,
                tee=confinement.tee,
            )
        except BaseException:
            self._remove(name)
            raise
        if done.timed_out or done.code < 0:
            self._remove(name)
        return done

    def _remove(self, name: str) -> None:
        """End everything in it. The second word waits until that is so, and also removes one that never
        started.
        """
        for words in (("kill", name), ("rm", "--force", name)):
            with contextlib.suppress(Unusable):
                run(
                    (self.executable, *words),
                    cwd=Path("/"),
                    env=_engine_environment(os.environ),
                    timeout_s=30,
                )

    def guarantee(self) -> dict[str, str]:
        """What a program in the container cannot do, by kind of wall."""
        return {
            "files": "only the system's programs, the image's own files and the paths named for the run "
            "exist; only the named ones can be changed",
            "network": "none; set-up reaches the places on its list, through a proxy of ours; the machine's "
            "own loopback is out of reach",
            "processes": f"no other process is visible; {limits_in_words(counted=True, grouped=True)}; "
            "all of them end with the run; of a killed driver, at its time limit",
            "capabilities": "all dropped, none to be gained; "
            + (
                "dangerous system calls are refused"
                if seccomp.is_available()
                else f"system calls are filtered as {self.spec.engine} does it"
            ),
        }


def find_engine(spec: ContainerSpec) -> Container | None:
    """The configured engine, if it is installed."""
    executable = find_program(spec.engine)
    return Container(spec, executable) if executable else None


def _walls(engine: Engine, confinement: Confinement) -> tuple[str, ...]:
    return (
        *(("--interactive",) if confinement.input else ()),
        *(
            "--rm",
            "--pull=never",
            "--network=none",
            "--read-only",
            "--cap-drop=all",
            "--security-opt=no-new-privileges",
        ),
        # Otherwise a machine with SELinux hides what is mounted, or marks the user's own files for
        # containers.
        "--security-opt=label=disable",
        *("--ipc=private", "--log-driver=none"),
        f"--pids-limit={confinement.limits.processes}",
        f"--memory={min(confinement.limits.memory, confinement.limits.total_memory)}b",
        *_identity(engine),
        f"--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777,size={TEMPORARY_BYTES}",
    )


def _identity(engine: Engine) -> tuple[str, ...]:
    """The caller's own number, so that what a run writes is the caller's. Without a service of root's, it
    must be mapped.
    """
    mapped = ("--userns=keep-id",) if engine == "podman" and os.getuid() != 0 else ()
    return (*mapped, f"--user={os.getuid()}:{os.getgid()}")


def _launched(argv: Sequence[str], confinement: Confinement, door: Path | None) -> tuple[str, ...]:
    """`argv`, started by a shell that limits itself, and then by a launcher that makes the door to the proxy
    and filters calls.
    """
    if door is not None or seccomp.is_available():
        calls = base64.b64encode(seccomp.build()).decode("ascii") if seccomp.is_available() else ""
        made = (str(door), str(PORT)) if door else ("", "0")
        argv = (str(Path(sys.executable).resolve()), "-I", "-S", str(LAUNCHER), calls, *made, *argv)
    return under_limits(NAME, argv, confinement.limits, confinement.timeout_s, count_processes=False)


@contextlib.contextmanager
def _door(way: Way, temporary: Path) -> Iterator[Path | None]:
    """A socket in the container's view, for the one message that hands out its door: a container inherits no
    descriptor of ours.
    """
    if way.channel is None:
        yield None
        return
    place = temporary / "door"
    with socket.socket(socket.AF_UNIX) as ear, socket.socket(fileno=os.dup(way.channel)) as channel:
        ear.bind(str(place))
        ear.listen(1)
        waiting = threading.Thread(target=_hand_on, args=(ear, channel), name="agentforge-door", daemon=True)
        waiting.start()
        try:
            yield place
        finally:
            with contextlib.suppress(OSError):
                ear.shutdown(socket.SHUT_RDWR)  # a container that failed sent nothing
            waiting.join()


def _hand_on(ear: socket.socket, channel: socket.socket) -> None:
    with contextlib.suppress(OSError):
        caller, _ = ear.accept()
        with caller:
            word, fds, _, _ = socket.recv_fds(caller, 16, 1)
        if fds:
            socket.send_fds(channel, [word], fds)
        for fd in fds:
            os.close(fd)


def _mounts(confinement: Confinement, stand_ins: Mapping[str, Path], door: Path | None) -> Iterator[str]:
    """The machine's programs, then the run's own paths by each name they were given; named twice, read-only
    wins.
    """
    etc = (*ETC_ALWAYS, *(ETC_NETWORK if confinement.network else ()))
    for place in (*SYSTEM_ROOTS, *(place for place in etc if place not in _ETC_LINKS)):
        if Path(place).exists():
            yield _mount(Path(place).resolve(), place, read_only=True)
    for place, source in stand_ins.items():
        yield _mount(source, place, read_only=True)
    if door is not None:
        yield _mount(door, str(door), read_only=False)
    given = (*toolchain_roots(), LAUNCHER, *confinement.read)
    read = {path.resolve() for path in given}
    write = {path.resolve() for path in confinement.write} - read
    for path in sorted(
        _places(shielded(write, read) | write | read, (*given, *confinement.write)),
        key=lambda path: len(path.parts),
    ):
        if not any(path.is_relative_to(root) for root in SYSTEM_ROOTS):
            yield _mount(path.resolve(), str(path), read_only=path.resolve() in read)


def _places(real: Iterable[Path], given: Iterable[Path]) -> set[Path]:
    """No link can be made in a container, so a path that was given through one is mounted at both of its
    names.
    """
    return {*real, *(path.absolute() for path in given)}


def _mount(source: Path, place: str, *, read_only: bool) -> str:
    """As an option whose value is a line of CSV: a path may hold colons and commas."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(
        ("type=bind", f"source={source}", f"target={place}", *(("readonly",) if read_only else ()))
    )
    return f"--mount={line.getvalue()}"


def _stand_ins(temporary: Path) -> dict[str, Path]:
    """Names for the numbers inside: an image may have none."""
    user, group = os.getuid(), os.getgid()
    texts = {
        "passwd": f"agent:x:{user}:{group}:agent:/tmp/home:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
        "group": f"agent:x:{group}:\nnogroup:x:65534:\n",
    }
    for name, text in texts.items():
        (temporary / name).write_text(text, encoding="ascii")
        (temporary / name).chmod(0o644)
    return {f"/etc/{name}": temporary / name for name in texts}


def _variable_file(temporary: Path, given: Mapping[str, str]) -> Path:
    """The variables in a file of our own: other users can read arguments, and an index may have a
    password.
    """
    if any("\n" in value for value in given.values()):
        raise Unusable(
            "A variable of the run holds a line break, which no container can be given.",
            "Use another sandbox.",
        )
    path = temporary / "variables"
    path.touch(0o600)
    path.write_text("".join(f"{name}={value}\n" for name, value in given.items()), encoding="utf-8")
    return path


@functools.cache
def _image_variables(executable: str, image: str) -> tuple[str, ...]:
    """The names of the variables that an image sets. An image that is not here is said now, and never
    fetched.
    """
    form = "{{range .Config.Env}}{{println .}}{{end}}"
    words = (executable, "image", "inspect", "--format", form, image)
    done = run(words, cwd=Path("/"), env=_engine_environment(os.environ), timeout_s=30)
    if done.code != 0:
        reason = done.err.decode(errors="replace").strip().splitlines()[-1:] or ["no reason was given"]
        raise Unusable(
            f"The image {image} of the sandbox cannot be used: {reason[0]}",
            "Get it yourself; it is never fetched for you.",
        )
    return tuple(
        line.partition("=")[0] for line in done.out.decode(errors="replace").splitlines() if "=" in line
    )


def _foreign(executable: str, image: str, given: Mapping[str, str]) -> list[str]:
    names = {*_SET_BY_ENGINES, *_image_variables(executable, image)} - given.keys()
    return sorted(name for name in names if re.fullmatch(r"[A-Za-z_]\w*", name))


def _engine_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environ.items()
        if name in _OF_THE_ENGINE or name.startswith(_PREFIXES_OF_THE_ENGINE)
    }


def _refuse_failure(program: str, done: Completed) -> None:
    """What the engine could not do is no result of the program."""
    said = done.err.decode(errors="replace").strip()
    ours = done.code in COULD_NOT_START and said.startswith(f"{NAME}: ")
    if ours or (done.code == ENGINE_FAILED and said.startswith(("docker: ", "Error: "))):
        raise not_started(program, said.splitlines()[0].partition(": ")[2])
