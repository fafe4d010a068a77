"""The catalogue files that a project has of its own: where they lie, and what a commit says in them."""

from agentforge.catalog.extends import KINDS
from agentforge.system.bounded import SETTINGS_BYTES
from agentforge.system.git.repository import Git

OVERRIDES = tuple(f".agentforge/{folder}/" for folder in (*KINDS, "orchestration"))
"""The folders of a project's own catalogue files."""


def read_overrides(git: Git, base: str) -> dict[str, str]:
    """The project's catalogue files of a commit, by path."""
    found = {}
    for entry in git.ls_tree(git.tree_of(base)):
        if entry.path.startswith(OVERRIDES) and entry.kind == "blob":
            found[entry.path] = (git.read_blob(base, entry.path, SETTINGS_BYTES) or b"").decode(
                "utf-8", "replace"
            )
    return found
