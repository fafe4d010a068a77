"""Programs that run other programs: where in their words the other one starts, or which word is a text of
commands.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agentforge.commands.programs import Wrapper, known

_ASSIGNS = re.compile(r"[A-Za-z_]\w*=")


class Inner(NamedTuple):
    """One thing that a program would run."""

    command: tuple[int, int] | str
    """A slice of its words, the program's name counted; or a text of shell."""
    fed: bool = False
    name: str = ""
    """Put in front of the slice, where the program is named by an option."""


@dataclass(frozen=True, slots=True)
class Runs:
    """What a program would run, and what about it is dynamic."""

    runs: tuple[Inner, ...] = ()
    marks: frozenset[str] = frozenset()


_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def base_name(word: str) -> str:
    """A program without its directory."""
    return word.rstrip("/").rpartition("/")[2]


def interpreter(name: str) -> str:
    """The kind of interpreter that a program is, without its version; empty if it is none."""
    if name in known().shells:
        return name
    kind = name.rstrip("0123456789.")
    return kind if kind in known().interpreters else ""


def inner_of(argv: Sequence[str], stdin: str | None) -> Runs:
    """What a command would run in turn. `stdin` is the text it would read, where the line holds it."""
    if not argv:
        return Runs()
    name = base_name(argv[0])
    if name in known().shells:
        return _shell(argv, stdin)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(argv)
    if name in known().wrappers:
        return _wrapped(argv, known().wrappers[name])
    if name in known().run_verbs:
        return _verb(argv, known().run_verbs[name])
    if interpreter(name):
        return _interpreted(argv, interpreter(name))
    return Runs()


def _wrapped(argv: Sequence[str], wrapper: Wrapper) -> Runs:
    at = 1
    left = wrapper.operands
    found: list[Inner] = []
    while at < len(argv):
        word = argv[at]
        option, equals, value = word.partition("=")
        if option in wrapper.text:
            found.append(Inner(value if equals else " ".join(argv[at + 1 : at + 2]), fed=wrapper.fed))
            at += 1 if equals else 2
        elif word == "--":
            at += 1
            break
        elif word in wrapper.valued:
            at += 2
        elif (word.startswith("-") and word != "-") or (wrapper.assigns and _ASSIGNS.match(word)):
            at += 1
        elif left:
            left -= 1
            at += 1
        else:
            break
    at += left if at < len(argv) and argv[at - 1] == "--" else 0
    if found:
        return Runs(tuple(found), frozenset({"shell_text"}))
    if at >= len(argv):
        return Runs()
    if wrapper.joined:
        return Runs((Inner(" ".join(argv[at:]), fed=wrapper.fed),), frozenset({"shell_text"}))
    return Runs((Inner((at, len(argv)), wrapper.fed),))


def _verb(argv: Sequence[str], verbs: frozenset[str]) -> Runs:
    at = next((place for place, word in enumerate(argv[1:6], 1) if word in verbs), None)
    if at is None:
        return Runs()
    at += 1
    while at < len(argv) and argv[at].startswith("-"):
        at += (
            2
            if argv[at]
            in ("--with", "--python", "-p", "--group", "--extra", "-n", "--name", "--project", "--directory")
            else 1
        )
    return Runs((Inner((at, len(argv))),)) if at < len(argv) else Runs()


def _shell(argv: Sequence[str], stdin: str | None) -> Runs:
    for at, word in enumerate(argv[1:], 1):
        if re.fullmatch(r"[-+][A-Za-z]*c[A-Za-z]*", word) or word == "--command":
            text = next((rest for rest in argv[at + 1 :] if not re.fullmatch(r"[-+][A-Za-z]+|--", rest)), "")
            return Runs((Inner(text),), frozenset({"shell_text"}))
        if word in ("-o", "+o", "-O", "--rcfile", "--init-file"):
            continue
        if not word.startswith(("-", "+")) and argv[at - 1] not in ("-o", "+o", "-O"):
            return Runs()  # a script; the words behind it are its own
    if len(argv) == 2 and argv[1] in known().about_itself:
        return Runs()
    return Runs((Inner(stdin),) if stdin is not None else (), frozenset({"shell_text"}))


