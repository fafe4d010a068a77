"""Reports as Markdown. What others wrote in them is text: none of it is read as markup."""

import re
from collections.abc import Sequence

from agentforge.surfaces.cli.pages.document import (
    Bars,
    Block,
    Cell,
    Code,
    Document,
    Patch,
    Points,
    Prose,
    Table,
    has_content,
)
from agentforge.system.visible import brief, harmless

_MARKUP = re.compile(r"([\\`*_\[\]|<>~&]|^\s*(?:[-+#=]|\d+[.)]))")
"""What is markup wherever it stands, and what is at the beginning of a line."""
_LONGEST = 400
_WHOLE = 100_000


def plain(text: str, width: int = _LONGEST) -> str:
    """Words, in one line."""
    return _MARKUP.sub(_escaped, brief(text, width))


def code(text: str) -> str:
    """A span of code: a fence longer than any in the text, and no bar that would end a cell."""
    shown = brief(text, _LONGEST).replace("|", "\\|")
    fence = "`" * (_longest_fence(shown) + 1)
    gap = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{gap}{shown}{gap}{fence}"


def fenced(text: str, language: str = "") -> str:
    """A block of code, between fences longer than any in it."""
    fence = "`" * max(3, _longest_fence(text) + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def rows(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table; its cells are markup already."""
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escaped(found: re.Match[str]) -> str:
    """The sign after a backslash; of a number at the beginning, the sign behind it."""
    return f"{found[1][:-1]}\\{found[1][-1]}"


def _longest_fence(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def as_markdown(document: Document) -> str:
    """A report as Markdown."""
    parts = [f"# {plain(document.title, 200)}", f"<!-- {document.mark} -->"]
    parts += [plain(line) for line in document.remarks]
    for section in document.sections:
        parts.append(f"## {plain(section.title)}")
        parts += [_block(block) for block in section.blocks if has_content(block)] or [section.empty]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Table(header, body):
            return rows([plain(name) for name in header], [[_cell(cell) for cell in row] for row in body])
        case Points(lines):
            return "\n".join(f"- {_cell(line)}" for line in lines)
        case Prose(text):
            return "\n".join(f"> {plain(line, _WHOLE)}".rstrip() for line in text.splitlines())
        case Bars(title, amounts):
            return rows([plain(title), ""], [[plain(label), plain(shown)] for label, _, shown in amounts])
        case Patch(text):
            return fenced(harmless(text), "diff")


def _cell(cell: Cell) -> str:
    if isinstance(cell, Code):
        return code(cell.text) if cell.text else ""
    return plain(cell)
