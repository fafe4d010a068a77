"""Two projects that nobody here wrote, taken from the package index by hash, and what a model would say about
each.
"""

import fcntl
import hashlib
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.whole.checkouts import make_repository
from tests.whole.plays import Entry, create, edit, read, say


def extract(archive: tarfile.TarFile, into: Path) -> None:
    """With the filter for strangers' archives, where Python has it (3.11.4); ours are pinned by hash."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(into, filter="data")
    else:
        archive.extractall(into)  # as above


@dataclass(frozen=True)
class Release:
    """A source distribution, pinned by its hash."""

    name: str
    version: str
    sha256: str

    def fetch(self, cache: Path) -> Path:
        """The archive, downloaded once and held against its hash."""
        cache.mkdir(parents=True, exist_ok=True)
        place = cache / f"{self.name}-{self.version}.tar.gz"
        with (cache / f"{self.name}.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                words = (
                    "pip",
                    "download",
                    "-q",
                    "--no-deps",
                    "--no-binary",
                    self.name,
                    "-d",
                    str(cache),
                    f"{self.name}=={self.version}",
                )
                subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
        assert hashlib.sha256(place.read_bytes()).hexdigest() == self.sha256
        return place

    def check_out(self, cache: Path, top: Path) -> Path:
        """A repository of one commit that holds what was released."""
        with tarfile.open(self.fetch(cache)) as archive:
            extract(archive, top.parent)
        files = {
            path: (top.parent / f"{self.name}-{self.version}" / path).read_bytes()
            for path in self._paths(top.parent)
        }
        return make_repository(top, files)

    def _paths(self, beside: Path) -> list[str]:
        root = beside / f"{self.name}-{self.version}"
        return [path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file()]


@dataclass(frozen=True)
class Distribution(Release):
    """A source distribution, a request about it, and the model's answers in a lane."""

    lane: str
    request: str
    replies: tuple[Entry, ...]
    test: str
    """The node id of the test that the model writes."""
    needs: tuple[str, ...]
    """What its own documentation says to install before running the tests."""
    fails_on_base: int
    tree: str
    """What the branch holds in the end, by whatever wire the words came."""


def _requirement(text: str, criterion: str) -> dict[str, Any]:
    return {
        "id": "REQ-001",
        "description": text,
        "priority": "must",
        "acceptance_criteria": [criterion],
        "verification_method": "test",
    }


def _suite(path: str, *names: str) -> dict[str, Any]:
    return {
        "test_files": [
            {"path": path, "tests": [{"name": name, "requirement_ref": "REQ-001"} for name in names]}
        ]
    }


_APPROVAL = {
    "review": {"verdict": "approve", "findings": [], "summary": "It does what was asked, and nothing else."}
}

_ENCODING, _NEGATIVE = "src/itsdangerous/encoding.py", "tests/test_itsdangerous/test_negative.py"
ITSDANGEROUS = Distribution(
    name="itsdangerous",
    version="2.2.0",
    sha256="e0050c0b7da1eea53ffaf149c0cfbb5c6e2e2b69c4bef22c81fa6eb73e5f6173",
    lane="hotfix",
    request="int_to_bytes must raise ValueError for a negative number",
    replies=(
        say(
            "patch",
            create(
                _NEGATIVE,
                "import pytest\n\nfrom itsdangerous.encoding import int_to_bytes\n\n\n"
                "def test_negative_number():\n    with pytest.raises(ValueError):\n        int_to_bytes(-1)\n",
            ),
            edit(
                _ENCODING,
                "def int_to_bytes(num: int) -> bytes:\n",
                'def int_to_bytes(num: int) -> bytes:\n    if num < 0:\n        raise ValueError("A '
                'negative number has no bytes.")\n\n',
            ),
            artifacts={
                "intake_record": {
                    "extracted_intent": {"action": "fix", "target": "int_to_bytes", "scope": "file"}
                },
                "specification": {
                    "title": "int_to_bytes refuses negative numbers",
                    "description": (
                        "A negative number raises ValueError; every other number behaves as before."
                    ),
                    "requirements": [
                        _requirement("A negative number is refused", "int_to_bytes(-1) raises ValueError")
                    ],
                    "files_to_modify": [_ENCODING],
                },
                "test_suite": _suite(_NEGATIVE, "test_negative_number"),
                "implementation": {"summary": "The sign is checked first."},
            },
            signal="success",
            expects=("def int_to_bytes", "297 of 297 tests pass on the base"),
        ),
        say(
            "review",
            artifacts=_APPROVAL,
            signal="success",
            expects=("The whole change", r"\+    if num < 0:", "no regression"),
        ),
    ),
    test=f"{_NEGATIVE}::test_negative_number",
    needs=("-r", "requirements/tests.txt"),
    fails_on_base=0,
    tree="328ad8845c99fece62dcd52b5e628e061f1791ae",
)

