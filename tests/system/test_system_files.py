"""Whole files, full disks, and paths that stay where they belong."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from agentforge.core.errors import ModelMistake, Unusable, UsageError
from agentforge.system.beneath import (
    Content,
    Opener,
    by_kernel,
    by_walking,
    list_beneath,
    make_folders,
    move_beneath,
    open_beneath,
    read_beneath,
    remove_beneath,
    replace_beneath,
    state_beneath,
)
from agentforge.system.files import (
    append_durable,
    create_exclusive,
    disk_errors,
    make_own_directory,
    relative_to,
    resolve_inside,
    write_atomic,
)
from tests.fuzzing import tries
from tests.rows import every


def test_a_write_replaces_all_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.yaml"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    mask = os.umask(0o022)
    try:
        write_atomic(tmp_path / "f", b"")
    finally:
        os.umask(mask)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o644


def test_the_first_to_create_a_file_wins(tmp_path: Path) -> None:
    path = tmp_path / "inbox" / "1.yaml"
    wins: list[bytes] = []

    def claim(name: bytes) -> None:
        if create_exclusive(path, name * 10_000):
            wins.append(name)

    threads = [threading.Thread(target=claim, args=(bytes([65 + i]),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wins) == 1
    assert path.read_bytes() == wins[0] * 10_000
    assert list(path.parent.iterdir()) == [path]
    assert not create_exclusive(path, b"late")


def test_a_full_disk_is_one_sentence_with_the_next_step() -> None:
    with Path("/dev/full").open("wb", buffering=0) as file, pytest.raises(Unusable) as caught:
        append_durable(file.fileno(), b"x" * 10_000)
    assert caught.value.sentence == "The disk is full."
    assert caught.value.next_step == "Free some space, and try again."


def test_a_file_that_may_not_grow_fails_and_leaves_no_temporary(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from agentforge.system.files import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, "
        "4096))\n"
        "write_atomic(Path(sys.argv[1]), b'x' * 10_000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "f")], capture_output=True, text=True, check=False
    )
    assert "Unusable: A file is larger than the system allows" in done.stderr
    assert (tmp_path / "f").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_the_errors_of_a_disk_name_the_file() -> None:
    for number, words in (
        (errno.EROFS, "The disk is read-only: /x."),
        (errno.EACCES, "Permission was denied: /x."),
    ):
        with pytest.raises(Unusable, match=words), disk_errors():
            raise OSError(number, os.strerror(number), "/x")


def test_a_home_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file/below", Path("/proc/nowhere")):
        with pytest.raises(UsageError, match=r"cannot be made|Permission"):
            make_own_directory(place)
    make_own_directory(tmp_path / "a/b", 0o700)
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o700


def test_other_errors_pass() -> None:
    with pytest.raises(IsADirectoryError), disk_errors():
        raise IsADirectoryError(errno.EISDIR, "x")


def test_a_path_inside_is_made_real(tmp_path: Path) -> None:
    root = tmp_path / "a repo é"
    (root / "src").mkdir(parents=True)
    (root / "link").symlink_to("src")
    (root / "absolute").symlink_to(root / "src")
    for relative, expected in {
        "src/new.py": "src/new.py",
        "./src//x/../new.py": "src/new.py",
        "link/new.py": "src/new.py",
        "absolute/new.py": "src/new.py",
        "link/../top": "top",
        "src/.gitignore": "src/.gitignore",
        "": ".",
        ".": ".",
    }.items():
        assert relative_to(root, resolve_inside(root, relative)) == expected


def test_a_root_behind_a_link_is_fine(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    found = resolve_inside(tmp_path / "root", "a/b")
    assert found == tmp_path.resolve() / "real" / "a" / "b"
    assert relative_to(tmp_path / "root", found) == "a/b"


@every(
    ("path", "problem"),
    [
        ("/etc/passwd", "is not relative"),
        ("~/x", "is not relative"),
        ("../x", "leads outside"),
        ("src/../../x", "leads outside"),
        ("a\0b", "NUL"),
        (".git/config", "leads into `.git`"),
        ("sub/.GIT/hooks/x", "leads into `.git`"),
        (".git./config", "leads into `.git`"),
        (".g\u200cit/config", "leads into `.git`"),
        ("git~1/config", "leads into `.git`"),
        ("out/x", "outside"),
        ("up/x", "outside"),
        ("hidden/config", "leads into `.git`"),
        ("loop/x", "goes around in links"),
        ("file/x", "goes through a file"),
        ("x" * 300, "cannot be a path"),
        ("a\ud800", "cannot be a path"),
    ],
)
def test_a_path_that_leaves_its_root_is_the_models_mistake(tmp_path: Path, path: str, problem: str) -> None:
    root = tmp_path / "repo"
    if not root.exists():
        root.mkdir()
        (root / "out").symlink_to("/etc")
        (root / "up").symlink_to("../elsewhere")
        (root / "hidden").symlink_to(".git")
        (root / "loop").symlink_to("loop")
        (root / "file").write_text("x")
    with pytest.raises(ModelMistake, match=problem) as caught:
        resolve_inside(root, path)
    assert caught.value.kind == "path"


# ------------------------------------------------------------------ any text at all is inside or refused

PARTS = st.sampled_from(
    [
        "..",
        ".",
        "",
        "out",
        "up",
        "in",
        "loop",
        "proc",
        "dir",
        "file",
        "new",
        ".git",
        "~",
        "a\0",
        "x" * 300,
        "\ud800",
        "é",
    ]
)
TEXTS = (
    st.text(max_size=20)
    | st.lists(PARTS, max_size=7).map("/".join)
    | st.lists(PARTS, max_size=4).map(lambda parts: "/" + "/".join(parts))
)


@pytest.fixture
def maze(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "dir").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (root / "file").write_text("inside")
    (tmp_path / "elsewhere" / "file").write_text("outside")
    links = {
        "out": str(tmp_path / "elsewhere"),
        "up": "..",
        "in": "dir",
        "loop": "loop",
        "proc": "/proc/self/root",
        "dir/up": "../../elsewhere",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


@tries(400, HealthCheck.function_scoped_fixture)
@given(text=TEXTS)
def test_every_text_is_a_path_inside_or_a_refusal(maze: Path, text: str) -> None:
    try:
        found = resolve_inside(maze, text)
    except ModelMistake as mistake:
        assert mistake.kind == "path"  # noqa: PT017 - either answer is right
        return
    assert found.is_relative_to(maze.resolve())
    assert Path(os.path.realpath(found)) == found
    assert ".git" not in found.relative_to(maze.resolve()).parts


@tries(200, HealthCheck.function_scoped_fixture)
@given(text=TEXTS)
def test_an_unresolved_text_opens_nothing_outside_either(maze: Path, text: str) -> None:
    try:
        assert read_beneath(maze, text, 100) == b"inside"
    except (ModelMistake, OSError, UnicodeEncodeError):
        return


OPENERS = [
    pytest.param(by_walking, id="walk"),
    pytest.param(by_kernel(), id="openat2", marks=pytest.mark.skipif(not by_kernel(), reason="no openat2")),
]


@pytest.mark.parametrize("opener", OPENERS)
def test_both_ways_to_open_follow_no_link_at_any_place(maze: Path, opener: Opener) -> None:
    (maze / "dir" / "inner").write_text("inner")
    (maze / "dir" / "to_file").symlink_to("inner")
    top = os.open(maze, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for good in ("file", "dir/inner", "dir", "."):
            os.close(opener(top, good, os.O_RDONLY, 0))
        os.close(opener(top, "dir/made", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        assert (maze / "dir" / "made").stat().st_mode & 0o777 == 0o600
        for bad in (
            "out",
            "out/file",
            "up",
            "up/elsewhere/file",
            "in",
            "in/inner",
            "dir/to_file",
            "dir/up/file",
            "proc",
            "proc/etc/passwd",
            "loop",
        ):
            for flags in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_RDONLY | os.O_DIRECTORY):
                with pytest.raises(OSError, match=r"Too many|Not a directory"):
                    opener(top, bad, flags, 0o600)
    finally:
        os.close(top)
    assert (maze.parent / "elsewhere" / "file").read_text() == "outside"


def test_files_are_read_written_moved_and_removed_beneath_a_root(maze: Path) -> None:
    replace_beneath(maze, "a/b/c", Content(b"one", 0o640))
    assert (maze / "a/b/c").stat().st_mode & 0o777 == 0o640
    replace_beneath(maze, "a/b/c", Content(b"two"))
    assert read_beneath(maze, "a/b/c", 100) == b"two"
    assert read_beneath(maze, "a/b/c", 1) == b"tw"
    assert make_folders(maze, "a/d/e/f") == ["a/d", "a/d/e"]
    move_beneath(maze, "a/b/c", "a/d/e/f")
    assert [name for name, _ in list_beneath(maze, "a")] == ["b", "d"]
    assert state_beneath(maze, "a/b/c") is None
    remove_beneath(maze, "a/d/e/f")
    assert not (maze / "a/d/e/f").exists()


def test_what_is_no_regular_file_is_not_read_and_does_not_hold_us_up(maze: Path) -> None:
    os.mkfifo(maze / "pipe")
    for name in ("pipe", "dir"):
        with pytest.raises(ModelMistake, match="not a regular file"):
            read_beneath(maze, name, 10)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a\0b", "out/x", "in/x"])
def test_a_path_that_was_not_resolved_is_refused_at_its_use(maze: Path, path: str) -> None:
    with pytest.raises(ModelMistake) as caught:
        replace_beneath(maze, path, Content(b"x"))
    assert caught.value.kind == "path"
    for nothing in ("", "."):
        with pytest.raises(ModelMistake, match="repository itself"):
            remove_beneath(maze, nothing)
    assert sorted(each.name for each in (maze.parent / "elsewhere").iterdir()) == ["file"]


def test_a_link_at_the_very_place_is_replaced_and_never_followed(maze: Path) -> None:
    (maze / "last").symlink_to("../elsewhere/file")
    replace_beneath(maze, "last", Content(b"new"))
    assert not (maze / "last").is_symlink()
    assert (maze.parent / "elsewhere" / "file").read_text() == "outside"
    with pytest.raises(ModelMistake):
        open_beneath(maze, "out", os.O_RDONLY)
