"""Inputs that are made to fill a reader's memory or to hold it up: each ends in one sentence, within limits that
are measured in a process of its own.
"""

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentforge.languages.toolchains import needs_here
from agentforge.system.bounded import files_below, read_bounded, remove_tree
from tests.rows import every

MEGABYTES, SECONDS = 200, 10

READERS = {
    "settings": """
from agentforge.system.strict_yaml import load_file
print(load_file(path))
""",
    "report": """
from agentforge.languages.python.testreport import read_report_file
print(read_report_file(path, b"k" * 32, "token", "/tree").doubt())
""",
    "committed settings": """
from agentforge.app.setup.settings import read_project_settings
from agentforge.system.git.repository import Git
print(read_project_settings(Git.open(path), "HEAD"))
""",
    "our own file": """
from agentforge.system.unlinked import read_unlinked
print(len(read_unlinked(path)))
""",
    "pack": """
from agentforge.store.task.pack import Pack
pack = Pack(path)
print(pack.problems())
print(pack.get("0" * 64))
""",
    "journal": """
from agentforge.store.task.journal import _read
print(len(_read(path)))
""",
}


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


def bomb(path: Path) -> None:
    """A block of a pack that is small on disk and 640 MiB in memory."""
    from agentforge.store.task.pack import _header  # noqa: PLC0415  the bytes that a pack has

    packing = zlib.compressobj(1)
    packed = b"".join(packing.compress(bytes(1 << 24)) for _ in range(40)) + packing.flush()
    path.write_bytes(_header("0" * 64, len(packed)) + packed)


def many(path: Path) -> None:
    path.write_text(f"a: [{'1,' * 3_000_000}1]\n", encoding="ascii")


def many_below_the_size(path: Path) -> None:
    path.write_text(f"a: [{'1,' * 1_000_000}1]\n", encoding="ascii")


def aliases(path: Path) -> None:
    rows = [f"k{at}: &k{at} [*k{at - 1}, *k{at - 1}]" for at in range(1, 60)]
    path.write_text("\n".join(["k0: &k0 [x, x]", *rows]), encoding="ascii")


def deep_lists(path: Path) -> None:
    path.write_text("a: " + "[" * 1_000_000, encoding="ascii")


def committed(path: Path) -> None:
    """Settings of 256 MiB that are a few hundred kilobytes in the repository."""
    place = path / ".agentforge/config/settings.yaml"
    place.parent.mkdir(parents=True)
    with place.open("wb") as file:
        file.truncate(256 << 20)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
        subprocess.run(
            ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.compression=1", *words),
            cwd=path,
            check=True,
        )


def pipe(path: Path) -> None:
    os.mkfifo(path)


CASES = {
    "a sparse report of 3 GiB": ("report", sparse, "larger than 64 MiB"),
    "a pipe in the place of a report": ("report", pipe, "no regular file"),
    "aliases of aliases in settings": ("settings", aliases, "the alias `*k0` is not allowed"),
    "a million lists in one another": ("settings", deep_lists, "nested deeper than 100 levels"),
    "committed settings of 256 MiB": ("committed settings", committed, "is larger than 4 MiB"),
    "sparse settings": ("settings", sparse, "larger than 4 MiB"),
    "three million items in settings": ("settings", many, "larger than 4 MiB"),
    "a million items in settings": ("settings", many_below_the_size, "more than 300,000 values"),
    "a pipe in the place of settings": ("settings", pipe, "no regular file"),
    "a sparse file of ours": ("our own file", sparse, "larger than 64 MiB"),
    "a sparse journal": ("journal", sparse, "larger than 64 MiB"),
    "a pipe in the place of a journal": ("journal", pipe, "no regular file"),
    "a pack that unpacks to far more": ("pack", bomb, "is damaged"),
    "a sparse pack": ("pack", sparse, "is missing"),
    "a pipe in the place of a pack": ("pack", pipe, "no regular file"),
}


