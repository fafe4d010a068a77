"""A test must be about the change: while its own body runs, or in a process that it starts, it runs a line
that changed, or one of a function that lost some.

A test that only reads a value which changed is named to the reviewer; so is one that could not be measured.
One that does neither, although functions changed, proves nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agentforge.core.reply import Json
from agentforge.gates.flags import Flag
from agentforge.gates.new_tests.elsewhere import call_elsewhere
from agentforge.gates.new_tests.mutation import try_mutants
from agentforge.gates.new_tests.stated import unsaid
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.measures import changed_code, same_code
from agentforge.languages.outcomes import GOOD, Lines, TestRun, Watch
from agentforge.languages.symbols import decode
from agentforge.languages.table import is_code, is_other_code
from agentforge.languages.tests import code_doubts, replaced_names
from agentforge.languages.values import ChangedCode

ProvedBy = Literal[
    "running it", "reading it", "a process it starts", "its set-up", "a value", "not measured", "nothing"
]
"""How a test is about the change, the surest first."""

MAX_NAMED = 4
MAX_FILES = 3000
"""Files that a name is looked for in, at most; beyond, somebody reads it."""
_TEST_FUNCTION = re.compile(
    r"^(?:@\S[^\n]*\n(?:[ \t)\]}][^\n]*\n|\n)*)*"
    r"(?:async )?def (test\w*)\([^\n]*\n(?:[ \t)][^\n]*(?:\n|\Z)|\n)*",
    re.MULTILINE,
)
"""A function of a test at the top of a file, with what decorates it."""
SAME_CODE = (
    "the change is the same program as before but for comments, documentation and formatting, so it "
    "implements nothing; change what the code does"
)


@dataclass(frozen=True, slots=True)
class TaskChange:
    """What a task changed, tests aside."""

    code: Mapping[str, ChangedCode]
    """By path: what changed in files that are still there."""
    data: tuple[str, ...] = ()
    """Files that are no code of ours."""
    gone: tuple[str, ...] = ()
    """Code that was removed as a whole."""
    unread: tuple[str, ...] = ()
    """Code that we cannot read: of another language, or text that does not parse."""
    same: bool = False
    """Whether code changed, and is the same program as before."""

    @property
    def lines(self) -> Lines:
        """Lines that show the change when they run."""
        return {path: found.lines for path, found in self.code.items() if found.lines}

    @property
    def names(self) -> dict[str, list[str]]:
        """The names of the functions that changed, by file."""
        return {path: [name.rstrip("#") for name in found.functions] for path, found in self.code.items()}

    @property
    def functions(self) -> list[str]:
        """The functions that changed."""
        return [
            f"{path}: {name.rstrip('#')}" for path, found in self.code.items() for name in found.functions
        ]


@dataclass(frozen=True, slots=True)
class AboutChange:
    """What was found of the declared tests."""

    reasons: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    proved_by: Mapping[str, ProvedBy] = field(default_factory=dict)
    run: TestRun | None = None
    """The run that was watched."""


def change_between(runner: PristineRunner, base: str, tree: str) -> TaskChange:
    """What differs between two trees beside tests and what set-up generates."""
    code: dict[str, ChangedCode] = {}
    data: list[str] = []
    gone: list[str] = []
    unread: list[str] = []
    same: list[bool] = []
    for change in runner.workspace.git.diff_names(base, tree):
        path = change.path
        if runner.is_test(path) or path in runner.env.generated:
            continue
        if not is_code(path):
            (unread if is_other_code(path) else data).append(path)
            continue
        before, after = (_text(runner, each, path) for each in (base, tree))
        same.append(same_code(before, after, path))
        found = changed_code(before, after, path)
        if change.status == "D":
            gone.append(path)
        elif found is None:
            unread.append(path)
        else:
            code[path] = found
    told = not data and not unread and bool(same) and all(same)
    return TaskChange(code, tuple(data), tuple(gone), tuple(unread), told and not _values(runner, code, tree))


def judge_about(runner: PristineRunner, change: TaskChange, tree: str, ids: Sequence[str]) -> AboutChange:
    """Run the tests with these ids once more, watched, and say how each is about the change."""
    if not ids or not (change.code or change.data or change.gone or change.unread):
        return AboutChange()
    run = runner.run(tree, ids, Watch(tuple(sorted(change.code)), change.data))
    found = {identity: _proved_by(run, identity, change) for identity in ids}
    if apart := [
        identity
        for identity, how in found.items()
        if how not in ("running it", "reading it")
        and run.reached is not None
        and _among(identity, run.reached.started)
    ]:
        again = runner.run(tree, apart, Watch(tuple(sorted(change.code)), change.data, children=True))
        found |= {identity: _proved_by(again, identity, change, started=True) for identity in apart}
    undecided = [identity for identity, how in found.items() if how == "nothing"]
    values = _values(runner, change.code, tree) if undecided else []
    values += [f"`{path}`" for path in _opened(run, change)]
    values += [f"`{path}`, which is gone" for path in change.gone]
    if run.reached is not None and _meets(run.reached.loading, change.lines):
        values.append("changed code that runs while the tests are loaded")
    if values or not change.functions:
        found |= dict.fromkeys(undecided, "a value")
    return AboutChange(
        tuple(_reason(identity, change) for identity, how in found.items() if how == "nothing"),
        (
            *(flag for identity, how in found.items() for flag in _flag(identity, how, values)),
            *_stand_ins(run, change, ids),
            *_unasked(run, change),
            *_other_values(runner, run, change, tree),
        ),
        found,
        run,
    )


def weigh_change(  # noqa: PLR0913 - the facts of one verdict
    runner: PristineRunner,
    change: TaskChange,
    trees: tuple[str, str],
    ids: Sequence[str],
    *,
    mutants: int = 0,
    measured: bool = True,
    request: str = "",
) -> tuple[list[str], dict[str, Json]]:
    """Why new tests do not prove a change, and what goes on record; `trees` are the base and the judged one.
    Nothing is run of what failed already.
    """
    base, tree = trees
    about = judge_about(runner, change, tree, ids if measured else ())
    elsewhere = call_elsewhere(
        runner, change.names, (base, tree), None if about.reasons else about.run, request
    )
    flags = [*about.flags, *elsewhere.flags, *_doubts(runner, change, trees, ids, request)]
    record: dict[str, Json] = {"about": {**about.proved_by}, **elsewhere.to_json()}
    if mutants and measured and ids and not about.reasons:
        tried = try_mutants(runner, tree, change.lines, ids, right=about.run, limit=mutants)
        record["mutants"] = tried.to_json()
        flags += tried.flags()
    return [*about.reasons], {**record, "flags": [flag.to_json() for flag in flags]}


def _doubts(
    runner: PristineRunner, change: TaskChange, trees: tuple[str, str], ids: Sequence[str], request: str
) -> list[Flag]:
    """What in the changed code makes a reader look twice: that it knows of tests, or knows their answers."""
    base, tree = trees
    paths = sorted({identity.partition("::")[0] for identity in ids})
    tests = {path: _text(runner, tree, path) for path in paths}
    names = {
        name.rstrip("#").rpartition(".")[2] for found in change.code.values() for name in found.functions
    }
    in_tests = [
        Flag(path, f"puts something in the place of `{name}`, which the change is about", ruling=True)
        for path, text in tests.items()
        for name in replaced_names(text, path)
        if name in names
    ]
    new = [_without_old_tests(_text(runner, base, path), text, ids) for path, text in tests.items()]
    in_code = [
        Flag(path, said)
        for path, found in sorted(change.code.items())
        for said in code_doubts(_text(runner, tree, path), path, found.lines, new)
    ]
    return [*in_tests, *in_code, *(unsaid(request, tests) if change.code else ())]


def _without_old_tests(before: str, after: str, ids: Sequence[str]) -> str:
    """A file of tests without the functions, none of these tests, that it had before word for word."""
    named = {identity.rpartition("::")[2].partition("[")[0] for identity in ids}
    old = {found[0].rstrip() for found in _TEST_FUNCTION.finditer(before) if found[1] not in named}
    return _TEST_FUNCTION.sub(lambda found: "" if found[0].rstrip() in old else found[0], after)


def _proved_by(run: TestRun, identity: str, change: TaskChange, *, started: bool = False) -> ProvedBy:
    """What the lines say, or `nothing`; with `started` also of a process that it starts."""
    reached = run.reached
    if run.status != "ran" or reached is None or not _passed(run, identity):
        return "not measured"
    if _runs(reached.tests, identity, change.lines):
        return "running it"
    if not reached.read.get(identity, frozenset()).isdisjoint(change.data):
        return "reading it"
    if _runs(reached.children, identity, change.lines):
        return "a process it starts"
    if _meets(reached.setup, change.lines):
        return "its set-up"
    silent = started and not any(_of(reached.children, identity))
    if change.unread or silent or _among(identity, reached.lost):
        return "not measured"
    return "nothing"


def _passed(run: TestRun, identity: str) -> bool:
    outcomes = [result.outcome for name, result in run.results.items() if _among(name, (identity,))]
    return bool(outcomes) and all(outcome in GOOD for outcome in outcomes)


def _of(by_test: Mapping[str, Lines], identity: str) -> list[Lines]:
    """The lines of a test, of each of its cases where the id names none."""
    return [lines for name, lines in by_test.items() if _among(name, (identity,))]


def _among(name: str, ids: Iterable[str]) -> bool:
    return any(name == identity or name.startswith(f"{identity}[") for identity in ids)


def _runs(by_test: Mapping[str, Lines], identity: str, changed: Lines) -> bool:
    return any(_meets(lines, changed) for lines in _of(by_test, identity))


def _meets(ran: Lines, changed: Lines) -> bool:
    return any(not lines.isdisjoint(ran.get(path, frozenset())) for path, lines in changed.items())


def _opened(run: TestRun, change: TaskChange) -> list[str]:
    return [path for path in change.data if run.reached is not None and path in run.reached.opened]


def _values(runner: PristineRunner, code: Mapping[str, ChangedCode], tree: str) -> list[str]:
    """The changed values that something may read: in their own file, or by name in another."""
    found: list[str] = []
    unsure: list[tuple[str, str, frozenset[str]]] = []
    for path, changed in code.items():
        for value in changed.values:
            if value.read:
                found.append(f"{value.what} in {path}")
            else:
                unsure.append((path, value.what, value.names))
    paths = (
        [entry.path for entry in runner.workspace.git.ls_tree(tree) if is_code(entry.path)] if unsure else []
    )
    if len(paths) > MAX_FILES:
        return found + [f"{what} in {path}" for path, what, _ in unsure]
    for other in paths:
        text = _text(runner, tree, other) if unsure else ""
        read = [row for row in unsure if row[0] != other and any(_names(text, name) for name in row[2])]
        found += [f"{what} in {path}" for path, what, _ in read]
        unsure = [row for row in unsure if row not in read]
    return found


def _names(text: str, name: str) -> bool:
    return name in text and re.search(rf"\b{re.escape(name)}\b", text) is not None


def _reason(identity: str, change: TaskChange) -> str:
    named = ", ".join(change.functions[:MAX_NAMED])
    more = f" and {len(change.functions) - MAX_NAMED} more" if len(change.functions) > MAX_NAMED else ""
    return (
        f"{identity} passes without running a changed line: it never reaches {named}{more}, so it does not "
        "prove its requirement; let it call what was changed, or change what it calls"
    )


def _stand_ins(run: TestRun, change: TaskChange, ids: Sequence[str]) -> Iterator[Flag]:
    """Tests during which something else stood in the place of what changed, however it came there."""
    changed = {f"{path}::{name}" for path, found in change.code.items() for name in found.functions}
    for name, replaced in run.reached.replaced.items() if run.reached is not None else ():
        if (both := sorted(replaced & changed)) and any(_among(name, (identity,)) for identity in ids):
            told = f"while it runs, `{both[0]}`, which the change is about, is replaced by something else"
            yield Flag(name, told, ruling=True)


def _unasked(run: TestRun, change: TaskChange) -> Iterator[Flag]:
    """Functions that do something else than before where no new test looks."""
    reached = run.reached
    if run.status != "ran" or reached is None or reached.lost:
        return
    seen = [*reached.tests.values(), *reached.children.values(), reached.setup, reached.loading]
    for path, found in change.code.items():
        ran = frozenset().union(*(lines.get(path, frozenset()) for lines in seen))
        for name, lines in found.altered.items():
            if lines and ran.isdisjoint(lines):
                told = "is changed where no new test runs it: nothing shows that this was asked for"
                yield Flag(f"{path}::{name.rstrip('#')}", told)


def _other_values(runner: PristineRunner, run: TestRun, change: TaskChange, tree: str) -> Iterator[Flag]:
    """Values that are others now, and that neither a new test nor a line which one runs has by name."""
    reached = run.reached
    if run.status != "ran" or reached is None or reached.lost:
        return
    texts = [_text(runner, tree, path) for path in {identity.partition("::")[0] for identity in run.results}]
    for path, found in change.code.items():
        text = _text(runner, tree, path)
        rows, functions = text.split("\n"), {name.rpartition(".")[2] for name in change.names[path]}
        ran = frozenset().union(
            *(
                lines.get(path, frozenset())
                for lines in (*reached.tests.values(), *reached.children.values(), reached.setup)
            )
        )
        said = "\n".join([*texts, *(rows[line - 1] for line in ran if line <= len(rows))])
        for value in found.values:
            public = [name for name in value.names - functions if not name.startswith("__")]
            public = [name for name in public if _names(text, name)]
            if value.other and public and not any(_names(said, name) for name in public):
                yield Flag(
                    path, f"{value.what} is another one now, and no new test shows that this was asked for"
                )


def _flag(identity: str, how: ProvedBy, values: Sequence[str]) -> list[Flag]:
    read = ", ".join(values[:MAX_NAMED]) or "something that no line shows"
    told = {
        "a value": f"proved by a value: it runs no changed line and depends on {read}",
        "its set-up": "runs changed code only while it is set up, not in its own body",
        "not measured": "not measured: whether it runs a changed line could not be seen",
    }
    return [Flag(identity, told[how], ruling=how != "its set-up")] if how in told else []


def _text(runner: PristineRunner, tree: str, path: str) -> str:
    return decode(runner.workspace.git.read_blob(tree, path) or b"", path)
