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
        limit_s: float = 3000,
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
        said, owed, end = b"", list(answers), time.monotonic() + limit_s
        late = False
        try:
            while not (late := time.monotonic() > end):
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
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
        shown = plain(said)
        self.note(f"{shown.rstrip()}\n[exit {code}]\n")
        assert not late, f"it did not end within {limit_s:.0f} s:\n{shown}"
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
