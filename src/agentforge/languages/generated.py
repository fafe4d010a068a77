"""What set-up generated, over another checkout of the project."""

import shutil
from pathlib import Path

from agentforge.languages.values import Environment


def lay_generated(environment: Environment, into: Path) -> None:
    """Copy what set-up generated over another checkout of the project. What the checkout has itself stays."""
    for relative in environment.generated:
        origin, target = environment.source / relative, into / relative
        if target.is_symlink() or target.exists() or not _leads_inside(into, target):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(origin, target, follow_symlinks=False)


def _leads_inside(root: Path, target: Path) -> bool:
    """Whether writing to `target` stays below `root`: a directory on the way may be a link."""
    return target.parent.resolve().is_relative_to(root.resolve())
