"""What is in an environment and in none of its packages as they were packed: a build can leave anything."""

import base64
import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path

from agentforge.languages.values import Environment, Stranger

_OURS = frozenset({"_virtualenv.py", "_virtualenv.pth"})
"""What the tool that makes an environment puts there."""
_STARTS = frozenset({"sitecustomize.py", "usercustomize.py"})
"""What the interpreter runs before any program."""


def strangers(environment: Environment) -> tuple[Stranger, ...]:
    """Files that no package brought, that are not as it brought them, or that run whatever is started; names
    are as packages say them.
    """
    found: list[Stranger] = []
    for place in sorted(environment.path.glob("lib*/python*/site-packages")):
        records = sorted(place.glob("*.dist-info/RECORD"))
        known = {path: said for record in records for path, said in _rows(record)}
        for file in _files(place):
            name = file.relative_to(place).as_posix()
            found += _strange(file, name, known.get(name))
    return tuple(found)


def _strange(file: Path, name: str, recorded: str | None) -> Iterator[Stranger]:
    if name in _OURS or name.partition("/")[0].endswith(".dist-info"):
        return
    if recorded is None or file.is_symlink():
        yield Stranger(name, "is in no package", packed=False)
    elif recorded and recorded != _hash(file):
        yield Stranger(name, "is not what its package holds", packed=False)
    elif name in _STARTS or (name.endswith(".pth") and _has_code(file)):
        yield Stranger(name, "runs before any program", packed=True)


def _files(place: Path) -> Iterator[Path]:
    """Every file that can be loaded or read, but for what an interpreter makes of source."""
    for file in sorted(place.rglob("*")):
        if "__pycache__" not in file.parts and (file.is_symlink() or file.is_file()):
            yield file


def _rows(record: Path) -> Iterator[tuple[str, str]]:
    """Path and hash of each file of a package; the hash is empty where the package does not say it."""
    with record.open(encoding="utf-8", errors="replace", newline="") as lines:
        yield from ((row[0], row[1]) for row in csv.reader(lines) if len(row) > 1)


def _hash(file: Path) -> str:
    with file.open("rb") as data:
        found = hashlib.file_digest(data, "sha256").digest()
    return "sha256=" + base64.urlsafe_b64encode(found).rstrip(b"=").decode()


def _has_code(file: Path) -> bool:
    """Whether a path file has a line that is run."""
    with file.open("rb") as lines:
        return any(line.startswith((b"import ", b"import\t")) for line in lines)
