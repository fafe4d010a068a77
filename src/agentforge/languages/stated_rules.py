"""Rules that an owner states in words (AGENTS.md and its like) and that a check can hold. Pure.

A sentence is recognised by fixed forms or not at all: what is only meant, what is "about" some number, and
what speaks of one case stays a convention, which roles are told.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentforge.system import strict_yaml

_NOT = (
    r"(?:no|never(?: use| call| write| add)?|do(?:n't| not) (?:use|call|write|add|leave)|avoid(?: using)?"
    r"|without)"
)
_MOST = r"(?:at most|no (?:more|longer) than|not (?:more|longer) than|max(?:imum)?(?: of)?|under|up to|<=|≤)"
_CODE = r"`?(?P<{}>[A-Za-z_@][\w@-]*(?:[./][\w*@-]+)*/?)`?"
_VAGUE = re.compile(
    r"\b(?:about|roughly|around|usually|prefer|try to|where possible|if you can|ideally)\b", re.IGNORECASE
)
_TESTS = ["tests/**", "test/**", "**/tests/**", "**/test_*", "**/*.test.*", "**/*.spec.*"]
_SCRIPTS = ["**/*.js", "**/*.jsx", "**/*.ts", "**/*.tsx", "**/*.mjs"]
_PYTHON = ["**/*.py"]


@dataclass(frozen=True, slots=True)
class StatedRule:
    """A rule in the owner's words, and the check that holds it."""

    place: str
    """`AGENTS.md:12`."""
    said: str
    name: str
    document: Mapping[str, Any]

    @property
    def path(self) -> str:
        """The file that the check is."""
        return f".agentforge/checks/{self.name}.yaml"

    @property
    def text(self) -> str:
        """The text of the file."""
        return f"# {self.place}: {self.said}\n{strict_yaml.dump(dict(self.document))}"


def stated_rules(texts: Mapping[str, str]) -> list[StatedRule]:
    """What can be compiled of these files; a rule that is stated twice counts once, by its first words."""
    found: dict[str, StatedRule] = {}
    for path, text in texts.items():
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            fenced ^= line.lstrip().startswith(("```", "~~~"))
            if fenced or _VAGUE.search(line):
                continue
            for name, document in _compiled(line):
                said = re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", line).strip()[:160]
                found.setdefault(
                    name, StatedRule(f"{path}:{number}", said, name, _whole(name, said, document))
                )
    return list(found.values())


def _whole(name: str, said: str, document: Mapping[str, Any]) -> dict[str, Any]:
    kind = document["kind"]
    told = {
        "check": name,
        "kind": kind,
        "description": said[:190].ljust(5, "."),
        "fix_hint": "Follow the rule that the project states.",
    }
    return {**told, **{key: value for key, value in document.items() if key != "kind"}}


def _compiled(line: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for pattern, make in _FORMS:
        if found := pattern.search(line):
            yield from make(found)


Make = Callable[[re.Match[str]], Iterator[tuple[str, dict[str, Any]]]]


def _form(pattern: str, make: Make) -> tuple[re.Pattern[str], Make]:
    return re.compile(pattern, re.IGNORECASE), make


def _limit(name: str, metric: str) -> Make:
    def make(found: re.Match[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        number = int(next(filter(None, found.groups())))
        if number > 1:
            yield name, {"kind": "metric", "metric": metric, "limit": number}

    return make


def _banned(name: str, pattern: str, files: list[str], failing: str, passing: str) -> Make:
    def make(_: re.Match[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        yield (
            name,
            {
                "kind": "regex",
                "pattern": pattern,
                "files": files,
                "except": _TESTS,
                "examples": {"failing": [failing], "passing": [passing]},
            },
        )

    return make


def _forbidden(found: re.Match[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    who, what = found["who"].rstrip("/."), found["what"].rstrip("/.")
    if who.lower() in _NOBODY or what.lower() in _NOBODY:
        return
    folder = who.replace(".", "/") if "/" not in who and not who.endswith((".py", ".ts", ".js")) else who
    files = [folder if "*" in folder or re.search(r"\.\w{1,4}$", folder) else f"**/{folder}/**"]
    slug = re.sub(r"[^a-z0-9]+", "-", f"{who} not {what}".lower()).strip("-")[:50]
    yield f"stated-{slug}", {"kind": "imports", "files": files, "forbid": [what]}


_NOBODY = frozenset(
    {
        "you",
        "we",
        "it",
        "they",
        "code",
        "it's",
        "and",
        "or",
        "that",
        "anything",
        "modules",
        "from",
        "the",
        "them",
    }
)
_IS = r"(?:are|is|have|has|must be|may (?:be|have))?"
_FORMS = (
    _form(
        rf"\bline[- ]length(?: limit)?(?: is| of|:)? {_MOST} (\d+)"
        r"|\bline[- ]length(?: limit)?(?: is| of|:)? (\d+)"
        r"|\bmax(?:imum)?[- ]line[- ]length(?: is| of|:)? ?(\d+)"
        rf"|\blines {_IS} ?{_MOST} (\d+) (?:char|col|sign)",
        _limit("stated-line-length", "line_length"),
    ),
    _form(rf"\bfunctions? {_IS} ?{_MOST} (\d+) lines", _limit("stated-function-length", "function_lines")),
    _form(rf"\b(?:files?|modules?) {_IS} ?{_MOST} (\d+) lines", _limit("stated-file-length", "lines")),
    _form(
        rf"\bcomplexity (?:is )?{_MOST} (\d+)|\bmax(?:imum)?[- ]complexity(?: is| of|:)? ?(\d+)",
        _limit("stated-complexity", "complexity"),
    ),
    _form(
        rf"\b{_NOT} (?:calls? to |bare )?`?print\b(?:\(\))?`?(?! (?:style|layout|edition|server))",
        _banned("stated-no-print", r"^\s*print\(", _PYTHON, "    print(total)", "    log.info(total)"),
    ),
    _form(
        rf"\b{_NOT} `?console\.log\b",
        _banned("stated-no-console-log", r"\bconsole\.log\(", _SCRIPTS, "console.log(a)", "logger.info(a)"),
    ),
    _form(
        rf"\b{_NOT} (?:`?import \*`?|`?from .{{1,20}} import \*`?|(?:wildcard|star) imports?)",
        _banned(
            "stated-no-star-imports",
            r"^\s*from\s+\S+\s+import\s+\*",
            _PYTHON,
            "from os import *",
            "from os import path",
        ),
    ),
    _form(
        rf"\b{_NOT} bare `?except`?",
        _banned("stated-no-bare-except", r"^\s*except\s*:", _PYTHON, "except:", "except ValueError:"),
    ),
    _form(
        rf"\b{_NOT} `?eval\b",
        _banned("stated-no-eval", r"(?<![\w.])eval\(", [*_PYTHON, *_SCRIPTS], "eval(text)", "parse(text)"),
    ),
    _form(
        rf"{_CODE.format('who')} (?:must|may|should|shall|can)(?:n't| not|not) import (?:from )?"
        rf"{_CODE.format('what')}",
        _forbidden,
    ),
    _form(rf"{_CODE.format('who')} never imports? (?:from )?{_CODE.format('what')}", _forbidden),
    _form(rf"\bnever import {_CODE.format('what')} (?:in|from|into) {_CODE.format('who')}", _forbidden),
)
"""What a sentence says, and what holds it."""
