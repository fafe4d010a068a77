"""The tool that searches: literal text by default, a regular expression when asked, always within a bound."""

import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.system.beneath import OpenRoot
from agentforge.system.processes import run
from agentforge.tools.base import (
    Tool,
    ToolResult,
    ToolSpec,
    Workbench,
    number_of,
    object_schema,
    text_of,
    texts_of,
)
from agentforge.tools.look import regex_child
from agentforge.tools.look.ignoring import searched
from agentforge.tools.look.sifting import FEWEST, sift
from agentforge.tools.look.source import MAX_BYTES, lines_of
from agentforge.tools.paths import closed_to_all
from agentforge.tools.roots import Spot

DEFAULT_HITS = 40
MAX_HITS = 200
MAX_CONTEXT = 10
REGEX_SECONDS = 5
LITERAL_SECONDS = 20
_SHOWN_CHARS = 200


class Hits(NamedTuple):
    """Lines to be shown, and how many match in all."""

    rows: list[regex_child.Row]
    total: int


@dataclass(frozen=True, slots=True)
class _Query:
    """One search: the pattern, and where and how it is looked for."""

    pattern: str
    regex: bool
    ignore_case: bool
    limit: int
    context: int

    def holds(self, line: str) -> bool:
        """Whether a line has the text."""
        return self.pattern.lower() in line.lower() if self.ignore_case else self.pattern in line

    @property
    def how(self) -> str:
        """How the text was looked for, to be said where nothing was found."""
        kind = "a regular expression" if self.regex else "literal text"
        case = "in any case" if self.ignore_case else "case counts"
        return f"{kind}, {case}" + ("" if self.regex else "; regex=true for a pattern")


