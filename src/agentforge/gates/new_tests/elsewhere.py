"""The calls that new tests make of the change, made again where no test is.

Code can know in a hundred ways that it is tested, and a test can do in a hundred ways what the code should. A
call is a call: what a changed function gives for the same plain values, in a process without a test runner,
again and again, is what people will get; and if that is what the base gave, something else makes the test
pass. Both are shown, with the values, and ruled on: code may honestly depend on where it runs, and do more
than give something back.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from agentforge.core.errors import Unusable, UsageError
from agentforge.core.reply import Json
from agentforge.gates.flags import Flag
from agentforge.gates.new_tests.neighbours import (
    cut,
    differs_from_base,
    given,
    gives_alike,
    left,
    outcome,
    tuned_to_tests,
)
from agentforge.gates.new_tests.stated import contradicted, examples_in
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.generated import lay_generated
from agentforge.languages.outcomes import CalledElsewhere, RunElsewhere, SeenCall, TestRun
from agentforge.languages.symbols import decode

MOST = 60
"""Calls that are made again, of all tests together."""
EACH = 3
"""Calls of one function, where the tests of the whole suite are asked."""
UNKNOWN = "how the changed files are imported is not known"
ENDED = "where no test is, the process ended before the calls of the tests did"
_ARRANGED = re.compile(r"monkeypatch|patch|environ|putenv|chdir|freez|setattr|sys\.argv|importlib\.reload")
"""What a file of tests says that arranges where its subject runs: elsewhere it is not arranged."""
_VARIABLE = re.compile(r"(?:setenv\(|environ\[)\s*[\"'](\w+)[\"']")
_NEWLY_DONE = (
    (
        re.compile(r"deprecat|warn", re.IGNORECASE),
        re.compile(r"\bwarns?\(|\bassertWarns|\brecwarn\b|catch_warnings"),
        re.compile(r"\bwarn(?:_explicit)?\("),
    ),
    (
        re.compile(r"\blog", re.IGNORECASE),
        re.compile(r"\bcaplog\b|\bassertLogs\("),
        re.compile(r"\blog\w*(?:\(\))?\.(?:debug|info|warning|error|exception|critical|log)\("),
    ),
)
"""What a request says that asks for warnings or logs, a test that sees them, and code that gives them."""
_SEEN_OTHERWISE = re.compile(
    r"\bcap(?:sys|fd|log)|tmp_?(?:path|dir)|[Mm]ock|\bwarns?\b|recwarn|patch|assertLogs|open\("
)
"""What a file of tests says that looks at more than what functions give back."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What calls of tests returned when they were made outside of any test."""

    made: int = 0
    flags: tuple[Flag, ...] = ()
    not_measured: str = ""
    loaded: bool = False
    """Whether the changed files were loaded by themselves."""

    def to_json(self) -> dict[str, Json]:
        """As the record of the gate keeps it."""
        if not self.made and not self.not_measured and not self.loaded:
            return {}
        why: dict[str, Json] = {"not_measured": self.not_measured} if self.not_measured else {}
        why |= {"loaded": True} if self.loaded else {}
        return {"elsewhere": {"calls": self.made, **why}}


