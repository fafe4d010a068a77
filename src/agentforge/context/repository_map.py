"""A map of a repository for a step: which files there are, and what they define. Pure."""

from collections.abc import Callable, Mapping, Sequence

from agentforge.languages.symbols import outline
from agentforge.languages.table import is_source
from agentforge.languages.values import Symbol

MAP_FILES_PARSED = 1500


def repo_map(files: Mapping[str, Callable[[], str]], budget: int) -> str:
    """What is where, in at most `budget` characters: as much detail as fits for all files alike, code before
    tests.
    """
    ordered = sorted(files, key=lambda path: ("test" in path.lower(), path))
    outlines: dict[str, list[Symbol]] = {}
    if len(ordered) <= MAP_FILES_PARSED:
        outlines = {path: outline(files[path](), path) for path in ordered if is_source(path)}
    for with_methods, with_names in ((True, True), (False, True), (False, False)):
        text = "\n".join(
            _map_line(path, outlines.get(path, []) if with_names else [], with_methods=with_methods)
            for path in ordered
        )
        if len(text) <= budget:
            return text
    return _folders(ordered, budget)


def _map_line(path: str, symbols: Sequence[Symbol], *, with_methods: bool) -> str:
    names = []
    for symbol in symbols:
        if "." in symbol.name or (symbol.kind == "variable" and not symbol.name.isupper()):
            continue
        own = [
            other.name.rpartition(".")[2]
            for other in symbols
            if with_methods and other.name.rpartition(".")[0] == symbol.name
        ]
        public = list(dict.fromkeys(name for name in own if not name.startswith("_")))
        names.append(f"{symbol.name}({', '.join(public)})" if public else symbol.name)
    return f"{path}: {', '.join(dict.fromkeys(names))}" if names else path


def _folders(paths: Sequence[str], budget: int) -> str:
    """Folders with their number of files; what does not fit is counted."""
    counts: dict[str, int] = {}
    for path in paths:
        folder = path.rpartition("/")[0] or "."
        counts[folder] = counts.get(folder, 0) + 1
    lines = [f"{folder}/ {count} files" for folder, count in counts.items()]
    kept: list[str] = []
    room = budget - 30
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*kept, f"and {left} more folders"] if left else kept)[: max(budget, 0)]
