"""The tool that reads documentation: what there is, one document, or the sections that speak of something."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.languages.documents.outline import documents, headings, is_document, sections
from agentforge.languages.imports import is_package
from agentforge.languages.symbols import docstrings
from agentforge.languages.table import is_code
from agentforge.tools.base import (
    OpenedRange,
    Tool,
    ToolResult,
    ToolSpec,
    Workbench,
    bounded,
    object_schema,
    text_of,
)
from agentforge.tools.look.reading import read_file
from agentforge.tools.look.source import code_texts, numbered, read_source, walk

MAX_DOCUMENTS = 40
MAX_HEADINGS = 12
MAX_PACKAGES = 25
MAX_SECTIONS = 5
SECTION_LINES = 40
_WORD = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True, slots=True)
class _Passage:
    """A section of a document, or a docstring, that may be shown."""

    path: str
    title: str
    start: int
    lines: tuple[str, ...]

    def score(self, words: Sequence[str]) -> tuple[int, int]:
        """How many of the words it has, a title counting double; then how often."""
        title, text = self.title.lower(), "\n".join(self.lines).lower()
        return sum((word in text) + (word in title) for word in words), sum(
            text.count(word) for word in words
        )


def read_documentation(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Without arguments an outline; with `path` its text; with `query` the sections that match."""
    query, path = text_of(args, "query"), text_of(args, "path")
    if query:
        return _matching(query, path, bench)
    if not path:
        return _overview(bench)
    source = read_source(bench.root, path)
    if is_code(source.path):
        rows = [
            f"{line}: {name or 'module'}: {said.splitlines()[0]}"
            for name, line, said in docstrings(source.text, source.path)
        ]
        return ToolResult(ok=True, text="\n".join([f"{source.path}: {len(rows)} docstrings", *rows]))
    if not is_document(source.path):
        raise ModelMistake("not_documentation", f"`{source.path}` is no document; read_file reads it")
    return read_file({"path": path}, bench)


def _overview(bench: Workbench) -> ToolResult:
    found = documents(walk(bench.root, bench.root))
    rows = [f"{len(found)} documents; give `path` to read one, `query` to find sections."]
    for path in found[:MAX_DOCUMENTS]:
        titles = [each.title for each in headings(read_source(bench.root, path).text) if each.level <= 2]
        more = f" … {len(titles) - MAX_HEADINGS} more" if len(titles) > MAX_HEADINGS else ""
        rows.append(f"{path}: {'; '.join(titles[:MAX_HEADINGS])}{more}" if titles else path)
    if len(found) > MAX_DOCUMENTS:
        rows.append(f"[{len(found) - MAX_DOCUMENTS} more documents]")
    said = [(path, text) for path, text in code_texts(bench.root).items() if is_package(path)]
    packages = [
        f"{path}: {own[0][2].splitlines()[0]}"
        for path, text in said
        if (own := docstrings(text, path)) and not own[0][0]
    ]
    if packages:
        rows += ["Packages:", *packages[:MAX_PACKAGES]]
    return ToolResult(ok=True, text="\n".join(rows))


def _matching(query: str, path: str, bench: Workbench) -> ToolResult:
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(query)))
    if not words:
        raise ModelMistake("bad_arguments", "`query` holds no word to look for")
    ranked = [(each.score(words), each) for each in _passages(path, bench)]
    best = sorted(
        (pair for pair in ranked if pair[0][0]),
        key=lambda pair: (-pair[0][0], -pair[0][1], pair[1].path, pair[1].start),
    )
    if not best:
        return ToolResult(
            ok=True, text=f"No documentation speaks of {' or '.join(f'`{word}`' for word in words)}."
        )
    # A section that has one word of three is noise beside one that has them all.
    kept = [each for score, each in best if score[0] * 2 >= best[0][0][0]][:MAX_SECTIONS]
    room = 5500 // len(kept)
    blocks, opened = [], []
    for each in kept:
        last = each.start + len(each.lines) - 1
        head = f"{each.path}, lines {each.start}-{last}: {each.title or 'opening'}"
        blocks.append(bounded(f"{head}\n{numbered(each.lines, each.start)}", room))
        opened.append(OpenedRange(each.path, each.start, last))
    left = f"\n[{len(best) - len(kept)} weaker matches]" if len(best) > len(kept) else ""
    return ToolResult(ok=True, text="\n\n".join(blocks) + left, opened=tuple(opened))


def _passages(path: str, bench: Workbench) -> Iterator[_Passage]:
    if path:
        source = read_source(bench.root, path)
        yield from (
            _of_docstrings(source.path, source.text)
            if is_code(source.path)
            else _of_document(source.path, source.lines)
        )
        return
    for each in documents(walk(bench.root, bench.root)):
        yield from _of_document(each, read_source(bench.root, each).lines)
    for each, text in code_texts(bench.root).items():
        yield from _of_docstrings(each, text)


def _of_document(path: str, lines: Sequence[str]) -> Iterator[_Passage]:
    for section in sections("\n".join(lines)):
        end = min(section.end, section.start + SECTION_LINES - 1)
        yield _Passage(path, section.title, section.start, tuple(lines[section.start - 1 : end]))


def _of_docstrings(path: str, text: str) -> Iterator[_Passage]:
    for name, line, said in docstrings(text, path):
        yield _Passage(path, name, line, tuple(said.splitlines()[:SECTION_LINES]))


DOCUMENTATION: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "read_documentation",
            "What documentation there is; with `path` one document, with `query` (words) the sections "
            "and docstrings about them.",
            object_schema(
                {},
                {
                    "query": {"type": "string", "minLength": 1, "maxLength": 300},
                    "path": {"type": "string", "minLength": 1, "maxLength": 1000},
                },
            ),
            "read",
        ),
        read_documentation,
    ),
)
