"""What the rules are asked about: the readings of a project, and a place that one of them is broken in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from agentforge.gates.conformance.declared import ProjectRules
from agentforge.languages.conformance import Modules
from agentforge.languages.readings import FileReading


class Hit(NamedTuple):
    """A place where a check is not kept."""

    path: str
    line: int
    symbol: str
    message: str
    mark: str
    measure: int = 0
    doubtful: bool = False
    """Whether a comment asks tools to overlook it, or it may well be an example."""


@dataclass(frozen=True, slots=True)
class CheckedProject:
    """A project as its checks see it."""

    readings: Mapping[str, FileReading]
    rules: ProjectRules
    modules: Modules
