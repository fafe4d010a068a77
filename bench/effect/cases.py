"""The requests: a released library, what is asked of it, and which tests of the next release judge the answer."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from agentforge.system import strict_yaml

HERE = Path(__file__).parent
_ARCHIVE = "*.t*gz"


def cache() -> Path:
    """Where archives, environments and checkouts are kept: outside of the repository."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentforge-effect"
    return Path(os.environ.get("AGENTFORGE_EFFECT_CACHE") or usual)


@dataclass(frozen=True, slots=True)
class Release:
    """A source distribution of a package index, by hash."""

    package: str
    version: str
    sha256: str
    index: str = "pypi"
    """Or `npm`."""

    def fetch(self) -> Path:
        """The archive, downloaded once and held against its hash."""
        folder = cache() / "archives" / f"{self.package}-{self.version}"
        place = next(iter(folder.glob(_ARCHIVE)), None)
        if place is None:
            folder.mkdir(parents=True, exist_ok=True)
            done = subprocess.run(self._download(folder), capture_output=True, text=True, check=False)
            place = next(iter(folder.glob(_ARCHIVE)), None)
            if place is None:
                raise SystemExit(f"{self.package} {self.version} cannot be downloaded: {done.stderr[-500:]}")
        found = hashlib.sha256(place.read_bytes()).hexdigest()
        if found != self.sha256:
            raise SystemExit(f"{place} is not the release that was pinned: its hash is {found}.")
        return place

    def _download(self, folder: Path) -> list[str]:
        if self.index == "npm":
            return [
                "npm",
                "pack",
                "--silent",
                "--pack-destination",
                str(folder),
                f"{self.package}@{self.version}",
            ]
        words = ("download", "-q", "--no-deps", "--no-binary", self.package, "-d", str(folder))
        return [sys.executable, "-m", "pip", *words, f"{self.package}=={self.version}"]

    def unpack(self, into: Path) -> Path:
        """The released files in a directory of their own."""
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir(parents=True)
        with tarfile.open(self.fetch()) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(into, filter="data")
            else:
                archive.extractall(into)  # pinned by hash
        (top,) = into.iterdir()
        return top


@dataclass(frozen=True, slots=True)
class Case:
    """One request, and what is known about it beforehand."""

    name: str
    request: str
    base: Release
    after: Release
    named: bool
    """Whether the request names the one place that is to change."""
    places: tuple[str, ...]
    """`path::symbol` of what a reader must see first; any symbol of a file that does not exist yet is left out.
    """
    hidden: tuple[str, ...]
    """Tests of the next release, by id: they fail on the base."""
    tests: str = "tests"
    """The directory of the next release that holds them."""
    lane: str = ""
    """Asked for, where it is not found from the request."""
    answers: tuple[str, ...] = ()
    """What a person answers to the questions of the engine, in order: a checker that cannot run today."""

    @property
    def replies(self) -> Path:
        """The recorded reader."""
        return HERE / "replies" / f"{self.name}.yaml"


def read_cases(path: Path = HERE / "cases.yaml") -> tuple[Case, ...]:
    """Every request of the bench. A key that means nothing is refused."""
    document: Any = strict_yaml.load(path.read_text(encoding="utf-8"), path.name)
    return tuple(_case(row) for row in document["cases"])


def _case(row: dict[str, Any]) -> Case:
    package = row["package"]
    index = row.get("index", "pypi")
    known = {field.name for field in fields(Case)} | {"package", "index"}
    if unknown := sorted(set(row) - known):
        raise SystemExit(f"cases.yaml: {row['name']}: unknown key {unknown[0]}")
    return Case(
        name=row["name"],
        request=" ".join(row["request"].split()),
        base=_release(package, row["base"], index),
        after=_release(package, row["after"], index),
        named=row["named"],
        places=tuple(row["places"]),
        hidden=tuple(row["hidden"]),
        tests=row.get("tests", "tests"),
        lane=row.get("lane", ""),
        answers=tuple(row.get("answers", ())),
    )


def _release(package: str, pinned: list[Any], index: str) -> Release:
    version, sha256 = map(str, pinned)
    return Release(package, version, sha256, index)
