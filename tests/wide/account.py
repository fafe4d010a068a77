"""A fresh account of somebody who has never had AgentForge: an empty home, an empty cache, a terminal, and a
transcript of everything that was typed and shown.
"""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ROWS, COLUMNS = 50, 100
_PASSED = ("PATH", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "TMPDIR")
_INDEXES = (
    "PIP_",
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_SYSTEM_CERTS",
    "HTTP",
    "NO_PROXY",
)
_OFF = ("PIP_NO_INDEX",)
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>]")

Answer = tuple[str, str]
"""What stands in the last line, and what is typed then."""


@dataclass(frozen=True, slots=True)
class Limit:
    """When a command is given up: by what it computes, because the clock of a busy machine says little."""

    computed_s: float = 1500
    idle_s: float = 600
    """So long may it compute nothing at all, as one does that waits for what never comes."""


class Watch:
    """What a command and all that it started have computed so far, looked at every few seconds."""

    def __init__(self, pid: int, limit: Limit, look_every_s: float = 5) -> None:
        self.pid, self.limit, self.look_every_s = pid, limit, look_every_s
        self.computed = 0.0
        self.looked = self.moved = time.monotonic()

    def exceeded(self) -> str:
        """Why the command is given up; empty: it is not."""
        now = time.monotonic()
        if now - self.looked < self.look_every_s:
            return ""
        self.looked = now
        if (seconds := computed(self.pid)) > self.computed:
            self.computed, self.moved = seconds, now
        if self.computed > self.limit.computed_s:
            return f"it did not end within {self.limit.computed_s:.0f} s of computing"
        if now - self.moved > self.limit.idle_s:
            return f"it computed nothing for {self.limit.idle_s:.0f} s"
        return ""


def computed(top: int) -> float:
    """The seconds computed by a process, by those below it that live, and by those they have waited for."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has ended
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    below = {top}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return sum(ticks.get(pid, 0) for pid in below) / os.sysconf("SC_CLK_TCK")


@dataclass
class Account:
    """Somebody's account, and what happened in it."""

    home: Path
    transcript: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        """Of the machine only how it reaches package indexes; everything else is this account's."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in _PASSED or (name.startswith(_INDEXES) and name not in _OFF)
        }
        own = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/.local/bin:{_without(kept.get('PATH', os.defpath), BIN)}",
            "TERM": "xterm-256color",
            "UV_NO_PROGRESS": "1",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
            **{f"GIT_{role}_NAME": "Ada" for role in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{role}_EMAIL": "ada@example.invalid" for role in ("AUTHOR", "COMMITTER")},
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        return {**kept, **own, **self.variables}

    def note(self, text: str) -> None:
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(text)

    def type(
        self,
        *words: str,
        at: Path,
        answers: Sequence[Answer] = (),
        meanwhile: Callable[[int, str], None] | None = None,
        limit: Limit | None = None,
    ) -> tuple[int, str]:
        """One command at a terminal, to its end: its exit code, and what was on the screen. `meanwhile` is
        told what stands there whenever something new does, with the process's number.
        """
        self.note(f"\n$ {' '.join(words)}\n")
        pid, terminal = pty.fork()
        if pid == 0:
            try:
                os.chdir(at)
                environ = self.environ
                os.execve(_which(words[0], environ["PATH"]), list(words), environ)
            finally:
                os._exit(127)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        said, owed = b"", list(answers)
        began, watch = time.monotonic(), Watch(pid, limit or Limit())
        late = ""
        try:
            while not (late := watch.exceeded()):
                if not select.select([terminal], [], [], 1)[0]:
                    continue
                try:
                    piece = os.read(terminal, 65536)
                except OSError:
                    break
                if not piece:
                    break
                said += piece
                if owed and owed[0][0] in plain(said).rpartition("\n")[2]:
                    os.write(terminal, owed.pop(0)[1].encode() + b"\n")
                    said += b"\n"
                if meanwhile is not None:
                    meanwhile(pid, plain(said))
        except BaseException:  # also a limit of the test: what was shown is what tells why
            self.note(f"{plain(said).rstrip()}\n[given up]\n")
            _end(pid)
            raise
        if late:
            _end(pid)
        _, status, used = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        os.close(terminal)
        shown = plain(said)
        took = f"{used.ru_utime + used.ru_stime:.0f} s computed, {time.monotonic() - began:.0f} s in all"
        self.note(f"{shown.rstrip()}\n[exit {code}; {took}]\n")
        assert not late, f"{late}:\n{shown}"
        assert not owed, shown
        assert "Traceback" not in shown, shown
        assert "internal error" not in shown, shown
        return code, shown

    def install(self) -> tuple[int, str]:
        """From a wheel that was built from this tree, as `uv tool` does it."""
        built = self.home / "wheels"
        subprocess.run(
            [BIN / "uv", "build", "--quiet", "--wheel", "--out-dir", built, ROOT],
            check=True,
            env={**self.environ, "UV_PYTHON": sys.executable},
        )
        (wheel,) = built.glob("*.whl")
        return self.type(
            str(BIN / "uv"), "tool", "install", "--python", sys.executable, str(wheel), at=self.home
        )

    def check_out(self, files: Mapping[str, bytes | str], name: str) -> Path:
        """A repository of one commit."""
        top = self.home / "src" / name
        for path, content in files.items():
            place = top / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        for words in (("init", "-q", "-b", "main"), ("add", "-A", "-f"), ("commit", "-q", "-m", "Released")):
            subprocess.run(["git", *words], cwd=top, env=self.environ, check=True, capture_output=True)
        return top


def plain(said: bytes) -> str:
    """What a terminal shows, without colours; of a line that is written over and over, the last."""
    text = _CONTROL.sub("", re.sub(r"\r+\n", "\n", said.decode("utf-8", "replace")))
    return "\n".join(line.rpartition("\r")[2] or line.strip("\r") for line in text.split("\n"))


def interrupt_at(words: str, number: int = signal.SIGINT) -> Callable[[int, str], None]:
    """Sends a signal, once, when these words stand on the screen."""
    sent: list[bool] = []

    def meanwhile(pid: int, shown: str) -> None:
        if words in shown and not sent:
            sent.append(True)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    return meanwhile


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)  # it ends its own children
        time.sleep(2)
        os.kill(pid, signal.SIGKILL)


def _without(path: str, place: Path) -> str:
    return os.pathsep.join(each for each in path.split(os.pathsep) if Path(each) != place)


def _which(name: str, path: str) -> str:
    for place in path.split(os.pathsep) if "/" not in name else ():
        if os.access(f"{place}/{name}", os.X_OK):
            return f"{place}/{name}"
    return name
