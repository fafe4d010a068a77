"""The ledger: what every call of a user cost, over all tasks and processes, and the cap of a day that none of
them passes.

SQLite, in a file of its own beside the index. It can be built again from the journals, and is whenever it is
new or damaged. A reservation is one transaction: whoever comes second sees the first. What is reserved counts
until the task's journal says how the call ended; a process that died frees nothing. A day is the UTC day of
the sending.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from agentforge.core.errors import Unusable, UsageError, UserError
from agentforge.core.values import Amount, Delivery, Usage
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.task.calls import ModelCall, journal_calls
from agentforge.store.user.day_cap import DayCap, Refusal, refusal
from agentforge.store.user.index import Index
from agentforge.store.user.own_files import locked
from agentforge.store.user.sqlite_file import SqliteFile, make_private

T = TypeVar("T")

_VERSION = 1
_WAIT_S = 30.0
"""A whole rebuild of another process may come first."""
_SCHEMA = (
    """CREATE TABLE calls (
        id INTEGER PRIMARY KEY, repo TEXT, task TEXT, key TEXT, day TEXT, lane TEXT, stage TEXT, role TEXT,
        tier TEXT, model TEXT, delivery TEXT, reserved_tokens INTEGER, reserved_micro_usd INTEGER, state TEXT,
        input_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER, written_tokens INTEGER,
        tokens INTEGER, micro_usd INTEGER)""",
    "CREATE INDEX calls_by_key ON calls (repo, task, key)",
    "CREATE INDEX calls_by_day ON calls (day)",
    """CREATE TABLE outcomes (
        tier TEXT, spec TEXT, good INTEGER, calls INTEGER, PRIMARY KEY (tier, spec)) WITHOUT ROWID""",
)
_COLUMNS = (
    *("repo", "task", "key", "day", "lane", "stage", "role", "tier", "model", "delivery"),
    *("reserved_tokens", "reserved_micro_usd", "state"),
    *("input_tokens", "output_tokens", "cached_tokens", "written_tokens", "tokens", "micro_usd"),
)
TRIAL = "trial"
"""In the place of a task: a small call that only found out whether a model answers."""
_INSERT = f"INSERT INTO calls VALUES (NULL, {', '.join('?' * 19)})"  # noqa: S608 - question marks
_ALL = "repo = ? AND task = ? AND key = ? AND state = 'reserved'"
_ONE = f"id = (SELECT max(id) FROM calls WHERE {_ALL})"  # noqa: S608 - our own columns
_LOST = "state = 'lost', tokens = reserved_tokens, micro_usd = reserved_micro_usd"
_USED = """SELECT count(*),
    coalesce(sum(CASE WHEN state = 'reserved' THEN reserved_tokens ELSE tokens END), 0),
    coalesce(sum(CASE WHEN state = 'reserved' THEN reserved_micro_usd ELSE micro_usd END), 0)
    FROM calls WHERE day = ?"""


@dataclass(frozen=True, slots=True)
class TaskTotal:
    """The calls, tokens and money that one task used."""

    task: str
    lane: str
    """The lane of its last call."""
    calls: int
    tokens: int
    micro_usd: int | None
    """None as soon as the price of one call is not known."""


def ledger_file(home: Home) -> Path:
    """Where a user's ledger is."""
    return home.path / "ledger.db"


