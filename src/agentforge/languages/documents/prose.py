"""A document as what it says: sections, paragraphs, sentences, words; no code, no comments, no markup."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from itertools import takewhile
from typing import Literal

from agentforge.languages.documents.outline import Heading, headings
from agentforge.languages.documents.shown import shown

BlockKind = Literal["prose", "item", "table", "picture", "caption", "note", "definition"]
_NOTE = re.compile(r"\[\^(?P<name>[^\]\s]+)\]:[ \t]*")
_DEFINITION = re.compile(r"[ ]{0,3}\[(?!\^)[^\]\n]+\]:[ \t]*\S+")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])[ \t]+")
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
CAPTION = re.compile(
    r"[\s*_>\[!]*(?P<kind>Table|Figure|Fig\.)\s+(?P<number>[A-Z]?\d+(?:\.\d+)*)\s*[:.\u2013\u2014-]"
)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_MARKUP = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[(?P<label>[^\]]*)\]\([^)]*\)|\[\^[^\]]+\]|<[^<>\n]+>|[*_~#|]+")
_WORD = re.compile(r"[^\W_]+(?:['\u2019.,-][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n{2,}")
_HOLLOW = re.compile(
    r"(?:tbd|tba|todo|fixme|n/?a|none|empty|placeholder|lorem ipsum.*|to be (?:done|written|added|defined)"
    r"|coming soon|\.{2,}|…)[\s.!]*",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_SHAPELESS = dict.fromkeys((0xAD, 0x34F, 0x61C, 0xFEFF, *range(0x200B, 0x2010), *range(0x2060, 0x2065)))
"""Letters that nobody sees: they part no words."""
SAID_AGAIN = 3
"""So often a sentence is padding."""
LONG_SENTENCE = 6
"""Words of a sentence that nobody repeats by chance."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A paragraph, an item of a list, a table or a note; `line` is its first, from 1."""

    kind: BlockKind
    line: int
    text: str


