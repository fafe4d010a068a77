"""The held-out examination: checks by somebody who saw neither tests nor change, run beside the result with
the test runner and without it.

They never become part of the work. One that fails is a question to a person, with the example: the work is
wrong, or the check is. One that cannot run goes back to who wrote it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentforge.core.errors import Exhausted, Unusable, UsageError
from agentforge.core.examining import ABOUT, EXAMPLE, SEND_BACK, WRONG, sets_aside
from agentforge.core.reply import Json
from agentforge.core.values import Escalation, Question, agrees
from agentforge.gates.change.documents import objects
from agentforge.gates.runs.pristine import PristineRunner, result_of, row
from agentforge.gates.verdict import Verdict
from agentforge.languages.generated import lay_generated
from agentforge.languages.outcomes import TestResult, TestRun
from agentforge.languages.port import Language
from agentforge.languages.symbols import find_symbol
from agentforge.languages.table import is_code
from agentforge.system.canon import digest

MAX_CHECKS = 20
MAX_SHOWN = 3
"""Failing checks that a person is shown whole."""
SHOWN_CHARS = 1200
"""How much of one is shown."""
UNUSABLE = "checks that cannot run: "
"""How the question whether to go on without them is marked."""
FED_BACK = 2
"""How often checks that cannot run go back before a person is asked."""


@dataclass(frozen=True, slots=True)
class ExaminedCase:
    """What is examined, and by what."""

    base: str
    tree: str
    examination: Mapping[str, Json]
    specification: Mapping[str, Json]
    path: str
    """Where the checks are laid for a run."""
    escalations: tuple[Escalation, ...] = ()

    @property
    def source(self) -> str:
        """The file of the checks."""
        return str(self.examination.get("source") or "")

    def checks(self) -> dict[str, dict[str, Json]]:
        """What is said of each check, by its name."""
        return {str(item.get("name")): item for item in objects(self.examination, "checks")}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one check did, with and without the test runner."""

    name: str
    with_runner: TestResult
    alone: TestResult | None
    """What it did without the test runner; None where it cannot be called so."""

    @property
    def passed(self) -> bool:
        """Whether it passed each time."""
        return all(each is None or each.outcome == "passed" for each in (self.with_runner, self.alone))

    @property
    def raised(self) -> TestResult:
        """Where it failed; with the test runner first."""
        return self.alone if self.alone and self.with_runner.outcome == "passed" else self.with_runner

    def failure(self, runner: str) -> str:
        """How it failed, in one line."""
        where = ""
        if self.with_runner.outcome == "passed":
            where = f" without {runner}, and passes with it"
        elif self.alone is not None and self.alone.outcome == "passed":
            where = f" with {runner}, and passes without it"
        said = ": ".join(part for part in (self.raised.exception, self.raised.message) if part)
        return f"fails{where}: {said or self.raised.outcome}"


def judge_examined(runner: PristineRunner, case: ExaminedCase, *, owed: bool = True) -> Verdict:
    """Lay the checks beside the result, run them, and hold the work to them. Where none is owed, none need be
    there.
    """
    if not owed and not case.source:
        return Verdict("passed", (), {"tree": case.tree, "checks": [], "runs": []})
    tests, git = runner.language.tests, runner.workspace.git
    path = case.path
    if wrong := _faults(runner, case):
        return _unusable(case, wrong, {"tree": case.tree, "runs": []})
    blob = ("100644", git.hash_blob(case.source.encode()))
    laid, before = (git.overlay_tree(tree, {path: blob}) for tree in (case.tree, case.base))
    run = runner.run(laid, [path])
    alone = _called(runner, laid, path, [*case.checks()], run) if run.status == "ran" else run
    record: dict[str, Json] = {"tree": case.tree, "examined_tree": laid, "runs": [*runner.runs]}
    if run.status != "ran" or (alone is not None and alone.status != "ran"):
        why = run.reason or f"without {tests.RUNNER} {alone.reason if alone else ''}"
        return _unusable(case, [f"the checks did not run: {why}"], record, status="not_run")
    if run.collect_errors:
        return _unusable(case, [f"the file of the checks cannot be loaded: {_first(run)}"], record)
    outcomes = [
        Outcome(
            name, result_of(run, f"{path}::{name}"), result_of(alone, f"{path}::{name}") if alone else None
        )
        for name in case.checks()
    ]
    if gone := [item.name for item in outcomes if item.with_runner.outcome in ("missing", "skipped")]:
        return _unusable(case, [f"`{name}` is not run by {tests.RUNNER}" for name in gone], record)
    old = runner.run(before, [path])
    told: dict[str, Json] = {**record, **_told(case, outcomes, old), "runs": [*runner.runs]}
    return _weighed(runner, case, outcomes, told)


