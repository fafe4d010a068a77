"""What a role wrote, formatted as the project's own formatter does it: no step is spent on blanks and line
ends.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from agentforge.activities.world import World
from agentforge.core.state import RunView
from agentforge.languages.measures import same_code
from agentforge.tools.base import ToolResult

NOTE = "Then formatted as the project's formatter does it; lines may have moved."


def format_written(world: World, state: RunView, results: Iterable[ToolResult]) -> frozenset[str]:
    """Formats the files that these results wrote, and says which it changed. Where a formatter would change
    more than the looks of a file, or had not been used on it before, the file stays as it is.
    """
    wrote = {path for result in results for path in result.wrote}
    if not wrote or not state.stage.needs_environment or world.baseline_record(state).lint.status != "ran":
        return frozenset()
    texts = _texts(world, wrote)
    after = _formatted(world, state, texts)
    before = {path: text for path in after if (text := _base_text(world, state, path)) is not None}
    untidy = _formatted(world, state, before)
    taken = {
        path: text
        for path, text in after.items()
        if path not in untidy and same_code(texts[path], text, path)
    }
    for path, text in taken.items():
        (world.workspace.worktree / path).write_bytes(text.encode())
    return frozenset(taken)


def noted(result: ToolResult, formatted: frozenset[str]) -> ToolResult:
    """What came of a write, with a word about its formatting."""
    if not formatted.intersection(result.wrote):
        return result
    return replace(result, text=f"{result.text}\n{NOTE}")


def _formatted(world: World, state: RunView, texts: Mapping[str, str]) -> dict[str, str]:
    if not texts:
        return {}
    runs = world.language(state).runs
    return runs.formatted(world.sandbox, world.environment(state), world.workspace.worktree, texts)


def _texts(world: World, paths: Iterable[str]) -> dict[str, str]:
    """These files of the worktree, as far as they are plain text; one that leads elsewhere is not read."""
    top = world.workspace.worktree.resolve()
    found = {}
    for path in sorted(paths):
        place = top / path
        if place.is_symlink() or not place.is_file() or not place.resolve().is_relative_to(top):
            continue
        try:
            found[path] = place.read_bytes().decode()
        except UnicodeDecodeError:
            continue
    return found


def _base_text(world: World, state: RunView, path: str) -> str | None:
    data = world.workspace.git.read_blob(state.base_tree, path)
    return None if data is None else data.decode("utf-8", "replace")
