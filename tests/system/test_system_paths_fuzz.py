"""Any path in a tree of real links stays inside or is refused, as the system itself would have it. `make
fuzz` tries many more.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import ModelMistake
from agentforge.system.beneath import by_kernel, by_walking, read_beneath
from agentforge.system.files import resolve_inside
from tests.fuzzing import tries

SECRET = b"of outside"
PARTS = ["a", "b", "c", "d", "f", "..", ".", "", "..", ".git", "~", "\u200c.git", ".GIT", "x" * 300]
PATHS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=6).map("/".join)
TARGETS = st.one_of(
    PATHS,
    st.sampled_from(
        ["/", "/etc", "ROOT", "ROOT/a", "OUTSIDE", "OUTSIDE/f", "../outside", "/proc/self/root", "/dev/fd/0"]
    ),
)


@contextmanager
def tree(links: list[tuple[str, str]]) -> Iterator[Path]:
    """Directories, files, and links that lead anywhere."""
    with tempfile.TemporaryDirectory() as place:
        root, outside = Path(os.path.realpath(place), "tree"), Path(os.path.realpath(place), "outside")
        for folder in (root / "a/b", root / ".git", outside):
            folder.mkdir(parents=True)
        for path in (root / "a/f", root / "a/b/f", root / ".git/f"):
            path.write_bytes(b"inside")
        (outside / "f").write_bytes(SECRET)
        for name, target in links:
            with suppress(OSError):
                (root / name).symlink_to(
                    target.replace("ROOT", str(root)).replace("OUTSIDE", str(outside)) or "."
                )
        yield root


LINKS = st.lists(
    st.tuples(st.sampled_from(["b", "c", "d", "f", "a/c", "a/d", "a/b/c", "a/b/d"]), TARGETS), max_size=5
)


@tries(40)
@given(LINKS, PATHS)
def test_a_path_is_refused_or_is_the_one_that_the_system_means(
    links: list[tuple[str, str]], path: str
) -> None:
    with tree(links) as root:
        try:
            found = resolve_inside(root, path)
        except ModelMistake:
            return
        assert found.is_relative_to(root)
        assert not any(part.casefold().strip("\u200c") == ".git" for part in found.relative_to(root).parts)
        assert os.path.realpath(found) == str(found), "a link is left in it"
        meant = Path(os.path.realpath(root / path))
        # Where something does not exist, `..` behind it means nothing to the system.
        if (root / path).exists():
            assert found == meant


@tries(40)
@given(LINKS, PATHS)
def test_reading_gives_what_is_inside_or_nothing(links: list[tuple[str, str]], path: str) -> None:
    with tree(links) as root:
        for attempt in (path, _resolved(root, path)):
            with suppress(ModelMistake, OSError, ValueError):
                assert read_beneath(root, attempt, 100) == b"inside"


@tries(40)
@given(LINKS, PATHS)
def test_the_kernel_and_the_walk_agree(links: list[tuple[str, str]], path: str) -> None:
    kernel = by_kernel()
    parts = [part for part in path.split("/") if part]
    if kernel is None or path.startswith("/") or not parts or ".." in parts:
        return  # nobody asks either of them
    with tree(links) as root:
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            walked, asked = (_opened(how, top, path) for how in (by_walking, kernel))
        finally:
            os.close(top)
        assert not (walked and SECRET in walked)
        assert not (asked and SECRET in asked)
        assert asked == walked


def _opened(how: object, top: int, path: str) -> bytes | None:
    try:
        fd = how(top, path, os.O_RDONLY | os.O_NONBLOCK, 0)  # type: ignore[operator] # either of the two ways
    except (OSError, ModelMistake):
        return None
    try:
        return os.read(fd, 100)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _resolved(root: Path, path: str) -> str:
    try:
        return str(resolve_inside(root, path).relative_to(root))
    except ModelMistake:
        return path