_ITERTOOLZ, _CURRIED, _LAST = "toolz/itertoolz.py", "toolz/curried/__init__.py", "toolz/tests/test_last.py"
TOOLZ = Distribution(
    name="toolz",
    version="0.10.0",
    sha256="08fdd5ef7c96480ad11c12d472de21acd32359996f69a5259299b540feba4560",
    lane="small",
    request="Let last take a default that it returns for an empty sequence",
    replies=(
        say(
            "frame",
            {"name": "read_symbol", "args": {"path": _ITERTOOLZ, "name": "last"}},
            read("toolz/utils.py"),
        ),
        say(
            "frame",
            artifacts={
                "intake_record": {
                    "extracted_intent": {"action": "modify", "target": "last", "scope": "file"}
                },
                "clarification": {
                    "questions": [],
                    "assumptions": ["Without a default an empty sequence raises, as before."],
                },
                "analysis": {
                    "impacted_files": [{"path": _ITERTOOLZ, "reason": "last is there"}],
                    "risks": ["last is curried elsewhere"],
                },
                "specification": {
                    "title": "last takes a default",
                    "description": "last(seq, default) returns default where seq is empty.",
                    "requirements": [
                        _requirement("The default stands in for a missing element", "last([], 7) is 7")
                    ],
                    "files_to_modify": [_ITERTOOLZ],
                },
            },
            signal="success",
            expects=(r"return tail\(1, seq\)\[0\]", "no_default"),
        ),
        say(
            "red",
            create(
                _LAST,
                "import pytest\n\nfrom toolz.itertoolz import last\n\n\n"
                "def test_default():\n    assert last([], 7) == 7\n\n\n"
                "def test_no_default():\n    with pytest.raises(IndexError):\n        last([])\n",
            ),
            artifacts={
                "test_suite": {
                    "test_files": [
                        {
                            "path": _LAST,
                            "tests": [
                                {"name": "test_default", "requirement_ref": "REQ-001"},
                                {"name": "test_no_default", "guard": True},
                            ],
                        }
                    ]
                }
            },
            signal="success",
            expects=("REQ-001", "177 of 180 tests pass on the base, 3 fail"),
        ),
        say(
            "green",
            edit(_ITERTOOLZ, "def last(seq):\n", "def last(seq, default=no_default):\n"),
            edit(
                _ITERTOOLZ,
                "    return tail(1, seq)[0]\n",
                "    found = tail(1, seq)\n    return found[0] if found or default is no_default else "
                "default\n",
            ),
            artifacts={
                "implementation": {"summary": "The default is looked at only where there is no element."}
            },
            signal="success",
            expects=("test_last",),
        ),
        # What looked done is not: a test from long before this change knows that a function with a default is
        # curried.
        say(
            "green",
            edit(_CURRIED, "    last,\n    memoize,\n", "    memoize,\n"),
            edit(
                _CURRIED,
                "map = toolz.curry(toolz.map)\n",
                "last = toolz.curry(toolz.last)\nmap = toolz.curry(toolz.map)\n",
            ),
            artifacts={
                "implementation": {
                    "summary": "The default is looked at only where there is no element; last is curried."
                }
            },
            signal="success",
            expects=("test_curried_namespace.*last should be curried from toolz",),
        ),
        say(
            "review",
            artifacts=_APPROVAL,
            signal="success",
            expects=(r"\+def last\(seq, default=no_default\)", "no regression"),
        ),
    ),
    test=f"{_LAST}::test_default",
    needs=("pytest",),
    fails_on_base=3,
    tree="b9bd33b981d410bb17764236d4833a884009ad85",
)