def place_of_checks(language: Language, test_paths: Sequence[str]) -> str:
    """Where checks are laid: beside the tests of the project, so that they are set up as these are."""
    first = next((path for path in test_paths if not is_code(path)), "").strip("./")
    return f"{first}/{language.tests.HELD_OUT}" if first else language.tests.HELD_OUT


def examined_lines(record: object) -> list[str]:
    """What the record says, in words: one line, and one for each check that a person set aside."""
    if not isinstance(record, dict):
        return []
    rows, aside = objects(record, "checks"), objects(record, "set_aside")
    if not rows and not aside:
        return [f"examined: no check was run, {record['why']}"] if record.get("why") else []
    held = len(rows) - len(aside)
    all_pass = "all pass" if not aside else f"{held} pass"
    both = all(row.get("without_runner") is not None for row in rows)
    how = (
        "with the test runner and without it"
        if both
        else "with the test runner; without it none can be called"
    )
    return [
        f"examined: {len(rows)} held-out checks, {all_pass}, {how}",
        *(
            f"held-out check {row.get('name')} fails; {row.get('by') or 'a person'} says that the check is "
            f"wrong: {row.get('example')}"
            for row in aside
        ),
    ]


# ------------------------------------------------------------------ checks that cannot be run


def _faults(runner: PristineRunner, case: ExaminedCase) -> list[str]:
    """What in the text of the checks keeps them from deciding anything, a sentence each."""
    language, text, checks, path = runner.language, case.source, case.checks(), case.path
    if (broken := language.source.syntax_error(text, path)) is not None:
        return [f"source: line {broken[0]}: {broken[1]}"]
    found = [identity.partition("::")[2] for identity in language.tests.test_ids_in_source(text, path)]
    shapes = language.measures.public_names(text)
    known = {str(item.get("id")) for item in objects(case.specification, "requirements")}
    wrong = [] if checks else ["there is no check: write at least one, and name it under checks"]
    if len(checks) > MAX_CHECKS:
        wrong.append(f"there are {len(checks)} checks; write at most {MAX_CHECKS}")
    if language.tests.CALLABLE and (own := language.tests.RUNNER) in language.imports.imported_names(text):
        wrong.append(f"source imports {own}; the checks are called without it too, so use plain assertions")
    wrong += [
        f"`{name}` is in source and not under checks; add it there" for name in found if name not in checks
    ]
    for name, said in checks.items():
        if name not in found:
            wrong.append(f"`{name}` is under checks, and no test function of source")
        elif language.tests.CALLABLE and shapes.get(name) != f"{name}()":
            wrong.append(f"`{name}` must be a plain function without arguments: no fixture is there")
        elif refused := language.tests.liveness(text, f"{path}::{name}").refused:
            wrong.append(f"`{name}` cannot fail for a wrong result: {refused}")
        if str(said.get("requirement_ref")) not in known:
            wrong.append(f"`{name}` names {said.get('requirement_ref')}, which is no requirement")
    return wrong


def _unusable(
    case: ExaminedCase, wrong: Sequence[str], record: dict[str, Json], *, status: str = "failed"
) -> Verdict:
    """They go back to who wrote them; after some rounds a person is asked whether to go on without."""
    about = f"{UNUSABLE}{digest(case.source)[:12]}"
    said = [item for item in case.escalations if about in item.question.about and item.answer is not None]
    if any(agrees(item.answer or "") for item in said):
        return Verdict(
            "passed", (), {**record, "checks": [], "why": f"and a person went on without: {wrong[0]}"}
        )
    text = (
        "The examiner's checks of this work cannot be run, so only its authors have tested it: "
        f"{'; '.join(wrong[:MAX_SHOWN])}. Go on without them?"
    )
    told = "A person wants checks of this work that can be run; write new ones."
    asks = None if said else Question(text, ("yes", "no", "abort"), "", about=(about,), if_no=told)
    reasons = tuple(wrong[:10])
    return Verdict("not_run" if status == "not_run" else "failed", reasons, record, asks, ask_after=FED_BACK)


def _first(run: TestRun) -> str:
    lines = [
        line.strip() for text in run.collect_errors.values() for line in text.splitlines() if line.strip()
    ]
    errors = [line for line in lines if "rror" in line]
    return (errors or lines or ["no reason is known"])[-1][:300]


