"""Where a new test does not compile, stubs stand in for what it lacks, or it is set aside; it never passes so."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from agentforge.languages.compiled.running import Bench, JudgedTests, run_tests
from agentforge.languages.compiled.stubs import go_stubs, rust_stubs
from agentforge.languages.outcomes import Outcome, TestRun
from agentforge.languages.reports.ends import End, Program
from agentforge.languages.values import Environment
from agentforge.sandbox.walls.none import NoSandbox

NEW, CODE = "calc/new_test.go", "calc/calc.go"
LACKS = {NEW: f"{NEW}:3: undefined: Slug"}
TEST = 'package calc\n\nfunc TestSlug(t *testing.T) {\n\tif Slug("a") != 1 {\n\t}\n}\n'


def bench_in(tree: Path, out: Path) -> Bench:
    return Bench(NoSandbox(), Environment(out, out, out, (), (), "", "", out), tree, out, {}, 0)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = (tmp_path / "tree").resolve()
    for path, text in {
        CODE: "// A comment.\npackage calc\n",
        NEW: TEST,
        "src/lib.rs": "pub fn a() {}\n",
    }.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    (tree / "tests").mkdir()
    (tree / "tests/slug.rs").write_text("fn slug() { assert_eq!(shop::slug((1, 2), x), shop::all()) }\n")
    return tree


def test_a_go_function_gets_a_body_that_only_fails(tree: Path) -> None:
    bench = bench_in(tree, tree)
    assert go_stubs(bench, LACKS) == {
        "calc/agentforge_stub.go": "package calc\n\n"
        'func Slug(_ ...interface{}) interface{} { panic("Slug is not there yet") }\n'
    }
    assert go_stubs(bench, {NEW: f"{NEW}:3: undefined: Slug\n{NEW}:4: syntax error"}) == {}
    assert go_stubs(bench, {NEW: f"{NEW}:3: undefined: Shape"}) == {}, "it is not called"


def test_a_rust_function_gets_as_many_arguments_as_it_is_called_with(tree: Path) -> None:
    said = "tests/slug.rs:1: E0425: cannot find function `{}` in crate `shop`"
    found = rust_stubs(
        bench_in(tree, tree), {"tests/slug.rs": f"{said.format('slug')}\n{said.format('all')}"}
    )
    (text,) = found.values()
    assert text.startswith("pub fn a() {}\n")
    assert "pub fn slug<A0, A1>(_: A0, _: A1) -> AgentforgeStub" in text
    assert "pub fn all<>() -> AgentforgeStub" in text


def run_with(tree: Path, place: Path, with_stubs: Outcome | None) -> TestRun:
    """A judge to whom the new test compiles with stubs and then ends so; with None it does not compile."""

    def judge(bench: Bench, wanted: Collection[str] | None, command: Sequence[str], /) -> JudgedTests:
        del wanted, command
        old = End("calc/calc_test.go::TestOld", "passed")
        is_stubbed = bench.has("calc/agentforge_stub.go")
        if not bench.has(NEW):
            assert not is_stubbed, "what was laid for it goes with it"
            return JudgedTests((Program("calc", (), (old,)),))
        if is_stubbed and with_stubs is not None:
            return JudgedTests((Program("calc", (), (old, End(f"{NEW}::TestSlug", with_stubs, "no"))),))
        return JudgedTests(broken=LACKS)

    return run_tests(
        judge,
        lambda path: path.endswith("_test.go"),
        bench_in,
        tree,
        stub=go_stubs,
        ids=(),
        command=("go", "test"),
        scratch=place / "scratch",
    )


def test_stub_red_is_an_outcome_and_called_so(tree: Path, tmp_path: Path) -> None:
    found = run_with(tree, tmp_path, "failed")
    result = found.results[f"{NEW}::TestSlug"]
    assert (result.outcome, result.phase) == ("failed", "call")
    assert result.message == f"stub-red ({LACKS[NEW]}): no"
    assert found.collect_errors == {}
    assert found.results["calc/calc_test.go::TestOld"].outcome == "passed"


def test_a_test_that_passes_without_what_it_names_has_not_passed(tree: Path, tmp_path: Path) -> None:
    result = run_with(tree, tmp_path, "passed").results[f"{NEW}::TestSlug"]
    assert (result.outcome, result.message) == ("error", f"it passes without what it names: {LACKS[NEW]}")


def test_where_no_stub_fits_the_file_is_set_aside_and_the_others_are_judged(
    tree: Path, tmp_path: Path
) -> None:
    found = run_with(tree, tmp_path, None)
    assert found.collect_errors == LACKS
    assert {*found.results} == {"calc/calc_test.go::TestOld"}
