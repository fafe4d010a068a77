"""The index of a tree: from immutable blobs, kept by content, whatever lies in the repository or in the cache."""

from pathlib import Path

from agentforge.activities.code import CodeReader
from agentforge.languages.facts import READ_LIMIT
from agentforge.store.user.code_facts import KeptFacts
from agentforge.system.git.repository import Git
from tests.whole.checkouts import git, make_repository


def _repository(tmp_path: Path) -> Git:
    top = make_repository(
        tmp_path / "repo",
        {
            "pkg/a.py": "def one(key='sk-ant-api03-" + "a1B2" * 24 + "'): ...\n",
            "pkg/long.py": "x = 1\n" * (READ_LIMIT // 5),
            "pkg/bytes.py": b"\xff\xfe\x00def broken",
            "pkg/a.go": "package x\n\nfunc Two() {\n}\n",
            "data.bin": b"\x00" * 100,
        },
    )
    (top / "loop.py").symlink_to("loop.py")
    (top / "pkg/up").symlink_to("..")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "links")
    return Git.open(top)


def test_links_long_files_and_bytes_are_known_by_name_and_no_key_is_kept(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    kept = KeptFacts(tmp_path / "cache" / "code.db")
    tree = repository.tree_of(repository.head())
    index = CodeReader(repository, kept).index(tree)
    assert list(index.files) == sorted(index.files)
    assert {"loop.py", "pkg/up", "pkg/long.py", "data.bin"} <= index.files.keys()
    assert index.definers["one"] == ("pkg/a.py",)
    assert index.definers["Two"] == ("pkg/a.go",)
    assert not index.files["pkg/long.py"].symbols
    kept.close()
    assert b"sk-ant-api03" not in (tmp_path / "cache" / "code.db").read_bytes()
    with KeptFacts(tmp_path / "cache" / "code.db") as again:
        assert CodeReader(repository, again).index(tree) == index


def test_a_damaged_or_hostile_cache_costs_time_and_nothing_else(tmp_path: Path) -> None:
    repository = _repository(tmp_path)
    tree = repository.tree_of(repository.head())
    fresh = CodeReader(repository).index(tree)
    place = tmp_path / "code.db"
    place.write_bytes(b"not a database" * 100)
    with KeptFacts(place) as kept:
        assert CodeReader(repository, kept).index(tree) == fresh
    with KeptFacts(place) as kept:
        assert CodeReader(repository, kept).index(tree) == fresh
        known = kept.keys()
        assert known
        kept.put(dict.fromkeys(known, '[[["evil", 99, 1, 1, "x"]], "", ""]'))
        assert CodeReader(repository, kept).index(tree) == fresh
    with KeptFacts(Path("/proc/nowhere/code.db")) as none:
        assert CodeReader(repository, none).index(tree) == fresh


def test_a_cache_is_bounded(tmp_path: Path) -> None:
    with KeptFacts(tmp_path / "code.db", most_bytes=200_000) as kept:
        for number in range(40):
            kept.put({f"{number}:{each}": "x" * 1000 for each in range(20)})
        assert len(kept.keys()) < 600
        assert kept.get(["39:1"]) == {"39:1": "x" * 1000}
