"""The change emptied: its functions do nothing any more, and what they give back goes along with whatever is
done to it. A new test that passes all the same says nothing of what the change does.

It is asked twice, with opposite answers to every question (is it true, is it equal, is it less), so that no
test which looks at a result passes both times. Where a test failed on the base by what old code did, and
nothing but that code changed, the base was such a wrong version already.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentforge.core.reply import Json
from agentforge.gates.flags import Flag
from agentforge.gates.pristine import PristineRunner, result_of
from agentforge.languages.measures import emptied
from agentforge.languages.outcomes import GOOD
from agentforge.languages.symbols import decode, outline
from agentforge.languages.values import ChangedCode

_BY_RESULT = ("AssertionError", "Failed: DID NOT")
"""How the reason begins of a test that met a wrong result."""

Code = Mapping[str, ChangedCode]


@dataclass(frozen=True, slots=True)
class EmptiedChange:
    """Which new tests pass where the change does nothing."""

    asked: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    nameless: tuple[str, ...] = ()
    """Those of them that failed on the base for want of a name: no wrong result has made them fail, ever."""
    reading: tuple[str, ...] = ()
    """Tests that run no function of the change and read a value of it: of what they look at, nothing was
    emptied. They are shown as that."""

    @property
    def proves_nothing(self) -> bool:
        """Whether no test at all has been seen to notice a wrong result."""
        return bool(self.asked) and self.asked == self.nameless and not self.reading

    @property
    def reasons(self) -> list[str]:
        """Why nothing is proved, a sentence for each test."""
        return [
            f"{identity} passes even where the functions of the change do nothing: it says nothing of what "
            "they do; let it assert what they give back or bring about"
            for identity in (self.passing if self.proves_nothing else ())
        ]

    @property
    def flags(self) -> list[Flag]:
        """What is left for the reviewer: a test may be about what must not happen."""
        said = "passes even where the functions of the change do nothing: it may say what they must not do"
        return [Flag(each, said, ruling=True) for each in self.passing if each not in self.reading]

    def to_json(self) -> dict[str, Json]:
        """What goes on record."""
        return {"emptied": {"asked": [*self.asked], "passing": [*self.passing]}}


def empty_change(
    runner: PristineRunner, code: Code, trees: tuple[str, str], red: Mapping[str, Json], ids: Sequence[str]
) -> EmptiedChange:
    """Run these tests with the functions of the change emptied; `trees` are the base and the judged one. The
    runs are no evidence of anything else, so they are not among the runner's.
    """
    asked = [identity for identity in ids if _is_open(runner, code, trees, red.get(identity))]
    passing = asked
    for answer in (False, True):
        tree = _emptied_tree(runner, code, trees[1], answer=answer) if passing else None
        if tree is None:
            return EmptiedChange(tuple(asked) if not passing else ())
        run = replace(runner, runs=[]).run(tree, passing)
        passing = [each for each in passing if run.status == "ran" and result_of(run, each).outcome in GOOD]
    miscalled = runner.language.tests.MISCALLED
    nameless = [identity for identity in passing if _lacked_a_name(red.get(identity), miscalled)]
    return EmptiedChange(tuple(asked), tuple(passing), tuple(nameless))


def reading_values(runner: PristineRunner, code: Code, tree: str, ids: Sequence[str]) -> tuple[str, ...]:
    """Those of these tests in whose file a changed value is named, such as a member of an enumeration. A
    function is none, whatever decorates it.
    """
    functions = {
        name.rstrip("#").rpartition(".")[2] for changed in code.values() for name in changed.functions
    }
    names = {
        name for changed in code.values() for value in changed.values for name in value.names
    } - functions
    words = {
        path: {*re.findall(r"\w+", decode(runner.workspace.git.read_blob(tree, path) or b"", path))}
        for path in {identity.partition("::")[0] for identity in ids}
    }
    return tuple(identity for identity in ids if names & words[identity.partition("::")[0]])


def _is_open(runner: PristineRunner, code: Code, trees: tuple[str, str], entry: Json) -> bool:
    """Whether the base said nothing of how the test takes a wrong result."""
    failed_by_result = isinstance(entry, dict) and str(entry.get("reason", "")).startswith(_BY_RESULT)
    return not failed_by_result or not _only_old_functions(runner, code, trees)


def _only_old_functions(runner: PristineRunner, code: Code, trees: tuple[str, str]) -> bool:
    """Whether nothing changed but what functions do that the base has."""
    for path, changed in code.items():
        before, after = (decode(runner.workspace.git.read_blob(tree, path) or b"", path) for tree in trees)
        old = {symbol.name for symbol in outline(before, path, nested=True)}
        rows = [(each.start, each.end) for each in outline(after, path, nested=True) if each.kind != "class"]
        inside = all(any(start <= line <= end for start, end in rows) for line in changed.lines)
        known = all(name.rstrip("#") in old for name in changed.functions)
        if changed.values or not inside or not known:
            return False
    return bool(code)


def _emptied_tree(runner: PristineRunner, code: Code, tree: str, *, answer: bool) -> str | None:
    """The tree with every changed function emptied; None if there is none that can be."""
    git = runner.workspace.git
    modes = {entry.path: entry.mode for entry in git.ls_tree(tree) if entry.path in code}
    entries: dict[str, tuple[str, str] | None] = {}
    for path, changed in code.items():
        text = decode(git.read_blob(tree, path) or b"", path)
        if changed.functions and (left := emptied(text, path, changed.functions, answer=answer)) is not None:
            entries[path] = (modes[path], git.hash_blob(left.encode()))
    return git.overlay_tree(tree, entries) if entries else None


def _lacked_a_name(entry: Json, miscalled: frozenset[str]) -> bool:
    """Whether a test failed on the base for want of something that the change brings."""
    if not isinstance(entry, dict):
        return False
    first = str(entry.get("reason", "")).partition(":")[0]
    return entry.get("phase") == "collect" or first in miscalled
