"""What tools make: what set-up generated, over another checkout of the project; folders that nobody writes by
hand.
"""

import shutil
from pathlib import Path

from agentforge.languages.values import Environment


def lay_generated(environment: Environment, into: Path) -> None:
    """Copy what set-up generated over another checkout of the project. What the checkout has itself stays."""
    for folder, part in environment.parts.values():
        lay_generated(part, into / folder if folder else into)
    for relative in () if environment.parts else environment.generated:
        origin, target = environment.source / relative, into / relative
        if target.is_symlink() or target.exists() or not _leads_inside(into, target):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(origin, target, follow_symlinks=False)


def _leads_inside(root: Path, target: Path) -> bool:
    """Whether writing to `target` stays below `root`: a directory on the way may be a link."""
    return target.parent.resolve().is_relative_to(root.resolve())


MADE_FOLDERS = frozenset(
    {"node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", "htmlcov"}
)
MADE_ENDINGS = (".egg-info", ".dist-info")


def is_in_made_folder(path: str) -> bool:
    """Whether a file lies where only tools write, though it was committed."""
    folders = path.split("/")[:-1]
    return any(folder in MADE_FOLDERS or folder.endswith(MADE_ENDINGS) for folder in folders)
