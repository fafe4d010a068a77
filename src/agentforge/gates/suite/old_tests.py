"""Old tests as the base has them: its test files, shared fixtures, data and settings, and nothing of the
task's, on the new code. What passed on the base must pass there, unless it was dropped by its exact id.
"""

from collections.abc import Collection

from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.outcomes import GOOD, TestRun
from agentforge.languages.symbols import decode
from agentforge.languages.tests import without_tests


def tree_with_old_tests(runner: PristineRunner, base: str, tree: str, given_up: Collection[str] = ()) -> str:
    """`tree` with everything about tests as it is in `base`, but for functions that are `given_up`: what they
    need may be gone, and then no other test of their file could be heard. `tree` itself if it changes nothing
    of that.
    """
    git, tests = runner.workspace.git, runner.language.tests
    before = {entry.path: (entry.mode, entry.oid) for entry in git.ls_tree(base)}
    taken_back = {
        change.path: before.get(change.path)
        for change in git.diff_names(base, tree)
        if runner.is_test(change.path)
        or change.path.rpartition("/")[2] in tests.SETTINGS
        or (change.path in tests.SECTIONS and _settings_differ(runner, base, tree, change.path))
    }
    for path in {identity.partition("::")[0] for identity in given_up}:
        entry = taken_back.get(path)
        if entry is not None:
            text = decode(git.read_blob(base, path) or b"", path)
            left = without_tests(text, path, [each for each in given_up if each.startswith(f"{path}::")])
            taken_back[path] = (entry[0], git.hash_blob(left.encode())) if left != text else entry
    return git.overlay_tree(tree, taken_back) if taken_back else tree


def has_passing_tests(baseline: TestRun, given_up: Collection[str] = ()) -> bool:
    """Whether the base has any test that could be broken; where it has none, there is nothing to run."""
    return any(
        result.outcome in GOOD and identity not in given_up for identity, result in baseline.results.items()
    )


def _settings_differ(runner: PristineRunner, base: str, tree: str, path: str) -> bool:
    """Whether the part of a file that the test runner reads differs: the rest may have to change."""
    git, read = runner.workspace.git, runner.language.tests.SECTIONS[path]
    then, now = ((git.read_blob(each, path) or b"").decode("utf-8", "replace") for each in (base, tree))
    return read(then) != read(now)
