"""Programs that run other programs: where in their words the other one starts, or which word is a text of
commands.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from agentforge.commands.programs import Wrapper, known

_ASSIGNS = re.compile(r"[A-Za-z_]\w*=")


class InnerCommand(NamedTuple):
    """One command that a program would run."""

    command: tuple[int, int] | str
    """A slice of its words, the program's name counted; or a text of shell."""
    fed: bool = False
    name: str = ""
    """Put in front of the slice, where the program is named by an option."""


@dataclass(frozen=True, slots=True)
class InnerCommands:
    """The commands that a program would run, and what about them is dynamic."""

    runs: tuple[InnerCommand, ...] = ()
    marks: frozenset[str] = frozenset()


_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SHELL_VALUED = frozenset({"-o", "+o", "-O", "--rcfile", "--init-file"})


def base_name(word: str) -> str:
    """A program without its directory."""
    return word.rstrip("/").rpartition("/")[2]


def interpreter(name: str) -> str:
    """The kind of interpreter that a program is, without its version; empty if it is none."""
    if name in known().shells:
        return name
    kind = name.rstrip("0123456789.")
    return kind if kind in known().interpreters else ""


def inner_of(argv: Sequence[str], stdin: str | None) -> InnerCommands:
    """What a command would run in turn. `stdin` is the text it would read, where the line holds it."""
    if not argv:
        return InnerCommands()
    name = base_name(argv[0])
    if name in known().shells:
        return _shell(argv, stdin)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(argv)
    if name in known().wrappers:
        wrapper = known().wrappers[name]
        options = {*takewhile(lambda word: word.startswith("-"), argv[1:])}
        return InnerCommands() if options & wrapper.looks else _wrapped(argv, wrapper)
    if name in known().run_verbs:
        return _verb(argv, known().run_verbs[name])
    if interpreter(name):
        return _interpreted(argv, interpreter(name))
    return InnerCommands()


def _wrapped(argv: Sequence[str], wrapper: Wrapper) -> InnerCommands:
    at = 1
    left = wrapper.operands
    found: list[InnerCommand] = []
    while at < len(argv):
        word = argv[at]
        option, equals, value = word.partition("=")
        letter, behind = _lettered(word, wrapper)
        if option in wrapper.text or letter in wrapper.text:
            text = value if option in wrapper.text and equals else behind
            at += 1 if text else 2
            text = text or " ".join(argv[at - 1 : at])
            rest = argv[at:] if wrapper.assigns else ()  # they are added to the text, as words
            found.append(InnerCommand(" ".join((text, *map(shlex.quote, rest))), fed=wrapper.fed))
        elif word == "--":
            at += 1
            break
        elif word in wrapper.valued or letter in wrapper.valued:
            at += 1 if behind and word not in wrapper.valued else 2
        elif (word.startswith("-") and (word != "-" or wrapper.assigns)) or (
            wrapper.assigns and _ASSIGNS.match(word)
        ):
            at += 1
        elif left:
            left -= 1
            at += 1
        else:
            break
    at += left if at < len(argv) and argv[at - 1] == "--" else 0
    if found:
        return InnerCommands(tuple(found), frozenset({"shell_text"}))
    if at >= len(argv):
        return InnerCommands()
    if wrapper.joined:
        return InnerCommands((InnerCommand(" ".join(argv[at:]), fed=wrapper.fed),), frozenset({"shell_text"}))
    return InnerCommands((InnerCommand((at, len(argv)), wrapper.fed),))


def _lettered(word: str, wrapper: Wrapper) -> tuple[str, str]:
    """The first letter of a cluster that takes a value, and what of the value stands in the same word."""
    if word.startswith("-") and not word.startswith("--"):
        for at, letter in enumerate(word[1:], 1):
            if f"-{letter}" in wrapper.valued | wrapper.text:
                return f"-{letter}", word[at + 1 :]
    return "", ""


def _verb(argv: Sequence[str], verbs: frozenset[str]) -> InnerCommands:
    at = next((place for place, word in enumerate(argv[1:6], 1) if word in verbs), None)
    if at is None:
        return InnerCommands()
    at += 1
    while at < len(argv) and argv[at].startswith("-"):
        at += (
            2
            if argv[at]
            in ("--with", "--python", "-p", "--group", "--extra", "-n", "--name", "--project", "--directory")
            else 1
        )
    return InnerCommands((InnerCommand((at, len(argv))),)) if at < len(argv) else InnerCommands()


def _shell(argv: Sequence[str], stdin: str | None) -> InnerCommands:
    for at, word in enumerate(argv[1:], 1):
        if re.fullmatch(r"[-+][A-Za-z]*c[A-Za-z]*", word) or word == "--command":
            text = next((rest for rest in argv[at + 1 :] if not re.fullmatch(r"[-+][A-Za-z]+|--", rest)), "")
            return InnerCommands((InnerCommand(text),), frozenset({"shell_text"}))
        if not word.startswith(("-", "+")) and argv[at - 1] not in _SHELL_VALUED:
            return InnerCommands()  # a script; the words behind it are its own
    if len(argv) == 2 and argv[1] in known().about_itself:
        return InnerCommands()
    return InnerCommands((InnerCommand(stdin),) if stdin is not None else (), frozenset({"shell_text"}))


