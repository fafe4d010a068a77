"""What in a list of tests decides how they end: a command of its own choosing, a program that runs the rest,
a switch that turns assertions off. Which tests are listed may change; this may not.
"""

import re

_COMMENT = re.compile(r"(?m)#.*$")
_RULE = re.compile(
    r"^(?P<name>[\w./%$(){} -]*\b(?:check|tests?|run)\b[^:=\n]*):(?!=)[^\n]*(?:\n\t[^\n]*)*", re.MULTILINE
)
_FIRST_VARIABLE = re.compile(r"(?m)^\t[@+-]*\$[({](\w+)[)}]")
_NO_ASSERTIONS = re.compile(r"(?m)^.*NDEBUG\b.*$")
_CALLED = re.compile(r"\badd_test\s*\(([^)]*)\)", re.IGNORECASE)
_BUILT = re.compile(r"\badd_executable\s*\(\s*([^\s)]+)", re.IGNORECASE)
_DECIDES = re.compile(
    r"\bset_(?:tests_properties|property)\s*\([^)]*\b(?:WILL_FAIL|DISABLED|\w*REGULAR_EXPRESSION|SKIP_\w+)\b[^)]*\)"
    r"|\bset\s*\([^)]*(?:EMULATOR|LAUNCHER)[^)]*\)",
    re.IGNORECASE,
)
_MESON = re.compile(r"(?<!\w)test\s*\(\s*'[^']*'\s*,\s*(\w+)")
_MESON_BUILT = re.compile(r"(\w+)\s*=\s*executable\s*\(")


def of_makefile(text: str) -> object:
    """The rules that run tests, what their commands begin with, and what turns assertions off."""
    rules = [found[0] for found in _RULE.finditer(text)]
    begin = sorted({name for rule in rules for name in _FIRST_VARIABLE.findall(rule)})
    set_to = [re.findall(rf"(?m)^\s*{name}\s*[:?+!]*=.*$", text) for name in begin]
    return [*rules, *set_to, *_NO_ASSERTIONS.findall(text)]


def of_cmake(text: str) -> object:
    """The tests that run another program than one that is built here, and what decides how tests end."""
    text = _COMMENT.sub("", text)
    built = {*_BUILT.findall(text)}
    runs = [(found.split(), found) for found in _CALLED.findall(text)]
    own = [found for words, found in runs if not {_target(_command(words)), _command(words)} & built]
    return [*own, *_DECIDES.findall(text), *_NO_ASSERTIONS.findall(text)]


def of_meson(text: str) -> object:
    """The same of meson."""
    text = _COMMENT.sub("", text)
    built = {*_MESON_BUILT.findall(text)}
    return [name for name in _MESON.findall(text) if name not in built] + _NO_ASSERTIONS.findall(text)


def _command(words: list[str]) -> str:
    """What a listed test runs: it stands after the word, or second."""
    at = words.index("COMMAND") + 1 if "COMMAND" in words else 1
    return words[at].strip('"') if at < len(words) else ""


def _target(command: str) -> str:
    found = re.fullmatch(r"\$<TARGET_FILE:([^>]+)>", command)
    return found[1] if found else ""
