"""The change emptied: its functions do nothing any more, and what they give back goes along with whatever is
done to it. A new test that passes all the same says nothing of what the change does.

It is asked twice, with opposite answers to every question (is it true, is it equal, is it less), so that no
test which looks at a result passes both times. Where a test failed on the base by what old code did, and
nothing but that code changed, the base was such a wrong version already.

A test has noticed something only if it was run, and failed. So functions do their work while code is loaded,
or code that checks itself there would speak for a test that says nothing. What could not be run all the same
is not measured.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from agentforge.core.reply import Json
from agentforge.gates.flags import Flag
from agentforge.gates.runs.pristine import PristineRunner, result_of
from agentforge.languages.measures import emptied, other_numbers
from agentforge.languages.outcomes import GOOD, STUB_RED
from agentforge.languages.symbols import decode, outline
from agentforge.languages.tests import liveness
from agentforge.languages.values import ChangedCode

_BY_RESULT = ("AssertionError", "Failed: DID NOT")
"""How the reason begins of a test that met a wrong result."""

BASE_WAS_WRONG = "each new test failed on the base by a wrong result, and only functions of the base changed"
NOTHING_TO_EMPTY = "no function of the change can be emptied"

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
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    """Tests that could not be run so, each with the reason."""
    loading: tuple[str, ...] = ()
    """Those of the passing ones that notice if functions do nothing while code is loaded, too."""
    runs: int = 0
    """How many runs that took."""
    why: str = ""
    """Why there was none."""
    one_answer: bool = False
    """Whether there was no opposite answer, so that a test which passes may have looked at a result."""

    @property
    def proves_nothing(self) -> bool:
        """Whether no test at all has been seen to notice a wrong result."""
        nothing = {*self.nameless} - {*self.loading}
        return bool(self.asked) and {*self.asked} == nothing and not self.reading

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
        told = {each: said for each in self.passing if each not in self.reading}
        told |= dict.fromkeys(
            self.loading, "notices the change only while code is loaded, not when it is used"
        )
        told |= {
            each: f"not measured: whether it notices functions that do nothing could not be seen ({why})"
            for each, why in self.unmeasured.items()
        }
        return [Flag(each, text, ruling=True) for each, text in told.items()]

    def to_json(self) -> dict[str, Json]:
        """As the record of the gate keeps it."""
        not_measured: dict[str, Json] = {"not_measured": {**self.unmeasured}} if self.unmeasured else {}
        told: dict[str, Json] = {"runs": self.runs, **({"why": self.why} if self.why else {}), **not_measured}
        return {"emptied": {"asked": [*self.asked], "passing": [*self.passing], **told}}


def empty_change(
    runner: PristineRunner, code: Code, trees: tuple[str, str], red: Mapping[str, Json], ids: Sequence[str]
) -> EmptiedChange:
    """Run these tests with the functions of the change emptied; `trees` are the base and the judged one. The
    runs are no evidence of anything else, so they are not among the runner's.
    """
    asked = [identity for identity in ids if _is_open(runner, code, trees, red.get(identity))]
    if ids and not asked:
        return EmptiedChange(why=BASE_WAS_WRONG)
    found = _ask(runner, code, trees[1], asked)
    asked_twice = () if found.one_answer else found.passing
    nameless = [identity for identity in asked_twice if _lacked_a_name(runner, red.get(identity))]
    return replace(found, nameless=tuple(nameless))


def with_values(
    runner: PristineRunner, code: Code, tree: str, found: EmptiedChange, by_value: Sequence[str]
) -> EmptiedChange:
    """The same, with what is known of values: which of the tests that are proved by one name it, and, where
    that leaves nothing, which tests notice what is computed while code is loaded.
    """
    found = replace(found, reading=_naming_values(runner, code, tree, by_value))
    if not found.proves_nothing:
        return found
    again = _ask(runner, code, tree, _naming_values(runner, code, tree, found.passing), always=True)
    noticing = [each for each in again.asked if each not in (*again.passing, *again.unmeasured)]
    return replace(found, loading=tuple(noticing), runs=found.runs + again.runs)


def roughly_tested(
    runner: PristineRunner, code: Code, tree: str, red: Mapping[str, Json], ids: Sequence[str]
) -> tuple[list[Flag], int]:
    """Flags for tests that pass although every number which the change gives back is a little other, where
    no test of their requirement says plainly what one must be; and how many runs that took.
    """
    about = {
        identity: str(entry.get("requirement", ""))
        for identity in ids
        if isinstance(entry := red[identity], dict)
    }
    texts = {path: _text_of(runner, tree, path) for path in {each.partition("::")[0] for each in ids}}
    exact = {
        about[identity]
        for identity in about
        if not liveness(texts[identity.partition("::")[0]], identity).rough
    }
    passing, runs = [identity for identity in about if about[identity] not in exact], 0
    for raising in (False, True):
        other = _tree_of(runner, code, tree, partial(other_numbers, raising=raising))
        if not passing or other is None:
            return [], runs
        run, runs = replace(runner, runs=[]).run(other, passing), runs + 1
        passing = [each for each in passing if (result_of(run, each).outcome in GOOD) is not raising]
    said = "passes where each number that the change gives back is a little other: it says only roughly what"
    return [Flag(identity, f"{said} must come of it") for identity in passing], runs


def _ask(
    runner: PristineRunner, code: Code, tree: str, ids: Sequence[str], *, always: bool = False
) -> EmptiedChange:
    """Which of these tests pass with either answer; those that pass with the first are asked again."""
    passing, unmeasured, runs = [*ids], dict[str, str](), 0
    for answer in (False, True):
        if not passing:
            break
        emptied_tree = _emptied_tree(runner, code, tree, answer=answer, always=always)
        if emptied_tree is None and not runs:
            return EmptiedChange(why=NOTHING_TO_EMPTY)
        if emptied_tree is None:  # where types leave no opposite answer
            return EmptiedChange(
                tuple(ids), tuple(passing), unmeasured=unmeasured, runs=runs, one_answer=True
            )
        runs += 1
        run = replace(runner, runs=[]).run(emptied_tree, passing)
        results = {each: result_of(run, each) for each in passing}
        unmeasured |= {
            each: run.reason or result.message
            for each, result in results.items()
            if run.status != "ran" or result.phase == "collect"
        }
        passing = [
            each for each, result in results.items() if result.outcome in GOOD and each not in unmeasured
        ]
    return EmptiedChange(tuple(ids), tuple(passing), unmeasured=unmeasured, runs=runs)


def _naming_values(runner: PristineRunner, code: Code, tree: str, ids: Sequence[str]) -> tuple[str, ...]:
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
    row = entry if isinstance(entry, dict) else {}
    reason = str(row.get("reason", ""))
    # Where errors have no names, what ran and failed met a wrong result.
    nameless = not runner.language.tests.MISCALLED and not re.match(r"\w*Error\b", reason)
    failed_by_result = reason.startswith(_BY_RESULT) or (nameless and row.get("phase") == "call")
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


def _emptied_tree(runner: PristineRunner, code: Code, tree: str, *, answer: bool, always: bool) -> str | None:
    """The tree with every changed function emptied; None if there is none that can be."""
    return _tree_of(
        runner,
        code,
        tree,
        partial(emptied, answer=answer, always=always),
    )


def _tree_of(
    runner: PristineRunner,
    code: Code,
    tree: str,
    write: Callable[[str, str, Collection[str]], str | None],
) -> str | None:
    """The tree with every changed function written in another way; None if there is none that can be."""
    git = runner.workspace.git
    modes = {entry.path: entry.mode for entry in git.ls_tree(tree) if entry.path in code}
    entries: dict[str, tuple[str, str] | None] = {}
    for path, changed in code.items():
        left = write(_text_of(runner, tree, path), path, changed.functions)
        if changed.functions and left is not None:
            entries[path] = (modes[path], git.hash_blob(left.encode()))
    return git.overlay_tree(tree, entries) if entries else None


def _text_of(runner: PristineRunner, tree: str, path: str) -> str:
    return decode(runner.workspace.git.read_blob(tree, path) or b"", path)


def _lacked_a_name(runner: PristineRunner, entry: Json) -> bool:
    """Whether a test failed on the base for want of something that the change brings. What was raised in the
    code itself is what that code did, whatever its name.
    """
    if not isinstance(entry, dict):
        return False
    first, inside = str(entry.get("reason", "")).partition(":")[0], str(entry.get("raised_in", ""))
    miscalled = first in runner.language.tests.MISCALLED and (not inside or runner.is_test(inside))
    return entry.get("phase") == "collect" or miscalled or STUB_RED in str(entry.get("reason", ""))
