"""The plan of a workflow, built by our own pipelines: one task for each open item, in order, each on the
branch of the one before; and the evidence that these tasks left, gathered.

The log in `docs/forge/phases/build.md` says which task builds which item, from before the task runs. So a
command that was killed goes on with the tasks that it has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from agentforge.app.evidence.proof_report import ProofReport, proof_report
from agentforge.app.intake.starting import StartOptions, start
from agentforge.app.record.open_tasks import OpenTask
from agentforge.app.workflow.phasing import Checkout, PhaseResult, continue_workflow
from agentforge.catalog.phases import PhaseId, workflow
from agentforge.core.errors import UsageError, UserError
from agentforge.core.state import State
from agentforge.gates.debates.trigger import Flag
from agentforge.phases import advance
from agentforge.phases.advance import Advance, current_state
from agentforge.phases.build_log import BuiltItem, built_items, note_built, note_evidence
from agentforge.phases.rules import open_work, unmet
from agentforge.phases.tree import WorkflowTree
from agentforge.sizing.goals import classify_goal
from agentforge.store.site import Site

DriveTask = Callable[[OpenTask], State]
"""Drives a task until it is over or waits; how that looks is the surface's own."""
Tell = Callable[[str], None]
ItemEnd = Literal["delivered", "waiting", "failed"]
_NOT_PROVED = "not proved by a test"


@dataclass(frozen=True, slots=True)
class PlanBuild:
    """The items of the plan that were built, and the tasks that built them."""

    result: PhaseResult
    items: tuple[BuiltItem, ...]
    stopped_at: str = ""
    """The task that ended without a branch; empty if every item has one."""
    end: ItemEnd = "delivered"


def build_plan(  # noqa: PLR0913  # what a person can say, and who drives
    checkout: Checkout,
    site: Site,
    options: StartOptions,
    drive: DriveTask,
    *,
    plan: str = "",
    flags: frozenset[Flag] = frozenset(),
    tell: Tell = lambda _: None,
) -> PlanBuild:
    """Enter the phase if it is next, build every open item of the plan, and end the phase if nothing is
    missing.
    """
    if plan and plan not in checkout.read().files:
        raise UsageError(f"{plan} is not a document below docs/forge.", "Name one as it is there, or none.")
    checkout.apply(lambda tree: _be_in(tree, "build", flags))
    base = options.base
    items = _items(checkout, plan)
    if not items:
        raise UsageError(
            "The plan has no items to build.",
            "Write them under `## Plan Items` in docs/forge/phases/plan.md.",
        )
    for item in items:
        built = item
        if not item.is_done:
            tell(f"{item.id}: {item.words}")
            built, end = _build(checkout, site, replace(options, base=base), drive, item)
            if end != "delivered":
                result = checkout.apply(_stay)
                return PlanBuild(result, tuple(_items(checkout, plan)), built.task, end)
        base = built.branch if _is_branch(site, built.branch) else base
    return PlanBuild(continue_workflow(checkout, flags), tuple(_items(checkout, plan)))


def _items(checkout: Checkout, plan: str) -> list[BuiltItem]:
    return built_items(checkout.read(), plan)


def _build(
    checkout: Checkout, site: Site, options: StartOptions, drive: DriveTask, item: BuiltItem
) -> tuple[BuiltItem, ItemEnd]:
    """Build one item: with the task that the log names, or a new one."""
    workflow_id = current_state(checkout.read()).workflow_id
    request = f"{item.words} (plan item {item.id} of {workflow_id})"
    task = _task_of(site, item, request) or start(site, _asking(options, request))
    item = replace(item, task=task.task_id, status="started")
    _write(checkout, item)
    state = drive(task)
    delivered = state.delivered
    if state.status == "completed" and delivered is not None and delivered.branch:
        evidence = _evidence_line(proof_report(task))
        item = replace(item, branch=delivered.branch, status="delivered", evidence=evidence)
        _write(checkout, item)
        return item, "delivered"
    waiting = state.open_escalation is not None
    item = replace(item, status="waiting for an answer" if waiting else state.status)
    _write(checkout, item)
    return item, "waiting" if waiting else "failed"


def _asking(options: StartOptions, request: str) -> StartOptions:
    """What is started for an item. It is to be built, also where its words begin as those of a design or a
    review do, such as "Design tokens": those end without a verified branch.
    """
    if options.pipeline is None and classify_goal(request)[0] in ("design", "review"):
        return replace(options, request=request, pipeline="implement", asked_by="agentforge phase build")
    return replace(options, request=request)


