"""The ways in which imports go round. Pure, and linear in the imports."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence


def cycles(graph: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Of each knot of files that need one another, one shortest way round through its first file by name."""
    return sorted(_shortest(graph, min(knot), knot) for knot in _knots(graph) if len(knot) > 1)


def _shortest(graph: Mapping[str, Sequence[str]], start: str, knot: set[str]) -> list[str]:
    before: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for target in graph.get(node, ()):
            if target == start:
                way = [node]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if target in knot and target not in before:
                before[target] = node
                waiting.append(target)
    return [start]


def _knots(graph: Mapping[str, Sequence[str]]) -> Iterator[set[str]]:
    """Strongly connected parts (Tarjan), with a stack of its own: a chain of imports may be long."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    held: list[str] = []
    on_stack: set[str] = set()
    for root in sorted(graph):
        if root in order:
            continue
        work = [(root, iter(graph.get(root, ())))]
        order[root] = low[root] = len(order)
        held.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    knot: set[str] = set()
                    while node not in knot:
                        on_stack.discard(held[-1])
                        knot.add(held.pop())
                    yield knot
            elif target not in order:
                order[target] = low[target] = len(order)
                held.append(target)
                on_stack.add(target)
                work.append((target, iter(graph.get(target, ()))))
            elif target in on_stack:
                low[node] = min(low[node], order[target])
