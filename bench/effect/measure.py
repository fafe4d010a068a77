"""What a played request took, read from its journal and its pack; and whether the next release's tests pass."""

import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.app.record.contexts import TOOLS, ContextBlock, ContextReport, recorded_context
from agentforge.app.record.steps import Step, read_context, steps_of
from agentforge.context.blocks import LASTING, kind_of
from agentforge.context.tokens import count_tokens
from agentforge.languages.symbols import find_symbol
from agentforge.store.layout import Home, TaskFiles
from agentforge.surfaces.cli.pages.steps import caught
from bench.effect.cases import Case
from bench.effect.play import Stage
from bench.effect.reader import Recorded, context_hash

HEAD_LINES = 4
"""So many lines of a definition must be there for it to count as shown."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one request took."""

    name: str
    named: bool
    lane: str
    status: str
    calls: int
    input_tokens: int
    output_tokens: int
    reusable_tokens: int
    first_tokens: int
    shown: bool
    """Whether the right files and symbols were in the first context."""
    hidden_passed: int
    hidden: int
    refusals: tuple[str, ...]
    older: int
    """Replies that answered an older context."""
    renewed: int
    lasting_tokens: int = 0
    """What of the input stays the same while a stage lasts."""
    new_tokens: int = 0
    """What of the rest no earlier step of the task was shown: one conversation would have to be told it, too."""
    problem: str = ""
    """Why the recorded replies do not fit any more."""


def is_answered(step: Step) -> bool:
    """Whether a reply of the model is on record."""
    return bool(step.reply)


def hash_of(files: TaskFiles, step: Step) -> str:
    """The hash of a step's context, whatever chance and time put into it."""
    return context_hash(read_context(files, step), files.task_id, step.state.marker)


def measure(case: Case, stage: Stage, replies: Sequence[Recorded], ended: str, said: str) -> Effect:
    """The numbers of a request that was played to its end, or as far as the replies went."""
    files = stage.task
    steps = [step for step in steps_of(files) if step.context]
    answered = [step for step in steps if is_answered(step)]
    reports = [recorded_context(files, step.number) for step in answered]
    passed, of = hidden_tests(case, stage) if ended == "completed" else (0, len(case.hidden))
    first = recorded_context(files, steps[0].number) if steps else None
    return Effect(
        name=case.name,
        named=case.named,
        lane=answered[-1].state.pipeline.lane if answered else "",
        status=ended,
        calls=len(answered),
        input_tokens=sum(map(_tokens, reports)),
        output_tokens=sum(_said(replies, step, answered) for step in answered),
        reusable_tokens=sum(
            count_tokens(block.text) for report in reports for block in report.blocks if block.reused
        ),
        first_tokens=_tokens(first) if first else 0,
        shown=first is not None and all(is_shown(first, place, stage.repository) for place in case.places),
        hidden_passed=passed,
        hidden=of,
        refusals=tuple(caught(steps)),
        older=_older(files, replies, answered),
        renewed=sum(each.renewed for each in replies),
        lasting_tokens=sum(
            count_tokens(block.text) for report in reports for block in report.blocks if _lasts(block)
        ),
        new_tokens=_new(reports),
        problem=_problem(replies, answered, ended, said),
    )


def _tokens(report: ContextReport) -> int:
    """Everything that is sent, tools too; without the margin that caps are kept with."""
    return sum(count_tokens(block.text) for block in report.blocks)


def _lasts(block: ContextBlock) -> bool:
    return block.name.startswith(f"{TOOLS}: ") or kind_of(block.name).stays in LASTING


def _new(reports: Sequence[ContextReport]) -> int:
    known: set[str] = set()
    total = 0
    for report in reports:
        lines = {line for block in report.blocks if not _lasts(block) for line in block.text.splitlines()}
        total += count_tokens("\n".join(sorted(lines - known)))
        known |= lines
    return total


def _mine(replies: Sequence[Recorded], step: Step, answered: Sequence[Step]) -> Recorded | None:
    """The reply that a step got: by stage, reviewer and order."""
    before = [each for each in answered if (each.stage, each.seat) == (step.stage, step.seat)]
    own = [each for each in replies if (each.stage, each.role) == (step.stage, step.seat)]
    at = before.index(step)
    return own[at] if at < len(own) else None


