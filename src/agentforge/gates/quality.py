"""The quality verdict: what a change touches is no harder to read, no more written twice, and tested; a
ratchet, or strict.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.catalog.kinds import what_kind_of_file
from agentforge.core.reply import Json
from agentforge.gates.coverage import Covered, added_lines, covered, uncovered
from agentforge.gates.ratchets import NOT_CONFIGURED, grown, worse_complexity
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.verdict import Verdict
from agentforge.languages.duplicates import Duplicate, duplicates, spelled, touching, worse_duplicates
from agentforge.languages.generated import lay_generated
from agentforge.languages.measures import complexity, counts_complexity, statements
from agentforge.languages.symbols import decode
from agentforge.languages.table import CODE, is_code, is_source
from agentforge.languages.values import CoverageRun
from agentforge.system.bounded import files_below

MAX_REASONS = 10
MAX_FILES = 3000
"""Files beyond which copies are looked for among the changed ones only."""

NOTHING, AT_RISK, WHOLE = "no line that can run", "the tests that reach the change", "the whole suite"
"""What coverage was measured on."""

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class QualityCase:
    """The trees that the quality gate compares, and how strictly."""

    base_tree: str
    entry_tree: str
    """The tree that the stage began with: nothing may be worse than there either."""
    tree: str
    strict: bool = False
    """The limits hold for all of the touched files, and what is not configured has not passed."""
    affected: tuple[str, ...] = ()
    """Test files that can run a changed line. They are measured first, and the whole suite only where they
    run too little of it.
    """
    complexity_limit: int | None = None
    """The project's own; None for the usual one."""


def judge_quality(runner: PristineRunner, case: QualityCase) -> Verdict:
    """Complexity and copies are computed; coverage runs the suite, where the project has the tool."""
    paths = _changed(runner, case)
    if not paths:
        return Verdict(
            "passed",
            (),
            {
                "tree": case.tree,
                "complexity": None,
                "duplicates": None,
                "coverage": None,
                "not_configured": [],
                "grown": [],
            },
        )
    place = runner.workspace.pristine(case.tree, runner.base_commit)
    lay_generated(runner.env, place)
    now = _texts(runner, case.tree, paths)
    before = [_texts(runner, tree, paths) for tree in dict.fromkeys((case.base_tree, case.entry_tree))]
    knotty, highest = _knotty(before, now, strict=case.strict, limit=case.complexity_limit)
    added = {path: _added(runner, case, path) for path in now}
    rest = _untouched(runner, place, {path for texts in (*before, now) for path in texts})
    copied, lines = _copied(rest or {}, before, now, None if case.strict else added)
    run, part, measured_on = _measured(runner, case, place, now)
    untested = (
        uncovered(part, of="these files" if case.strict else "the changed lines")
        if run.status == "ran"
        else []
    )
    record: dict[str, Json] = {
        "tree": case.tree,
        "strict": case.strict,
        "complexity_acceptable": not knotty,
        "no_code_smells": not copied,
        "complexity": highest,
        "duplicates": lines,
        "grown": [*grown(_numbers(before[0]), _numbers(now))] if rest is not None else None,
        "coverage": part.percent if run.status == "ran" else None,
        "coverage_of": measured_on if run.status == "ran" else None,
        "not_configured": ["coverage"] if run.status == "not_configured" else [],
        "not_run": {"coverage": NOT_CONFIGURED} if run.status == "not_configured" else {},
    }
    if run.status == "ran":
        record["coverage_acceptable"] = not untested
    elif case.strict and run.status == "not_configured":
        untested = [f"coverage is demanded by `strict` and not configured: {run.reason}"]
    reasons = [*knotty, *copied, *untested]
    if reasons:
        return Verdict("failed", tuple(reasons[:MAX_REASONS]), record)
    if run.status == "not_run":
        return Verdict("not_run", (run.reason,), record)
    return Verdict("passed", (), record)


def nothing_worse(quality: Mapping[str, Json], tree: str, paths: Sequence[str]) -> bool:
    """Whether every changed file was measured, no function in them grew beyond what is easily read, and
    nothing was copied. What was not measured is not taken to be good.
    """
    measured = all(counts_complexity(path) or what_kind_of_file(path) is not None for path in paths)
    return measured and quality.get("tree") == tree and quality.get("grown") == []


