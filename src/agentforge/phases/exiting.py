"""Leaving a phase: what it found out goes into the registries, the next phase gets its handoff, and the final
document is written.

A handoff or a final document that is there already is a person's, or was written before a crash: it stays.
"""

import re

from agentforge.catalog.phases import PhaseDefinition, workflow
from agentforge.core.errors import UsageError
from agentforge.documents import front_matter
from agentforge.documents.items import items, labelled, plain
from agentforge.documents.outline import body, content, named, outline, visible
from agentforge.documents.tables import spell_table
from agentforge.gates.debates.documents import ActionItem, Synthesis, is_blank, read_risks
from agentforge.phases import knowledge
from agentforge.phases.debates import judge, plans_of
from agentforge.phases.rules import rows_of
from agentforge.phases.state import WorkflowState, hours_between, moved
from agentforge.phases.tree import DOCS, WorkflowTree, debate_folder, handoff, working_document


def leave(tree: WorkflowTree, state: WorkflowState) -> WorkflowState:
    """The state of a phase that has ended."""
    phase = workflow().phases[state.phase]
    extract(tree, state)
    synthesis = judge(tree, state.debate_id).synthesis if state.debate_gate_passed else Synthesis()
    if phase.artifact:
        _write_artifact(tree, state, phase, synthesis)
    hours = hours_between(state.phase_started_at, tree.now)
    if phase.next is not None:
        path = handoff(phase.id, phase.next)
        if tree.claim(path, state.workflow_id) is None:
            tree.put(path, new_handoff(tree, state, synthesis, hours))
    decisions = knowledge.read_decisions(tree.get(knowledge.registry_path("decisions.md")) or "")
    return moved(
        state,
        tree.stamp,
        phase_status="completed",
        completed_at=tree.stamp,
        completed_phases=tuple(dict.fromkeys((*state.completed_phases, phase.id))),
        blocked_by=(),
        decisions=tuple(f"{each.id}: {each.title}" for each in decisions if each.is_in_force),
        assumptions=tuple(
            f"{row.get('ID')}: {row.get('Assumption', 'Description')}"
            for row in knowledge.open_assumptions(tree)
        ),
        actual_hours=round(state.actual_hours + hours, 1),
        risk_level=knowledge.risk_level(knowledge.highest_risk(tree)),
    )


def extract(tree: WorkflowTree, state: WorkflowState) -> None:
    """What the working document says goes into the registries; twice is the same as once."""
    text = tree.get(working_document(state.phase)) or ""
    for number, (title, rationale) in enumerate(_bullets(text, "Decisions"), 1):
        new = knowledge.NewDecision(
            f"{state.phase} document of {state.workflow_id}, decision {number}", state.phase, title, rationale
        )
        decision_id = knowledge.add_decision(tree, new)
        knowledge.add_constraint(tree, decision_id, title, state.phase, "")
    for label, words in _bullets(text, "Constraints"):
        knowledge.add_hard_constraint(tree, f"{label}: {words}" if words else label, state.phase)
    for label, words in _bullets(text, "Assumptions"):
        knowledge.add_assumption(tree, f"{label}: {words}" if words else label, state.phase)
    for risk in read_risks(text, "Risks"):
        knowledge.add_risk(tree, risk, "accepted" if state.debate_gate_passed else "open")
    for row in rows_of(tree, working_document(state.phase), "Assumption Results"):
        knowledge.settle_assumption(tree, row.get("ID"), row, state.phase)


def _bullets(text: str, title: str) -> list[tuple[str, str]]:
    """The bullets of a section as title and rest. An id that somebody wrote before one is not its title."""
    section = named(text, title)
    if section is None:
        return []
    found = []
    for item in items(text, section.body, section.end):
        words = re.sub(r"^(?:D|A|C|R)\d+\s*[:.-]\s*", "", plain(item.text))
        label, rest = labelled(words)
        if words and not is_blank(words):
            found.append((label, rest) if label else (words, ""))
    return found