def _task_of(site: Site, item: BuiltItem, request: str) -> OpenTask | None:
    """The task of an item: the one that the log names, or one that was started just before a crash."""
    if item.task:
        try:
            return OpenTask.open(site, site.find(item.task))
        except UserError:
            pass  # it was discarded: another one builds the item
    for name in site.task_names():
        try:
            task = OpenTask.open(site, site.project.task(name))
        except UserError:
            continue
        if task.state.request == request and task.state.status not in ("failed", "aborted"):
            return task
    return None


def _evidence_line(report: ProofReport) -> str:
    """What a task proved, in a cell."""
    count = len(report.requirements)
    proved = f"{count} requirement{'' if count == 1 else 's'} proved"
    seal = f", seal {report.seal[:12]}" if report.seal else ""
    return f"{proved}{seal}; `agentforge report {report.task_id}`"


def _write(checkout: Checkout, item: BuiltItem) -> None:
    def step(tree: WorkflowTree) -> Advance:
        note_built(tree, item)
        return Advance("nothing", current_state(tree))

    checkout.apply(step)


def _be_in(tree: WorkflowTree, phase: PhaseId, flags: frozenset[Flag]) -> Advance:
    """In a phase that has begun nothing happens yet; else it is entered."""
    state = current_state(tree)
    if state.phase == phase and state.phase_status != "completed":
        return Advance("nothing", state)
    return advance.run_phase(tree, phase, "", flags)


def _stay(tree: WorkflowTree) -> Advance:
    """Where the workflow is, with what is missing."""
    state = current_state(tree)
    return Advance("waits_for_work", state, tuple(open_work(tree, workflow().phases[state.phase])))


def _is_branch(site: Site, name: str) -> bool:
    return bool(name) and site.git.read_ref(f"refs/heads/{name}") is not None


def validate_plan(checkout: Checkout, site: Site, flags: frozenset[Flag] = frozenset()) -> PhaseResult:
    """Enter the phase if it is next, fill its evidence from the tasks that built the plan, and end it if
    nothing is missing. What a task did not prove gets a row too, without evidence.
    """
    entered = checkout.apply(lambda tree: _be_in(tree, "validate", flags))
    rows: list[dict[str, str]] = []
    for item in built_items(checkout.read()):
        rows += _rows_of(site, item)

    def step(tree: WorkflowTree) -> Advance:
        note_evidence(tree, rows)
        return Advance("nothing", current_state(tree))

    filled = checkout.apply(step)
    if entered.advance.action == "entered" and unmet(checkout.read(), ("requirements_have_evidence",)):
        waiting = checkout.apply(_stay)
        return replace(waiting, written=(*entered.written, *filled.written))
    done = continue_workflow(checkout, flags)
    return replace(done, written=tuple(dict.fromkeys((*entered.written, *filled.written, *done.written))))


def _rows_of(site: Site, item: BuiltItem) -> list[dict[str, str]]:
    """What the task of an item proved, requirement by requirement."""
    try:
        task = OpenTask.open(site, site.find(item.task)) if item.task else None
        report = proof_report(task) if task is not None else None
    except UserError:
        report = None
    if report is None:
        if not item.evidence:
            return []
        if item.task.startswith("task-"):  # what a task proved is taken from it, and this one is not here
            return [_unproved(item, item.task, item.words)]
        row = {"Requirement": f"{item.id}: {item.words}", "Task": item.task, "Evidence": item.evidence}
        return [{**row, "Plan Item": item.id, "Status": "passed" if item.is_done else item.status}]
    found = [_row(item, report.task_id, each) for each in report.requirements]
    told = {str(each.get("id")) for each in report.requirements}
    found += [
        _unproved(item, report.task_id, line)
        for line in report.not_proved_by_test
        if not any(name in line for name in told)
    ]
    return found


def _row(item: BuiltItem, task_id: str, requirement: Mapping[str, Any]) -> dict[str, str]:
    """A requirement with the tests that were red before the change and are green after it."""
    tests = [test for test in requirement.get("tests") or [] if isinstance(test, dict)]
    flips = [f"{test.get('id')} ({test.get('red')} before, {test.get('green')} after)" for test in tests]
    proved = bool(tests) and all(test.get("green") == "passed" for test in tests)
    words = f"{item.id} {requirement.get('id') or ''}: {requirement.get('description') or item.words}"
    return {
        "Requirement": words.replace(" :", ":"),
        "Plan Item": item.id,
        "Task": task_id,
        "Evidence": ", ".join(flips),
        "Status": "passed" if proved else _NOT_PROVED,
    }


def _unproved(item: BuiltItem, task_id: str, line: str) -> dict[str, str]:
    """What a task says that no test of it proves: a person gives its evidence."""
    row = {"Requirement": f"{item.id}: {line}", "Plan Item": item.id, "Task": task_id}
    return {**row, "Evidence": "", "Status": _NOT_PROVED}
