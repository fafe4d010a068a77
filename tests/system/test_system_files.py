"""Whole files, full disks, and paths that stay where they belong."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agentforge.core.errors import ModelMistake, Unusable
from agentforge.system.files import append_durable, create_exclusive, disk_errors, relative_to, resolve_inside, write_atomic


def test_a_write_replaces_all_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.yaml"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_gets_the_usual_permissions(tmp_path: Path) -> None:
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
    assert caught.value.next_step == "Free some space, then `agentforge continue`."


def test_a_file_that_may_not_grow_fails_and_leaves_no_temporary(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from agentforge.system.files import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "write_atomic(Path(sys.argv[1]), b'x' * 10_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "f")], capture_output=True, text=True, check=False)
    assert "Unusable: A file is larger than the system allows" in done.stderr
    assert (tmp_path / "f").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_the_errors_of_a_disk_name_the_file() -> None:
    for number, words in ((errno.EROFS, "The disk is read-only: /x."), (errno.EACCES, "Permission was denied: /x.")):
        with pytest.raises(Unusable, match=words), disk_errors():
            raise OSError(number, os.strerror(number), "/x")


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


@pytest.mark.parametrize(
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
    root.mkdir()
    (root / "out").symlink_to("/etc")
    (root / "up").symlink_to("../elsewhere")
    (root / "hidden").symlink_to(".git")
    (root / "loop").symlink_to("loop")
    (root / "file").write_text("x")
    with pytest.raises(ModelMistake, match=problem) as caught:
        resolve_inside(root, path)
    assert caught.value.kind == "path"