def _write_artifact(
    tree: WorkflowTree, state: WorkflowState, phase: PhaseDefinition, synthesis: Synthesis
) -> None:
    """The final document of a phase: what its working document says, and the debate behind it."""
    path = f"{DOCS}/{phase.artifact}"
    fields = {"phase": phase.id, "workflow_id": state.workflow_id, "status": "final"}
    if state.debate_id:
        fields["debate_id"] = state.debate_id
    there = tree.claim(path, state.workflow_id)
    if there is not None:
        try:
            tree.put(path, front_matter.changed(there, fields))
        except UsageError:
            tree.notes.append(f"The front matter of {path} cannot be read; the file was not changed.")
        return
    head = front_matter.changed("", {**fields, "completed_at": tree.stamp})
    parts = [f"# {phase.name}: {state.objective}"]
    if synthesis.decisions:
        parts += [
            "## Debate",
            f"{state.debate_id}: see `{debate_folder(state.debate_id)}/synthesis.md`.",
            *(f"**{each.title}.** {each.rationale}".strip() for each in synthesis.decisions),
        ]
    parts += [f"Skipped: {override}." for override in state.overrides if override.startswith(f"{phase.id}:")]
    for document in (working_document(phase.id), *(f"{DOCS}/{name}" for name in phase.documents)):
        parts += _said(tree.get(document) or "")
    tree.put(path, f"{head}\n{chr(10).join(f'{part}{chr(10)}' for part in parts)}")


def _said(text: str) -> list[str]:
    """The sections of a document that say something, without the comments that explain them."""
    found = []
    for section in outline(text):
        if section.level != 2 or section.title.casefold() == "todo" or is_blank(content(text, section)):
            continue
        words = visible(content(text, section))
        rows = [line for line in words.splitlines() if line.strip()]
        if all(line.lstrip().startswith("|") for line in rows) and len(rows) <= 2:
            continue  # a table without a row
        found += [f"## {section.title}", words.replace("\r\n", "\n")]
    return found


def new_handoff(tree: WorkflowTree, state: WorkflowState, synthesis: Synthesis, hours: float) -> str:
    """What a phase tells the next: everything that is locked, open and to be done."""
    phase = workflow().phases[state.phase]
    assert phase.next is not None
    following = workflow().phases[phase.next]
    head = front_matter.changed(
        "",
        {
            "from_phase": phase.id,
            "to_phase": following.id,
            "generated_at": tree.stamp,
            "workflow_id": state.workflow_id,
            "status": "final",
        },
    )
    parts = [
        f"# Phase Handoff: {phase.name} \u2192 {following.name}",
        "## Summary",
        "### What Was Done",
        _what_was_done(tree, state, phase),
        "### Key Outcomes",
        _key_outcomes(tree, state, synthesis),
        "### Time Spent",
        f"{hours:g} hours",
        "## Locked Decisions",
        spell_table(("Decision ID", "Title", "Rationale", "Challenge Requires Debate"), _locked(tree)),
        "## Open Assumptions",
        spell_table(
            ("Assumption ID", "Description", "Validation Due By", "Risk if Invalid"), _assumptions(tree)
        ),
        "## Constraints for Next Phase",
        spell_table(
            ("Constraint ID", "Description", "Source", "Violation Triggers"), knowledge.constraints(tree)
        ),
        f"## TODO List for {following.name} Phase",
        _todo(tree, following),
        "## Escalation Conditions",
        "Conditions that require debate before proceeding:",
        _escalations(synthesis),
        "## Risk Summary",
        spell_table(("Risk Level", "Count", "Highest Priority Risk"), _risks(tree)),
        "## Artifacts Produced",
        spell_table(("Artifact", "Location", "Status"), _artifacts(tree, state, phase)),
        "## Reference Materials",
        _references(phase),
        "## Sign-off",
        "Phase completed: Yes\nBlocked by: None\nReady to proceed: Yes",
    ]
    return f"{head}\n{chr(10).join(f'{part}{chr(10)}' for part in parts)}"


def _what_was_done(tree: WorkflowTree, state: WorkflowState, phase: PhaseDefinition) -> str:
    text = tree.get(working_document(phase.id)) or ""
    section = named(text, "Summary")
    if section is not None and not is_blank(content(text, section)):
        return visible(content(text, section))
    return f"{phase.description}. The objective: {state.objective}"


