"""What can be counted in a file of JavaScript: `Measures`."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from agentforge.languages.described import words
from agentforge.languages.plain.reading import PlainMeasures
from agentforge.languages.values import Risk

_RISKS = {
    "eval": (re.compile(r"(?<![\w.$])(?:eval|Function)\s*\("), "high"),
    "shell": (re.compile(r"\bexec(?:Sync)?\s*\(\s*`[^`]*\$\{|\bshell\s*:\s*true"), "high"),
    "raw-html": (re.compile(r"\.innerHTML\s*=|dangerouslySetInnerHTML|document\.write\s*\("), "medium"),
    "unverified-tls": (re.compile(r"rejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED"), "high"),
    "weak-hash": (re.compile(r"createHash\s*\(\s*['\"](?:md5|sha1)['\"]"), "medium"),
}
_RULES: Mapping[str, tuple[str, str]] = {
    "eval": ("text is run as code", "call the function itself, or read the text with a parser"),
    "shell": ("text reaches a shell", "start the program with a list of words, without a shell"),
    "raw-html": ("text becomes part of a page as it is", "set the text, or clean it first"),
    "unverified-tls": (
        "whoever answers is believed",
        "verify certificates; add the authority that is missing",
    ),
    "weak-hash": ("a hash that can be forged", "use SHA-256"),
}
_SETTINGS = words(
    "eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts .eslintrc .eslintrc.json "
    ".eslintrc.js .eslintrc.cjs biome.json biome.jsonc .prettierrc tsconfig.json"
)


def _whole_file(name: str, text: str) -> Mapping[str, object]:
    """Settings that are all of a file, and are compared as its text."""
    return {name: text}


class NodeMeasures(PlainMeasures):
    """Counted by grammar; risks by their words."""

    LEFTOVER = re.compile(r"(?m)^[ \t]*(?:debugger\b|console\.log\()")
    SILENCERS = re.compile(
        r"(?:eslint-disable(?:-next-line|-line)?|@ts-(?:ignore|nocheck|expect-error)|biome-ignore|prettier-ignore)[^\n*]*"
    )
    RULES = _RULES
    CHECKERS: Mapping[str, Callable[[str], Mapping[str, object]]] = {
        name: partial(_whole_file, name) for name in _SETTINGS
    }

    def risks(self, text: str, /, *, is_test: bool) -> Iterator[Risk]:
        """By line."""
        for number, line in enumerate(text.split("\n"), 1):
            for rule, (pattern, severity) in _RISKS.items():
                if len(line) < 1000 and pattern.search(line) and not is_test:
                    yield Risk(number, rule, "high" if severity == "high" else "medium")
