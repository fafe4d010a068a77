"""Debates of a workflow: which settings count, the plan that is written, and what becomes of a decision."""

import json
from dataclasses import dataclass

from agentforge.catalog.debates import TRIGGERS, Trigger, debate_rules
from agentforge.catalog.phases import PhaseDefinition, workflow
from agentforge.core.errors import UsageError
from agentforge.documents import front_matter
from agentforge.documents.items import items, labelled, plain
from agentforge.documents.outline import named, with_body
from agentforge.documents.tables import tables
from agentforge.gates.debates.documents import Option, read_options, read_risks
from agentforge.gates.debates.files import DebateVerdict, judge_debate
from agentforge.gates.debates.trigger import DebateSettings, Stakes
from agentforge.phases import knowledge
from agentforge.phases.state import WorkflowState
from agentforge.phases.tree import DEBATES, DOCS, WORKFLOW, WorkflowTree, debate_folder, working_document


@dataclass(frozen=True, slots=True)
class DebatePlan:
    """What a debate is about."""

    debate_id: str
    phase: str
    objective: str
    options: tuple[tuple[str, str], ...]
    """Each with what is said of it."""
    challenges: tuple[str, ...] = ()
    reopens: str = ""
    context: tuple[str, ...] = ()


def settings_of(tree: WorkflowTree, phase: PhaseDefinition) -> DebateSettings:
    """What is configured: the project's own `workflows/forge-workflow.json` before ours. A value there that
    means nothing is refused, not guessed.
    """
    rules = debate_rules()
    own = _own_settings(tree)
    config = own.get("debate_config")
    config = config if isinstance(config, dict) else {}
    default = _trigger(config.get("default_trigger"), rules.default_trigger)
    enabled, trigger = phase.debate.enabled, phase.debate.trigger
    listed = own.get("phases")
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict) and entry.get("id") == phase.id:
            gate = entry.get("debate_gate")
            said = {**entry, **gate} if isinstance(gate, dict) else entry
            enabled = said.get("debate_enabled", enabled) is True
            trigger = _trigger(said.get("debate_trigger"), default if enabled else "never")
    return DebateSettings(
        enabled,
        trigger,
        _threshold(config.get("risk_threshold"), rules.risk_threshold),
        _threshold(config.get("component_threshold"), rules.component_threshold),
    )


def _own_settings(tree: WorkflowTree) -> dict[str, object]:
    text = tree.get(WORKFLOW)
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"{WORKFLOW} is not JSON: {error}.", "Fix it, or remove it for our defaults."
        ) from None
    if not isinstance(found, dict):
        raise UsageError(f"{WORKFLOW} is not an object.", "Fix it, or remove it for our defaults.")
    return found


def _trigger(value: object, usual: Trigger) -> Trigger:
    if value is None:
        return usual
    for known in TRIGGERS:
        if value == known:
            return known
    raise UsageError(
        f"{WORKFLOW}: the trigger {value!r} means nothing.", f"Choose one of {', '.join(TRIGGERS)}."
    )


def _threshold(value: object, usual: int) -> int:
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{WORKFLOW}: the threshold {value!r} is not a whole number above 0.")
    return value


def stakes_of(tree: WorkflowTree, state: WorkflowState) -> Stakes:
    """What is at stake in the current phase, from its documents."""
    text = tree.get(working_document(state.phase)) or ""
    section = named(text, "Components")
    components = 0
    if section is not None:
        rows = [row for table in tables(text, section.body, section.end) for row in table.filled()]
        components = len(rows) or len(items(text, section.body, section.end))
    scores = [score for _, score in knowledge.active_risks(tree, accepted=False)]
    scores += [risk.score for risk in read_risks(text, "Risks")]
    return Stakes(components, max(scores, default=0), challenged(tree, state))


def challenged(tree: WorkflowTree, state: WorkflowState) -> tuple[str, ...]:
    """Decisions in force that the working document of the phase puts in doubt."""
    text = tree.get(working_document(state.phase)) or ""
    section = named(text, "Challenged Decisions")
    if section is None:
        return ()
    decisions = knowledge.read_decisions(tree.get(knowledge.registry_path("decisions.md")) or "")
    in_force = {each.id for each in decisions if each.is_in_force}
    found = []
    for item in items(text, section.body, section.end):
        label, words = labelled(item.text)
        first = (label or words).split()
        if first and first[0].strip(".,;") in in_force:
            found.append(first[0].strip(".,;"))
    settled = {decided for plan in plans_of(tree, state.phase) for decided in plan.settled}
    return tuple(dict.fromkeys(each for each in found if each not in settled))


