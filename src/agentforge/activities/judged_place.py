"""The checkout that linters and type checkers look at: the tree, with the settings that judge it as the base
has them.

A role cannot loosen what judges it. Where the request names the file or the tool, the new settings count, and
the reviewer rules on them, as on every change of such settings.
"""

from pathlib import Path

from agentforge.activities.world import World
from agentforge.core.state import State
from agentforge.gates.change.shadows import is_named
from agentforge.languages.interface import checker_settings


def judged_place(world: World, state: State, tree: str) -> Path:
    """A pristine checkout of a tree, but for settings of checkers that nobody asked to change."""
    settled = world.once("judged", state.base_tree, tree, make=lambda: _settled(world, state, tree))
    return world.workspace.pristine(settled, state.base_commit)


def _settled(world: World, state: State, tree: str) -> str:
    git = world.workspace.git
    taken: dict[str, tuple[str, str] | None] = {}
    base = {entry.path: (entry.mode, entry.oid) for entry in git.ls_tree(state.base_tree)}
    for change in git.diff_names(state.base_tree, tree):
        texts = ((git.read_blob(each, change.path) or b"") for each in (state.base_tree, tree))
        before, after = (checker_settings(text.decode("utf-8", "replace"), change.path) for text in texts)
        others = [tool for tool in {**before, **after} if before.get(tool) != after.get(tool)]
        name = change.path.rpartition("/")[2]
        if others and not is_named([change.path, name, *others], state.request):
            taken[change.path] = base.get(change.path)
    return git.overlay_tree(tree, taken) if taken else tree