def _interpreted(argv: Sequence[str], kind: str) -> InnerCommands:
    letters = "".join(sorted(known().interpreters[kind]))
    pattern = re.compile(rf"-[A-Za-z0-9]*[{letters}].*", re.DOTALL)
    for at, word in enumerate(argv[1:], 1):
        if word.partition("=")[0] in known().code_words:
            return InnerCommands((), frozenset({"one_liner"}))
        if kind in ("python", "pypy") and (module := re.fullmatch(r"-[A-Zbdiqsuvx]*m(.*)", word)):
            after = at + 1 if module[1] else at + 2
            name = (module[1] or argv[at + 1] if after <= len(argv) else "").split(".")[0]
            if not name or name in known().code_modules:
                return InnerCommands((), frozenset({"one_liner"}) if name else frozenset())
            return InnerCommands((InnerCommand((after, len(argv)), name=name),))
        if word in known().about_itself or word in known().reads_no_stream.get(kind, ()):
            return InnerCommands()
        if not word.startswith("--") and pattern.fullmatch(word):
            return InnerCommands((), frozenset({"one_liner"}))
        if not word.startswith("-") and argv[at - 1] not in known().code_valued:
            return InnerCommands()
        if word == "-":
            break
    return InnerCommands((), frozenset({"one_liner"}))  # the program comes from a stream


def _find(argv: Sequence[str]) -> InnerCommands:
    """`find … -exec PROGRAM … ;`: from each such option to its end."""
    runs: list[InnerCommand] = []
    start: int | None = None
    for at, word in enumerate(argv):
        if start is None and word in _FIND_RUNS:
            start = at + 1
        elif start is not None and (word == ";" or (word == "+" and argv[at - 1] == "{}")):
            runs.append(InnerCommand((start, at), fed=True))
            start = None
    if start is not None and start < len(argv):
        runs.append(InnerCommand((start, len(argv)), fed=True))
    return InnerCommands(tuple(runs))


def _fd(argv: Sequence[str]) -> InnerCommands:
    at = next(
        (place for place, word in enumerate(argv) if word in ("-x", "-X", "--exec", "--exec-batch")), None
    )
    return (
        InnerCommands((InnerCommand((at + 1, len(argv)), fed=True),))
        if at is not None and at + 1 < len(argv)
        else InnerCommands()
    )


def _eval(argv: Sequence[str]) -> InnerCommands:
    return InnerCommands((InnerCommand(" ".join(argv[1:])),) if len(argv) > 1 else (), frozenset({"eval"}))


def _trap(argv: Sequence[str]) -> InnerCommands:
    words = [word for word in argv[1:] if not word.startswith("-")]
    return (
        InnerCommands((InnerCommand(words[0]),), frozenset({"eval"})) if len(words) > 1 else InnerCommands()
    )


def _alias(argv: Sequence[str]) -> InnerCommands:
    texts = [word.partition("=")[2] for word in argv[1:] if "=" in word]
    return InnerCommands(
        tuple(InnerCommand(text) for text in texts), frozenset({"eval"}) if texts else frozenset()
    )


def _source(_argv: Sequence[str]) -> InnerCommands:
    return InnerCommands((), frozenset({"eval"}))


def _git(argv: Sequence[str]) -> InnerCommands:
    """`git -c alias.x='!…'`, `bisect run`, `submodule foreach`, `rebase --exec`."""
    for at, word in enumerate(argv[1:], 1):
        following = argv[at + 1] if at + 1 < len(argv) else ""
        if word == "-c" and "=!" in following:
            return InnerCommands((InnerCommand(following.partition("=!")[2]),), frozenset({"shell_text"}))
        if word == "run" and argv[at - 1] == "bisect":
            return InnerCommands((InnerCommand((at + 1, len(argv))),)) if following else InnerCommands()
        if word == "foreach" and "submodule" in argv[:at]:
            rest = [each for each in argv[at + 1 :] if not each.startswith("--")]
            return InnerCommands((InnerCommand(" ".join(rest)),), frozenset({"shell_text"}))
        if word in ("--exec", "-x") and "rebase" in argv[:at]:
            return InnerCommands((InnerCommand(following),), frozenset({"shell_text"}))
    return InnerCommands()


_SPECIAL: Mapping[str, Callable[[Sequence[str]], InnerCommands]] = {
    "find": _find,
    "fd": _fd,
    "fdfind": _fd,
    "eval": _eval,
    "trap": _trap,
    "alias": _alias,
    "source": _source,
    ".": _source,
    "git": _git,
}
