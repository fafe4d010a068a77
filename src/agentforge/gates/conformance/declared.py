"""What a project declares about its architecture and its limits: `conformance` in its settings, beside what
its own tools are told. What it does not declare is *not configured*.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentforge.catalog.checks import Blocks, CodeCheck, own_checks
from agentforge.catalog.project_checks import ProjectCheck
from agentforge.core.errors import UsageError
from agentforge.languages.conformance import tool_layers, tool_limits, tool_ways
from agentforge.languages.described import Read
from agentforge.languages.readings import Layer
from agentforge.system.globs import Glob, glob, matches_any


@dataclass(frozen=True, slots=True)
class Area:
    """Some files of a project, under a name."""

    name: str
    files: tuple[Glob, ...]
    shown: tuple[Glob, ...] = ()
    """Those of them that others may use; none: no other file may use any."""
    level: int = 0
    """Of a layer: how far from the top."""
    alone: bool = False
    """Of a layer: whether it keeps apart from others of its level."""

    def has(self, path: str) -> bool:
        """Whether a file belongs to it."""
        return matches_any(self.files, path) is not None

    def shows(self, path: str) -> bool:
        """Whether others may use a file of it."""
        return matches_any(self.shown, path) is not None


@dataclass(frozen=True, slots=True)
class ClosedTo:
    """Files that may not import others."""

    name: str
    sources: tuple[Glob, ...]
    targets: tuple[Glob, ...]

    def forbids(self, path: str, target: str) -> bool:
        """Whether one file may not import the other."""
        inside = matches_any(self.sources, path) is not None
        return inside and path != target and matches_any(self.targets, target) is not None


@dataclass(frozen=True, slots=True)
class LimitedUse:
    """What only some files may do."""

    names: tuple[str, ...]
    only_in: tuple[Glob, ...]

    def allows(self, path: str) -> bool:
        """Whether a file is one of them."""
        return matches_any(self.only_in, path) is not None


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Which functions are endpoints, and what protects one."""

    decorators: tuple[str, ...]
    protected_by: frozenset[str]
    open: frozenset[str]


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """The rules of one project."""

    checks: Mapping[str, CodeCheck]
    """Every check that is on, with the project's limit and weight."""
    named: frozenset[str] = frozenset()
    """Those that its settings name."""
    off: frozenset[str] = frozenset()
    layers: tuple[Area, ...] = ()
    """The highest first."""
    interfaces: tuple[Area, ...] = ()
    contexts: tuple[Area, ...] = ()
    repositories: LimitedUse | None = None
    injection: LimitedUse | None = None
    endpoints: Endpoints | None = None
    exclude: tuple[Glob, ...] = ()
    roots: tuple[str, ...] = ()
    strict: bool = False
    own: Mapping[str, ProjectCheck] = field(default_factory=dict)
    """The rules of the project, which are among the checks."""
    closed: tuple[ClosedTo, ...] = ()
    """Ways between files that a tool of the project closes; they belong to its layers."""

    def configured(self, check: CodeCheck) -> bool:
        """Whether the project has said what the check needs."""
        has = bool(check.needs and getattr(self, check.needs))
        return not check.needs or has or (check.needs == "layers" and bool(self.closed))


def declared(
    settings: Mapping[str, Any],
    read: Read = lambda _: None,
    own: Mapping[str, ProjectCheck] | None = None,
) -> ProjectRules:
    """The rules of a project by its valid settings; what they leave out, by what its own tools are told."""
    said: Mapping[str, Any] = settings.get("conformance") or {}
    rows: Mapping[str, Any] = said.get("checks") or {}
    strict = bool(settings.get("strict", False))
    mine = own or {}
    known = {**own_checks(), **{name: each.check for name, each in mine.items()}}
    if unknown := sorted(rows.keys() - known.keys()):
        raise UsageError(
            f"conformance.checks: there is no check `{unknown[0]}`.", "`agentforge check --list` lists them."
        )
    for name, limit in tool_limits(read).items():
        known[name] = replace(known[name], limit=limit)
    for name, row in rows.items():
        known[name] = _changed(known[name], row)
    layers = tuple(replace(_area(row), level=level) for level, row in enumerate(said.get("layers", ())))
    off = frozenset(name for name, row in rows.items() if row.get("off"))
    kept = {
        name: replace(check, blocks=_weight(check, is_named=name in rows, strict=strict))
        for name, check in known.items()
        if name not in off
    }
    repositories, injection = said.get("repositories"), said.get("injection")
    return ProjectRules(
        kept,
        frozenset(rows),
        off,
        layers or tuple(_linted(layer) for layer in tool_layers(read)),
        tuple(_area(row, "through") for row in said.get("interfaces", ())),
        tuple(_area(row, "shares") for row in said.get("contexts", ())),
        LimitedUse(tuple(repositories["access"]), _globs(repositories["only_in"])) if repositories else None,
        LimitedUse(tuple(injection["classes"]), _globs(injection["only_in"])) if injection else None,
        _endpoints(said.get("endpoints")),
        _globs(said.get("exclude", ())),
        tuple(settings.get("import_roots", ())),
        strict,
        mine,
        tuple(
            ClosedTo(way.name, tuple(map(glob, way.sources)), tuple(map(glob, way.targets)))
            for way in tool_ways(read)
        ),
    )


def _weight(check: CodeCheck, *, is_named: bool, strict: bool) -> Blocks:
    if strict:
        return "always"
    if check.blocks == "when_declared":
        return "always" if is_named else "never"
    return check.blocks


def _changed(check: CodeCheck, row: Mapping[str, Any]) -> CodeCheck:
    return replace(
        check,
        limit=row.get("limit", check.limit),
        severity=row.get("severity", check.severity),
        blocks=row.get("blocks", check.blocks),
    )


def _area(row: Mapping[str, Any], shown: str = "") -> Area:
    name = row.get("name") or ", ".join(row["in"])
    return Area(name, _globs(row["in"]), _globs(row.get(shown, ())) if shown else ())


def _linted(layer: Layer) -> Area:
    """A layer that a tool of the project is told of."""
    return Area(layer.name, tuple(map(glob, layer.patterns)), level=layer.level, alone=True)


def _endpoints(row: Mapping[str, Any] | None) -> Endpoints | None:
    if not row:
        return None
    return Endpoints(tuple(row["decorators"]), frozenset(row["protected_by"]), frozenset(row.get("open", ())))


def _globs(patterns: Sequence[str]) -> tuple[Glob, ...]:
    """A folder stands for all that is in it."""
    return tuple(
        glob(pattern if any(mark in pattern for mark in "*?.") else f"{pattern.rstrip('/')}/**")
        for pattern in patterns
    )