def _said(replies: Sequence[Recorded], step: Step, answered: Sequence[Step]) -> int:
    found = _mine(replies, step, answered)
    return count_tokens(str(found.reply)) if found else 0


def _older(files: TaskFiles, replies: Sequence[Recorded], answered: Sequence[Step]) -> int:
    pairs = ((step, _mine(replies, step, answered)) for step in answered)
    return sum(1 for step, found in pairs if found and found.context != hash_of(files, step))


def _problem(replies: Sequence[Recorded], answered: Sequence[Step], ended: str, said: str) -> str:
    if ended == "completed":
        return ""
    last = answered[-1] if answered else None
    where = f" after step {last.number} ({last.stage})" if last else ""
    why = next((line for line in reversed(said.splitlines()) if line.strip()), "nothing was said")
    return f"{len(replies)} replies are recorded, and the task is {ended}{where}: {why}"


def is_shown(report: ContextReport, place: str, repository: Path) -> bool:
    """Whether the beginning of a definition, or of a file, stands in a block that names its file."""
    path, _, symbol = place.partition("::")
    lines = (repository / path).read_text(encoding="utf-8").splitlines()
    if symbol:
        found = find_symbol("\n".join(lines), symbol, path)
        if found is None:
            raise SystemExit(f"{path} has no {symbol}.")
        lines = lines[found.start - 1 : found.end]
    head = [line.strip() for line in lines if line.strip()][:HEAD_LINES]
    texts = [block.text for block in report.blocks if path in block.name or path in block.text]
    return any(all(line in text for line in head) for text in texts)


def hidden_tests(case: Case, stage: Stage) -> tuple[int, int]:
    """The next release's tests of this request on the branch: how many pass, of how many."""
    place = stage.root / "judged"
    shutil.rmtree(place, ignore_errors=True)
    branch = stage.git("branch", "--list", "agentforge/*", "--format=%(refname:short)").split()[-1]
    stage.git("worktree", "prune")
    stage.git("worktree", "add", "--quiet", "--detach", str(place), branch)
    after = case.after.unpack(stage.root / "after")
    shutil.rmtree(place / case.tests)
    shutil.copytree(after / case.tests, place / case.tests)
    return (
        run_mocha(stage, place, case.hidden)
        if case.base.index == "npm"
        else run_tests(stage, place, case.hidden)
    )


def run_mocha(stage: Stage, place: Path, words: Sequence[str]) -> tuple[int, int]:
    """The same for a package of npm that is tested by mocha: `words` are what its command is given."""
    subprocess.run(
        ["npm", "install", "--silent", "--ignore-scripts"],
        cwd=place,
        env=stage.environ,
        capture_output=True,
        check=False,
    )
    done = subprocess.run(
        ["node_modules/.bin/mocha", "--reporter", "json", *words],
        cwd=place,
        env=stage.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    counts = json.loads(done.stdout[done.stdout.index("{") :])["stats"] if "{" in done.stdout else {}
    return counts.get("passes", 0), max(counts.get("tests", 0), 1)


def run_tests(stage: Stage, place: Path, tests: Sequence[str]) -> tuple[int, int]:
    """Runs tests in the environment that the task's set-up built: how many passed, of how many."""
    python = environment_of(stage)
    report = stage.root / "hidden.xml"
    report.unlink(missing_ok=True)
    roots = [str(place / name) for name in ("src", ".") if (place / name).is_dir()]
    subprocess.run(
        [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *tests],
        cwd=place,
        env={**stage.environ, "PYTHONPATH": os.pathsep.join(roots)},
        capture_output=True,
        check=False,
    )
    if not report.is_file():
        return 0, len(tests)
    cases = list(ET.parse(report).iter("testcase"))
    good = [each for each in cases if not list(each)]
    return len(good), max(len(cases), len(tests))


def environment_of(stage: Stage) -> Path:
    """The interpreter of the environment that was built last for this repository."""
    place = Home(Path(stage.environ["AGENTFORGE_HOME"])).environments(stage.repository)
    found = sorted(place.glob("*/env/bin/python"), key=lambda path: path.lstat().st_mtime)
    if not found:
        raise SystemExit(f"There is no environment below {place}.")
    return found[-1]