def search_codebase(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Searches files for a pattern; every match is a line `path:line: text`."""
    pattern, place = text_of(args, "pattern"), text_of(args, "path")
    if "\n" in pattern:
        raise ModelMistake("bad_arguments", "a search matches within one line; `pattern` holds a line break")
    limit, context = (
        min(number_of(args, "max", DEFAULT_HITS), MAX_HITS),
        min(number_of(args, "context", 0), MAX_CONTEXT),
    )
    question = _Query(pattern, args.get("regex") is True, args.get("ignore_case") is True, limit, context)
    spot = bench.spot(place or ".")
    everything = args.get("all") is True
    files = _files(place, spot, texts_of(args, "globs"), everything=everything)
    hits = _regex(question, files, spot.root) if question.regex else _literal(question, files, spot.root)
    if not hits.rows:
        left_out = (
            ""
            if everything or spot.real.is_file()
            else " Hidden and ignored files are left out; all=true looks there too."
        )
        return ToolResult(
            ok=True, text=f"No match for `{pattern}` ({question.how}) in {len(files)} files.{left_out}"
        )
    rows = list(_printed(hits.rows, "" if spot.outer is None else f"{spot.root}/", context))
    if (more := hits.total - sum(match for *_, match in hits.rows)) > 0:
        rows.append(f"[{more} or more further matches; give `path`, `globs` or a longer pattern]")
    return ToolResult(ok=True, text="\n".join(rows))


def _printed(rows: Iterable[regex_child.Row], top: str, context: int) -> Iterator[str]:
    """As ripgrep shows them: `path:12: text` for a match, `path-13- text` for a line beside one, `--` where
    lines are left out.
    """
    before: tuple[str, int] | None = None
    for path, number, line, match in rows:
        if context and before is not None and before != (path, number - 1):
            yield "--"
        sign = ":" if match else "-"
        yield f"{top}{path}{sign}{number}{sign} {(line.rstrip() if context else line.strip())[:_SHOWN_CHARS]}"
        before = (path, number)


def _files(place: str, spot: Spot, globs: Sequence[str], *, everything: bool) -> list[str]:
    if spot.real.is_file():
        if closed := closed_to_all(spot.shown):
            raise ModelMistake("path", closed)
        return [spot.path]
    if not spot.real.is_dir():
        raise ModelMistake("no_such_file", f"there is no file or directory `{place}`")
    return [
        path
        for path in searched(spot.root, spot.real, wanted=globs, everything=everything)
        if not closed_to_all(path)
    ]


def _likely(files: Sequence[str], root: Path, sought: bytes, *, ignore_case: bool) -> Iterator[str]:
    """The files that may hold a text. For what is everywhere the first ones will do, and no program is asked
    about the rest.
    """
    yield from files[:FEWEST]
    yield from sift(root, files[FEWEST:], sought, ignore_case=ignore_case)


def _literal(question: _Query, files: Sequence[str], root: Path) -> Hits:
    rows: list[regex_child.Row] = []
    total = 0
    end = time.monotonic() + LITERAL_SECONDS
    pattern = question.pattern.lower() if question.ignore_case else question.pattern
    # Bytes are searched before they are made text: most files do not hold it. A replacement character may
    # stand for any bytes.
    plain = "\ufffd" not in pattern and (pattern.isascii() or not question.ignore_case)
    sought = pattern.encode("utf-8", "surrogatepass") if plain else b""
    with OpenRoot(root) as opened:
        for path in _likely(files, root, sought, ignore_case=question.ignore_case):
            if time.monotonic() > end:
                raise ModelMistake(
                    "slow_search",
                    f"the search for `{pattern}` took longer than {LITERAL_SECONDS} s; give `path`",
                )
            data = _data(opened.read, path)
            if sought not in (data.lower() if question.ignore_case else data):
                continue
            lines = lines_of(data.decode("utf-8", errors="replace"))
            found = [at for at, line in enumerate(lines) if question.holds(line)]
            rows += regex_child.rows(path, lines, found[: max(0, question.limit - total)], question.context)
            total += len(found)
            if total >= regex_child.MAX_TOTAL:
                break
    return Hits(rows, total)


def _data(read: Callable[[str, int], bytes], path: str) -> bytes:
    """The bytes of a file; nothing if it is no text, or has gone or become a link since it was listed."""
    try:
        data = read(path, MAX_BYTES)
    except (FileNotFoundError, ModelMistake):
        return b""
    return b"" if len(data) > MAX_BYTES or b"\0" in data[:8192] else data


def _regex(question: _Query, files: Sequence[str], root: Path) -> Hits:
    """In two parts where there are many files, as `_likely` has it."""
    sought = _required(question) if len(files) >= 2 * FEWEST else b""
    if not sought:
        return _match(question, files, root)
    first = _match(question, files[:FEWEST], root)
    if first.total >= regex_child.MAX_TOTAL:
        return first
    more = _match(question, sift(root, files[FEWEST:], sought), root, first.total)
    return Hits([*first.rows, *more.rows], more.total)


def _required(question: _Query) -> bytes:
    """What every file with a match holds, as far as that can be told."""
    if question.ignore_case:
        return b""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about patterns that will mean something else one day
            return regex_child.required(question.pattern)
    except (re.error, RecursionError, OverflowError):  # the search itself says what is wrong with it
        return b""


def _match(question: _Query, files: Sequence[str], root: Path, seen: int = 0) -> Hits:
    pattern = question.pattern
    asked = {
        "pattern": pattern,
        "ignore_case": question.ignore_case,
        "files": [*files],
        "max": question.limit,
        "context": question.context,
        "seen": seen,
    }
    argv = [sys.executable, "-I", "-S", str(Path(regex_child.__file__))]
    done = run(argv, cwd=root, env={}, timeout_s=REGEX_SECONDS, input=json.dumps(asked).encode())
    if done.timed_out:
        raise ModelMistake(
            "slow_pattern",
            f"`{pattern}` ran longer than {REGEX_SECONDS} s; simplify it, search literally, or give `path`",
        )
    if done.code != 0:
        raise ModelMistake(
            "slow_pattern", f"`{pattern}` needs too much memory; simplify it or search literally"
        )
    answer = json.loads(done.out)
    if "error" in answer:
        raise ModelMistake("bad_arguments", f"`{pattern}` is not a regular expression: {answer['error']}")
    rows = [(str(path), int(number), str(line), bool(match)) for path, number, line, match in answer["hits"]]
    return Hits(rows, cast("int", answer["total"]))


SEARCHING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "search_codebase",
            "Lines that hold a text, as path:line: text. Literal unless regex=true (Python syntax, one "
            "line at a time). "
            "Leaves out hidden and ignored files unless all=true.",
            object_schema(
                {"pattern": {"type": "string", "minLength": 1, "maxLength": 500}},
                {
                    "path": {"type": "string", "minLength": 1, "description": "a file or directory"},
                    "regex": {"type": "boolean"},
                    "ignore_case": {"type": "boolean"},
                    "globs": {
                        "type": "array",
                        "items": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": 200,
                            "pattern": "^[^\\n\\r]*$",
                        },
                        "maxItems": 20,
                        "description": "only files like these, such as *.py, src/**, or !*.md",
                    },
                    "context": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": MAX_CONTEXT,
                        "description": "lines around each match",
                    },
                    "all": {"type": "boolean"},
                    "max": {"type": "integer", "minimum": 1, "maximum": MAX_HITS},
                },
            ),
            "read",
        ),
        search_codebase,
    ),
)