def _changed(runner: PristineRunner, case: QualityCase) -> list[str]:
    """The source files of this change, gone ones too; tests and generated files are judged by nobody here."""
    changes = runner.workspace.git.diff_names(case.base_tree, case.tree) + runner.workspace.git.diff_names(
        case.entry_tree, case.tree
    )
    paths = sorted({change.path for change in changes if is_source(change.path)})
    return [path for path in paths if not runner.is_test(path) and path not in runner.env.generated]


def _texts(runner: PristineRunner, tree: str, paths: list[str]) -> dict[str, str]:
    found = {path: runner.workspace.git.read_blob(tree, path) for path in paths}
    return {path: decode(data, path) for path, data in found.items() if data is not None}


def _knotty(
    before: list[dict[str, str]], now: Texts, *, strict: bool, limit: int | None
) -> tuple[list[str], int | None]:
    """Functions that are too complex and worse than they were, and the highest number of all."""
    after = _numbers(now)
    known = [{}] if strict else [_numbers(texts) for texts in before]
    named: dict[str, str] = {}
    for numbers in known:
        for line in worse_complexity(numbers, after, limit):
            named.setdefault(line.partition(" has complexity")[0], line)
    return [*named.values()], max(after.values(), default=None)


def _numbers(texts: Texts) -> dict[str, int]:
    return {
        f"{path}: {name}": count
        for path, text in texts.items()
        for name, count in complexity(text, path).items()
    }


def _added(runner: PristineRunner, case: QualityCase, path: str) -> frozenset[int]:
    return added_lines(runner.workspace.git.diff_patch(case.base_tree, case.tree, [path]))


def _copied(
    rest: Texts,
    before: list[dict[str, str]],
    now: Texts,
    added: Mapping[str, Collection[int]] | None,
) -> tuple[list[str], int]:
    """Blocks written twice that are new, and how many lines they are with the old ones. Without `added`, old
    ones count too.
    """
    touched = {path for texts in (*before, now) for path in texts}
    after = duplicates({**rest, **now})
    mine = touching(after, touched)
    lines = sum(item.lines for item in mine)
    if added is None:
        return [spelled(item) for item in mine], lines
    known: list[tuple[Duplicate, ...]] = [duplicates({**rest, **texts}) for texts in before]
    return list(
        dict.fromkeys(line for found in known for line in worse_duplicates(found, after, touched, added))
    ), lines


def _untouched(runner: PristineRunner, place: Path, touched: set[str]) -> dict[str, str] | None:
    """The project's other source files, where a copy of one of them is a copy; None if there are too many to
    compare.
    """
    paths = [
        path.relative_to(place).as_posix() for path in files_below(place) if path.name.endswith(tuple(CODE))
    ]
    mine = [
        path
        for path in paths
        if path not in touched and not runner.is_test(path) and path not in runner.env.generated
    ]
    if len(mine) > MAX_FILES:
        return None
    return {path: decode((place / path).read_bytes(), path) for path in mine}


def _measured(
    runner: PristineRunner, case: QualityCase, place: Path, now: Texts
) -> tuple[CoverageRun, Covered, str]:
    """How much the tests run of it, and which tests were asked: those at risk, and all of them only where
    these run too little. A whole run under coverage costs more than the verdict itself.
    """
    now = {path: text for path, text in now.items() if is_code(path)}  # a stub is run by nobody
    changed = {path: _added(runner, case, path) for path in now}
    lines = {path: statements(text, path) for path, text in now.items()}
    wanted = None if case.strict else {path: changed[path] & lines[path] for path in now}
    if not now or (wanted is not None and not any(wanted.values())):
        return CoverageRun("ran", "no line to run"), Covered(0, 0, {}), NOTHING

    def run(tests: tuple[str, ...]) -> tuple[CoverageRun, Covered]:
        done = runner.language.runs.measure(
            runner.sandbox,
            runner.env,
            place,
            sorted(now),
            tests=tests,
            command=runner.command,
            scratch=runner.scratch,
            timeout_s=runner.timeout_s,
        )
        return done, covered(done, lines, None if case.strict else changed)

    there = tuple(path for path in case.affected if (place / path).is_file())
    if there and not case.strict:
        done, part = run(there)
        if done.status == "not_configured" or (done.status == "ran" and not uncovered(part)):
            return done, part, AT_RISK
    return *run(()), WHOLE
