"""What a person has allowed in advance: by project, tool, and the first words of a command or a pattern of
paths, until a time.

The file is the user's own. One that cannot be read, or that others could have written, grants nothing: the
answer is no grants and one sentence that says why.
"""

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.task.times import stamp
from agentforge.store.user.own_files import locked, read_own, replace_own
from agentforge.system import strict_yaml
from agentforge.system.canon import digest_value

GrantRisk = Literal["low", "medium", "high"]
"""No grant reaches further: what is critical is never allowed."""

APPROVALS_BEFORE_PROPOSAL = 3
PROPOSED_DAYS = 30

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Grant:
    """One permission. A call must match all of it."""

    project: str
    """The real path of the checkout."""
    tool: str
    expires: str
    """ISO time; from then on it allows nothing."""
    command: tuple[str, ...] = ()
    """The first words of a command, whole words each."""
    path: str = ""
    """A pattern of paths, as roles have them."""
    risk: GrantRisk = "medium"
    """The highest risk that it covers."""
    created: str = ""
    id: str = ""
    exact: bool = False
    """True: the command is these words and no more."""


@dataclass(frozen=True, slots=True)
class Approval:
    """One yes of a person to one call."""

    project: str
    tool: str
    command: tuple[str, ...] = ()
    path: str = ""
    risk: GrantRisk = "medium"


class Grants(NamedTuple):
    """What the file holds, or why nothing of it counts."""

    grants: tuple[Grant, ...]
    problem: str = ""


def grants_file(home: Home) -> Path:
    """Where a user's grants are."""
    return home.path / "grants.yaml"


def read_grants(path: Path) -> Grants:
    """The grants of a file; none, and a sentence, if anything is wrong with it."""
    try:
        data = read_own(path)
        if data is None:
            return Grants(())
        document = strict_yaml.load(data.decode("utf-8"), path.name)
        return Grants(_grants(document))
    except UnicodeDecodeError:
        return Grants((), f"{path} is not text in UTF-8; no grant counts until it is fixed.")
    except OSError as error:
        return Grants((), f"{path} cannot be read ({error.strerror}); no grant counts until it can.")
    except UsageError as error:
        return Grants(
            (), f"{path} is damaged ({error.sentence.rstrip('.')}); no grant counts until it is fixed."
        )


def add_grant(path: Path, grant: Grant, now: datetime) -> Grant:
    """Write one more grant; the answer has its id. A damaged file is left as it is, and refused."""
    moment(grant.expires)
    whole = {**asdict(grant), "created": stamp(now), "id": ""}
    made = Grant(
        **{
            **whole,
            "command": grant.command,
            "id": f"grant-{digest_value({**whole, 'command': list(grant.command)})[:10]}",
        }
    )
    if moment(made.expires) <= now:
        raise UsageError(f"A grant that ended at {made.expires} would allow nothing.", "Give it a later end.")
    with locked(path):
        known = _usable(path)
        if all(each.id != made.id for each in known):
            _write(path, (*known, made))
    return made


def revoke_grant(path: Path, identity: str) -> Grant:
    """Take one grant away: its id, or an unambiguous beginning of it."""
    with locked(path):
        known = _usable(path)
        found = [
            grant for grant in known if identity and (grant.id == identity or grant.id.startswith(identity))
        ]
        if len(found) != 1:
            problem = (
                f"{len(found)} grants begin with {identity!r}."
                if found
                else f"There is no grant {identity!r}."
            )
            raise UsageError(problem, "`agentforge permissions list` shows them.")
        _write(path, tuple(grant for grant in known if grant is not found[0]))
    return found[0]


def proposals(approvals: Sequence[Approval], grants: Sequence[Grant], now: datetime) -> tuple[Grant, ...]:
    """Grants that a person may want, after three equal approvals. Nothing is added, and none is wider than
    the call that was approved.
    """
    counted = Counter(each for each in approvals if each.command or each.path)
    have = {
        (grant.project, grant.tool, grant.command, grant.path)
        for grant in grants
        if moment(grant.expires) > now
    }
    expires = stamp(now + timedelta(days=PROPOSED_DAYS))
    return tuple(
        Grant(
            each.project,
            each.tool,
            expires,
            each.command,
            exact=bool(each.command),
            path=each.path,
            risk=each.risk,
        )
        for each, times in counted.items()
        if times >= APPROVALS_BEFORE_PROPOSAL
        and (each.project, each.tool, each.command, each.path) not in have
    )


def moment(text: str) -> datetime:
    """An ISO time with its zone, or a `UsageError`."""
    if _TIME.fullmatch(text):
        with suppress(ValueError, OverflowError):
            return datetime.fromisoformat(text).astimezone(UTC)
    raise UsageError(f"{text[:40]!r} is no time.", "Write it as 2030-01-31T12:00:00Z.")


def _grants(document: Any) -> tuple[Grant, ...]:  # noqa: ANN401  a document is any YAML
    if document is None:
        return ()
    if (
        not isinstance(document, dict)
        or set(document) != {"grants"}
        or not isinstance(document["grants"], list)
    ):
        raise UsageError("it is a mapping with one key, `grants`, which is a list")
    found = tuple(_grant(entry, number) for number, entry in enumerate(document["grants"], 1))
    if len({grant.id for grant in found}) != len(found):
        raise UsageError("two grants have the same id")
    return found


def _grant(entry: Any, number: int) -> Grant:  # noqa: ANN401  an entry is any YAML
    if not isinstance(entry, dict):
        raise UsageError(f"grant {number} is no mapping")
    known = {item.name for item in fields(Grant)}
    if unknown := sorted(str(key) for key in set(entry) - known):
        raise UsageError(f"grant {number} has the unknown key `{unknown[0]}`")
    command = entry.get("command", [])
    exact = entry.get("exact", False)
    texts = {key: value for key, value in entry.items() if key not in ("command", "exact")}
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        raise UsageError(f"grant {number}: `command` is a list of words")
    if not isinstance(exact, bool):
        raise UsageError(f"grant {number}: `exact` is true or false")
    if not all(isinstance(value, str) for value in texts.values()):
        raise UsageError(f"grant {number}: every other value is text")
    if missing := next((key for key in ("id", "project", "tool", "expires") if not texts.get(key)), None):
        raise UsageError(f"grant {number}: `{missing}` is missing")
    if texts.get("risk", "medium") not in get_args(GrantRisk):
        raise UsageError(f"grant {number}: `risk` is low, medium or high")
    moment(texts["expires"])
    return Grant(**{**texts, "command": tuple(command), "exact": exact})


def _usable(path: Path) -> tuple[Grant, ...]:
    read = read_grants(path)
    if read.problem:
        raise UsageError(read.problem, "Fix or remove the file, then try again.")
    return read.grants


def _write(path: Path, grants: Sequence[Grant]) -> None:
    """The whole file at once, readable by its owner alone from its first byte."""
    entries = [
        {key: value for key, value in asdict(grant).items() if value not in ("", (), False)}
        for grant in grants
    ]
    data = strict_yaml.dump(
        {
            "grants": [
                {**entry, **({"command": list(entry["command"])} if "command" in entry else {})}
                for entry in entries
            ]
        }
    )
    replace_own(path, data.encode())