@dataclass(frozen=True, slots=True)
class HeldDebate:
    """A debate that has a folder."""

    debate_id: str
    phase: str
    challenges: tuple[str, ...]
    is_taken_over: bool
    workflow_id: str = ""
    status: str = ""

    @property
    def settled(self) -> tuple[str, ...]:
        """Challenges that it answered."""
        return self.challenges if self.is_taken_over else ()

    def waits_in(self, state: WorkflowState, doubts: tuple[str, ...]) -> bool:
        """Whether it is a debate of this workflow about the same, which nobody has begun."""
        mine = self.workflow_id == state.workflow_id and self.challenges == doubts
        return mine and self.status == "pending" and not self.is_taken_over


def plans_of(tree: WorkflowTree, phase: str = "") -> list[HeldDebate]:
    """The debates that have a plan, of one phase or of all."""
    decisions = knowledge.read_decisions(tree.get(knowledge.registry_path("decisions.md")) or "")
    sources = {each.debate_id for each in decisions}
    found = []
    for path in tree.below(DEBATES):
        folder, _, name = path.removeprefix(f"{DEBATES}/").rpartition("/")
        if name != debate_rules().plan.name or "/" in folder:
            continue
        try:
            fields = front_matter.read(tree.get(path) or "", path)
        except UsageError:
            fields = {}
        said = fields.get("challenges")
        challenges = tuple(str(each) for each in said) if isinstance(said, list) else ()
        owner = str(fields.get("phase") or folder.partition("-")[0])
        if phase in ("", owner):
            workflow_id, status = (str(fields.get(key) or "") for key in ("workflow_id", "status"))
            found.append(HeldDebate(folder, owner, challenges, folder in sources, workflow_id, status))
    return found


def texts_of(tree: WorkflowTree, debate_id: str) -> dict[str, str]:
    """The files of a debate."""
    found = {}
    for file in debate_rules().files:
        text = tree.get(f"{debate_folder(debate_id)}/{file.name}")
        if text is not None:
            found[file.name] = text
    return found


def judge(tree: WorkflowTree, debate_id: str) -> DebateVerdict:
    """The gate on a debate of this workflow."""
    return judge_debate(texts_of(tree, debate_id))


def options_of(tree: WorkflowTree, state: WorkflowState, doubts: tuple[str, ...]) -> tuple[Option, ...]:
    """The options of a phase: those that its documents name; of a challenge, if they name too few, whether
    to keep, to change or to replace the decision.
    """
    phase = workflow().phases[state.phase]
    least = debate_rules().least_options
    for path in (*(f"{DOCS}/{name}" for name in phase.documents), working_document(state.phase)):
        found = read_options(tree.get(path) or "")
        if len(found) >= least or (found and not doubts):
            return found
    if not doubts:
        return ()
    which = ", ".join(doubts)
    return tuple(Option(name, (name,)) for name in (f"Keep {which}", f"Change {which}", f"Replace {which}"))


def new_debate_id(tree: WorkflowTree, phase: str) -> str:
    """A name that no debate has: the phase and this moment."""
    name = f"{phase}-{tree.compact}"
    taken = {each.debate_id for each in plans_of(tree)}
    number = 2
    chosen = name
    while chosen in taken:
        chosen, number = f"{name}-{number}", number + 1
    return chosen


def give_up(tree: WorkflowTree, debate_id: str) -> None:
    """Note in the plan of a debate that nobody waits for it any more."""
    _set_status(tree, debate_id, "abandoned")


