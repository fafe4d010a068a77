"""The packages of a project in another checkout of it: links to what set-up installed, and to the checkout's
own packages where set-up linked the project's.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentforge.languages.values import Environment

MODULES = "node_modules"
_WRITTEN = (".vite", ".vite-temp", ".vitest", ".cache")
"""What runners write beside the packages; a run gets these for itself."""


@contextmanager
def laid_modules(env: Environment, tree: Path, out: Path) -> Iterator[None]:
    """The packages, for as long as a run takes. What the checkout has itself stays."""
    made: list[Path] = []
    try:
        for folder in _folders(env.source):
            target = tree / folder.relative_to(env.source)
            if target.parent.is_dir() and not target.exists() and not target.is_symlink():
                made.append(target)
                _lay(folder, target, env.source, tree)
        top = tree / MODULES
        if top in made:
            for name in _WRITTEN:
                (out / name).mkdir(exist_ok=True)
                if not (top / name).is_symlink():
                    (top / name).symlink_to(out / name)
        yield
    finally:
        for target in made:
            shutil.rmtree(target, ignore_errors=True)


def _folders(source: Path) -> Iterator[Path]:
    """Every folder of packages that is in no other one."""
    for place, folders, _ in os.walk(source):
        if MODULES in folders:
            yield Path(place) / MODULES
        folders[:] = [name for name in folders if name not in (MODULES, ".git")]


def _lay(folder: Path, target: Path, source: Path, tree: Path) -> None:
    target.mkdir()
    for entry in os.scandir(folder):
        if entry.name in _WRITTEN:
            continue
        if entry.name.startswith("@") and entry.is_dir(follow_symlinks=False):
            _lay(Path(entry.path), target / entry.name, source, tree)
        else:
            (target / entry.name).symlink_to(_own(Path(entry.path), source, tree))


def _own(entry: Path, source: Path, tree: Path) -> Path:
    """Where a package is: one of the project's own is that of the checkout."""
    real = entry.resolve()
    inside = real.relative_to(source.resolve()) if real.is_relative_to(source.resolve()) else None
    return entry if inside is None or MODULES in inside.parts else tree / inside
