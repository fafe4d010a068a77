"""What a program prints, all of it, without growing with it: on disk up to a limit, and its two ends in
memory.
"""

import codecs
import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Self

from agentforge.system.files import disk_errors
from agentforge.system.secrets.stream import redact_stream
from agentforge.system.unlinked import folder_unlinked, make_unlinked

MAX_BYTES = 64_000_000
"""More of one output is not kept: who needs it can have the program write a file."""

_PIECE = 1 << 20


class Spill:
    """Takes pieces of output in the order in which they come. Use it as the `tee` of a run, within `with`.

    The file has no name and is gone with the program: before redaction nobody else may read it.
    """

    def __init__(self, folder: Path, limit: int = MAX_BYTES) -> None:
        self.total = 0
        self._folder = folder
        self._limit = limit
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file is not None:
            self._file.close()

    def __call__(self, _stream: int, data: bytes) -> None:
        """Appends a piece of output; what goes beyond the limit is counted and not kept."""
        room = self._limit - self.total
        self.total += len(data)
        if room <= 0:
            return
        with disk_errors():
            if self._file is None:
                make_unlinked(self._folder)
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115 - closed by `__exit__`
            self._file.write(data[:room])

    def text(self) -> Iterator[str]:
        """All that was kept, redacted, in pieces; a last line says how much was not kept."""
        if self._file is not None:
            self._file.seek(0)
            yield from redact_stream(_decoded(self._file))
        if self.total > self._limit:
            yield f"\n[{self.total - self._limit} more bytes were not kept]\n"


def write_text(path: Path, pieces: Iterable[str]) -> None:
    """A file of our own from pieces of text; nobody but its owner reads it."""
    with disk_errors():
        with folder_unlinked(path.parent, make=True) as folder:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path.name, dir_fd=folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            fd = os.open(path.name, flags, 0o600, dir_fd=folder)
        with open(fd, "w", encoding="utf-8", errors="replace", newline="") as file:  # noqa: PTH123
            file.writelines(pieces)


def _decoded(file: IO[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while data := file.read(_PIECE):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)
