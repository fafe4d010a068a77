"""How much harm a command line could do: low, medium, high or critical, part by part, each with its reason.

The class is the highest of all parts. What is dynamic is at least high; what is unknown is at least medium.
It is a hint for asking and a bar for what nobody should ever run; the boundary is the sandbox.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from agentforge.commands import program_risks
from agentforge.commands.command_line import Arg, CommandLine, Mark, Part, parse
from agentforge.commands.lookalikes import as_read, misleads
from agentforge.commands.places import PathPlace, normalise, place, places_of
from agentforge.commands.program_risks import RiskFinding
from agentforge.commands.programs import RISKS, Risk, known
from agentforge.commands.wrappers import interpreter

_NO_VALUE = re.compile(r"-[acFHhilnqrsSuvwxz]+")
"""Options that have no value in any of the programs that begin with a text."""
_INDEX = re.compile(r"\w\[[^\]]*(?:\$\(|`)")
_MARK_REASONS: dict[Mark, tuple[Risk, str]] = {
    "expansion": ("high", "expands a variable"),
    "substitution": ("high", "substitutes the output of a command"),
    "computed_name": ("high", "the name of the program is computed"),
    "eval": ("high", "runs text as commands"),
    "shell_text": ("high", "runs text in a shell"),
    "one_liner": ("high", "runs code that is not in a file"),
    "here_document": ("high", "holds a here-document"),
    "function": ("high", "defines a function"),
    "nested_too_deeply": ("critical", "is nested too deeply, or too long, to be read"),
    "unparsable": ("high", "cannot be read as a command line"),
}
_TOUCHED: dict[str, tuple[Risk, str]] = {
    "socket": ("critical", "opens a network connection"),
    "device": ("critical", "touches the device {}"),
    "secret": ("critical", "touches keys or credentials: {}"),
    "secret_name": ("high", "may touch keys or credentials: {}"),
    "account": ("high", "touches {}"),
    "startup": ("high", "touches the start-up file {}"),
    "whole": ("medium", "looks at all of {}"),
    "system": ("medium", "looks outside of the project: {}"),
    "home": ("medium", "looks outside of the project: {}"),
    "outside": ("medium", "looks outside of the project: {}"),
}
_REDIRECTED: dict[str, tuple[Risk, str]] = {
    **_TOUCHED,
    "account": ("critical", "writes {}"),
    "system": ("critical", "writes into {}"),
    "whole": ("critical", "writes over {}"),
    "home": ("high", "writes outside of the project: {}"),
    "outside": ("high", "writes outside of the project: {}"),
    "startup": ("high", "writes the start-up file {}"),
    "unknown": ("high", "writes to an unknown place"),
    "runs_later": ("high", "writes what runs later or by itself: {}"),
    "inside": ("medium", "writes {}"),
}


@dataclass(frozen=True, slots=True)
class PartRisk:
    """The risk of one part of a line, and the reasons for it."""

    part: Part
    risk: Risk
    reasons: tuple[str, ...]
    network: bool = False


@dataclass(frozen=True, slots=True)
class Assessment:
    """The risk of a whole line, part by part and together."""

    line: CommandLine
    parts: tuple[PartRisk, ...]
    risk: Risk
    reason: str
    """Of the worst part."""
    network: bool
    """True if a part is known to use the network."""


class _Stage(NamedTuple):
    """What is known about the commands in front of a place in a pipeline."""

    downloads: int
    decodes: int
    private: int
    any: int


def worst(risks: Iterable[Risk]) -> Risk:
    """The highest of these risks; low if there are none."""
    return RISKS[max((RISKS.index(risk) for risk in risks), default=0)]


def assess(command: str | Sequence[str]) -> Assessment:
    """The risk of a line of shell or of a list of words. Nothing is run. A line that a person would read as a
    worse one is as bad as that one.
    """
    found = _assess(command)
    read = as_read(command) if isinstance(command, str) else [as_read(word) for word in command]
    if read == (command if isinstance(command, str) else list(command)):
        return found
    worse = _assess(read)
    if RISKS.index(worse.risk) <= RISKS.index(found.risk):
        return found
    return replace(
        found, risk=worse.risk, reason=f"has letters that are not what they seem, and reads: {worse.reason}"
    )


def _assess(command: str | Sequence[str]) -> Assessment:
    line = parse(command)
    bases = _bases(line)
    own = [list(_own_findings(line, at, bases[at])) for at in range(len(line.parts))]
    for at, finding in _pipeline_risks(line, bases):
        own[at].append(finding)
    judged = tuple(_part_risk(part, found) for part, found in zip(line.parts, own, strict=True))
    risk = worst([each.risk for each in judged] + (["high"] if line.problem else []))
    reason = next((each.reasons[0] for each in judged if each.risk == risk and each.reasons), "")
    if not reason and line.problem:
        reason = f"cannot be read as a command line: {line.problem}"
    return Assessment(line, judged, risk, reason, any(each.network for each in judged))


def _part_risk(part: Part, found: Sequence[RiskFinding]) -> PartRisk:
    ordered = sorted(found, key=lambda item: -RISKS.index(item.risk))
    reasons = dict.fromkeys(item.reason for item in ordered if item.reason)
    network = part.name in known().network or any(
        "network" in reason or "fetches" in reason for reason in reasons
    )
    return PartRisk(part, worst(item.risk for item in found), tuple(reasons), network)


def _own_findings(line: CommandLine, at: int, base: str) -> Iterator[RiskFinding]:
    part = line.parts[at]
    for mark in sorted(part.marks):
        yield RiskFinding(*_MARK_REASONS[mark])
    if "computed_name" in part.marks and "substitution" in part.marks:
        yield RiskFinding("critical", "the name of the program is the output of another")
    for name in _variables(part):
        if known().changes_programs(name):
            yield RiskFinding("high", f"sets {name}, which changes what programs do")
    if any(_INDEX.search(value.text) for _, value in part.assignments):
        yield RiskFinding("high", "sets a variable to an index that runs what is substituted in it")
    if any(misleads(arg.text, name=not at) for at, arg in enumerate(part.argv) if " " not in arg.text):
        yield RiskFinding("high", "has letters that are not what they seem")
    yield from _redirections(part, base)
    if part.argv:
        if part.name in line.functions:
            yield RiskFinding("medium", "calls a function of the line")
        # The program all the same: a definition further on, or in a branch that is not taken, hides nothing.
        yield from program_risks.program(part, base, _source(line, at, base))
        printed = part.name in known().traits.prints_words and not any(each.fed for each in line.parts)
        if not printed and part.relation != "wrapped":  # the words of what is wrapped are among its host's
            yield from _path_risks(part, base)


def _variables(part: Part) -> Iterator[str]:
    """What the part sets, for itself or by a program that does so for others."""
    yield from (name for name, _ in part.assignments)
    if part.name in known().traits.sets_variables:
        yield from (word.partition("=")[0].removesuffix("+") for word in part.words if "=" in word)


def _redirections(part: Part, base: str) -> Iterator[RiskFinding]:
    for item in part.redirections:
        if item.operator in ("<<", "<<-", "<<<"):
            continue
        target = place(item.target.text, base, unknown_start=item.target.starts_unknown)
        table = _REDIRECTED if item.writes else _TOUCHED
        if target.kind in table and target.path not in (
            "/dev/null",
            "/dev/stderr",
            "/dev/stdout",
            "/dev/stdin",
        ):
            risk, reason = table[target.kind]
            yield RiskFinding(risk, reason.format(target.path))


def _path_risks(part: Part, base: str) -> Iterator[RiskFinding]:
    for arg in _perhaps_paths(part):
        text = arg.text.strip()
        if any(char.isspace() for char in text):
            if arg.known:
                continue  # prose and programs, not a path
            text = text.split(maxsplit=1)[0]  # the blanks are those of a substitution, which may add nothing
        for each in places_of(text, base, unknown_start=arg.starts_unknown):
            if each.kind in _TOUCHED:
                risk, reason = _TOUCHED[each.kind]
                yield RiskFinding(risk, reason.format(each.path))


def _perhaps_paths(part: Part) -> Sequence[Arg]:
    """The words that may name files: not the text that some programs begin with. Behind an option that may
    have a value nobody knows which word is that text.
    """
    words = part.argv[1:]
    if part.name in known().traits.first_is_text:
        for at, word in enumerate(words):
            if not _NO_VALUE.fullmatch(word.text):
                return (
                    words if word.text.startswith("-") or not word.known else (*words[:at], *words[at + 1 :])
                )
    return words


def _source(line: CommandLine, at: int, base: str) -> bool:
    """Whether words that come to a part from a stream can only name what is inside of the project."""
    part = line.parts[at]
    if not part.fed or part.host is None:
        return False
    host = at
    while line.parts[host].host is not None and line.parts[host].relation == "wrapped":
        host = line.parts[host].host or 0
    lister = line.parts[host]
    if lister.name not in known().traits.lists_files:
        number, stage = lister.stages[-1] if lister.stages else (0, 0)
        before = [
            each
            for each in line.parts[max(0, host - 3) : host]
            if each.stages and each.stages[-1] == (number, stage - 1)
        ]
        lister = before[-1] if before and stage else lister
    if lister.name not in known().traits.lists_files:
        return False
    operands = [word for word in lister.words if not word.startswith("-")]
    return all(place(word, base).kind in ("inside", "no_path", "runs_later") for word in operands) and all(
        arg.known for arg in lister.argv
    )


def _bases(line: CommandLine) -> list[str]:
    """For every part, the directory it would run in: after `cd`, not the project any more."""
    found: list[str] = []
    base = ""
    for part in line.parts:
        found.append(base)
        if part.name in ("cd", "pushd") and part.relation in ("line", "text"):
            target = next(
                (arg for arg in part.argv[1:] if not arg.text.startswith("-") or arg.text == "-"), None
            )
            if target is None:
                base = "~"
            elif target.starts_unknown or target.text == "-":
                base = "?"
            else:
                base = normalise(target.text, base)
                base = "" if base == "." else base
    return found


# What only shows between parts.


def _pipeline_risks(line: CommandLine, bases: Sequence[str]) -> Iterator[tuple[int, RiskFinding]]:
    stages = _stages(line, bases)
    for at, part in enumerate(line.parts):
        reads = _reads_program(part)
        for number, place_in in part.stages:
            before = stages[number]
            if reads and before.any < place_in:
                yield at, RiskFinding("high", "a pipe into an interpreter")
            if reads and before.downloads < place_in:
                yield at, RiskFinding("critical", "runs what was downloaded")
            if reads and before.decodes < place_in:
                yield at, RiskFinding("critical", "runs what was hidden by an encoding")
            if part.name in known().network and before.private < place_in:
                yield at, RiskFinding("critical", "sends private files over the network")
    yield from _runs_output_of_downloads(line)
    yield from _recursive(line)
    yield from _runs_downloads(line)


def _stages(line: CommandLine, bases: Sequence[str]) -> dict[int, _Stage]:
    far = 1 << 30
    found: dict[int, _Stage] = {}
    for part, base in zip(line.parts, bases, strict=True):
        downloads = part.name in known().traits.downloads
        decodes = part.name in known().traits.decodes
        private = part.name in ("env", "printenv", "set", "export") and len(part.argv) == 1
        private = private or any(item.kind in ("whole", "secret", "account") for item in _places(part, base))
        for number, at in part.stages:
            old = found.get(number, _Stage(far, far, far, far))
            found[number] = _Stage(
                min(old.downloads, at if downloads else far),
                min(old.decodes, at if decodes else far),
                min(old.private, at if private else far),
                min(old.any, at),
            )
    return found


def _places(part: Part, base: str) -> Iterator[PathPlace]:
    for arg in part.argv[1:]:
        yield from places_of(arg.text, base)


def _reads_program(part: Part) -> bool:
    """Whether a part takes its program from a stream."""
    kind = interpreter(part.name)
    if not kind:
        return part.name in ("eval", "source", ".")
    operands = [word for word in part.words if not word.startswith("-")]
    if part.fed or "/dev/stdin" in operands or "/dev/fd/0" in operands or "-s" in part.words:
        return True
    return not operands and ("shell_text" in part.marks or "one_liner" in part.marks)


def _runs_output_of_downloads(line: CommandLine) -> Iterator[tuple[int, RiskFinding]]:
    """Downloads whose output becomes the program: `sh -c "$(curl …)"`, `bash <(curl …)`, `$(curl …)`."""
    runs: list[bool] = []
    for at, part in enumerate(line.parts):
        host = part.host
        above = runs[host] if host is not None and host < at else False
        if above and part.relation == "substitution" and part.name in known().traits.downloads:
            yield at, RiskFinding("critical", "runs what was downloaded")
        if above and part.relation == "substitution" and part.name in known().traits.decodes:
            yield at, RiskFinding("critical", "runs what was hidden by an encoding")
        itself = (
            bool(interpreter(part.name))
            or part.name in ("eval", "source", ".", "xargs")
            or "computed_name" in part.marks
        )
        runs.append(itself or above)


def _recursive(line: CommandLine) -> Iterator[tuple[int, RiskFinding]]:
    for at, part in enumerate(line.parts):
        if part.function and part.name == part.function:
            yield at, RiskFinding("critical", "a function that calls itself: a fork bomb")


def _runs_downloads(line: CommandLine) -> Iterator[tuple[int, RiskFinding]]:
    """A file that the line downloads and then runs."""
    names: set[str] = set()
    for at, part in enumerate(line.parts):
        if part.name in known().traits.downloads or part.name == "git":
            words = [*part.words, *(item.target.text for item in part.redirections if item.writes)]
            if part.name != "git":
                names |= {word.rstrip("/").rpartition("/")[2] for word in words if not word.startswith("-")}
            continue
        program = part.argv[0].text if part.argv else ""
        ran = {part.name} if "/" in program else set()
        if interpreter(part.name) or part.name in ("source", "."):
            ran |= {word.rpartition("/")[2] for word in part.words if not word.startswith("-")}
        if names & ran:
            yield at, RiskFinding("critical", "runs what was downloaded")
