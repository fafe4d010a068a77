"""What was read out of source files, kept by content for every process of a user: SQLite, bounded.

It holds data of repositories. A row counts only for whoever can read it back whole; a database that cannot be
used is never an error, only slower.
"""

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentforge.store.user.sqlite_file import SqliteFile, open_table

MOST_BYTES = 200_000_000
_VERSION = 1
_AT_ONCE = 500
_CREATE = "CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) "


class KeptFacts(SqliteFile):
    """Texts by key. What is added first leaves first when the file grows beyond its bound."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(path, lambda _sentence: None)
        self._most = most_bytes

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of the keys that are known."""
        found: dict[str, str] = {}
        with self._lock, contextlib.suppress(sqlite3.Error):
            connection = self._opened()
            for at in range(0, len(keys), _AT_ONCE):
                some = keys[at : at + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows = connection.execute(f"SELECT key, value FROM facts WHERE key IN ({marks})", some)  # noqa: S608 - question marks
                found.update((key, value) for key, value in rows if isinstance(value, str))
            return found
        self._forget()
        return found

    def put(self, values: Mapping[str, str]) -> None:
        """Keeps these, all or none; of what is too much, the oldest half goes."""
        with self._lock, contextlib.suppress(sqlite3.Error, UnicodeEncodeError):
            connection = self._opened()
            with connection:
                if _used(connection) > self._most:
                    connection.execute(
                        "DELETE FROM facts WHERE rowid <= (SELECT (min(rowid) + max(rowid)) / 2 FROM facts)"
                    )
                connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", list(values.items()))
            return
        self._forget()

    def keys(self) -> list[str]:
        """Every key, the oldest first."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            return [key for (key,) in self._opened().execute("SELECT key FROM facts ORDER BY rowid")]
        return []

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_table(self._path, "facts", _CREATE, _VERSION, synchronous="OFF")
        return self._connection

    def _forget(self) -> None:
        """After an error: a file that is not a database is moved away, one that is only busy stays."""
        self.close()
        try:
            with contextlib.closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            return
        except sqlite3.DatabaseError:
            self._move_away()


def _used(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
