"""Claims about the table of languages, and about a language that is added to it."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.languages import imports, measures, security, symbols, table, tests
from agentforge.languages.python.language import PYTHON
from tests.rows import every

OTHER = replace(
    PYTHON, name="Other", suffixes=(".other",), declarations=(), caches=frozenset({".other_cache"})
)


@every(
    ("paths", "names"),
    [
        ((), []),
        (("README.md", "Makefile", "src/main.rs"), []),
        (("a.py",), ["Python"]),
        (("a.pyi",), []),
        (("a.py", "web/b.other", "web/c.other"), ["Other", "Python"]),
        (("a.py", "b.other"), ["Python", "Other"]),
    ],
)
def test_a_repository_has_the_languages_of_its_code_the_largest_first_and_perhaps_none(
    paths: tuple[str, ...], names: list[str]
) -> None:
    assert [language.name for language in table.languages_of(paths, (PYTHON, OTHER))] == names


def test_a_file_in_no_known_language_has_no_facts_and_breaks_nothing() -> None:
    text = "fn main() { eval(x) }\n"
    assert not table.is_source("main.zz")
    assert not table.is_code("stubs.pyi")
    assert measures.complexity(text, "main.zz") == {}
    assert measures.statements(text, "main.zz") == frozenset()
    assert security.scan(text, "main.zz") == ()
    assert symbols.syntax_error(text, "main.zz") is None
    assert symbols.docstrings(text, "main.zz") == ()
    assert [symbol.name for symbol in symbols.outline(text, "main.zz")] == ["main"]
    assert tests.test_ids(text, "main.zz") == []
    assert tests.weakened(text, "", "main.zz") == []
    assert tests.missing_import("no such module", "main.zz", ["other.zz"]) is None
    assert imports.ImportGraph.build({"main.zz": text}).importers == {}


ADDED = """\
from dataclasses import replace

from agentforge.languages.python.language import PYTHON

OTHER = replace(
    PYTHON, name="Other", suffixes=(".other",), declarations=(), caches=frozenset({".other_cache"})
)
"""
ASKED = """\
from agentforge.languages import imports, measures, symbols, table, tests
from agentforge.tools.look.source import NOISE

text = "import helper\\n\\ndef test_f():\\n    if a: assert helper\\n"
assert [each.name for each in table.languages_of(["a.py", "b.other", "c.other"])] == ["Other", "Python"]
assert table.without_suffix("pkg/test_a.other") == "pkg/test_a"
assert ".other_cache" in NOISE
assert [each.name for each in symbols.outline(text, "test_a.other")] == ["test_f"]
assert measures.complexity(text, "test_a.other") == {"test_f": 2}
assert tests.test_ids(text, "test_a.other") == ["test_a.other::test_f"]
assert tests.looks_like_test("test_a.other")
print("known")
"""


@pytest.mark.slow
def test_a_package_and_a_row_in_the_table_are_all_that_a_new_language_takes(tmp_path: Path) -> None:
    shutil.copytree(Path(table.__file__).parents[1], tmp_path / "agentforge")
    package = tmp_path / "agentforge/languages"
    (package / "other").mkdir()
    (package / "other/__init__.py").write_text('"""A language of this test."""\n')
    (package / "other/language.py").write_text(ADDED)
    known = (package / "table.py").read_text()
    assert "= (PYTHON, " in known
    row = known.replace("= (PYTHON, ", "= (PYTHON, OTHER, ")
    (package / "table.py").write_text(
        row.replace(
            "from agentforge.languages.port import",
            "from agentforge.languages.other.language import OTHER\nfrom agentforge.languages.port import",
        )
    )
    ran = subprocess.run(
        [sys.executable, "-c", ASKED],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == ("known\n", "")
