"""What a file defines: an outline with line ranges, one symbol by name, syntax errors.

Each language reads its own files, a grammar those of languages that are not run here; all others, and what
does not parse, are read line by line.
"""

import re
import tomllib
from dataclasses import replace
from functools import lru_cache

from agentforge.languages.grammars import reader
from agentforge.languages.grammars.table import grammar_of
from agentforge.languages.table import language_of
from agentforge.languages.values import Docstring, Kind, Symbol

SIGNATURE_LIMIT = 240


def decode(data: bytes, path: str) -> str:
    """Source bytes as text, as their language reads them; never fails."""
    language = language_of(path)
    return language.source.decode(data) if language else data.decode("utf-8", "replace")


def reads_otherwise(data: bytes, path: str) -> str:
    """The encoding that a file declares, if it says something else in it than people see; else empty."""
    language = language_of(path)
    return language.source.reads_otherwise(data) if language else ""


def outline(text: str, path: str, *, nested: bool = False) -> list[Symbol]:
    """Every definition of a file and of its classes, in order of appearance; with `nested`, those inside
    functions too.
    """
    return [*_symbols(text, path, nested=nested)]


def find_symbol(text: str, name: str, path: str) -> Symbol | None:
    """The symbol of that name: whole dotted name first, else its end if only one symbol has it.

    Definitions that share a name (overloads, a property and its setter) come as one range.
    """
    symbols = _symbols(text, path, nested=True)
    same = [symbol for symbol in symbols if symbol.name == name]
    if not same:
        ending = {symbol.name for symbol in symbols if symbol.name.endswith("." + name)}
        same = [symbol for symbol in symbols if symbol.name in ending] if len(ending) == 1 else []
    if not same:
        return None
    return replace(
        same[-1], start=min(symbol.start for symbol in same), end=max(symbol.end for symbol in same)
    )


def syntax_error(text: str, path: str) -> tuple[int, str] | None:
    """Line and message of the first syntax error; None for a file that is sound, or of a kind that needs a
    tool.
    """
    if (language := language_of(path)) is not None:
        return language.source.syntax_error(text, path)
    if path.endswith(".toml"):
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            found = re.search(r"line (\d+)", str(error))
            return int(found[1]) if found else 1, str(error)
        except RecursionError as error:
            return 1, str(error) or "nested too deeply"
    return None


def docstrings(text: str, path: str) -> tuple[Docstring, ...]:
    """What the public definitions of a file say of themselves; of none, in a language that we do not know."""
    language = language_of(path)
    return language.source.docstrings(text) if language else ()


@lru_cache(maxsize=64)  # every step shows the same files, most of them as they were
def _symbols(text: str, path: str, *, nested: bool = False) -> tuple[Symbol, ...]:
    language = language_of(path)
    found = language.source.symbols(text, nested=nested) if language else None
    if found is None and (grammar := grammar_of(path)) is not None:
        found = reader.symbols(text, grammar)
    return tuple(_by_lines(text) if found is None else found)


_MODIFIERS = (
    r"export|default|public|private|protected|internal|static|final|abstract|async"
    r"|pub(?:\([a-z]+\))?|unsafe|open|override"
)
_WORDS = r"def|class|function\*?|func|fn|interface|struct|enum|trait|impl|module|type|namespace"
_RECEIVER = r"(?:\([^()\n]{0,80}\)[ \t]*)?"  # of a Go method
_LINE = re.compile(
    rf"^[ \t]*(?:(?:{_MODIFIERS})[ \t]+)*(?P<word>{_WORDS})[ \t]+{_RECEIVER}(?P<name>[A-Za-z_$][\w$]*)"
)
_CLASSES = frozenset({"class", "interface", "struct", "enum", "trait", "impl", "module", "type", "namespace"})


def _by_lines(text: str) -> list[Symbol]:
    """Definitions found by how lines begin; a symbol ends where the indentation comes back to its own."""
    lines = text.splitlines()
    found: list[Symbol] = []
    open_symbols: list[tuple[int, int]] = []  # indentation, position in `found`
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        closes = line.lstrip().startswith(("}", ")", "{", "end"))
        while (
            open_symbols and indent <= open_symbols[-1][0] and not (closes and indent == open_symbols[-1][0])
        ):
            open_symbols.pop()
        for _, position in open_symbols:
            found[position] = replace(found[position], end=number)
        match = _LINE.match(line[:1000])
        if match is None:
            continue
        parents = [position for _, position in open_symbols if found[position].kind == "class"]
        above = found[parents[-1]].name + "." if parents else ""
        kind: Kind = "class" if match["word"] in _CLASSES else "method" if parents else "function"
        found.append(
            Symbol(
                above + match["name"],
                kind,
                number,
                number,
                line.strip().rstrip("{:").rstrip()[:SIGNATURE_LIMIT],
            )
        )
        open_symbols.append((indent, len(found) - 1))
    return found