def _key_outcomes(tree: WorkflowTree, state: WorkflowState, synthesis: Synthesis) -> str:
    found = [f"- Selected: {each.title}" for each in synthesis.decisions]
    found += [f"- Debate ID: {state.debate_id}"] if state.debate_id else []
    found += [f"- Action: {_action(each)}" for each in synthesis.actions]
    found += [f"- Override: {each}" for each in state.overrides if each.startswith(f"{state.phase}:")]
    count = len(_locked(tree))
    return "\n".join([*found, f"- Decisions in force: {count}"])


def _locked(tree: WorkflowTree) -> list[tuple[str, str, str, str]]:
    decisions = knowledge.read_decisions(tree.get(knowledge.registry_path("decisions.md")) or "")
    return [
        (each.id, each.title, each.rationale, "Yes" if each.debate_id else "No")
        for each in decisions
        if each.is_in_force
    ]


def _assumptions(tree: WorkflowTree) -> list[tuple[str, str, str, str]]:
    return [
        (
            row.get("ID"),
            row.get("Assumption", "Description"),
            row.get("Validation Due By") or "Before build",
            row.get("Risk if Invalid") or "Not rated",
        )
        for row in knowledge.open_assumptions(tree)
    ]


def _todo(tree: WorkflowTree, following: PhaseDefinition) -> str:
    asked = [*following.todo]
    if following.id == "plan":  # what debates gave people to do has its place there
        for held in plans_of(tree):
            if held.is_taken_over:
                asked += [
                    f"Plan for: {_action(each)}" for each in judge(tree, held.debate_id).synthesis.actions
                ]
    return "\n".join(f"{at}. [ ] {item}" for at, item in enumerate(dict.fromkeys(asked), 1))


def _action(item: ActionItem) -> str:
    due = f", due {item.due}" if item.due else ""
    return f"{item.action} ({item.owner or 'no owner'}{due})"


def _escalations(synthesis: Synthesis) -> str:
    found = [f"- [ ] {each.condition}: {each.threshold}".rstrip(": ") for each in synthesis.kill_switches]
    return "\n".join([*found, "- [ ] A locked decision is challenged"])


def _risks(tree: WorkflowTree) -> list[tuple[str, str, str]]:
    known = sorted(knowledge.active_risks(tree), key=lambda risk: -risk[1])
    found = []
    for level in ("High", "Medium", "Low"):
        of_level = [risk for risk, score in known if knowledge.risk_level(score) == level.lower()]
        found.append((level, str(len(of_level)), of_level[0] if of_level else "None"))
    return found


def _artifacts(
    tree: WorkflowTree, state: WorkflowState, phase: PhaseDefinition
) -> list[tuple[str, str, str]]:
    found = [(title, f"{DOCS}/{name}", "Complete") for name, title in phase.documents.items()]
    if state.debate_id:
        found.append(("Debate Synthesis", f"{debate_folder(state.debate_id)}/synthesis.md", "Complete"))
    if phase.artifact:
        found.append((f"{phase.name} Final", f"{DOCS}/{phase.artifact}", "Complete"))
    if not found:
        found = [
            (registry.title, knowledge.registry_path(name), "Complete")
            for name, registry in workflow().knowledge.items()
        ]
    return [row for row in found if tree.get(row[1]) is not None]


def _references(phase: PhaseDefinition) -> str:
    lines = [f"- Phase output: `{working_document(phase.id)}`"] if phase.artifact else []
    lines += [
        f"- {name.removesuffix('.md').capitalize()}: `{knowledge.registry_path(name)}`"
        for name in ("decisions.md", "assumptions.md", "risks.md")
    ]
    return "\n".join(lines)


def archived(tree: WorkflowTree, state: WorkflowState, text: str) -> str:
    """The record of a workflow that is complete: its last state, and what it decided."""
    parts = [text.rstrip("\n"), "", "# Archive", "", f"Completed: {tree.stamp}", ""]
    for name in ("decisions.md", "risks.md"):
        registry = tree.get(knowledge.registry_path(name)) or ""
        shifted = re.sub(r"(?m)^(#{1,5}) ", r"\1# ", body(registry).strip())
        parts += [shifted, ""]
    parts += [f"- Override: {each}" for each in state.overrides]
    return "\n".join(parts).rstrip("\n") + "\n"