# ------------------------------------------------------------------ what they say


def _called(
    runner: PristineRunner, tree: str, path: str, names: Sequence[str], like: TestRun
) -> TestRun | None:
    """The same functions, called without the test runner on a fresh checkout; None where tests of their
    language cannot be called so.
    """
    try:
        env = runner.env_of(tree)
    except Exhausted:
        raise
    except (Unusable, UsageError) as error:
        return TestRun((), "not_run", f"its environment cannot be built: {error.sentence}")
    place = runner.workspace.pristine(tree, runner.base_commit)
    lay_generated(env, place)
    run = runner.language.runs.call_tests(
        runner.sandbox,
        env,
        place,
        path,
        names,
        like=like,
        scratch=runner.scratch,
        timeout_s=runner.timeout_s,
    )
    if run is not None:
        runner.runs.append(row(run, tree))
    return run


def _weighed(
    runner: PristineRunner, case: ExaminedCase, outcomes: Sequence[Outcome], record: dict[str, Json]
) -> Verdict:
    aside = _set_aside(case)
    failing = [item for item in outcomes if not item.passed]
    open_ones = [item for item in failing if _about(case, item.name) not in aside]
    if not open_ones:
        rows: list[Json] = [
            {
                "name": item.name,
                "by": aside[_about(case, item.name)],
                "example": case.checks()[item.name].get("example"),
                "failure": item.failure(runner.language.tests.RUNNER),
            }
            for item in failing
        ]
        return Verdict("passed", (), {**record, "set_aside": rows})
    miscalled = all(item.raised.exception in runner.language.tests.MISCALLED for item in open_ones)
    reasons = [f"`{item.name}` {item.failure(runner.language.tests.RUNNER)}" for item in open_ones]
    if miscalled:
        reasons.append(
            "if a check calls something wrongly, fix it; if the work is wrong, hand it in unchanged"
        )
    asks = _question(runner, case, open_ones)
    return Verdict("failed", tuple(reasons[:10]), record, asks, ask_after=1 if miscalled else 0)


def _question(runner: PristineRunner, case: ExaminedCase, failing: Sequence[Outcome]) -> Question:
    shown = "\n\n".join(_shown(runner, case, item) for item in failing[:MAX_SHOWN])
    more = f"\n\nand {len(failing) - MAX_SHOWN} more" if len(failing) > MAX_SHOWN else ""
    text = (
        f"Somebody who saw neither tests nor change wrote {len(case.checks())} checks from the "
        f"specification; the work fails {len(failing)} of them.\n\n{shown}{more}\n\n"
        "Is the check wrong, or does the work go back?"
    )
    about = tuple(_about(case, item.name) for item in failing)
    return Question(text, (SEND_BACK, WRONG, "abort"), "", about=about, if_no=f"{EXAMPLE}\n{shown}{more}")


def _shown(runner: PristineRunner, case: ExaminedCase, item: Outcome) -> str:
    said = case.checks()[item.name]
    head = f"{item.name} ({said.get('requirement_ref')}): {said.get('example')}"
    body = "\n".join(f"    {line}" for line in _body(case, item.name).splitlines())
    return f"{head}\n{body}\n  {item.failure(runner.language.tests.RUNNER)}"[:SHOWN_CHARS]


def _body(case: ExaminedCase, name: str) -> str:
    found = find_symbol(case.source, name, case.path)
    return "" if found is None else "\n".join(case.source.splitlines()[found.start - 1 : found.end])


def _about(case: ExaminedCase, name: str) -> str:
    """A check by its name and its text: another text is another check."""
    return f"{ABOUT}{name} {digest(_body(case, name))[:12]}"


def _set_aside(case: ExaminedCase) -> dict[str, str]:
    """The checks that a person called wrong, and who it was."""
    return {
        name: item.by
        for item in case.escalations
        if item.answer is not None and sets_aside(item.answer)
        for name in item.question.about
        if name.startswith(ABOUT)
    }


def _told(case: ExaminedCase, outcomes: Sequence[Outcome], old: TestRun) -> dict[str, Json]:
    rows: list[Json] = [
        {
            "name": item.name,
            "requirement": case.checks()[item.name].get("requirement_ref"),
            "example": case.checks()[item.name].get("example"),
            "before": result_of(old, f"{case.path}::{item.name}").outcome,
            "with_runner": item.with_runner.outcome,
            "without_runner": item.alone.outcome if item.alone else None,
        }
        for item in outcomes
    ]
    return {"checks": rows}
