"""The rules about which file may import which, from the imports in their source. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from agentforge.catalog.checks import CodeCheck
from agentforge.gates.conformance.cycles import cycles
from agentforge.gates.conformance.declared import Area
from agentforge.gates.conformance.subject import CheckedProject, Hit
from agentforge.languages.readings import ImportedName, mark_of

AcrossRule: TypeAlias = Callable[[CheckedProject, CodeCheck, Sequence[str]], Iterator[Hit]]


def _edges(project: CheckedProject, paths: Sequence[str]) -> Iterator[tuple[str, ImportedName, str]]:
    """Every import between two files of the project, once for each pair in a line."""
    seen: set[tuple[str, int, str]] = set()
    for path in paths:
        for item in project.readings[path].imports:
            for target in project.modules.targets(path, item):
                if (path, item.line, target) not in seen:
                    seen.add((path, item.line, target))
                    yield path, item, target


def _place(path: str, item: ImportedName, message: str) -> Hit:
    return Hit(path, item.line, "", message, item.mark)


def _layers(project: CheckedProject, _: CodeCheck, paths: Sequence[str]) -> Iterator[Hit]:
    layers = project.rules.layers
    for path, item, target in _edges(project, paths):
        for way in project.rules.closed:
            if way.forbids(path, target):
                yield _place(path, item, f"`{target}` is closed to it ({way.name})")
        mine, other = _index(layers, path), _index(layers, target)
        if mine is None or other is None or mine == other:
            continue
        here, there = layers[mine], layers[other]
        if there.level < here.level:
            yield _place(path, item, f"`{target}` is in the layer {there.name}, above {here.name}")
        elif there.level == here.level and here.alone:
            yield _place(path, item, f"`{target}` is in {there.name}, which keeps apart from {here.name}")


def _index(areas: Sequence[Area], path: str) -> int | None:
    return next((number for number, area in enumerate(areas) if area.has(path)), None)


def _interfaces(project: CheckedProject, _: CodeCheck, paths: Sequence[str]) -> Iterator[Hit]:
    for path, item, target in _edges(project, paths):
        for area in project.rules.interfaces:
            if area.has(target) and not area.has(path) and not area.shows(target):
                yield _place(
                    path, item, f"`{target}` is inside of {area.name}, which others use from outside"
                )


def _contexts(project: CheckedProject, _: CodeCheck, paths: Sequence[str]) -> Iterator[Hit]:
    contexts = project.rules.contexts
    for path, item, target in _edges(project, paths):
        here, there = _index(contexts, path), _index(contexts, target)
        if here is None or there is None or here == there or contexts[there].shows(target):
            continue
        yield _place(path, item, f"`{target}` belongs to {contexts[there].name}, and it is not shared")


def _repositories(project: CheckedProject, _: CodeCheck, paths: Sequence[str]) -> Iterator[Hit]:
    rule = project.rules.repositories
    assert rule is not None
    for path in paths:
        if rule.allows(path):
            continue
        seen: set[int] = set()
        for item in project.readings[path].imports:
            whole = f"{item.module}.{item.name}" if item.name else item.module
            used = next((name for name in rule.names if f"{whole}.".startswith(f"{name}.")), None)
            if used is not None and item.line not in seen:
                seen.add(item.line)
                yield _place(path, item, f"`{used}` is the data store, which only repositories use")


def _cycles(project: CheckedProject, _: CodeCheck, paths: Sequence[str]) -> Iterator[Hit]:
    graph: dict[str, dict[str, ImportedName]] = {}
    for path, item, target in _edges(project, sorted(project.readings)):
        if item.when in ("load", "maybe") and item.level >= 0:
            graph.setdefault(path, {}).setdefault(target, item)
    wanted = frozenset(paths)
    for members in cycles({path: list(targets) for path, targets in graph.items()}):
        mine = [path for path in members if path in wanted]
        if mine:
            first = mine[0]
            at = members.index(first)
            turned = [*members[at:], *members[:at]]
            item = graph[first][turned[1]]
            way = " → ".join((*turned, first))
            mark = mark_of(" ".join(sorted(members)))
            yield Hit(first, item.line, "", f"imports go round: {way}", mark, len(members))


def _import_order(project: CheckedProject, _: CodeCheck, paths: Sequence[str]) -> Iterator[Hit]:
    for path in paths:
        highest: dict[int, int] = {}
        told: set[int] = set()
        for item in sorted(project.readings[path].imports):
            if not item.block or item.block in told:
                continue
            group = project.modules.group(path, item)
            if group < highest.get(item.block, 0):
                told.add(item.block)
                yield _place(path, item, f"`{item.module or '.'}` belongs before the imports above it")
            highest[item.block] = max(group, highest.get(item.block, 0))


def _resolve(project: CheckedProject, _: CodeCheck, paths: Sequence[str]) -> Iterator[Hit]:
    for path in paths:
        seen: set[tuple[int, str]] = set()
        for item in project.readings[path].imports:
            missing = project.modules.missing(path, item)
            if missing and (item.line, missing) not in seen:
                seen.add((item.line, missing))
                yield _place(path, item, f"`{missing}` is imported, and there is no such module")


ARCHITECTURE: Mapping[str, AcrossRule] = {
    "layer-dependencies": _layers,
    "interface-segregation": _interfaces,
    "bounded-contexts": _contexts,
    "repository-pattern": _repositories,
    "no-circular-imports": _cycles,
    "import-order": _import_order,
    "imports-resolve": _resolve,
}
"""The rules that need to know which files there are."""
