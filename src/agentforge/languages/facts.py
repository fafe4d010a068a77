"""What one file says of itself, small enough to keep: its definitions, the names it uses, the words in it.

Read once for each content, by whoever reads the language; everything that ranks a repository is made from it.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from importlib import metadata

from agentforge.languages.grammars import reader
from agentforge.languages.grammars.table import GRAMMARS, grammar_of
from agentforge.languages.lexed import names_in, stems, terms_in
from agentforge.languages.symbols import outline
from agentforge.languages.table import is_other_code, is_source
from agentforge.languages.values import Kind, Symbol
from agentforge.system.secrets.redact import redact

READ_LIMIT = 400_000
"""A longer file is known by its name only: it is data, or made by a tool."""
_FORMAT = 3
_KINDS: tuple[Kind, ...] = ("class", "function", "method", "variable")


@dataclass(frozen=True)
class FileFacts:
    """The facts of one content."""

    symbols: tuple[Symbol, ...] = ()
    names: frozenset[str] = frozenset()
    """Identifiers in its code."""
    terms: frozenset[str] = frozenset()
    """Stems of all its words, comments and prose included."""

    @cached_property
    def headings(self) -> frozenset[str]:
        """Stems of what it defines."""
        return frozenset(stem for each in self.symbols for stem in stems(each.name))

    @cached_property
    def outside(self) -> tuple[str, ...]:
        """The names that it uses and does not define, in order."""
        return tuple(sorted(self.names - {each.name.rpartition(".")[2] for each in self.symbols}))

    def redacted(self, clean: Callable[[str], str]) -> "FileFacts":
        """The same with each signature cleaned: the only text of a file that is shown from here."""
        signatures = "\n".join(symbol.signature for symbol in self.symbols)
        if clean(signatures) == signatures:
            return self
        return replace(
            self, symbols=tuple(replace(each, signature=clean(each.signature)) for each in self.symbols)
        )

    def to_json(self) -> str:
        """As it is kept."""
        rows = [[s.name, _KINDS.index(s.kind), s.start, s.end, s.signature] for s in self.symbols]
        return json.dumps(
            [rows, " ".join(sorted(self.names)), " ".join(sorted(self.terms))], ensure_ascii=False
        )

    @classmethod
    def from_json(cls, text: str) -> "FileFacts | None":
        """What was kept; None for anything that is not exactly that: a cache is never trusted to be whole."""
        try:
            rows, names, terms = json.loads(text)
            symbols = tuple(
                Symbol(str(name), _KINDS[kind], int(start), int(end), str(signature))
                for name, kind, start, end, signature in rows
            )
            return cls(symbols, frozenset(names.split(" ")) - {""}, frozenset(terms.split(" ")) - {""})
        except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
            return None


def has_facts(path: str) -> bool:
    """Whether a file is code that we can say something about."""
    return is_source(path) or is_other_code(path) or grammar_of(path) is not None


def reading_note(paths: Iterable[str], *, installed: bool) -> str:
    """What is read less well than it could be, and what would help; empty where nothing is."""
    if installed:
        return ""
    found = sorted({grammar.name for path in paths if (grammar := grammar_of(path)) is not None})
    names = ", ".join(found)
    return f"{names}: read line by line, since the extra `code` is not installed" if found else ""


def facts_of(text: str, path: str) -> FileFacts:
    """The facts of a file; none of one that is too long to be written by hand."""
    if len(text) > READ_LIMIT or not has_facts(path):
        return FileFacts()
    return FileFacts(tuple(map(_without_keys, outline(text, path))), names_in(text, path), terms_in(text))


def _without_keys(symbol: Symbol) -> Symbol:
    """A default value can be a key, and facts are kept on disk."""
    if '"' not in symbol.signature and "'" not in symbol.signature:
        return symbol
    return replace(symbol, signature=redact(symbol.signature)[0])


def reader_digest(path: str) -> str:
    """What decides how a file is read, beside its content: the key of its facts holds it."""
    grammar = grammar_of(path)
    if grammar is None:
        return f"{_FORMAT}:{path.rpartition('.')[2]}"
    return f"{_FORMAT}:{grammar.name}:{_versions() if reader.is_installed() else 'lines'}"


@cache
def _versions() -> str:
    modules = sorted({grammar.module.replace("_", "-") for grammar in GRAMMARS})
    found = []
    for name in ("tree-sitter", *modules):
        try:
            found.append(metadata.version(name))
        except metadata.PackageNotFoundError:
            found.append("-")
    return sha256(" ".join(found).encode()).hexdigest()[:12]
