"""What a project's links, and what its tools print, lead to: nothing outside of the copy that a run has is read,
written or removed.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from agentforge.languages.compiled.running import Bench, JudgedTests, run_tests
from agentforge.languages.values import Environment
from agentforge.sandbox.walls.none import NoSandbox


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "x_test.go").write_text("mine")
    return folder


@pytest.fixture
def bench(tmp_path: Path, outside: Path) -> Bench:
    tree = (tmp_path / "tree").resolve()
    tree.mkdir()
    (tree / "own.xml").write_text("own")
    (tree / "link.rs").symlink_to(outside / "x_test.go")
    (tree / "out").symlink_to(outside)
    env = Environment(tmp_path, tmp_path, tmp_path, (), (), "", "", tmp_path)
    return Bench(NoSandbox(), env, tree, tmp_path, {}, 0)


@pytest.mark.parametrize("path", ["link.rs", "out/x_test.go", "../outside/x_test.go", "{outside}/x_test.go"])
def test_a_path_that_leads_out_of_the_tree_is_no_file_of_it(bench: Bench, outside: Path, path: str) -> None:
    path = path.replace("{outside}", str(outside))
    assert not bench.has(path)
    assert bench.text(path) == ""
    assert not bench.write(path, "theirs")
    bench.remove(path)
    assert (outside / "x_test.go").read_text() == "mine"


@pytest.mark.parametrize("glob", ["out/*", "../outside/*", "*/*_test.go", "{outside}/*", ""])
def test_a_pattern_finds_nothing_outside(bench: Bench, outside: Path, glob: str) -> None:
    assert bench.found(glob.replace("{outside}", str(outside))) == []
    assert bench.found("*.xml") == ["own.xml"]


def test_a_new_file_is_not_written_through_a_link(bench: Bench, outside: Path) -> None:
    assert not bench.write("out/canary.go", "ours")
    assert not bench.write("nowhere/canary.go", "ours")
    assert [path.name for path in outside.iterdir()] == ["x_test.go"]


def test_a_compiler_that_names_files_of_the_machine_has_none_of_them_set_aside(
    tmp_path: Path, outside: Path
) -> None:
    target = outside / "x_test.go"
    tree = tmp_path / "tree"
    tree.mkdir()
    env = Environment(tmp_path, tmp_path, tmp_path, (), (), "", "", tmp_path)

    def judge(bench: Bench, wanted: Collection[str] | None, command: Sequence[str], /) -> JudgedTests:
        del bench, wanted, command
        return JudgedTests(
            broken={str(target): "undefined: Slug", "../../outside/x_test.go": "undefined: Slug"}
        )

    run_tests(
        judge,
        lambda _: True,
        lambda copy, out: Bench(NoSandbox(), env, copy, out, {}, 0),
        tree,
        ids=(),
        command=("go", "test"),
        scratch=tmp_path / "scratch",
    )
    assert target.read_text() == "mine"
