"""Which programs we start ourselves: those that the user's PATH names, never one that lies in the repository
at hand.
"""

import os
import shutil
from functools import lru_cache
from pathlib import Path


def find_program(name: str, here: Path | None = None) -> str | None:
    """The program of this name on the PATH of the user, seen from a directory; None if there is none."""
    return shutil.which(name, path=search_path(here))


def search_path(here: Path | None = None) -> str:
    """The user's PATH without what is relative, and without what lies in the checkout that `here` is in."""
    return _search_path(os.environ.get("PATH", os.defpath), here or Path.cwd())


@lru_cache(maxsize=64)
def _search_path(path: str, here: Path) -> str:
    top = next((place for place in (here, *here.parents) if os.path.lexists(place / ".git")), None)
    places = [place for place in path.split(os.pathsep) if place.startswith("/")]
    if top is not None:
        real = top.resolve()
        places = [place for place in places if not Path(place).resolve().is_relative_to(real)]
    return os.pathsep.join(places)
