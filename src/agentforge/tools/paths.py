"""Where a role may write, and what no role may touch. Patterns are compiled once; paths arrive
repository-relative and real. Pure.

A pattern list is split on commas. `**` stands for any number of directories, `*` stays within one name, so
`*.md` is the root only. A path is allowed if a positive pattern matches (or none is given) and no negative
one (`!`) does. A negative pattern binds every writing tool; a tool without a positive one of its own is held
to those of the others: otherwise "create only in tests" would still let a role edit or delete everything
else. The tools that keep one kind of file are the exception: their files are known, so only a pattern of
their own narrows them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from agentforge.catalog.policies import read_policy, section
from agentforge.core.errors import UsageError
from agentforge.system.globs import Glob, glob, matches_any
from agentforge.tools.base import KEEPING_TOOLS, WRITING_TOOLS

DEFAULT_TESTS = ("tests/**/*",)
DEFAULT_DOCS = ("docs/**/*",)

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def closed_to_all(path: str) -> str | None:
    """Why no role may read or write a path, by any tool, even in its own repository; None for every ordinary
    path.

    Judged by whole names after links are resolved, never by a part of a name: `src/bootstrap.ts` is no
    `/boot`. Keys and credentials are closed because what a model has read has left the machine; files that a
    shell runs at its start, because writing one is running it. `.env` is closed as well: it exists to hold
    what must not be shared. `.env.example` and its like are open. A `.pem` is closed if its name says that it
    is a key; the text of others is redacted where it enters.
    """
    folded = path.casefold()
    parts = folded.split("/")
    name, known = parts[-1], _closed()
    if not known.key_folders.isdisjoint(parts) or _key_places().search(f"/{folded}/"):
        return f"`{path}` lies where keys and credentials are kept"
    if name in known.key_files or name.endswith(_key_endings()) or known.key_names.fullmatch(name):
        return f"`{path}` has the name of a key or of credentials"
    if known.environments.fullmatch(name) and not known.environment_samples.fullmatch(name):
        return f"`{path}` holds a machine's own secrets; look for an example of it, such as `.env.example`"
    return f"`{path}` is run by a shell when it starts" if name in known.shell_starts else None


def acts_later(path: str, said: str) -> str:
    """Why a person is asked before a path is written: an agent, an editor or git acts on it by itself later,
    on their machine. Empty for every other path, and where what they said names it.
    """
    folded = path.casefold()
    parts = folded.split("/")
    ends = ["/".join(parts[start:]) for start in range(len(parts))]
    for words, patterns in _later():
        if any(patterns.fullmatch(end) for end in ends):
            spoken = said.casefold()
            # `settings.json` may be any; `.mcp.json` is one by itself.
            own = folded in spoken or (patterns.fullmatch(parts[-1]) and parts[-1] in spoken)
            named = own or not words.isdisjoint(_words_of(spoken))
            return "" if named else f"`{path}` is read or run by itself on your machine"
    return ""


_WORD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def _words_of(text: str) -> list[str]:
    """The words of a text, and each two of them that follow one another as one: `vs-code`."""
    words = _WORD.findall(text)
    return [*words, *(f"{one}-{other}" for one, other in pairwise(words))]


@cache
def _later() -> tuple[tuple[frozenset[str], re.Pattern[str]], ...]:
    """`acts_later` of `catalog/policies/places.yaml`: the words that name a row, and its paths."""
    rows = read_policy("places")["acts_later"]
    return tuple((frozenset(words.split()), re.compile("|".join(rows[words]))) for words in rows)


@dataclass(frozen=True, slots=True)
class _Closed:
    """What no role may touch: `tool_paths` of `catalog/policies/places.yaml`, which says what each is."""

    key_folders: frozenset[str]
    key_places: frozenset[str]
    key_files: frozenset[str]
    key_endings: frozenset[str]
    shell_starts: frozenset[str]
    key_names: re.Pattern[str]
    environments: re.Pattern[str]
    environment_samples: re.Pattern[str]


@cache
def _closed() -> _Closed:
    return section(_Closed, "places.yaml: tool_paths", read_policy("places")["tool_paths"])


@cache
def _key_places() -> re.Pattern[str]:
    """All of them at once: this is asked of every file that is searched."""
    return re.compile("|".join(re.escape(f"/{place}/") for place in _closed().key_places) or "(?!)")


@cache
def _key_endings() -> tuple[str, ...]:
    return tuple(_closed().key_endings)


@dataclass(frozen=True, slots=True)
class Rule:
    """What one writing tool of a role may touch."""

    allowed: tuple[Glob, ...]
    denied: tuple[Glob, ...]


@dataclass(frozen=True, slots=True)
class PathLimits:
    """The path limits of one role."""

    rules: Mapping[str, Rule]

    @classmethod
    def compile(
        cls, constraints: Mapping[str, str], tests: Sequence[str] = (), docs: Sequence[str] = ()
    ) -> "PathLimits":
        """Limits from a role's `path_constraints`, with `{tests}` and `{docs}` filled from the repository's
        layout.
        """
        if strangers := sorted(set(constraints) - WRITING_TOOLS):
            raise UsageError(
                f"`path_constraints` names {', '.join(strangers)}, which writes no file.",
                f"Limits are for {', '.join(sorted(WRITING_TOOLS))}.",
            )
        layout = {"tests": tuple(tests) or DEFAULT_TESTS, "docs": tuple(docs) or DEFAULT_DOCS}
        split = {tool: _split(text, layout) for tool, text in constraints.items()}
        shared = tuple(
            dict.fromkeys(each for tool in sorted(set(split) - KEEPING_TOOLS) for each in split[tool].allowed)
        )
        denied = tuple(dict.fromkeys(each for tool in sorted(split) for each in split[tool].denied))
        own = {tool: rule.allowed for tool, rule in split.items() if rule.allowed}
        return cls(
            {
                tool: Rule(own.get(tool, () if tool in KEEPING_TOOLS else shared), denied)
                for tool in WRITING_TOOLS
            }
        )

    def allows(self, tool: str, path: str) -> str | None:
        """None if the tool may touch the path, else the reason."""
        rule = self.rules.get(tool)
        if rule is None:
            return None
        if found := matches_any(rule.denied, path):
            return f"`{path}` is closed to this role by `!{found.pattern}`"
        if rule.allowed and not matches_any(rule.allowed, path):
            return (
                f"`{path}` is outside what this role may write: "
                f"{', '.join(each.pattern for each in rule.allowed)}"
            )
        return None


def _split(text: str, layout: Mapping[str, tuple[str, ...]]) -> Rule:
    allowed: list[Glob] = []
    denied: list[Glob] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        target = denied if item.startswith("!") else allowed
        target += [glob(pattern) for pattern in _filled(item.removeprefix("!").strip(), layout)]
    return Rule(tuple(allowed), tuple(denied))


def _filled(pattern: str, layout: Mapping[str, tuple[str, ...]]) -> list[str]:
    if not pattern or pattern.startswith("!"):
        raise UsageError(
            "`path_constraints` holds an empty or doubly negated pattern.",
            "Write a glob such as `docs/**/*`.",
        )
    filled = [pattern]
    for name in dict.fromkeys(_PLACEHOLDER.findall(pattern)):
        if name not in layout:
            raise UsageError(
                f"`path_constraints` holds the unknown placeholder `{{{name}}}`.", "Known: {tests}, {docs}."
            )
        filled = [each.replace(f"{{{name}}}", value) for each in filled for value in layout[name]]
    return filled