IMPORTS = [line for text in READERS.values() for line in text.splitlines() if line.startswith("from ")]
FORKING = f"""
import json, os, resource, signal, sys, tempfile, traceback
from pathlib import Path
for imports in {IMPORTS!r}:
    exec(imports)
for line in sys.stdin:
    reader, path = json.loads(line)
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            for number in (1, 2):
                os.dup2(said.fileno(), number)
            resource.setrlimit(resource.RLIMIT_DATA, ({MEGABYTES << 20}, {MEGABYTES << 20}))
            signal.alarm({6 * SECONDS})
            try:
                exec(reader, {{"path": Path(path)}})
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(0)
        used = os.wait4(child, 0)[2]
        said.seek(0)
        print(json.dumps([said.read().decode(), used.ru_utime + used.ru_stime]), flush=True)
"""
"""A process for each line that comes, which has loaded the readers: what it read, and how long it computed. How
busy the machine is does not count.
"""


@pytest.fixture(scope="module")
def read() -> Iterator[Callable[[str, Path], tuple[str, float]]]:
    """What one of the readers says of a file."""
    with subprocess.Popen(
        [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(reader: str, path: Path) -> tuple[str, float]:
            print(json.dumps([READERS[reader], str(path)]), file=process.stdin, flush=True)
            said, computed_s = json.loads(process.stdout.readline())  # type: ignore[union-attr]  # as above
            return said, computed_s

        yield ask


@pytest.mark.slow
@every("case", CASES)
def test_a_hostile_file_ends_in_one_sentence_with_little_memory_and_time(
    case: str, tmp_path: Path, read: Callable[[str, Path], tuple[str, float]]
) -> None:
    reader, make, sentence = CASES[case]
    path = tmp_path / case.replace(" ", "_")
    make(path)
    said, computed_s = read(reader, path)
    assert sentence in said, said[-2000:]
    assert "MemoryError" not in said
    assert computed_s < SECONDS


def test_what_is_ordinary_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    assert read_bounded(tmp_path / "a", 4) == b"text"
    with pytest.raises(OSError, match="larger"):
        read_bounded(tmp_path / "a", 3)
    (tmp_path / "link").symlink_to("a")
    assert read_bounded(tmp_path / "link", 4) == b"text"
    with pytest.raises(OSError, match=r"\S"):
        read_bounded(tmp_path / "link", 4, follow=False)


def deep(top: Path, levels: int) -> None:
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        (below,) = (os.open("d", os.O_RDONLY, dir_fd=here),)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.close(here)
        here = below
    os.close(here)


@pytest.mark.slow
def test_three_thousand_nested_directories_are_walked_and_removed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    deep(top, 3_000)
    assert len(list(files_below(top))) > 1_000  # as deep as a path can be
    remove_tree(top)
    assert not top.exists()


def test_a_tree_is_removed_without_what_its_links_lead_to(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x", encoding="ascii")
    top = tmp_path / "top"
    deep(top, 1_500)
    (top / "link").symlink_to(kept)
    remove_tree(top)
    assert not top.exists()
    assert (kept / "file").exists()


def test_an_odd_tree_is_looked_at_without_being_followed(tmp_path: Path) -> None:
    """Who looks at the files of a checkout, before and after a build and for what it needs, looks by this."""
    top = tmp_path / "top"
    deep(top, 3_000)
    (top / "pyproject.toml").write_text("")
    (top / "linked").symlink_to(top / "pyproject.toml")
    (top / "around").symlink_to(top)
    (top / "loop").symlink_to("loop")
    os.mkfifo(top / "requirements.txt")
    near = [path.name for path in files_below(top, lambda folder: folder.name == "d", links=True)]
    (top / ".python-version").write_text("3.12\n")
    needs = needs_here(top)
    remove_tree(top)  # first: pytest could not
    assert sorted(near) == ["file", "linked", "loop", "pyproject.toml"]
    assert [each.tool for each in needs] == ["python"]
