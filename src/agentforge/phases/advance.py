"""What a command does to a workflow: start it, enter a phase, or go on from where the files say it is.

Nothing is asked and nothing is remembered: the files and the moment decide. Each function leaves in the tree
what shall be written, and says what happened and what is waited for.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from agentforge.catalog.debates import debate_rules
from agentforge.catalog.phases import PHASES, PhaseId, workflow
from agentforge.core.errors import StateInvalid, UsageError
from agentforge.documents.items import items
from agentforge.documents.outline import named
from agentforge.gates.debates.trigger import Flag, Triggered, triggered
from agentforge.phases import debates
from agentforge.phases.debates import DebatePlan
from agentforge.phases.entering import enter, entry_notes
from agentforge.phases.exiting import archived, leave
from agentforge.phases.knowledge import new_registry, read_decisions, registry_path
from agentforge.phases.rules import open_work
from agentforge.phases.snapshots import snapshot
from agentforge.phases.state import (
    DebateRequest,
    WorkflowState,
    moved,
    new_state_text,
    read_state,
    write_state,
)
from agentforge.phases.tree import (
    ARCHIVE,
    STATE,
    WORKFLOW,
    MissingFile,
    WorkflowTree,
    debate_folder,
    handoff,
    working_document,
)
from agentforge.phases.workflow_file import keep_config, new_workflow_file

Action = Literal[
    "started", "entered", "planned_debate", "waits_for_debate", "waits_for_work", "completed", "nothing"
]
_DEBATE_TASKS = ("generate-debate-plan", "wait-debate-completion", "synthesize-decision")


@dataclass(frozen=True, slots=True)
class Advance:
    """What a command of the workflow changed, and what it says next."""

    action: Action
    state: WorkflowState
    waiting: tuple[str, ...] = ()
    """What is still to be done before the phase can end."""
    shown: tuple[str, ...] = ()
    """What whoever works next must know."""
    why: str = ""
    """Why it was done, where that is more than what is missing."""


def current_state(tree: WorkflowTree) -> WorkflowState:
    """Where the workflow is, by its file."""
    text = tree.get(STATE)
    if text is None:
        raise MissingFile(
            f"There is no workflow here: {STATE} is missing.",
            'Begin with `agentforge phase start "objective"`.',
        )
    return read_state(text)


def start(tree: WorkflowTree, objective: str, issue: str = "") -> Advance:
    """Begin a workflow: its state, its registries, its settings and the first handoff."""
    objective = " ".join(objective.split())
    if not objective:
        raise UsageError(
            "The objective is empty.", 'Say what you want: `agentforge phase start "Add OAuth2 login"`.'
        )
    text = tree.get(STATE)
    if text is not None:
        old = read_state(text)
        if not old.is_complete:
            raise StateInvalid(
                f"The workflow {old.workflow_id} is in {old.phase}.",
                f"Go on with `agentforge phase continue`, or remove {STATE} to give it up.",
            )
    for name, registry in workflow().knowledge.items():
        if tree.get(registry_path(name)) is None:
            tree.put(registry_path(name), new_registry(registry, objective))
    if tree.get(WORKFLOW) is None:
        tree.put(WORKFLOW, new_workflow_file())
    state = WorkflowState(
        workflow_id=f"forge-{tree.compact}",
        objective=objective,
        phase="init",
        phase_status="in_progress",
        started_at=tree.stamp,
        last_updated=tree.stamp,
        phase_started_at=tree.stamp,
        feature=_slug(objective),
        branch=tree.branch,
        issue=issue,
        related_docs=tuple(registry_path(name) for name in workflow().knowledge),
    )
    tree.put(STATE, new_state_text(state))
    state = _with_tasks(leave(tree, state), waiting=[])
    _keep(tree, state, transition=True)
    return Advance(
        "started", state, shown=(f"{len(workflow().knowledge)} registries are in docs/forge/knowledge.",)
    )


def run_phase(
    tree: WorkflowTree, phase_id: PhaseId, objective: str = "", flags: frozenset[Flag] = frozenset()
) -> Advance:
    """Enter a phase, or go on in it if it is the current one."""
    state = current_state(tree)
    if state.phase == phase_id and state.phase_status != "completed":
        return resume(tree, flags)
    if state.phase_status == "completed" and state.next_phase == phase_id:
        return _enter(tree, state, phase_id, objective, flags)
    following = (
        "The workflow is complete."
        if state.is_complete
        else f"`agentforge phase continue` enters the next one, {state.next_phase}."
        if state.phase_status == "completed"
        else f"It ends with `agentforge phase continue`, and {state.next_phase or 'nothing'} comes after it."
    )
    raise StateInvalid(
        f"{phase_id} cannot begin: the workflow is in {state.phase} ({state.phase_status}).", following
    )


def resume(tree: WorkflowTree, flags: frozenset[Flag] = frozenset()) -> Advance:
    """Go on: look at the debate again, end the phase if it can end, or enter the next one."""
    state = current_state(tree)
    if state.is_complete:
        return Advance("nothing", state)
    if state.phase_status == "completed":
        assert state.next_phase is not None
        return _enter(tree, state, state.next_phase, "", flags)
    phase = workflow().phases[state.phase]
    if phase.previous is not None:
        tree.need(handoff(phase.previous, phase.id))
        tree.need(working_document(phase.id))
    return _gate(tree, _flagged(state, flags))


def _enter(
    tree: WorkflowTree, state: WorkflowState, phase_id: PhaseId, objective: str, flags: frozenset[Flag]
) -> Advance:
    state = enter(tree, state, phase_id, objective, _request(flags))
    state = replace(state, branch=tree.branch or state.branch)
    waiting = open_work(tree, workflow().phases[phase_id])
    state = _with_tasks(state, waiting)
    _keep(tree, state, transition=True)
    return Advance("entered", state, tuple(waiting), tuple(entry_notes(tree, state)))


def _gate(tree: WorkflowTree, state: WorkflowState) -> Advance:
    """The debate first, if there is one; then the work; then whether a debate is due; then the end."""
    if state.debate_id and not state.debate_gate_passed:
        if state.debate_request == "no_debate":
            debates.give_up(tree, state.debate_id)
            state = _overridden(state, tree, f"the debate {state.debate_id} was given up")
            state = replace(state, debate_id="", debate_phase="", debate_status="none")
        else:
            state, reasons = _look_at_debate(tree, state)
            if reasons:
                return _waits(tree, state, "waits_for_debate", reasons)
    waiting = open_work(tree, workflow().phases[state.phase])
    due = _due(tree, state)
    if waiting:
        return _waits(tree, replace(state, phase_status="in_progress"), "waits_for_work", waiting)
    if due.debate:
        return replace(plan_debate(tree, state), why=due.why)
    if due.override:
        state = _overridden(state, tree, due.why)
    state = _with_tasks(leave(tree, state), waiting=[])
    _keep(tree, state, transition=True)
    return Advance("completed", state)


def _look_at_debate(tree: WorkflowTree, state: WorkflowState) -> tuple[WorkflowState, list[str]]:
    """Judge the debate that is under way; once it passes, what it decided is taken over."""
    verdict = debates.judge(tree, state.debate_id)
    tree.notes.extend(verdict.warnings)
    if not verdict.complete:
        status = "pending" if verdict.status == "none" else verdict.status
        return replace(state, phase_status="blocked", debate_status=status), list(verdict.reasons)
    debates.take_over(tree, state, verdict)
    return replace(
        state, phase_status="in_progress", debate_status="unblocked", debate_gate_passed=True, blocked_by=()
    ), []


def _due(tree: WorkflowTree, state: WorkflowState) -> Triggered:
    """Whether a debate is to be held now: one that was held counts, unless something new is challenged."""
    stakes = debates.stakes_of(tree, state)
    held = state.debate_gate_passed
    flags: frozenset[Flag] = (
        frozenset() if state.debate_request == "none" else frozenset({state.debate_request})
    )
    if stakes.challenged or (not held and (escalated := _escalated(tree, state))):
        why = (
            f"{', '.join(stakes.challenged)} is challenged"
            if stakes.challenged
            else f"“{escalated}” came true"
        )
        if flags == {"no_debate"}:
            return Triggered(debate=False, why=f"--no-debate, though {why}", override=True)
        return Triggered(debate=True, why=why)
    if held:
        return Triggered(debate=False, why="the debate was held")
    return triggered(flags, debates.settings_of(tree, workflow().phases[state.phase]), stakes)


def _escalated(tree: WorkflowTree, state: WorkflowState) -> str:
    """A condition of the handoff into the phase that somebody ticked: it requires a debate."""
    previous = workflow().phases[state.phase].previous
    text = tree.get(handoff(previous, state.phase)) or "" if previous else ""
    section = named(text, "Escalation Conditions")
    boxes = items(text, section.body, section.end) if section is not None else []
    return next((item.text for item in boxes if item.ticked), "")


def reopen_debate(tree: WorkflowTree, decisions: tuple[str, ...], why: str) -> Advance:
    """A criterion to abort came true: the decisions behind it are debated again, in the current phase. What
    was debated again already stays as it was decided.
    """
    state = current_state(tree)
    settled = {decided for plan in debates.plans_of(tree) for decided in plan.settled}
    doubts = tuple(each for each in decisions if each not in settled)
    waits = state.debate_id and not state.debate_gate_passed
    if not doubts or (waits and _asks_about(tree, state.debate_id, doubts)):
        return Advance("nothing", state)
    if state.is_complete or waits:
        what = f"the debate {state.debate_id} is not over" if waits else "the workflow is complete"
        raise StateInvalid(f"{', '.join(doubts)} should be debated again, but {what}.")
    if state.phase == "init":
        raise StateInvalid("Enter a phase first: `agentforge phase continue`.")
    left = tuple(phase for phase in state.completed_phases if phase != state.phase)
    state = replace(state, completed_phases=left, completed_at="")
    topic = f"Reconsider {', '.join(doubts)}, since this came true: {why}"
    return replace(plan_debate(tree, state, topic, doubts), why=f"this came true: {why}")


def _asks_about(tree: WorkflowTree, debate_id: str, doubts: tuple[str, ...]) -> bool:
    held = next((each for each in debates.plans_of(tree) if each.debate_id == debate_id), None)
    return held is not None and set(doubts) <= set(held.challenges)


def plan_debate(
    tree: WorkflowTree, state: WorkflowState, topic: str = "", doubts: tuple[str, ...] = ()
) -> Advance:
    """Write the plan of a debate; the phase is blocked until its files are complete."""
    doubts = doubts or debates.challenged(tree, state)
    options = debates.options_of(tree, state, doubts)
    least = debate_rules().least_options
    if len(options) < least:
        phase = workflow().phases[state.phase]
        place = next((f"docs/forge/{name}" for name in phase.documents), working_document(state.phase))
        needed = (
            f"a debate needs {least} options: name them under `## Options Under Consideration` in {place}"
        )
        return _waits(tree, replace(state, phase_status="in_progress"), "waits_for_work", [needed])
    # A plan that was written before a crash, and that no state names, is this one.
    orphan = next(
        (each for each in debates.plans_of(tree, state.phase) if each.waits_in(state, doubts)), None
    )
    debate_id = orphan.debate_id if orphan else debates.new_debate_id(tree, state.phase)
    plan = _plan(tree, state, topic, debate_id, doubts)
    path = f"{debate_folder(plan.debate_id)}/{debate_rules().plan.name}"
    if orphan is None:
        tree.put(path, debates.spell_plan(plan, state.workflow_id))
    state = replace(
        state,
        phase_status="blocked",
        debate_id=plan.debate_id,
        debate_phase=state.phase,
        debate_status="pending",
        debate_gate_passed=False,
        related_docs=tuple(dict.fromkeys((*state.related_docs, path))),
    )
    verdict = debates.judge(tree, plan.debate_id)
    return _waits(tree, state, "planned_debate", list(verdict.reasons))


def regenerate_plan(tree: WorkflowTree, debate_id: str, topic: str = "") -> Advance:
    """Write the plan of a debate again, from what the documents say now; the files of roles stay."""
    state = current_state(tree)
    path = f"{debate_folder(debate_id)}/{debate_rules().plan.name}"
    text = tree.need(path)
    if debate_id == state.debate_id and state.debate_gate_passed:
        raise StateInvalid(f"The debate {debate_id} is over, and its decision is taken over.")
    held = next(each for each in debates.plans_of(tree) if each.debate_id == debate_id)
    of_phase = held.phase if held.phase in PHASES else state.phase
    asked = replace(state, phase=of_phase)
    plan = _plan(tree, asked, topic, debate_id, held.challenges)
    if len(plan.options) < debate_rules().least_options:
        raise UsageError(
            f"The documents of {of_phase} name {len(plan.options)} options; a debate needs three."
        )
    tree.put(path, debates.regenerated(text, plan))
    return Advance("planned_debate", state, debates.judge(tree, debate_id).reasons)


def _plan(
    tree: WorkflowTree, state: WorkflowState, topic: str, debate_id: str, doubts: tuple[str, ...]
) -> DebatePlan:
    options = debates.options_of(tree, state, doubts)
    known = {each.id: each for each in read_decisions(tree.get(registry_path("decisions.md")) or "")}
    reopens = next((known[each].debate_id for each in doubts if each in known), "")
    question = f"Reconsider {', '.join(f'{each} ({known[each].title})' for each in doubts)}" if doubts else ""
    locked = tuple(f"{each.id}: {each.title}" for each in known.values() if each.is_in_force)
    return DebatePlan(
        debate_id,
        state.phase,
        topic or question or f"{workflow().phases[state.phase].name}: {state.objective}",
        tuple((option.name, option.about) for option in options),
        doubts,
        reopens,
        locked,
    )


def _waits(tree: WorkflowTree, state: WorkflowState, action: Action, reasons: list[str]) -> Advance:
    state = replace(state, blocked_by=tuple(reasons) if state.phase_status == "blocked" else ())
    state = _with_tasks(state, reasons)
    _keep(tree, state, transition=action == "planned_debate")
    return Advance(action, state, tuple(reasons))


def _overridden(state: WorkflowState, tree: WorkflowTree, why: str) -> WorkflowState:
    """A debate that was due and is skipped goes on record, once."""
    note = f"{state.phase}: {why} ({tree.stamp})"
    if any(each.startswith(f"{state.phase}: {why} (") for each in state.overrides):
        return state
    return replace(state, overrides=(*state.overrides, note))


def _keep(tree: WorkflowTree, state: WorkflowState, *, transition: bool) -> None:
    """Put the state into its file; a state that is the same but for its time is not written."""
    text = tree.get(STATE) or ""
    old = read_state(text)
    rest = replace(state, last_updated=old.last_updated, rest=old.rest, debate_status=_as_kept(state))
    if rest == replace(old, debate_status=_as_kept(old)) and STATE not in tree.written:
        return
    text = write_state(text, moved(state, tree.stamp))
    tree.put(STATE, text)
    keep_config(tree, state)
    if transition:
        snapshot(tree, text)
    if state.is_complete:
        tree.put(f"{ARCHIVE}/workflow-{state.workflow_id}.md", archived(tree, state, text))


def _as_kept(state: WorkflowState) -> Literal["none", "pending", "running", "complete", "unblocked"]:
    return "complete" if state.debate_status == "unblocked" else state.debate_status


def _with_tasks(state: WorkflowState, waiting: list[str]) -> WorkflowState:
    """The tasks of the phase: its work, those of a debate if it has one, and its end."""
    phase = workflow().phases[state.phase]
    names = [phase.work, *(_DEBATE_TASKS if state.debate_id else ()), "complete-phase"]
    tasks = [f"task-{at:02d}-{name}" for at, name in enumerate(names, 1)]
    if state.phase_status == "completed":
        done = len(tasks)
    elif state.debate_id:
        done = 4 if state.debate_gate_passed else 2
    else:
        done = 0 if waiting else 1
    current = tasks[done] if done < len(tasks) else ""
    return replace(
        state,
        completed_tasks=tuple(tasks[:done]),
        pending_tasks=tuple(tasks[done:]),
        blocked_tasks=(current,) if state.phase_status == "blocked" else (),
        current_task=current,
    )


def _request(flags: frozenset[Flag]) -> DebateRequest:
    return "debate" if "debate" in flags else "no_debate" if "no_debate" in flags else "none"


def _flagged(state: WorkflowState, flags: frozenset[Flag]) -> WorkflowState:
    return replace(state, debate_request=_request(flags)) if flags else state


def _slug(text: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())[:6])
