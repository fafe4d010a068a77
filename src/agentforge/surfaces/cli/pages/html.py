"""Reports as one HTML file: no script, nothing loaded from anywhere, every text escaped. It prints well, is
read in light and dark, and by keyboard.
"""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from agentforge.surfaces.cli.pages.document import (
    Bars,
    Block,
    Cell,
    Code,
    Document,
    Patch,
    Points,
    Prose,
    ReportSection,
    Table,
    has_content,
)
from agentforge.system.visible import harmless

_STYLE = Path(__file__).with_name("report.css")
_LINE_CLASSES = (
    ("diff --git ", "file"),
    ("+++", "file"),
    ("---", "file"),
    ("@@", "place"),
    ("+", "added"),
    ("-", "removed"),
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_BAR_WIDTH, _BAR_HEIGHT, _LABEL_WIDTH = 360, 20, 200


def as_html(document: Document) -> str:
    """The whole file."""
    title, style = _text(document.title), _STYLE.read_text(encoding="utf-8")
    body = [f"<h1>{title}</h1>", *(f"<p class=quiet>{_text(line)}</p>" for line in document.remarks)]
    body.append(f"<nav aria-label=Contents><ul>{''.join(_entries(document.sections))}</ul></nav>")
    for number, section in enumerate(document.sections, 1):
        body += _section(section, number)
    return (
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
        f"<!-- {document.mark} -->\n"
        f'<meta http-equiv=Content-Security-Policy content="{_POLICY}">\n'
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _entries(sections: Sequence[ReportSection]) -> Iterator[str]:
    for number, section in enumerate(sections, 1):
        yield f'<li><a href="#s{number}">{_text(section.title)}</a></li>'


def _section(section: ReportSection, number: int) -> Iterator[str]:
    yield f"<section aria-labelledby=s{number}><h2 id=s{number}>{_text(section.title)}</h2>"
    shown = [_block(block) for block in section.blocks if has_content(block)]
    yield from shown or [f"<p class=quiet>{_text(section.empty)}</p>"]
    yield "</section>"


def _block(block: Block) -> str:
    match block:
        case Table():
            return _table(block)
        case Points(lines):
            return "<ul>" + "".join(f"<li>{_cell(line)}</li>" for line in lines) + "</ul>"
        case Prose(text):
            return f"<blockquote>{_text(text)}</blockquote>"
        case Bars():
            return _bars(block)
        case Patch(text):
            lines = "\n".join(_patch_line(line) for line in harmless(text).split("\n"))
            return f'<pre class=patch tabindex=0 aria-label="The change">{lines}</pre>'


def _table(table: Table) -> str:
    marks = [" class=number" if name in table.numbers else "" for name in table.header]
    head = "".join(
        f"<th scope=col{mark}>{_text(name)}</th>" for name, mark in zip(table.header, marks, strict=True)
    )
    body = "".join(f"<tr>{_row(row, marks)}</tr>" for row in table.rows)
    inner = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f"<div class=wide tabindex=0><table>{inner}</table></div>"


def _row(row: Sequence[Cell], marks: Sequence[str]) -> str:
    return "".join(f"<td{mark}>{_cell(cell)}</td>" for cell, mark in zip(row, marks, strict=True))


def _bars(bars: Bars) -> str:
    most = max((amount for _, amount, _ in bars.rows), default=0) or 1
    height = _BAR_HEIGHT * len(bars.rows)
    drawn = []
    for number, (label, amount, shown) in enumerate(bars.rows):
        top, width = number * _BAR_HEIGHT, max(1, amount * _BAR_WIDTH // most)
        drawn.append(
            f"<text x=0 y={top + 14}>{_text(label)}</text>"
            f"<rect x={_LABEL_WIDTH} y={top + 4} width={width} height={_BAR_HEIGHT - 8} fill=#4078c0></rect>"
            f"<text x={_LABEL_WIDTH + width + 6} y={top + 14}>{_text(shown)}</text>"
        )
    room = _LABEL_WIDTH + _BAR_WIDTH + 160
    name = _text(bars.title)
    return (
        f'<figure><figcaption>{name}</figcaption><svg role=img aria-label="{name}" width={room} '
        f'height={height} viewBox="0 0 {room} {height}">{"".join(drawn)}</svg></figure>'
    )


def _patch_line(line: str) -> str:
    kind = next((name for start, name in _LINE_CLASSES if line.startswith(start)), "")
    return f"<span class={kind}>{escape(line)}</span>" if kind else escape(line)


def _cell(cell: Cell) -> str:
    if isinstance(cell, Code):
        return f"<code>{_text(cell.text)}</code>" if cell.text else ""
    return _text(cell)


def _text(text: str) -> str:
    return escape(harmless(text))
