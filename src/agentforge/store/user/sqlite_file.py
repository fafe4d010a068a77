"""A SQLite file that is opened at its first use, closed at the end, and moved away when it is damaged."""

import contextlib
import errno
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

_WAIT_S = 1.0


class SqliteFile:
    """What the index and the ledger of a user share. Usable from every thread that holds `_lock`."""

    def __init__(self, path: Path, notice: Callable[[str], None]) -> None:
        self._path = path
        self._say = notice
        self._said: set[str] = set()
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def _notice(self, text: str) -> None:
        """Says it once, however often it happens."""
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    def close(self) -> None:
        """Closes the database, if it is open."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _move_away(self) -> None:
        """Renames a damaged file to `NAME.damaged`, so that the next use makes a new one."""
        with contextlib.suppress(OSError):
            self._path.replace(self._path.with_name(f"{self._path.name}.damaged"))
            for ending in ("-wal", "-shm"):
                self._path.with_name(self._path.name + ending).unlink(missing_ok=True)


def open_table(
    path: Path, table: str, create: str, version: int, *, synchronous: Literal["OFF", "NORMAL"] = "NORMAL"
) -> sqlite3.Connection:
    """A database of one table that can be made anew at any time: one of another version is emptied. The file
    is the user's alone, and never a link.
    """
    make_private(path)
    connection = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        if connection.execute("PRAGMA user_version").fetchone() != (version,):
            with connection:
                connection.execute(f"DROP TABLE IF EXISTS {table}")
                connection.execute(create)
                connection.execute(f"PRAGMA user_version = {version}")
    except BaseException:
        connection.close()
        raise
    return connection


def make_private(path: Path) -> None:
    """Makes a database file that only the user can read, unless it is there. A link in its place is refused;
    SQLite gives the files beside it (`-wal`, `-shm`) the same permissions.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except OSError as error:
        what = (
            "it is a symbolic link" if error.errno == errno.ELOOP else (error.strerror or str(error)).lower()
        )
        raise sqlite3.OperationalError(what) from error
