"""Any patch on a real tree: all of it is done or none, and nothing outside is touched. `make fuzz` tries many
more.
"""

import difflib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import ModelMistake
from agentforge.tools.base import ToolResult, Workbench
from agentforge.tools.change.patching import apply_patch
from tests.fuzzing import tries

SECRET = "of outside\n"
NAMES = [
    "a.txt",
    "b.txt",
    "d/c.txt",
    "new.txt",
    "d/e/new.txt",
    "link",
    "link/f.txt",
    "dang",
    "in",
    "d",
    ".",
    "..",
    "../outside/f.txt",
]
NAMES += [
    "/dev/null",
    ".git/config",
    ".GIT/x",
    "a.txt/x",
    "d/../a.txt",
    "../tree/a.txt",
    "/etc/x",
    "~/x",
    '"q\\"x"',
    "sp ace",
    "é",
]
LINES = st.sampled_from(["a", "b", "c", "", "-- x", "++ y", "@@ -1 +1 @@", "é", "x\r"])
TEXTS = st.lists(LINES, max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))
NOISE = [
    "--- a/a.txt\n",
    "+++ b/a.txt\n",
    "@@ -1 +1 @@\n",
    "-a\n",
    "+b\n",
    " c\n",
    "diff --git a/a.txt b/b.txt\n",
    "rename from a.txt\n",
]
NOISE += [
    "rename to ../x\n",
    "new file mode 120000\n",
    "deleted file mode 100644\n",
    "old mode 100644\n",
    "new mode 100755\n",
    "\\ No newline\n",
]
NOISE += [
    "similarity index 100%\n",
    "copy from a.txt\n",
    "GIT binary patch\n",
    "Binary files a and b differ\n",
    "index 1..2 160000\n",
    "\n",
    "\0",
]


@contextmanager
def tree() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        root, outside = Path(place, "tree"), Path(place, "outside")
        for folder in (root / "d", root / ".git", outside):
            folder.mkdir(parents=True)
        for name, text in {
            "a.txt": "a\nb\nc\n",
            "b.txt": "b\n",
            "d/c.txt": "c\n",
            ".git/config": "x\n",
        }.items():
            (root / name).write_text(text)
        (outside / "f.txt").write_text(SECRET)
        (root / "link").symlink_to(outside)
        (root / "dang").symlink_to(outside / "new.txt")
        (root / "in").symlink_to("a.txt")
        yield root


def photograph(place: Path) -> dict[str, tuple[str, bytes, int]]:
    found = {}
    for folder, folders, names in os.walk(place):
        for name in (*folders, *names):
            path = Path(folder, name)
            link = str(path.readlink()) if path.is_symlink() else ""
            data = path.read_bytes() if path.is_file() and not link else b""
            found[str(path.relative_to(place))] = (link, data, path.lstat().st_mode)
    return found


def applied(root: Path, patch: str) -> ToolResult | ModelMistake:
    try:
        return apply_patch({"patch": patch}, Workbench(root, lambda _: ToolResult(ok=True, text="")))
    except ModelMistake as mistake:
        return mistake


def held(patch: str) -> ToolResult | None:
    """Applies it to a fresh tree and looks at everything that must hold, whatever it was."""
    with tree() as root:
        before, outside, git = (
            photograph(root),
            photograph(root.parent / "outside"),
            photograph(root / ".git"),
        )
        done = applied(root, patch)
        after = photograph(root)
        assert photograph(root.parent / "outside") == outside
        assert photograph(root / ".git") == git
        assert {name for name in after if after[name][0]} <= {name for name in before if before[name][0]}, (
            "a new link"
        )
        if isinstance(done, ModelMistake):
            assert after == before
            return None
        changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        files = {name for name in changed if not (root / name).is_dir() and name not in {"d", "d/e"}}
        assert files <= set(done.wrote)
        assert all(
            not (root / name).exists() or (root / name).resolve().is_relative_to(root.resolve())
            for name in done.wrote
        )
        return done


@st.composite
def patches(draw: st.DrawFn) -> str:
    """Well made parts about any path, in any order."""
    text = ""
    for _ in range(draw(st.integers(1, 3))):
        source, target = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
        old = {"a.txt": "a\nb\nc\n", "b.txt": "b\n", "d/c.txt": "c\n"}.get(source, draw(TEXTS))
        kind = draw(st.sampled_from(["edit", "create", "delete", "rename", "any"]))
        if kind == "rename":
            text += (
                f"diff --git a/{source} b/{target}\nsimilarity index 100%\nrename from "
                f"{source}\nrename to {target}\n"
            )
            continue
        new = "" if kind == "delete" else draw(TEXTS)
        sides = {
            "edit": (source, source),
            "create": ("/dev/null", target),
            "delete": (source, "/dev/null"),
            "any": (source, target),
        }[kind]
        before, after = (
            side if side == "/dev/null" else f"{mark}/{side}" for mark, side in zip("ab", sides, strict=True)
        )
        lines = difflib.unified_diff(
            ("" if kind == "create" else old).splitlines(True), new.splitlines(True), before, after
        )
        text += "".join(lines)
    return text


@tries(40)
@given(patches())
def test_a_patch_is_done_as_a_whole_or_not_at_all_and_stays_inside(patch: str) -> None:
    held(patch)


@tries(40)
@given(
    patches(),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([*NOISE, "DROP", "DOUBLE", "SWAP"])), max_size=4),
)
def test_a_spoiled_patch_is_applied_or_refused_and_never_in_part(
    patch: str, spoils: list[tuple[float, str]]
) -> None:
    lines = patch.splitlines(True)
    for where, what in spoils:
        at = min(int(where * len(lines)), len(lines) - 1)
        if at < 0:
            continue
        if what == "DROP":
            del lines[at]
        elif what == "DOUBLE":
            lines.insert(at, lines[at])
        elif what == "SWAP" and at:
            lines[at - 1], lines[at] = lines[at], lines[at - 1]
        else:
            lines.insert(at, what)
    held("".join(lines))


@tries(40)
@given(
    st.one_of(
        st.lists(st.sampled_from(NOISE), max_size=12).map("".join),
        st.text(alphabet='-+@ ,19ab/.\\\n\r\0"d', max_size=200),
    )
)
def test_any_text_at_all_leaves_the_tree_whole(text: str) -> None:
    held(text)


@tries(40)
@given(TEXTS, st.integers(0, 3))
def test_a_right_patch_gives_the_right_text(new: str, context: int) -> None:
    old = "a\nb\nc\n"
    patch = "".join(
        difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/a.txt", "b/a.txt", n=context)
    )
    with tree() as root:
        done = applied(root, patch)
        if new == old:
            assert isinstance(done, ModelMistake)
        elif isinstance(done, ToolResult):
            assert (root / "a.txt").read_bytes().decode() == new
        else:
            assert "\r" in new, done
