"""Asks a language server where definitions of a tree are used, inside the walls, and holds what it says
against the tree.
"""

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from agentforge.languages.servers.described import LanguageServer
from agentforge.languages.values import Environment, Symbol
from agentforge.sandbox.base import SYSTEM_ROOTS, Confinement, Sandbox, toolchain_roots
from agentforge.sandbox.walls.limits import GIB, Limits

SECONDS = 60
"""How long a server has, from its start to its last answer."""
_LAST_WORDS_S = 5
"""What is ours may take longer, by so much."""
_OUTPUT = 4_000_000
_STAND_INS = frozenset({"rustup"})
"""What starts a program of another name, if that is installed."""
MOST_FILES = 500
"""Files that places are looked up in: a liar may name any."""
_SCRIPT = "server_child.py"
_REFERENCES = "textDocument/references"
_KNOWN_PROBLEM = re.compile(r"[a-z0-9 .]{1,80}")
_LIMITS = Limits(total_memory=3 * GIB, total_processes=128)

Read = Callable[[str], str | None]
"""The text of a file of the tree; None where there is none."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One that is asked about."""

    path: str
    symbol: Symbol

    @property
    def id(self) -> str:
        """Its name in what is kept."""
        return f"{self.path}::{self.symbol.name}"

    @property
    def name(self) -> str:
        """What others call it by."""
        return self.symbol.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class ServerSaid:
    """What a server said, as far as the tree bears it out."""

    uses: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    """Id of a definition, to the lines that use it, by file."""
    problem: str = ""
    """Why there is no more, in words of ours."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is asked: all that it may see, and how it is started."""

    sandbox: Sandbox
    env: Environment
    variables: Mapping[str, str]
    tree: Path
    scratch: Path
    pass_fds: tuple[int, ...] = ()


def installed(
    servers: Iterable[LanguageServer], path: str, readable: Sequence[Path]
) -> LanguageServer | None:
    """The first whose program a run would find: on its PATH, in what it may see, and no link out of that."""
    seen = [top for each in (*map(Path, SYSTEM_ROOTS), *readable) for top in (each, each.resolve())]

    def is_there(place: Path) -> bool:
        real = place.resolve()
        inside = all(any(each.is_relative_to(top) for top in seen) for each in (place, real))
        return inside and real.is_file() and os.access(real, os.X_OK) and real.name not in _STAND_INS

    places = [Path(each) for each in path.split(":") if each.startswith("/")]
    for server in servers:
        if any(is_there(place / server.command[0]) for place in places):
            return server
    return None


def ask(
    server: LanguageServer, place: Place, wanted: Sequence[Definition], read: Read, seconds: float = SECONDS
) -> ServerSaid:
    """Where these definitions are used, as the server tells it. One that hangs, ends, floods or lies is a
    problem in a sentence.
    """
    asked = [(each, at) for each in wanted if (at := _position(each, read(each.path) or "")) is not None]
    questions = [
        {"method": _REFERENCES, "path": each.path, "line": line, "character": character}
        for each, (line, character) in asked
    ]
    told = {
        "options": dict(server.options),
        "settings": dict(server.settings),
        "waits": server.says_when_ready,
        "root": str(place.tree.resolve()),
        "files": {each.path: server.language_id(each.path) for each, _ in asked},
        "questions": questions,
        "seconds": seconds,
    }
    if not questions:
        return ServerSaid()
    said = _said(server, place, told, seconds)
    if not isinstance(said, dict) or not isinstance(said.get("answers"), list):
        return ServerSaid(problem="ended before it had answered")
    tree = _KnownTree(place.tree.resolve(), read)
    uses = {}
    for (each, (line, _)), rows in zip(asked, said["answers"], strict=False):
        found = tree.bears_out(each.name, rows)
        # Some count what defines it as a use.
        own = tuple(other for other in found.pop(each.path, ()) if other != line + 1)
        if found := {**found, **({each.path: own} if own else {})}:
            uses[each.id] = found
    problem = said.get("problem")
    if not isinstance(problem, str) or (problem and not _KNOWN_PROBLEM.fullmatch(problem)):
        problem = "ended before it had answered"
    return ServerSaid(uses, problem)


def _said(server: LanguageServer, place: Place, told: Mapping[str, Any], seconds: float) -> Any:  # noqa: ANN401 - whatever came
    place.scratch.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="server-", dir=place.scratch)).resolve()
    try:
        script, out = folder / "script", folder / "out"
        script.mkdir()
        (out / "home").mkdir(parents=True)
        source = resources.files("agentforge.languages.servers").joinpath(_SCRIPT)
        (script / _SCRIPT).write_bytes(source.read_bytes())
        command = [word.replace("{scratch}", str(out)) for word in server.command]
        done = place.sandbox.run(
            (str(Path(sys.executable).resolve()), "-I", "-S", str(script / _SCRIPT)),
            Confinement(
                cwd=place.tree,
                write=(out,),
                read=(script, place.tree, *toolchain_roots(), *place.env.readable),
                env={**place.variables, "TMPDIR": str(out), "HOME": str(out / "home")},
                input=json.dumps({**told, "command": command}).encode(),
                timeout_s=seconds + _LAST_WORDS_S,
                output_limit=_OUTPUT,
                limits=_LIMITS,
                pass_fds=place.pass_fds,
            ),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    try:
        return json.loads(done.out)
    except (ValueError, RecursionError):
        return None


def _position(wanted: Definition, text: str) -> tuple[int, int] | None:
    """Line and column of the name of a definition, as the protocol counts: from 0, in units of UTF-16."""
    lines = text.split("\n")
    word = re.compile(rf"(?<!\w){re.escape(wanted.name)}(?!\w)")
    for number in range(wanted.symbol.start, min(wanted.symbol.end, len(lines)) + 1):
        line = lines[number - 1]
        if line.lstrip().startswith("@"):  # what decorates it may be called as it is
            continue
        if (found := word.search(line)) is not None:
            return number - 1, len(line[: found.start()].encode("utf-16-le", "replace")) // 2
    return None


@dataclass(slots=True)
class _KnownTree:
    """What places are held against."""

    top: Path
    read: Read
    lines: dict[str, list[str]] = field(default_factory=dict)

    def bears_out(self, name: str, rows: object) -> dict[str, tuple[int, ...]]:
        """Of the places of an answer, those in files of the tree on a line that has the name."""
        found: dict[str, set[int]] = {}
        word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for row in rows if isinstance(rows, list) else ():
            uri, line = row if isinstance(row, list) and len(row) == 2 else ("", 0)
            path = _inside(uri, self.top)
            if path is None or type(line) is not int or line < 1:
                continue
            known = self._of(path)
            if line <= len(known) and word.search(known[line - 1]):
                found.setdefault(path, set()).add(line)
        return {path: tuple(sorted(lines)) for path, lines in sorted(found.items())}

    def _of(self, path: str) -> list[str]:
        if path not in self.lines and len(self.lines) < MOST_FILES:
            self.lines[path] = (self.read(path) or "").split("\n")
        return self.lines.get(path, [])


def _inside(uri: object, top: Path) -> str | None:
    """The path of a place in the tree; None for any other. No file is looked at."""
    if not isinstance(uri, str):
        return None
    try:
        parts = urlsplit(uri)
        name = unquote(parts.path, errors="strict")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in name:
        return None
    place = Path(os.path.normpath(name))
    return place.relative_to(top).as_posix() if place.is_relative_to(top) else None
