"""Claims about how much of a change the tests run."""

from agentforge.gates.coverage import added_lines, covered, uncovered
from agentforge.languages.values import CoverageRun


def test_new_lines_are_read_from_a_patch() -> None:
    patch = (
        b"--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n-b\n+c\n+d\n e\n\\ No newline at end of file\n@@ "
        b"-9,0 +11 @@ def f():\n+z\n"
    )
    assert added_lines(patch) == {2, 3, 11}
    assert added_lines(b"") == frozenset()


def test_many_places_are_cut() -> None:
    left = CoverageRun("ran")
    (line,) = uncovered(covered(left, {"a.py": frozenset(range(1, 20, 2))}))
    assert "lines 1, 3, 5, 7, 9, 11 and 4 more places;" in line
    assert "lines 1-3;" in uncovered(covered(left, {"a.py": frozenset({1, 2, 3})}))[0]
