"""Path limits: decision by pattern, for every writing tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import UsageError
from agentforge.system.globs import glob
from agentforge.tools.base import KEEPING_TOOLS, WRITING_TOOLS
from agentforge.tools.paths import PathLimits
from tests.rows import every

NAMES = st.text(alphabet="abc._-", min_size=1, max_size=4).filter(lambda name: name not in {".", ".."})
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


@every(
    ("pattern", "path", "expected"),
    [
        ("*.md", "README.md", True),
        ("*.md", "docs/README.md", False),
        ("tests/**/*", "tests/test_a.py", True),
        ("tests/**/*", "tests/deep/er/test_a.py", True),
        ("tests/**/*", "tests/.hidden", True),
        ("tests/**/*", "tests", False),
        ("tests/**/*", "src/tests/test_a.py", False),
        ("tests/**/*", "tests2/test_a.py", False),
        ("tests/**", "tests/a", True),
        ("tests/**", "tests", False),
        ("tests/", "tests/a/b", True),
        ("**/tests/**", "pkg/tests/a.py", True),
        ("**/tests/**", "tests/a.py", True),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "a/b/test_a.py", True),
        ("**/test_*.py", "a/b/test_a.pyc", False),
        ("**/*_test.go", "a/b_test.go", True),
        ("a/*/c", "a/b/c", True),
        ("a/*/c", "a/b/b/c", False),
        ("a/**/c", "a/c", True),
        ("a?c", "a/c", False),
        ("**", "a/b", True),
        ("./a/b", "a/b", True),
        ("[ab].txt", "b.txt", True),
        ("a b/ü*", "a b/über", True),
    ],
)
def test_glob_matches_as_written(pattern: str, path: str, expected: bool) -> None:
    assert glob(pattern).matches(path) is expected


def test_allowed_is_any_positive_and_no_negative_pattern() -> None:
    limits = PathLimits.compile({"create_file": "docs/**/*, deploy/**/*, *.md, !docs/private/**"})
    assert limits.allows("create_file", "docs/a/b.rst") is None
    assert limits.allows("create_file", "README.md") is None
    assert "outside" in str(limits.allows("create_file", "sub/README.md"))
    assert "closed" in str(limits.allows("create_file", "docs/private/x"))


def test_without_constraints_every_path_is_free() -> None:
    limits = PathLimits.compile({})
    assert {limits.allows(tool, "any/where.py") for tool in WRITING_TOOLS} == {None}


def test_a_limit_on_one_writing_tool_binds_the_others() -> None:
    only_tests = PathLimits.compile({"create_file": "{tests}"}, tests=("tests/**/*", "test/**/*"))
    no_tests = PathLimits.compile({"edit_file": "!{tests}"}, tests=("tests/**/*", "test/**/*"))
    for tool in WRITING_TOOLS - KEEPING_TOOLS:
        assert only_tests.allows(tool, "src/a.py") is not None
        assert only_tests.allows(tool, "test/a.py") is None
        assert no_tests.allows(tool, "src/a.py") is None
        assert no_tests.allows(tool, "test/deep/a.py") is not None


def test_a_tool_that_keeps_its_own_file_is_bound_by_what_is_closed_and_by_its_own_pattern() -> None:
    docs = PathLimits.compile({"create_file": "docs/**,!docs/private/**"})
    own = PathLimits.compile({"create_file": "docs/**", "generate_changelog": "CHANGES.md"})
    for tool in KEEPING_TOOLS:
        assert docs.allows(tool, "CHANGES.rst") is None
        assert docs.allows(tool, "docs/private/release_notes.md") is not None
    assert own.allows("generate_changelog", "docs/changes.md") is not None
    assert own.allows("generate_changelog", "CHANGES.md") is None
    assert own.allows("edit_file", "CHANGES.md") is not None


def test_a_tool_with_a_positive_limit_of_its_own_keeps_it() -> None:
    limits = PathLimits.compile({"create_file": "docs/**", "edit_file": "*.md"})
    assert limits.allows("create_file", "README.md") is not None
    assert limits.allows("edit_file", "README.md") is None
    assert limits.allows("delete_file", "README.md") is None
    assert limits.allows("delete_file", "docs/a") is None
    assert limits.allows("delete_file", "src/a.py") is not None


def test_placeholders_default_to_the_usual_layout_and_may_stand_inside_a_pattern() -> None:
    limits = PathLimits.compile({"create_file": "{tests},{docs},!{tests}.orig"})
    assert limits.allows("create_file", "tests/a.py") is None
    assert limits.allows("create_file", "docs/a.md") is None
    assert limits.allows("create_file", "tests/a.orig") is not None
    assert limits.allows("create_file", "src/a.py") is not None


@every(
    "constraints",
    [{"create_file": "{nope}/**"}, {"read_file": "docs/**"}, {"edit_file": "!"}, {"edit_file": "!!a"}],
)
def test_a_constraint_that_cannot_be_meant_is_an_error(constraints: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        PathLimits.compile(constraints)


@given(
    path=PATHS,
    pattern=st.lists(st.one_of(NAMES, st.sampled_from(["*", "**", "a*", "?"])), min_size=1, max_size=5).map(
        "/".join
    ),
)
def test_a_negative_pattern_denies_exactly_what_it_matches(path: str, pattern: str) -> None:
    limits = PathLimits.compile({"edit_file": f"!{pattern}"})
    for tool in WRITING_TOOLS:
        assert (limits.allows(tool, path) is not None) is glob(pattern).matches(path)


@given(path=PATHS, prefix=PATHS)
def test_all_below_a_directory_is_matched_and_nothing_else(path: str, prefix: str) -> None:
    for form in (f"{prefix}/**", f"{prefix}/**/*", f"{prefix}/"):
        assert glob(form).matches(f"{prefix}/{path}")
        assert not glob(form).matches(prefix)
        assert glob(form).matches(path) is path.startswith(f"{prefix}/")


@given(path=PATHS)
def test_a_literal_pattern_matches_itself_alone(path: str) -> None:
    assert glob(path).matches(path)
    assert not glob(path).matches(f"{path}/x")
    assert not glob(path).matches(f"x/{path}")


def test_many_stars_take_no_time() -> None:
    assert not glob("/".join(["**/a*"] * 30) + "/b").matches("/".join(["aaaa"] * 200))