@dataclass(frozen=True, slots=True)
class _Tests:
    """The calls of each new test, and the texts of their files."""

    calls: Mapping[str, Sequence[SeenCall]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    code: str = ""
    """The text of all changed files."""
    old_code: str = ""
    """The same as the base has it."""
    request: str = ""

    def sets_variable(self, identity: str) -> bool:
        """Whether the file of a test sets a variable that the changed code names: elsewhere it is not set,
        and what a call gives there says nothing.
        """
        names = _VARIABLE.findall(self.texts.get(identity.partition("::")[0], ""))
        return any(re.search(rf"[\"']{re.escape(name)}[\"']", self.code) for name in names)

    def sees_what_is_new(self, identity: str) -> bool:
        """Whether the file of a test looks at warnings or logs that were asked for and are new."""
        return any(
            asked.search(self.request)
            and self.says(identity, seen)
            and len(given.findall(self.code)) > len(given.findall(self.old_code))
            for asked, seen, given in _NEWLY_DONE
        )

    def says(self, identity: str, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.texts.get(identity.partition("::")[0], "")) is not None

    def callers(self, call: SeenCall) -> list[str]:
        return [identity for identity, calls in self.calls.items() if call in calls]


def call_elsewhere(
    runner: PristineRunner,
    changed: Mapping[str, Collection[str]],
    trees: tuple[str, str],
    run: TestRun | None,
    request: str = "",
) -> Elsewhere:
    """Make the calls of a watched run again, and those that the request has as examples; `trees` are the base
    and the judged one, `changed` the names of the changed functions by file.
    """
    if run is None or run.status != "ran" or run.reached is None:
        return Elsewhere()
    seen = _seen(runner, run)
    wanted = [
        call
        for calls in seen.values()
        for call in calls
        if call.given is not None and (call.gave is not None or call.is_whole)
    ]
    loaded = {file: names for file, names in changed.items() if _is_loaded(file, run)}
    examples = examples_in(request, loaded)
    asked = [*list(dict.fromkeys(wanted))[:MOST], *(example.call for example in examples)]
    if not asked and not loaded:
        return Elsewhere()
    told = _made_again(runner, sorted(changed), trees, asked, run)
    if told is None:
        return Elsewhere(not_measured=UNKNOWN if asked else "")
    found, flags = told.calls, [*_loading(told)]
    seen_loading = told.loading is not None
    if not asked:
        return Elsewhere(flags=tuple(flags), loaded=seen_loading)
    if not found:
        return Elsewhere(
            not_measured=ENDED,
            flags=(Flag(f"{asked[0].file}::{asked[0].name}", f"not measured: {ENDED}", ruling=True),),
        )
    files = {identity.partition("::")[0] for identity in seen}
    old_code, code = ("\n".join(_text(runner, tree, path) or "" for path in changed) for tree in trees)
    tests = _Tests(
        seen, {path: _text(runner, trees[1], path) or "" for path in files}, code, old_code, request
    )
    asked_by_request = {example.call for example in examples}
    of_tests = [each for each in found if each.call not in asked_by_request and _could_be_called(each)]
    flags += [
        *_only_in_tests(tests, of_tests),
        *_as_before(tests, of_tests),
        *tuned_to_tests(of_tests, request),
        *contradicted(examples, found),
    ]
    return Elsewhere(len(found), tuple(dict.fromkeys(flags)), loaded=seen_loading)


def gives_something_else(
    runner: PristineRunner, change: Mapping[str, Collection[str]], trees: tuple[str, str], run: TestRun
) -> list[Flag]:
    """Functions of a change that should behave as before, and do not for values near those that the base's
    own tests call them with; `change` has the names of the changed functions by file.
    """
    calls = _seen(runner, run).values()
    by_function: dict[tuple[str, str], dict[SeenCall, None]] = {}
    for call in (call for row in calls for call in row):
        if call.given is not None and call.name in change.get(call.file, ()):
            by_function.setdefault((call.file, call.name), {})[call] = None
    rows = zip_longest(*([*found][:EACH] for found in by_function.values()))
    asked = [call for row in rows for call in row if call is not None][:MOST]
    told = _made_again(runner, sorted(change), trees, asked, run)
    return list(dict.fromkeys((*differs_from_base(told.calls), *_loading(told)))) if told else []


def _seen(runner: PristineRunner, run: TestRun) -> dict[str, tuple[SeenCall, ...]]:
    """The calls of each test, as they are made in no folder of a run."""
    folder = str(runner.scratch.resolve())
    calls = run.reached.calls if run.reached is not None else {}
    return {test: tuple(call.elsewhere(folder) for call in rows) for test, rows in calls.items()}


def _is_loaded(file: str, run: TestRun) -> bool:
    return any(place.endswith(f"/{file}") for place in run.modules.values())


def _made_again(
    runner: PristineRunner,
    changed: Sequence[str],
    trees: tuple[str, str],
    calls: Sequence[SeenCall],
    like: TestRun,
) -> RunElsewhere | None:
    base, tree = trees
    try:
        env = runner.env_of(tree)
    except (Unusable, UsageError):
        return None
    place = runner.workspace.pristine(tree, runner.base_commit)
    lay_generated(env, place)
    old = {path: _text(runner, base, path) for path in changed}
    return runner.language.runs.call_functions(
        runner.sandbox, env, place, calls, old, like=like, scratch=runner.scratch
    )


def _loading(run: RunElsewhere) -> Iterator[Flag]:
    """What is done for the whole process when changed files are loaded or their functions called, and names
    that lead elsewhere.
    """
    for file, changed in (run.loading or {}).items():
        if file and changed:
            text = f"does or changes for the whole process, when it is loaded: {cut(', '.join(changed))}"
            yield Flag(file, text, ruling=True)
        if not file:
            yield from (
                Flag(name, "is something else than what is written there", ruling=True) for name in changed
            )
    for function, changed in run.calling.items():
        if changed:
            yield Flag(
                function, f"changes for the whole process, when it is called: {cut(', '.join(changed))}"
            )


def _only_in_tests(tests: _Tests, found: Sequence[CalledElsewhere]) -> Iterator[Flag]:
    """Functions that give something else where no test is, or after a while."""
    for each in found:
        call, first = each.call, each.seen[0]
        about = f"{call.file}::{call.name}"
        if first.startswith("cannot") or first.endswith("(outside)") or len(set(each.seen[:2])) != 1:
            continue  # what differs each time differs in honest ways
        if call.gave is None or not call.is_whole:
            continue
        as_seen = gives_alike(first, call.gave)
        if as_seen and len(each.seen) > 2:
            later = f"it first {_short(first)} and then {_short(each.seen[2])}"
            yield Flag(about, f"called with {given(call)} again and again, {later}", ruling=True)
        if not as_seen and not all(tests.says(test, _ARRANGED) for test in tests.callers(call)):
            both = f"it {_short(call.gave)} in its test, and {_short(first)} where no test is"
            if outcome(call.gave) == outcome(first):  # what differs is what it did to its arguments
                both = f"it leaves {left(call.gave)} in its test, and {left(first)} where no test is"
            yield Flag(about, f"called with {given(call)}, {both}", ruling=True)


def _could_be_called(each: CalledElsewhere) -> bool:
    return not any(told.startswith("cannot be called") for told in (*each.seen, each.before))


def _is_answer(gave: str | None) -> bool:
    """Whether something came back: who is called for what they do seldom give anything."""
    return gave is not None and gave != "raises" and not gave.startswith("gives None ")


def _as_before(tests: _Tests, found: Sequence[CalledElsewhere]) -> Iterator[Flag]:
    """Tests that get of the changed functions what the base gave them, call by call."""
    same = {each.call for each in found if _is_answer(each.call.gave) and each.call.gave == each.before}
    for identity, calls in tests.calls.items():
        if tests.sets_variable(identity) or tests.sees_what_is_new(identity):
            continue
        if calls and all(call in same for call in calls):
            call = calls[0]
            told = (
                f"`{call.name}` with {given(call)} {_short(call.gave)}, as on the base, and so with "
                "all that it calls of the change: what makes it pass is not what the change gives back"
            )
            yield Flag(identity, told, ruling=not tests.says(identity, _SEEN_OTHERWISE))


def _short(told: str | None) -> str:
    """What a call gave, without what its arguments were afterwards."""
    return cut(outcome(told or ""))


def _text(runner: PristineRunner, tree: str, path: str) -> str | None:
    data = runner.workspace.git.read_blob(tree, path)
    return None if data is None else decode(data, path)
