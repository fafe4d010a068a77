"""Which lines each test of Go, Rust and Java runs: seen in real programs, built by their own tools."""

import shutil
from pathlib import Path

import pytest

from agentforge.languages.compiled.languages import GO, RUST
from agentforge.languages.outcomes import Watch
from agentforge.languages.port import Language
from agentforge.sandbox.walls.ladder import choose
from tests.wide.toolkits import tools_for

pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.timeout(900)]

GO_FILES = {
    "go.mod": "module example.com/shop\n\ngo 1.18\n",
    "shop.go": "package shop\n\nvar started = warm()\n\nfunc warm() int {\n\treturn 1\n}\n\n"
    "func init() {\n\tstarted++\n}\n\nfunc Add(a, b int) int {\n\tif a > 9 {\n\t\treturn 9\n\t}\n"
    '\treturn a + b\n}\n\nfunc Open() string {\n\treturn "open"\n}\n',
    "shop_test.go": 'package shop\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 1) != 2 {\n'
    '\t\tt.Fatal("no")\n\t}\n}\n\nfunc TestOpen(t *testing.T) {\n\tif Open() != "open" {\n\t\tt.Fatal("no")\n\t}\n}\n'
    '\nfunc TestNothing(t *testing.T) {\n\tif 1 != 1 {\n\t\tt.Fatal("no")\n\t}\n}\n',
}
GO_FILES["all_test.go"] = (
    '//go:build integration\n\npackage shop\n\nimport "testing"\n\nfunc TestAll(t *testing.T) {\n'
    '\tif Add(2, 2) != 4 {\n\t\tt.Fatal("no")\n\t}\n}\n'
)
RUST_FILES = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub const fn nine() -> i32 { 9 }\n\npub fn add(a: i32, b: i32) -> i32 {\n    if a > nine() {\n"
    '        return nine();\n    }\n    a + b\n}\n\npub fn open() -> &\'static str {\n    "open"\n}\n\n'
    '#[cfg(test)]\nmod tests {\n    #[test]\n    fn opens() {\n        assert_eq!(super::open(), "open");\n    }\n}\n',
    "tests/shop.rs": "#[test]\nfn adds() {\n    assert_eq!(shop::add(1, 1), 2);\n}\n\n#[test]\nfn nothing() {\n"
    "    assert_eq!(1, 1);\n}\n",
}
ROWS = [
    pytest.param(
        GO,
        GO_FILES,
        "shop.go",
        {
            "shop_test.go::TestAdd": {13, 14, 16, 17, 18},
            "shop_test.go::TestOpen": {20, 21, 22},
            "shop_test.go::TestNothing": set(),
        },
        {5, 6, 7},
        id="Go",
    ),
    pytest.param(
        RUST,
        RUST_FILES,
        "src/lib.rs",
        {
            "tests/shop.rs::adds": {3, 4, 6, 7, 8},
            "src/lib.rs::tests::opens": {10, 11, 12},
            "tests/shop.rs::nothing": set(),
        },
        set(),
        id="Rust",
    ),
]


@pytest.mark.parametrize(("language", "files", "path", "wanted", "always"), ROWS)
def test_the_lines_that_each_test_runs_are_seen(  # noqa: PLR0917 - a row
    language: Language,
    files: dict[str, str],
    path: str,
    wanted: dict[str, set[int]],
    always: set[int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in tools_for(language.name).items():
        monkeypatch.setenv(name, value)
    top = tmp_path / "tree"
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    plan = language.projects.detect(
        lambda name: (top / name).read_bytes() if (top / name).is_file() else None, [*files]
    )
    walls = choose("auto")

    def check_out(into: Path) -> None:
        shutil.copytree(top, into, dirs_exist_ok=True)

    env = language.projects.build(
        plan,
        check_out,
        tmp_path / "cache",
        walls,
        lock_text_hash="1",
    )

    def run(*ids: str) -> dict[str, set[int]]:
        found = language.runs.run_tests(
            walls,
            env,
            top,
            ids=ids,
            base_command=plan.test_command,
            scratch=tmp_path / "scratch",
            timeout_s=300,
            watch=Watch((path,)),
        )
        assert found.status == "ran", (found.reason, found.output)
        assert found.reached is not None, found.output
        return {each: set(lines.get(path, ())) - always for each, lines in found.reached.tests.items()}

    assert run(*wanted) == wanted
    first = next(iter(wanted))
    assert run(first) == {first: wanted[first]}, "one test needs one run"
    covered = language.runs.measure(
        walls, env, top, [path], command=plan.test_command, scratch=tmp_path / "scratch", timeout_s=300
    )
    assert covered.status == "ran", covered.reason
    assert set(covered.executed[path]) - always == set().union(*wanted.values())
    assert covered.missing[path], "the branch that nobody takes"
    apart = {
        name: result.outcome
        for marked in plan.marked
        for name, result in language.runs.run_tests(
            walls,
            env,
            top,
            ids=marked.ids,
            base_command=marked.command,
            scratch=tmp_path / "scratch",
            timeout_s=300,
        ).results.items()
    }
    assert apart == ({"all_test.go::TestAll": "passed"} if language is GO else {})
