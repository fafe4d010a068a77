"""The rules about one file at a time that have a limit, or that a project declares. Pure."""

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import TypeAlias

from agentforge.catalog.checks import CodeCheck
from agentforge.gates.conformance.subject import CheckedProject, Hit
from agentforge.languages.readings import FileReading

SingleRule: TypeAlias = Callable[[str, FileReading, CodeCheck, CheckedProject], Iterator[Hit]]


def _line_length(path: str, reading: FileReading, check: CodeCheck, _: CheckedProject) -> Iterator[Hit]:
    for line in reading.long_lines:
        if line.length > (check.limit or 0):
            message = f"{line.length} characters; {check.limit} is the limit"
            yield Hit(path, line.line, "", message, line.mark)


def _file_length(path: str, reading: FileReading, check: CodeCheck, _: CheckedProject) -> Iterator[Hit]:
    if reading.lines > (check.limit or 0):
        message = f"the file has {reading.lines} lines; {check.limit} is the limit"
        yield Hit(path, 1, "", message, "", reading.lines)


def _function_length(path: str, reading: FileReading, check: CodeCheck, _: CheckedProject) -> Iterator[Hit]:
    for function in reading.functions:
        if function.lines > (check.limit or 0):
            message = f"`{function.name}` has {function.lines} lines; {check.limit} is the limit"
            yield Hit(path, function.line, function.name, message, "", function.lines)


def _complexity(path: str, reading: FileReading, check: CodeCheck, _: CheckedProject) -> Iterator[Hit]:
    for function in reading.functions:
        if function.ways > (check.limit or 0):
            message = f"`{function.name}` has complexity {function.ways}; {check.limit} is the limit"
            yield Hit(path, function.line, function.name, message, "", function.ways)


def _injection(path: str, reading: FileReading, _: CodeCheck, project: CheckedProject) -> Iterator[Hit]:
    rule = project.rules.injection
    if rule is None or rule.allows(path):
        return
    for made in reading.made:
        if any(_is_called(made.name, pattern) for pattern in rule.names):
            name = made.name.rpartition(".")[2]
            yield Hit(path, made.line, made.symbol, f"`{name}` is made here and not given", made.mark)


def _auth(path: str, reading: FileReading, _: CodeCheck, project: CheckedProject) -> Iterator[Hit]:
    rule = project.rules.endpoints
    if rule is None:
        return
    for route in reading.routes:
        endpoint = any(_is_called(name, each) for name in route.decorators for each in rule.decorators)
        if endpoint and route.name not in rule.open and not rule.protected_by & {*route.used}:
            message = f"the endpoint `{route.name}` asks nobody who they are"
            yield Hit(path, route.line, route.name, message, route.mark)


def _is_called(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"*.{pattern}")


SINGLE: Mapping[str, SingleRule] = {
    "line-length": _line_length,
    "max-file-length": _file_length,
    "max-function-length": _function_length,
    "max-complexity": _complexity,
    "dependency-injection": _injection,
    "auth-required": _auth,
}
"""Rules that are more than the places a reader found."""
