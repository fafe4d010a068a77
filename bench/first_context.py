"""Whether the first context of a request shows the place that it is about: `python -m bench.first_context`.

Each row of `first_context.yaml` is a released library and a request to it, most from its changelog; the choice of what is shown was tuned on them.
Those of the files `first_context_*.yaml` are newer, and half of each was held back until the choice was made. The context is
assembled as a step's is, under 8,000 tokens; `shown` means that the definition is open, `mapped` that the map has its line.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from agentforge.activities.surroundings import MAP_TOKENS, NAMED_MAP_TOKENS
from agentforge.context.assemble import StepView, assemble
from agentforge.context.code_index import CodeIndex
from agentforge.context.named import tree_facts
from agentforge.context.repository_map import repo_map
from agentforge.context.seeds import focus_of, seeds
from agentforge.context.working_set import merge
from agentforge.languages.facts import READ_LIMIT
from agentforge.system import strict_yaml
from bench.report import Row

ROWS = Path(__file__).with_suffix(".yaml")
FRESH, LATER, NEWEST = (ROWS.with_name(f"first_context_{name}.yaml") for name in ("fresh", "later", "newest"))
CAP = 8_000
SYSTEM = "You are a careful engineer. " * 600
"""As long as a role's own words, its tools and what it owes are together."""
GOAL = 9
"""Of ten requests."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A request on a release, and the place that it is about."""

    name: str
    version: str
    path: str
    symbols: tuple[str, ...]
    request: str
    held: bool = False
    """Whether it was held back while the ranking was made."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the first context has of the place."""

    file: bool
    shown: bool
    mapped: bool
    tokens: int

    @property
    def right(self) -> bool:
        """Whether a reader sees file and definition."""
        return self.file and (self.shown or self.mapped)


def samples(rows: Path) -> list[Sample]:
    """The rows of a file, as data."""
    every: Any = strict_yaml.load(rows.read_text(encoding="utf-8"), rows.name)
    return [Sample(**{**row, "symbols": tuple(row["symbols"])}) for row in every]


def look(sample: Sample, texts: Mapping[str, str], index: CodeIndex) -> Found:
    """The first context of a request on these files, judged."""
    focus = focus_of(sample.request, tree_facts(sample.request, index))
    found = seeds(index, focus, texts.get)
    working, _ = merge((), found.places, 0)
    size = NAMED_MAP_TOKENS if focus.symbols or focus.paths else MAP_TOKENS
    drawn = repo_map(index, focus, size, found.pointed)
    view = StepView(
        task_id="T",
        goal=sample.request,
        phase="frame",
        fence="fence-1",
        system=SYSTEM,
        repository_map=drawn,
        facts=found.relations,
        working=working,
        read=texts.get,
    )
    packed = assemble(view, CAP)
    places = {
        symbol.name: (symbol.start, symbol.end)
        for symbol in index.files[sample.path].symbols
        if symbol.name in sample.symbols
    }
    assert places, f"{sample.path} has none of {sample.symbols}"
    opened = [block for block in packed.blocks if block.name.startswith(f"working_set: {sample.path}")]
    ranges = [range(*_lines_of(block.name)) for block in opened]
    shown = any(start in lines for lines in ranges for start, _ in places.values())
    block = next((block.text for block in packed.blocks if block.name == "repository_map"), "")
    _, _, after = block.partition(f"\n{sample.path}\n")
    own = after.split("\n")
    lines = own[: next((at for at, line in enumerate(own) if not line.startswith("  ")), len(own))]
    mapped = any(_tells(line, start, name) for line in lines for name, (start, _) in places.items())
    return Found(bool(opened) or bool(after), shown, mapped, packed.total)


def _tells(line: str, start: int, name: str) -> bool:
    """Whether a line of the map has this definition: by its signature, or by line and name."""
    return line.startswith(f"  {start}: ") or f" {start} {name.rpartition('.')[2]}," in f"{line},"


def _lines_of(block: str) -> tuple[int, int]:
    """The lines that an open part of a file says in its name; behind the last, the end."""
    first, _, last = block.rpartition("(lines ")[2].rstrip(")").partition("-")
    return int(first), int(last) + 1


def released(name: str, version: str, cache: Path) -> dict[str, str]:
    """The texts of a release, from its source archive; downloaded once."""
    stem = f"{name}-{version}"
    known = [
        each for each in cache.glob("*.tar.gz") if each.name.lower().replace("_", "-") == f"{stem}.tar.gz"
    ]
    archive = known[0] if known else None
    if archive is None:
        words = ("pip", "download", "-q", "--no-deps", "--no-binary", ":all:")
        subprocess.run(
            [sys.executable, "-m", *words, "-d", str(cache), f"{name}=={version}"],
            check=True,
            capture_output=True,
        )
        return released(name, version, cache)
    return texts_of(archive.read_bytes())


def texts_of(data: bytes) -> dict[str, str]:
    """The files of an archive, without its top folder; nothing is written."""
    found: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            if (
                member.isfile()
                and member.size <= READ_LIMIT
                and path
                and (file := archive.extractfile(member))
            ):
                found[path] = file.read().decode("utf-8", "replace")
    return found


def measured(every: Iterable[Sample], cache: Path) -> Iterator[tuple[Sample, Found]]:
    """What each request finds; a release is read once for requests that follow one another."""
    for (name, version), requests in groupby(every, key=lambda each: (each.name, each.version)):
        texts = released(name, version, cache)
        index = CodeIndex.of_texts(texts)
        yield from ((each, look(each, texts, index)) for each in requests)


def measure_first_context(cache: Path) -> Iterator[Row]:
    """How many of ten requests find their place."""
    for rows in (ROWS, FRESH, LATER, NEWEST):
        found = [each for _, each in measured(samples(rows), cache)]
        name = f"{len(found)} requests of {rows.stem}"
        yield Row(
            name, "file and symbol, of ten", 10 * sum(each.right for each in found) / len(found), "", GOAL
        )
        yield Row(name, "definition open, of ten", 10 * sum(each.shown for each in found) / len(found), "")


def main() -> None:
    """Prints one line for each request."""
    with tempfile.TemporaryDirectory() as name:
        cache = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(name)
        every = list(
            measured([each for rows in (ROWS, FRESH, LATER, NEWEST) for each in samples(rows)], cache)
        )
    for sample, found in every:
        how = "open" if found.shown else "map" if found.mapped else "file" if found.file else "-"
        print(f"{how:5}{found.tokens:6} {sample.name} {sample.version}: {sample.request[:70]}")
    by_request = {sample.request: found for sample, found in every}
    for rows in (ROWS, FRESH, LATER, NEWEST):
        for held in (False, True):
            of = [by_request[each.request] for each in samples(rows) if each.held == held]
            if not of:
                continue
            said = f"{rows.stem}{', held back' if held else ''}"
            right, shown = sum(each.right for each in of), sum(each.shown for each in of)
            print(f"{said}: {right} of {len(of)} have file and symbol, {shown} open")


if __name__ == "__main__":
    main()
