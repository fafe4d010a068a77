"""The catalogue files that a project has of its own: where they lie, and what a commit says in them."""

import re

from agentforge.catalog.extends import KINDS
from agentforge.system.bounded import SETTINGS_BYTES
from agentforge.system.git.repository import Git

OVERRIDES = tuple(f".agentforge/{folder}/" for folder in (*KINDS, "orchestration"))
"""The folders of a project's own catalogue files."""


_IS_CONTRACT = re.compile(r"^contract:", re.MULTILINE)


def read_overrides(git: Git, base: str, contracts_path: str = "") -> dict[str, str]:
    """The project's catalogue files of a commit, by path. Contracts may also lie in a folder that the user
    named; one of the usual folder comes before one of the same name there.
    """
    found: dict[str, str] = {}
    folder = f"{contracts_path.strip('/')}/" if contracts_path else None
    for entry in git.ls_tree(git.tree_of(base)):
        if entry.kind != "blob":
            continue
        if entry.path.startswith(OVERRIDES):
            found[entry.path] = _text(git, base, entry.path)
        elif folder and entry.path.startswith(folder) and entry.path.endswith(".yaml"):
            text = _text(git, base, entry.path)
            name = entry.path.removeprefix(folder)
            if "/" not in name and _IS_CONTRACT.search(text):
                found.setdefault(f".agentforge/contracts/{name}", text)
    return found


def _text(git: Git, base: str, path: str) -> str:
    return (git.read_blob(base, path, SETTINGS_BYTES) or b"").decode("utf-8", "replace")