@dataclass(frozen=True)
class Passage:
    """A stretch of a document."""

    lines: Sequence[tuple[int, str]]
    """Number and text; those of fenced code are left out."""
    fenced: bool = False
    """Whether there is code in it."""

    @cached_property
    def blocks(self) -> tuple[TextBlock, ...]:
        """What it is made of, headings left out."""
        return tuple(_blocks(self.lines))

    @property
    def said(self) -> str:
        """All that is said in it, one block after the other."""
        return "\n\n".join(block.text for block in self.blocks if block.kind not in ("note", "definition"))

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of its paragraphs and lists, as words in one case."""
        prose = "\n\n".join(block.text for block in self.blocks if block.kind in ("prose", "item"))
        found = (" ".join(words_of(part)) for part in _SENTENCE.split(plain(prose)))
        return tuple(sentence for sentence in found if sentence)

    @property
    def words(self) -> int:
        """How many words it has. A sentence that is there twice counts once, and so do words in a row."""
        return sum(map(_told, dict.fromkeys(self.sentences)))

    @property
    def repeated(self) -> list[str]:
        """Sentences that are said again and again."""
        long = (each for each in self.sentences if len(each.split()) >= LONG_SENTENCE)
        return [sentence for sentence, count in Counter(long).items() if count >= SAID_AGAIN]

    @property
    def is_hollow(self) -> bool:
        """Whether nothing is said, shown or listed in it."""
        if self.fenced or any(block.kind == "picture" or _is_filled(block) for block in self.blocks):
            return False
        said = [plain(block.text).strip() for block in self.blocks if block.kind in ("prose", "item")]
        return all(not words_of(text) or _HOLLOW.fullmatch(text) for text in said)


@dataclass(frozen=True)
class DocumentText:
    """A whole document."""

    text: str
    _parts: dict[str, Passage | None] = field(default_factory=dict, compare=False)

    @cached_property
    def _lines(self) -> list[str]:
        return shown(self.text.replace("\r\n", "\n")).split("\n")

    @cached_property
    def _open(self) -> frozenset[int]:
        """The positions of the lines that are in no fenced code."""
        return frozenset(_outside_fences(self._lines))

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """Its headings, in order."""
        return headings("\n".join(line if at in self._open else "" for at, line in enumerate(self._lines)))

    @cached_property
    def whole(self) -> Passage:
        """All of it."""
        return self._between(1, len(self._lines))

    def section(self, title: str) -> Passage | None:
        """What stands below a heading, with what is below that; None if there is no such heading."""
        wanted = " ".join(words_of(plain(title)))
        at = next((n for n, each in enumerate(self.headings) if _name(each) == wanted), None)
        return None if at is None else self.below(at)

    def below(self, position: int) -> Passage:
        """What stands below the heading at this position, from 0."""
        own = self.headings[position]
        inside = [*takewhile(lambda each: each.level > own.level, self.headings[position + 1 :])]
        after = self.headings[position + 1 + len(inside) :]
        return self._between(own.last + 1, after[0].line - 1 if after else len(self._lines))

    def _between(self, first: int, last: int) -> Passage:
        mine = self._lines[first - 1 : last]
        titles = {number for each in self.headings for number in range(each.line, each.last + 1)}
        prose = [at for at in range(len(mine)) if first - 1 + at in self._open]
        kept = [(first + at, mine[at] if first + at not in titles else "") for at in prose]
        code = (line for at, line in enumerate(mine) if first - 1 + at not in self._open)
        return Passage(kept, any(line.strip() and not _FENCE.match(line) for line in code))


def _outside_fences(lines: Sequence[str]) -> Iterator[int]:
    """As Markdown has it, where three signs alone open a block too."""
    fence = ""
    for at, line in enumerate(lines):
        found = _FENCE.match(line)
        if not fence and found is None:
            yield at
        elif not fence and found is not None:
            fence = found[1]
        elif found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""


def plain(text: str) -> str:
    """Text without markup; a link is its label, and a picture is no words."""
    return unescape(_MARKUP.sub(lambda found: f" {found['label'] or ''} ", text))


def without_code(text: str) -> str:
    """Text without code in the line."""
    return _CODE.sub(" ", text)


def words_of(text: str) -> list[str]:
    """The words of a text, in one case."""
    return [word.casefold() for word in _WORD.findall(text.translate(_SHAPELESS))]


def says(text: str, phrase: str) -> bool:
    """Whether these words stand in a text, one after the other, whatever their case, markup and lines."""
    wanted = words_of(plain(phrase.replace("`", " ")))
    return (
        bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(words_of(plain(text.replace('`', ' '))))} "
    )


def _told(sentence: str) -> int:
    """The words of a sentence, without those that come round again: three in a row count once."""
    words = sentence.split()
    return min(len(words), len(set(zip(words, words[1:], words[2:], strict=False))) + 2)


def _is_filled(block: TextBlock) -> bool:
    """Whether a table has more than its head."""
    below = block.text.split("\n")[2:] if block.kind == "table" else ()
    return any(words_of(plain(line)) for line in below)


def _name(heading: Heading) -> str:
    return " ".join(words_of(plain(heading.title)))


def _blocks(lines: Sequence[tuple[int, str]]) -> Iterator[TextBlock]:
    gathered: list[tuple[int, str]] = []
    before = 0
    for number, line in lines:
        begins = _ITEM.match(line) or _NOTE.match(line) or _DEFINITION.match(line) or number != before + 1
        if gathered and (not line.strip() or begins or _is_row(line) != _is_row(gathered[-1][1])):
            yield _block(gathered)
            gathered = []
        if line.strip():
            gathered.append((number, line))
        before = number
    if gathered:
        yield _block(gathered)


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _block(lines: list[tuple[int, str]]) -> TextBlock:
    number, first = lines[0]
    text = "\n".join(line.strip() for _, line in lines)
    kind: BlockKind = "prose"
    if _NOTE.match(first):
        kind = "note"
    elif _DEFINITION.match(first):
        kind = "definition"
    elif _is_row(first) or (
        len(lines) > 1 and re.fullmatch(r"[\s|:+=-]*-[\s|:+=-]*[|+][\s|:+=-]*", lines[1][1])
    ):
        kind = "table"
    elif CAPTION.match(text):
        kind = "picture" if _PICTURE.search(text) else "caption"
    elif _PICTURE.sub("", text).strip() == "" and _PICTURE.search(text):
        kind = "picture"
    elif _ITEM.match(first):
        kind = "item"
    return TextBlock(kind, number, text)
