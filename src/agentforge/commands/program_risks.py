"""The risk of one program with its words: by name, by verb, by flags, and by the places it would change."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from agentforge.commands.command_line import Arg, Part
from agentforge.commands.places import PlaceKind, place
from agentforge.commands.programs import Risk, RiskRow, known
from agentforge.commands.wrappers import interpreter

_STANDARD = re.compile(r"(/usr(/local)?)?/s?bin/[^/]+|[^/]+")
_GIT_VALUED = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}
)
_AWK_RUNS = re.compile(r"system\s*\(|(?<!\|)\|(?!\|)|print[^;}\n]*>|getline|@load|@include|\bclose\s*\(")
_SED_RUNS = re.compile(
    r"(^|[;{}\n\d$,/!])\s*[eErRwW](\s|$)|([/|#,@])[gpiIm0-9]*[ew][gpiIm0-9]*(\s*[;}\n]|\s+\S|$)"
    # A substitution to its end, whose last letters run what it made, or name a file right behind them.
    r"|(?:^|[;{}\s\d$!/])s(?P<edge>[^\w\s\\])(?:(?:\\.|(?!(?P=edge)).)*(?P=edge)){2}[gpiIm0-9]*[ew]",
    re.DOTALL,
)
_SED_BEGINS = re.compile(r"\s*(?:\d+|\$|/[^/]*/)(?:,(?:\d+|\$|/[^/]*/))?\s*!?\s*[eErRwW]|[eErRwW]\s")
_SED_FLAG = re.compile(r"--expression=|-[nErsuz]*e")
_IN_PLACE = re.compile(r"-[a-zA-Z]*i.*|--in-place.*")
_VERSION = re.compile(r"(?<=^pip)[0-9.]+$|(?<=^pytest)-[0-9.]+$")
_SETUID = re.compile(r"[0-7]*[2-7][0-7]{3}|.*[ug]?[+=][rwx]*s.*")
_SHORTEST = 5
"""Of a long flag that is cut: two letters say too little."""
_LONGEST = 20_000
_NOWHERE: frozenset[PlaceKind] = frozenset({"whole", "system", "device", "secret", "account", "socket"})


class RiskFinding(NamedTuple):
    """One risk that a program with its words has, and the reason."""

    risk: Risk
    reason: str


def program(part: Part, base: str, fed_from_inside: bool) -> Iterator[RiskFinding]:  # noqa: FBT001  a fact of the line
    """Every risk that the program of a part has."""
    name, words = _VERSION.sub("", part.name), part.words
    row = known().row(name)
    if row is not None and row.risk == "critical":
        yield RiskFinding("critical", f"`{name}` {row.reason}")
    elif name in _SPECIAL:
        yield from _SPECIAL[name](part, base)
    elif name in known().verbs:
        yield from _verbs(name, words, row or RiskRow("medium", "builds, tests or runs"))
    elif row is not None and row.risk == "high":
        yield RiskFinding("high", f"`{name}` {row.reason}")
    elif interpreter(name):
        yield from _interpreter(part, base)
    elif not _STANDARD.fullmatch(part.argv[0].text):
        yield RiskFinding("medium", f"runs the program {part.argv[0].text}")
    elif row is not None:
        yield RiskFinding(row.risk, f"`{name}` {row.reason}" if row.reason else "")
    else:
        yield RiskFinding("medium", f"`{name}` is not a program we know")
    yield from _flags(name, words)
    yield from _patterns(name, words)
    yield from _write_risks(part, base)
    yield from _runs_after(part, base)
    if name == "rm":
        yield from _rm(part, base, fed_from_inside)


def split(words: Sequence[str]) -> tuple[set[str], list[str]]:
    """Flags (each letter of a cluster by itself, long ones without their value) and operands."""
    flags: set[str] = set()
    operands: list[str] = []
    for at, word in enumerate(words):
        if word == "--":
            operands += words[at + 1 :]
            break
        if word.startswith("--"):
            flags.add(word.partition("=")[0])
        elif word.startswith("-") and len(word) > 1:
            flags |= {f"-{letter}" for letter in word[1:]} | {word}
        else:
            operands.append(word)
    return flags, operands


def _long(flags: set[str], name: str, shortest: int) -> bool:
    """A long flag or any unambiguous beginning of it."""
    return any(flag.startswith("--") and len(flag) >= shortest and name.startswith(flag) for flag in flags)


def _operands(part: Part) -> list[Arg]:
    operands: list[Arg] = []
    for at, arg in enumerate(part.argv[1:], 1):
        if arg.text == "--":
            operands += part.argv[at + 1 :]
            break
        if not arg.text.startswith("-") or arg.text == "-":
            operands.append(arg)
    return operands


def _rm(part: Part, base: str, fed_from_inside: bool) -> Iterator[RiskFinding]:  # noqa: FBT001  a fact of the line
    flags, _ = split(part.words)
    recursive = bool(flags & {"-r", "-R"}) or _long(flags, "--recursive", 4)
    yield RiskFinding(
        "high", "deletes files" if not recursive else "deletes directories with all that is in them"
    )
    if _long(flags, "--no-preserve-root", 6):
        yield RiskFinding("critical", "deletes the root of the machine")
    for arg in _operands(part):
        where = place(arg.text, base, unknown_start=arg.starts_unknown)
        if where.kind in _NOWHERE:
            yield RiskFinding("critical", f"deletes {where.path}")
        elif recursive and where.kind == "unknown":
            yield RiskFinding("critical", "deletes an unknown directory")
    if part.fed and recursive and not fed_from_inside:
        yield RiskFinding("critical", "deletes directories whose names come from a stream")


def _write_risks(part: Part, base: str) -> Iterator[RiskFinding]:
    """Places that a program would write or change."""
    name, traits = part.name, known().traits
    operands = _operands(part)
    if name in traits.writes_last:
        targets = operands if name == "mv" else operands[-1:]
        targets += [
            Arg(word.partition("=")[2]) for word in part.words if word.startswith("--target-directory=")
        ]
        targets += _behind(part, frozenset({"-t"}))
    elif name in traits.writes_all or (
        name == "sed" and any(_IN_PLACE.fullmatch(word) for word in part.words)
    ):
        targets = operands
    else:
        targets = []
    targets = targets + _behind(part, known().writes_after.get(name, frozenset()))
    for arg in targets:
        where = place(arg.text, base, unknown_start=arg.starts_unknown)
        if where.kind in _NOWHERE:
            yield RiskFinding("critical", f"changes {where.path}")
        elif where.kind in ("home", "outside", "startup") and not where.path.startswith("/tmp/"):  # noqa: S108  a place for anyone's files
            yield RiskFinding("high", f"changes what is outside of the project: {where.path}")
        elif where.kind == "runs_later":
            yield RiskFinding("high", f"changes what runs later or by itself: {where.path}")


def _runs_after(part: Part, base: str) -> Iterator[RiskFinding]:
    """What a program is told to run, if that lies outside of the project."""
    for arg in _behind(part, known().runs_after.get(part.name, frozenset())):
        where = place(arg.text, base, unknown_start=arg.starts_unknown)
        if where.kind not in ("inside", "no_path", "runs_later"):
            yield RiskFinding("high", f"runs a program from outside of the project: {where.path}")


def _behind(part: Part, options: frozenset[str]) -> list[Arg]:
    """The words that follow one of these options, or that stand in one word with it."""
    found = [part.argv[at + 1] for at, arg in enumerate(part.argv[:-1]) if arg.text in options]
    for arg in part.argv[1:]:
        name, equals, value = arg.text.partition("=")
        if equals and name in options:
            found.append(replace(arg, text=value))
        elif arg.text[:2] in options and arg.text[2:].startswith(("/", "~", ".")):
            found.append(replace(arg, text=arg.text[2:]))
    return found


def _flags(name: str, words: Sequence[str]) -> Iterator[RiskFinding]:
    rows = known().flags.get(name)
    if not rows:
        return
    for word in words:
        if word == "--":
            return
        found = (
            rows.get(word)
            or rows.get(_whole(word.partition("=")[0], rows))
            or (rows.get(word[:2]) if word.startswith(("-", "+")) else None)
        )
        if found:
            yield RiskFinding(found.risk, f"`{name} {word[:40]}` {found.reason}")


def _whole(word: str, flags: Iterable[str]) -> str:
    """The long flag that a word is the beginning of, as programs let their flags be cut; else the word."""
    if not word.startswith("--") or len(word) < _SHORTEST or word in known().whole_flags:
        return word
    return next((flag for flag in sorted(flags) if flag.startswith(word)), word)


def _patterns(name: str, words: Sequence[str]) -> Iterator[RiskFinding]:
    joined = " ".join(words)[:_LONGEST]
    for pattern, row in known().patterns.get(name, ()):
        if pattern.search(joined):
            yield RiskFinding(row.risk, f"`{name}` {row.reason}")


def _verbs(name: str, words: Sequence[str], usual: RiskRow) -> Iterator[RiskFinding]:
    rows = known().verbs[name]
    operands = split(words)[1][:4]
    for run in known().run_verbs.get(name, ()):
        operands = operands[: operands.index(run) + 1] if run in operands else operands
    first = operands[0] if operands else next(iter(words), "")
    found = {word: rows[word] for word in (*operands, first) if word in rows}
    high = next((word for word, row in found.items() if row.risk == "high"), None)
    if high:
        yield RiskFinding("high", f"`{name} {high}` {found[high].reason}")
    elif first in found and found[first].risk == "low":
        yield RiskFinding("low", "")
    else:
        yield RiskFinding(usual.risk, f"`{name}` {usual.reason}")
    for word in (*operands, *(word for word in words if word.startswith("-"))):
        if word in rows and rows[word].risk == "critical":
            yield RiskFinding("critical", rows[word].reason)
    if name in ("docker", "podman") and _mounts_root(words):
        yield RiskFinding("critical", "a container with the rights of the machine")


def _mounts_root(words: Sequence[str]) -> bool:
    return any(re.match(r"(?:.*=)?(/|~|/etc|/var/run/docker\.sock|/root|/home):", word) for word in words)


def _interpreter(part: Part, base: str) -> Iterator[RiskFinding]:
    if part.words and set(part.words) <= known().about_itself:
        yield RiskFinding("low", "")
        return
    scripts = [arg for arg in _operands(part) if arg.text != "-"][:1]
    for script in scripts:
        where = place(script.text, base, unknown_start=script.starts_unknown)
        if (
            where.kind not in ("inside", "no_path", "runs_later")
            and "one_liner" not in part.marks
            and "shell_text" not in part.marks
        ):
            yield RiskFinding("high", f"runs a program from outside of the project: {where.path}")
    yield RiskFinding("medium", f"`{part.name}` runs a program")


def _find(part: Part, base: str) -> Iterator[RiskFinding]:
    yield RiskFinding("low", "")
    starts = [arg for arg in part.argv[1:] if not arg.text.startswith(("-", "(", "!"))][:1]
    if "-delete" in part.words:
        for arg in starts:
            where = place(arg.text, base, unknown_start=arg.starts_unknown)
            if where.kind in _NOWHERE or where.kind == "unknown":
                yield RiskFinding("critical", f"deletes what is in {where.path}")


def _change_mode(part: Part, _base: str) -> Iterator[RiskFinding]:
    yield RiskFinding("high", "changes permissions")
    operands = _operands(part)
    if (
        part.name == "chmod"
        and operands
        and _SETUID.fullmatch(operands[0].text)
        and operands[0].text.strip("0") not in ("", "2", "5")
    ):
        modes = operands[0].text
        if not modes.isdigit() or len(modes.lstrip("0")) >= 4:
            yield RiskFinding("critical", "lets a program run with its owner's rights")


def _install(part: Part, _base: str) -> Iterator[RiskFinding]:
    yield RiskFinding("medium", "`install` builds, tests or writes")
    modes = [word.removeprefix("--mode=").removeprefix("-m") for word in part.words]
    if any(_SETUID.fullmatch(mode) and (not mode.isdigit() or len(mode.lstrip("0")) >= 4) for mode in modes):
        yield RiskFinding("critical", "lets a program run with its owner's rights")


def _dd(part: Part, base: str) -> Iterator[RiskFinding]:
    yield RiskFinding("high", "copies raw data")
    for word in part.words:
        if word.startswith("of=") and place(word[3:], base).kind in _NOWHERE:
            yield RiskFinding("critical", f"writes over {word[3:]}")


def _kill(part: Part, _base: str) -> Iterator[RiskFinding]:
    yield RiskFinding("high", "ends processes")
    if part.words[-1:] in (("-1",), ("1",)) and (len(part.words) > 1 or part.words == ("1",)):
        yield RiskFinding("critical", "ends every process")


def _awk(part: Part, _base: str) -> Iterator[RiskFinding]:
    flags, operands = split(part.words)
    runs = bool(flags & {"-f", "--file", "-i", "--include", "-l", "--load", "-e", "--source", "-E", "--exec"})
    if runs or any(_AWK_RUNS.search(word) for word in operands[:3]):
        yield RiskFinding("high", "a program of awk that runs others or writes files")
    else:
        yield RiskFinding("low", "")


def _sed_programs(words: Sequence[str]) -> Iterator[str]:
    """The texts that may be programs: those of flags, and whatever is no flag."""
    for word in words:
        if not word.startswith("-"):
            yield word
        elif _SED_FLAG.match(word):
            yield _SED_FLAG.sub("", word)


def _sed(part: Part, _base: str) -> Iterator[RiskFinding]:
    if any(re.fullmatch(r"-[a-zA-Z]*f.*|--file.*", word) for word in part.words):
        yield RiskFinding("high", "a program of sed from a file")
    if any(_SED_RUNS.search(text) or _SED_BEGINS.match(text) for text in _sed_programs(part.words)):
        yield RiskFinding("high", "a program of sed that may run others or write files")
    writes = any(_IN_PLACE.fullmatch(word) for word in part.words)
    yield RiskFinding("medium" if writes else "low", "writes files" if writes else "")


def _git(part: Part, _base: str) -> Iterator[RiskFinding]:
    words = part.words
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("--version", "--help"):
        if words[at] in ("-c", "--config-env") or words[at].startswith(
            ("-c", "--exec-path=", "--config-env=")
        ):
            yield RiskFinding("high", "gives git another configuration")
        at += 2 if words[at] in _GIT_VALUED else 1
    verb = words[at] if at < len(words) else "help"
    rest = words[at + 1 :]
    row = known().verbs["git"].get(verb)
    risky = known().git_flags.get(verb, frozenset())
    flags, operands = split(rest)
    named = {_whole(word.partition("=")[0], risky) for word in rest} | flags
    if verb == "config":
        yield from _git_config(rest)
    elif row is not None and row.risk == "high":
        yield RiskFinding("high", f"`git {verb}` {row.reason}")
        if verb in known().git_network:
            yield RiskFinding("high", "uses the network")
    elif named & risky or (
        verb == "checkout" and any(word in (".", "./") or "*" in word for word in operands)
    ):
        yield RiskFinding("high", f"`git {verb}` with this flag loses work, writes a file or runs a program")
    elif row is not None:
        yield RiskFinding("low", "")
    elif verb in ("branch", "tag", "remote", "stash", "reflog", "worktree") and (
        not operands or operands[0] in ("list", "show", "-v") or "--list" in flags
    ):
        if verb == "stash" and not operands:
            yield RiskFinding("medium", "`git stash` puts work away")
        else:
            yield RiskFinding("low", "")
    else:
        yield RiskFinding("medium", f"`git {verb}` changes the repository")


def _git_config(rest: Sequence[str]) -> Iterator[RiskFinding]:
    flags, operands = split(rest)
    reads = (
        bool(flags & {"--get", "--get-all", "--get-regexp", "--list", "-l"})
        or operands[:1] in (["get"], ["list"])
        or len(operands) == 1
    )
    if reads and not flags & {"--unset", "--unset-all", "--edit", "-e", "--remove-section"}:
        yield RiskFinding("low", "")
    else:
        yield RiskFinding("high", "changes the configuration of git, which can run programs")


def _alone(_part: Part, _base: str) -> Iterator[RiskFinding]:
    """`env` and `printenv` without a program show every secret of the environment."""
    yield RiskFinding("medium", "shows or sets the environment")


def _hostname(part: Part, _base: str) -> Iterator[RiskFinding]:
    named = any(not word.startswith("-") for word in part.words)
    yield RiskFinding("high" if named else "low", "names the machine" if named else "")


def _remove(_part: Part, _base: str) -> Iterator[RiskFinding]:
    """Judged by `_rm`, which must also know where its words come from."""
    yield from ()


_SPECIAL: Mapping[str, Callable[[Part, str], Iterator[RiskFinding]]] = {
    "rm": _remove,
    "find": _find,
    "chmod": _change_mode,
    "chown": _change_mode,
    "chgrp": _change_mode,
    "dd": _dd,
    "install": _install,
    "kill": _kill,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "nawk": _awk,
    "sed": _sed,
    "git": _git,
    "env": _alone,
    "printenv": _alone,
    "hostname": _hostname,
}
