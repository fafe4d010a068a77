"""What a tree defines and uses, as one index: from it names are resolved and files are ranked. Pure.

Made from the facts of single files, so that a changed file costs its own facts and a copy of two tables.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from agentforge.languages.facts import FileFacts, facts_of
from agentforge.languages.lexed import stems
from agentforge.languages.names import module_of
from agentforge.languages.plain.answers import is_of_others
from agentforge.languages.tests import is_run, looks_like_test
from agentforge.languages.values import Symbol

_ASIDE = frozenset({"bench", "benchmark", "benchmarks", "demos", "doc", "docs", "misc", "perf"}) | frozenset(
    {"dist", "example", "examples", "sample", "samples", "scripts"}
)
"""Folders at the top beside the project's own code: what explains it, is built from it, or is of others."""


@dataclass(frozen=True, slots=True)
class CodeIndex:
    """The files of one tree, by path in order; every file is there, code or not."""

    files: Mapping[str, FileFacts]
    definers: Mapping[str, tuple[str, ...]]
    """Last part of a definition's name, to the files that define it, in order."""

    @classmethod
    def of(cls, files: Mapping[str, FileFacts]) -> "CodeIndex":
        """The index of these files."""
        ordered = {path: files[path] for path in sorted(files)}
        definers: dict[str, dict[str, None]] = {}
        for path, facts in ordered.items():
            for symbol in facts.symbols:
                definers.setdefault(last_part(symbol.name), {})[path] = None
        return cls(ordered, {name: tuple(paths) for name, paths in definers.items()})

    @classmethod
    def of_texts(cls, texts: Mapping[str, str]) -> "CodeIndex":
        """The index of files whose text is at hand."""
        return cls.of({path: facts_of(text, path) for path, text in texts.items()})

    def with_files(self, changed: Mapping[str, FileFacts | None]) -> "CodeIndex":
        """The index after a change; None for a file that is gone."""
        files = dict(self.files)
        definers = dict(self.definers)
        touched: set[str] = set()
        for path, facts in changed.items():
            before = files.pop(path, None)
            for known in (before, facts):
                touched |= {last_part(symbol.name) for symbol in known.symbols} if known else set()
            if facts is not None:
                files[path] = facts
        for name in touched:
            paths = {path for path in definers.get(name, ()) if path not in changed}
            paths |= {
                path
                for path, facts in changed.items()
                if facts and any(last_part(symbol.name) == name for symbol in facts.symbols)
            }
            definers[name] = tuple(sorted(paths))
            if not paths:
                del definers[name]
        if files.keys() != self.files.keys():
            files = {path: files[path] for path in sorted(files)}
        else:
            files = {path: files[path] for path in self.files}
        return replace(self, files=files, definers=definers)

    def symbols_named(self, name: str) -> list[tuple[str, Symbol]]:
        """Where a name is defined: by its whole dotted name, or by the end of one."""
        found = []
        for path in self.definers.get(last_part(name), ()):
            found += [
                (path, symbol)
                for symbol in self.files[path].symbols
                if symbol.name == name or symbol.name.endswith(f".{name}")
            ]
        return found

    def users(self, name: str) -> list[str]:
        """The files whose code has this identifier."""
        return [path for path, facts in self.files.items() if name in facts.names]

    def modules(self, dotted: str) -> list[str]:
        """The files that a dotted name may import, tests left out: their own dotted name ends with it."""
        return [
            path
            for path in self.files
            if (own := module_name(path)) and (own == dotted or own.endswith(f".{dotted}"))
        ]


@lru_cache(maxsize=65_536)
def module_name(path: str) -> str:
    """How a file is imported; empty for one that is not code, or a test."""
    return "" if is_test(path) else module_of(path)


@lru_cache(maxsize=65_536)
def is_test(path: str) -> bool:
    """Whether a path looks like a test's."""
    return looks_like_test(path)


@lru_cache(maxsize=65_536)
def is_aside(path: str) -> bool:
    """Whether a file stands beside the project's own code: in its examples or its documentation, or
    in what was built from it.
    """
    top, _, rest = path.partition("/")
    return bool(rest) and (top.lower() in _ASIDE or is_of_others(path))


@lru_cache(maxsize=65_536)
def path_terms(path: str) -> frozenset[str]:
    """The stems of a path."""
    return frozenset(stem for part in path.split("/") for word in part.split(".") for stem in stems(word))


def last_part(name: str) -> str:
    """`method` of `Class.method`."""
    return name.rpartition(".")[2]


def tests_of(index: CodeIndex, names: Iterable[str], worth: Mapping[str, float]) -> list[str]:
    """The test files that use one of these names: those that use most of them first, then those of most
    `worth`; what tests only share comes last.
    """
    wanted = frozenset(names)
    counts = {path: len(wanted & facts.names) for path, facts in index.files.items() if is_test(path)}
    return sorted(
        (path for path, count in counts.items() if count),
        key=lambda path: (not is_run(path), -counts[path], -worth.get(path, 0.0), path),
    )