def spell_plan(plan: DebatePlan, workflow_id: str = "", folder: str | None = None) -> str:
    """The plan as it is written: objective, options, a prompt for each role, and how its end is seen. Its
    files are in the folder of its name, or in another one; with an empty name they are in none.
    """
    rules = debate_rules()
    folder = debate_folder(plan.debate_id) if folder is None else folder
    beside = f"{folder}/" if folder else ""
    fields: dict[str, object] = {
        "debate_id": plan.debate_id,
        "phase": plan.phase,
        "objective": plan.objective,
        "status": "pending",
    }
    if workflow_id:
        fields["workflow_id"] = workflow_id
    if plan.challenges:
        fields |= {"challenges": list(plan.challenges), "reopens": plan.reopens or None}
    head = front_matter.changed("", fields)  # type: ignore[arg-type]  # texts and lists of texts
    parts = [
        f"# Debate Plan: {_line(plan.objective)}",
        "## Objective",
        plan.objective,
        "## Options Under Consideration",
        _spell_options(plan.options),
    ]
    if plan.context:
        parts += ["## Context", "\n".join(f"- {line}" for line in plan.context)]
    parts.append("## Role Prompts")
    for role, file in rules.roles.items():
        waits = (
            f"\n\nBegin when {', '.join(rules.roles[each].name for each in file.after)} are complete."
            if file.after
            else ""
        )
        sections = "\n".join(f"- `## {title}`: {hint}" for title, hint in file.sections.items())
        asked = (
            f"{file.asks} Read `{beside}{rules.plan.name}` first and write `{beside}{file.name}` whole, in "
            f"Markdown, with the headings below.{waits}\n\n{sections}\n\n"
            f"Begin the file with front matter: `debate_id: {plan.debate_id}` and `role: {role}`."
        )
        parts += [f"### {role}", asked]
    outputs = "\n".join(f"- `{beside}{file.name}` by the {role}" for role, file in rules.roles.items())
    blocking = ", ".join(title for title in rules.synthesis.sections if title in rules.synthesis.blocking)
    criteria = (
        f"- All five files hold {rules.least_characters} characters or more below their front matter.\n"
        f"- `{rules.synthesis.name}` has these headings, each with something below it: {blocking}.\n"
        "- Its final decision names one of the options above."
    )
    parts += ["## Expected Outputs", outputs, "## Completion Criteria", criteria]
    return f"{head}\n{chr(10).join(f'{part}{chr(10)}' for part in parts)}"


def regenerated(text: str, plan: DebatePlan) -> str:
    """A plan with another objective and other options. What people added elsewhere in it stays."""
    for title, words in (
        ("Objective", plan.objective),
        ("Options Under Consideration", _spell_options(plan.options)),
    ):
        section = named(text, title)
        if section is None:
            return spell_plan(plan)
        inner_end = section.end
        text = with_body(text[:inner_end], section, words) + text[inner_end:]
    return front_matter.changed(text, {"objective": plan.objective, "status": "pending"})


def _spell_options(options: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(
        f"{at}. **{name}**: {about}" if about else f"{at}. **{name}**"
        for at, (name, about) in enumerate(options, 1)
    )


def _line(text: str) -> str:
    return " ".join(plain(text).split())


def take_over(tree: WorkflowTree, state: WorkflowState, verdict: DebateVerdict) -> tuple[str, ...]:
    """What a debate decided goes into the registries; the ids of its decisions. Doing it twice changes
    nothing more.
    """
    synthesis = verdict.synthesis
    held = next((each for each in plans_of(tree) if each.debate_id == state.debate_id), None)
    supersedes = held.challenges if held else ()
    kept = bool(supersedes) and synthesis.option.startswith("Keep ")
    ids = []
    for number, decided in enumerate(synthesis.decisions, 1):
        new = knowledge.NewDecision(
            source=f"{state.debate_id}, decision {number}",
            phase=state.phase,
            title=decided.title,
            rationale=decided.rationale,
            context=_line(state.objective),
            options=tuple(option.name for option in verdict.options),
            kill_switches=synthesis.kill_switches if number == 1 else (),
            supersedes=() if kept or number > 1 else supersedes,
        )
        decision_id = knowledge.add_decision(tree, new)
        knowledge.add_constraint(tree, decision_id, new.title, state.phase, state.debate_id)
        ids.append(decision_id)
    for risk in synthesis.risks:
        knowledge.add_risk(tree, risk, f"accepted in {state.debate_id}")
        if not risk.owner:
            tree.notes.append(f"The risk “{risk.risk}” has no owner in synthesis.md; it is unassigned.")
    _set_status(tree, state.debate_id, "complete")
    return tuple(ids)


def _set_status(tree: WorkflowTree, debate_id: str, status: str) -> None:
    path = f"{debate_folder(debate_id)}/{debate_rules().plan.name}"
    text = tree.get(path)
    if text is None:
        return
    try:
        tree.put(path, front_matter.changed(text, {"status": status}))
    except UsageError:
        tree.notes.append(f"The front matter of {path} cannot be read; it was not changed.")