def _interpreted(argv: Sequence[str], kind: str) -> Runs:
    letters = "".join(sorted(known().interpreters[kind]))
    pattern = re.compile(rf"-[A-Za-z0-9]*[{letters}].*", re.DOTALL)
    for at, word in enumerate(argv[1:], 1):
        if word.partition("=")[0] in known().code_words:
            return Runs((), frozenset({"one_liner"}))
        if kind in ("python", "pypy") and (module := re.fullmatch(r"-[A-Zbdiqsuvx]*m(.*)", word)):
            after = at + 1 if module[1] else at + 2
            name = (module[1] or argv[at + 1] if after <= len(argv) else "").split(".")[0]
            if not name or name in known().code_modules:
                return Runs((), frozenset({"one_liner"}) if name else frozenset())
            return Runs((Inner((after, len(argv)), name=name),))
        if word in known().about_itself:
            return Runs()
        if not word.startswith("--") and pattern.fullmatch(word):
            return Runs((), frozenset({"one_liner"}))
        if not word.startswith("-"):
            return Runs()
        if word == "-":
            break
    return Runs((), frozenset({"one_liner"}))  # the program comes from a stream


def _found(argv: Sequence[str]) -> Runs:
    """`find … -exec PROGRAM … ;`: from each such option to its end."""
    runs: list[Inner] = []
    start: int | None = None
    for at, word in enumerate(argv):
        if start is None and word in _FIND_RUNS:
            start = at + 1
        elif start is not None and (word == ";" or (word == "+" and argv[at - 1] == "{}")):
            runs.append(Inner((start, at), fed=True))
            start = None
    if start is not None and start < len(argv):
        runs.append(Inner((start, len(argv)), fed=True))
    return Runs(tuple(runs))


def _fd(argv: Sequence[str]) -> Runs:
    at = next(
        (place for place, word in enumerate(argv) if word in ("-x", "-X", "--exec", "--exec-batch")), None
    )
    return Runs((Inner((at + 1, len(argv)), fed=True),)) if at is not None and at + 1 < len(argv) else Runs()


def _eval(argv: Sequence[str]) -> Runs:
    return Runs((Inner(" ".join(argv[1:])),) if len(argv) > 1 else (), frozenset({"eval"}))


def _trap(argv: Sequence[str]) -> Runs:
    words = [word for word in argv[1:] if not word.startswith("-")]
    return Runs((Inner(words[0]),), frozenset({"eval"})) if len(words) > 1 else Runs()


def _alias(argv: Sequence[str]) -> Runs:
    texts = [word.partition("=")[2] for word in argv[1:] if "=" in word]
    return Runs(tuple(Inner(text) for text in texts), frozenset({"eval"}) if texts else frozenset())


def _source(_argv: Sequence[str]) -> Runs:
    return Runs((), frozenset({"eval"}))


def _git(argv: Sequence[str]) -> Runs:
    """`git -c alias.x='!…'`, `bisect run`, `submodule foreach`, `rebase --exec`."""
    for at, word in enumerate(argv[1:], 1):
        following = argv[at + 1] if at + 1 < len(argv) else ""
        if word == "-c" and "=!" in following:
            return Runs((Inner(following.partition("=!")[2]),), frozenset({"shell_text"}))
        if word == "run" and argv[at - 1] == "bisect":
            return Runs((Inner((at + 1, len(argv))),)) if following else Runs()
        if word == "foreach" and "submodule" in argv[:at]:
            rest = [each for each in argv[at + 1 :] if not each.startswith("--")]
            return Runs((Inner(" ".join(rest)),), frozenset({"shell_text"}))
        if word in ("--exec", "-x") and "rebase" in argv[:at]:
            return Runs((Inner(following),), frozenset({"shell_text"}))
    return Runs()


_SPECIAL: Mapping[str, Callable[[Sequence[str]], Runs]] = {
    "find": _found,
    "fd": _fd,
    "fdfind": _fd,
    "eval": _eval,
    "trap": _trap,
    "alias": _alias,
    "source": _source,
    ".": _source,
    "git": _git,
}