class Ledger(SqliteFile):
    """The ledger, open. Usable from every thread; each operation is one transaction."""

    def __init__(
        self, path: Path, repos: Callable[[], Iterable[Path]], notice: Callable[[str], None]
    ) -> None:
        super().__init__(path, notice)
        self._repos = repos
        """The checkouts whose journals a new ledger is built from."""
        self._inode = 0

    @classmethod
    def of(cls, home: Home, notice: Callable[[str], None]) -> Self:
        """The ledger of a user; a new one is built from the journals of all checkouts in the index."""

        def repos() -> Iterable[Path]:
            with Index(home.task_index, notice) as index:
                return sorted({Path(row.repo) for row in index.rows()})

        return cls(ledger_file(home), repos, notice)

    def reserve(self, call: ModelCall, cap: DayCap) -> Refusal | None:
        """Set the call's worst case aside, or refuse it. With a cap, a ledger that cannot be written is
        `Unusable`.
        """

        def work(database: sqlite3.Connection) -> Refusal | None:
            no = refusal(call, cap, _used(database, call.day))
            if no is None:
                database.execute(_INSERT, _row(call))
            return no

        if cap:
            return self._do(work)
        self._try(work)
        return None

    def settle(
        self, call: ModelCall, usage: Usage, micro_usd: int | None, delivery: Delivery = "live"
    ) -> None:
        """An answer came: what it cost takes the place of what was set aside for `call`."""
        tokens = usage.input_tokens + usage.output_tokens
        counts = (
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.written_tokens,
            tokens,
            micro_usd,
            delivery,
        )
        changes = """state = 'settled', input_tokens = ?, output_tokens = ?, cached_tokens = ?,
            written_tokens = ?, tokens = ?, micro_usd = ?, delivery = ?"""
        self._end(call, changes, counts)

    def lost(self, call: ModelCall) -> None:
        """No answer came, and it may be on the provider's bill: it counts at its worst."""
        self._end(call, _LOST, ())

    def release(self, call: ModelCall) -> None:
        """Nothing left this machine, or the provider surely billed nothing."""
        self._end(call, "state = 'failed', tokens = 0, micro_usd = 0", ())

    def catch_up(self, repo: Path, files: TaskFiles) -> None:
        """Bring a task's calls in line with its journal. What the journal does not know stays, as lost.

        For a driver that goes on with a task, once its start is on record: by then the calls that its
        predecessor left are lost there.
        """
        found = journal_calls(files.journal, str(repo))

        def work(database: sqlite3.Connection) -> None:
            query = "SELECT DISTINCT key FROM calls WHERE repo = ? AND task = ? AND state = 'reserved'"
            place = (str(repo), files.task_id)
            keys = {call.key for call in found}
            for (key,) in database.execute(query, place).fetchall():
                if key not in keys:
                    statement = f"UPDATE calls SET {_LOST} WHERE {_ALL}"  # noqa: S608 - our own columns
                    database.execute(statement, (*place, key))
            for call in found:
                _bring_in_line(database, call)

        self._try(work)

    def used(self, day: str) -> Amount:
        """Spent, lost and set aside on a day."""
        return self._try(lambda database: _used(database, day)) or Amount()

    def tasks(self, repo: Path) -> tuple[TaskTotal, ...]:
        """What the tasks of a checkout used, the newest last."""
        query = """SELECT task, lane, count(*), sum(tokens), sum(micro_usd IS NULL), sum(micro_usd), max(id)
            FROM calls WHERE repo = ? AND task <> ? AND state IN ('settled', 'lost')
            GROUP BY task ORDER BY max(id)"""
        rows = self._try(lambda database: database.execute(query, (str(repo), TRIAL)).fetchall()) or []
        return tuple(
            TaskTotal(task, lane, calls, tokens, None if unknown else money or 0)
            for task, lane, calls, tokens, unknown, money, _ in rows
        )

    def calls(self, repo: Path) -> tuple[ModelCall, ...]:
        """Every call of a checkout, also of tasks whose record is gone, in the order of their sending."""
        query = f"SELECT {', '.join(_COLUMNS)} FROM calls WHERE repo = ? ORDER BY id"  # noqa: S608 - our own
        rows = self._try(lambda database: database.execute(query, (str(repo),)).fetchall()) or []
        return tuple(map(_call, rows))

    def record(self, tier: str, spec: str, ok: bool) -> None:  # noqa: FBT001 - the router's port
        """One more call of a model: whether its reply could be used."""
        self._try(lambda database: _count(database, tier, spec, int(ok), 1))

    def rates(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """Usable replies and calls, by tier and model."""
        rows = (
            self._try(
                lambda database: database.execute("SELECT tier, spec, good, calls FROM outcomes").fetchall()
            )
            or []
        )
        return {(tier, spec): (good, calls) for tier, spec, good, calls in rows}

    def _end(self, call: ModelCall, changes: str, values: tuple[object, ...]) -> None:
        place = (call.repo, call.task, call.key)

        def work(database: sqlite3.Connection) -> None:
            statement = f"UPDATE calls SET {changes} WHERE {_ONE}"  # noqa: S608 - our own columns
            if database.execute(statement, (*values, *place)).rowcount == 0:
                # Set aside in a file that was taken away since: the call was made all the same.
                database.execute(_INSERT, _row(call))
                database.execute(statement, (*values, *place))

        self._try(work)

    def _try(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `work` returns; None and a notice where the ledger cannot be used: the
        journals know it all.
        """
        try:
            return self._do(work)
        except Unusable as error:
            self._notice(error.sentence)
            return None

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """One transaction. A damaged file is set aside and built anew, once."""
        with self._lock:
            for last in (False, True):
                try:
                    return self._transact(work)
                except UsageError as error:  # its directory cannot be made
                    raise self._unusable(error.sentence) from error
                except (sqlite3.OperationalError, OSError) as error:  # locked, read-only, full
                    self.close()
                    raise self._unusable(str(error)) from error
                except sqlite3.DatabaseError as error:
                    self.close()
                    if last:
                        raise self._unusable(str(error)) from error
                    self._set_aside(str(error))
            raise AssertionError("the second time ends one way or the other")

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        database = self._database()
        database.execute("BEGIN IMMEDIATE")
        try:
            if database.execute("PRAGMA user_version").fetchone() != (_VERSION,):
                self._build(database)
            made = work(database)
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    database.execute("ROLLBACK")
            raise
        return made

    def _database(self) -> sqlite3.Connection:
        """The connection to the file that is there now: another process may have set ours aside."""
        if self._connection is not None and self._inode != _inode(self._path):
            self.close()
        if self._connection is None:
            with locked(self._path):  # SQLite does not wait for another process that makes the same new file
                make_private(self._path)
                self._connection = sqlite3.connect(
                    self._path, timeout=_WAIT_S, check_same_thread=False, isolation_level=None
                )
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = NORMAL")
            self._inode = _inode(self._path)
        return self._connection

    def _build(self, database: sqlite3.Connection) -> None:
        """Everything that the journals know, in the transaction under way: nobody sees half of it."""
        for table in ("calls", "outcomes"):
            database.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _SCHEMA:
            database.execute(statement)
        for repo in self._repos():
            for call in _journal_calls(repo, self._notice):
                database.execute(_INSERT, _row(call))
                if call.state != "reserved" and call.tier:
                    _count(database, call.tier, call.model, int(call.ok), 1)
        database.execute(f"PRAGMA user_version = {_VERSION}")

    def _set_aside(self, why: str) -> None:
        """Out of the way, unless another process has already put a sound one there."""
        with locked(self._path):
            if _sound(self._path):
                return
            self._move_away()
        self._notice(f"The ledger {self._path} was damaged ({why}) and is rebuilt from the journals.")

    def _unusable(self, why: str) -> Unusable:
        advice = "Make room or fix the file's permissions; a damaged file may be removed, it is built again."
        return Unusable(
            f"The ledger {self._path} cannot be used ({why}), so the cap of the day cannot be kept.", advice
        )


def _used(database: sqlite3.Connection, day: str) -> Amount:
    return Amount(*database.execute(_USED, (day,)).fetchone())


def _count(database: sqlite3.Connection, tier: str, spec: str, good: int, calls: int) -> None:
    database.execute(
        """INSERT INTO outcomes VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET good = good + excluded.good, calls = calls + excluded.calls""",
        (tier, spec, good, calls),
    )


def _bring_in_line(database: sqlite3.Connection, call: ModelCall) -> None:
    known = database.execute(
        "SELECT id, state FROM calls WHERE repo = ? AND task = ? AND key = ? ORDER BY id DESC LIMIT 1",
        (call.repo, call.task, call.key),
    ).fetchone()
    if known is not None and (known[1] != "reserved" or call.state == "reserved"):
        return
    if known is not None:
        database.execute("DELETE FROM calls WHERE id = ?", known[:1])
    database.execute(_INSERT, _row(call))


def _row(call: ModelCall) -> tuple[object, ...]:
    names = (
        call.repo,
        call.task,
        call.key,
        call.day,
        call.lane,
        call.stage,
        call.role,
        call.tier,
        call.model,
        call.delivery,
    )
    usage = (
        call.usage.input_tokens,
        call.usage.output_tokens,
        call.usage.cached_tokens,
        call.usage.written_tokens,
    )
    money = call.reserved.micro_usd if call.priced else None
    return (*names, call.reserved.tokens, money, call.state, *usage, call.tokens, call.micro_usd)


def _call(row: Sequence[Any]) -> ModelCall:
    """A row of the database as a call."""
    told = dict(zip(_COLUMNS, row, strict=True))
    kinds = ("input", "output", "cached", "written")
    usage = Usage(**{f"{kind}_tokens": told.pop(f"{kind}_tokens") for kind in kinds})
    tokens, money = told.pop("reserved_tokens"), told.pop("reserved_micro_usd")
    reserved = Amount(tokens=tokens, micro_usd=money or 0)
    return ModelCall(**told, usage=usage, reserved=reserved, priced=money is not None)


def _journal_calls(repo: Path, notice: Callable[[str], None]) -> Iterable[ModelCall]:
    for path in sorted(ProjectFiles(repo).tasks.glob("*/actions.yaml")):
        try:
            yield from journal_calls(path, str(repo))
        except UserError as error:
            notice(f"What {path.parent.name} cost is not in the ledger: {error.sentence}")


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - the quickest way, before every call
    except OSError:
        return 0


def _sound(path: Path) -> bool:
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=_WAIT_S)) as database:
            return bool(database.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except sqlite3.Error:
        return False
