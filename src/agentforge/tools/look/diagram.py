"""The packages of a project as a graph: who imports whom, in which layer each stands, where the imports go
round. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentforge.languages.table import without_suffix

MAX_PACKAGES = 40
"""More than a reader can hold: deeper packages are then drawn as one."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """Packages by layer, the lowest first, and the rings among them."""

    layers: tuple[tuple[str, ...], ...]
    edges: Mapping[str, tuple[str, ...]]
    """Package to those that it imports."""
    cycles: tuple[tuple[str, ...], ...]
    sizes: Mapping[str, int]
    """Package to how many files it has."""


def diagram(imports: Mapping[str, Iterable[str]], paths: Iterable[str], roots: Iterable[str]) -> Diagram:
    """From files and what each imports. `roots` are the folders that modules are imported from."""
    files = tuple(paths)
    depth = max((path.count("/") for path in files), default=0) + 1
    names = _packages(files, tuple(roots), depth)
    while depth > 1 and len(set(names.values())) > MAX_PACKAGES:
        depth -= 1
        names = _packages(files, tuple(roots), depth)
    edges: dict[str, set[str]] = {name: set() for name in names.values()}
    for path, targets in imports.items():
        edges[names[path]] |= {names[target] for target in targets if target in names} - {names[path]}
    rings = _rings(edges)
    level = _levels(edges, rings)
    layers = [
        tuple(sorted(name for name in edges if level[name] == at))
        for at in range(max(level.values(), default=-1) + 1)
    ]
    sizes = {name: sum(each == name for each in names.values()) for name in edges}
    cycles = tuple(sorted(tuple(sorted(ring)) for ring in set(rings.values()) if len(ring) > 1))
    return Diagram(
        tuple(layers), {name: tuple(sorted(found)) for name, found in edges.items()}, cycles, sizes
    )


def _packages(paths: Iterable[str], roots: tuple[str, ...], depth: int) -> dict[str, str]:
    """Each file's package: its folder below its root, dotted, cut at the depth; a module of the top is its
    own.
    """
    found = {}
    for path in paths:
        root = max(
            (each.strip("./") for each in roots if path.startswith(each.strip("./") + "/")),
            key=len,
            default="",
        )
        parts = without_suffix(path.removeprefix(f"{root}/" if root else "")).split("/")
        found[path] = ".".join(parts[:-1][:depth]) if len(parts) > 1 else parts[0]
    return found


def _rings(edges: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """Each node with those that it reaches and that reach it: a node alone, or a ring."""
    reached = {name: _reached(name, edges) for name in edges}
    return {
        name: frozenset({name} | {other for other in reached[name] if name in reached[other]})
        for name in edges
    }


def _reached(start: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for each in edges[waiting.pop()]:
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def _levels(edges: Mapping[str, Iterable[str]], rings: Mapping[str, frozenset[str]]) -> dict[str, int]:
    """How many steps down each stands above the ground; the members of a ring stand together."""
    below = {
        ring: {rings[each] for name in ring for each in edges[name]} - {ring} for ring in set(rings.values())
    }
    level: dict[frozenset[str], int] = {}
    # Rings form no ring, so each round finds at least one whose ground is known.
    while len(level) < len(below):
        ready = [ring for ring, under in below.items() if ring not in level and under <= level.keys()]
        level |= {ring: max((level[each] + 1 for each in below[ring]), default=0) for ring in ready}
    return {name: level[rings[name]] for name in edges}


def render(found: Diagram) -> str:
    """The layers from the top down, each package with what it imports."""
    rows = []
    for at in range(len(found.layers) - 1, -1, -1):
        rows.append(f"layer {at}")
        for name in found.layers[at]:
            targets = ", ".join(found.edges[name])
            rows.append(f"  {name} ({found.sizes[name]})" + (f" -> {targets}" if targets else ""))
    rows += [f"cycle: {' <-> '.join(ring)}" for ring in found.cycles] or ["no cycles between packages"]
    return "\n".join(rows)
