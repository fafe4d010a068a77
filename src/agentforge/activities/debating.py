"""The gate `debate`: what those wrote who were heard, and whoever decided, spelled as the files of a debate
and judged as every debate is.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath

from agentforge.activities.world import Document, World
from agentforge.catalog.contracts import in_order
from agentforge.catalog.debates import debate_rules
from agentforge.catalog.kinds import what_kind_of_file
from agentforge.core.pipeline import PHASE_OF
from agentforge.core.reply import Json
from agentforge.core.state import RunView, State
from agentforge.core.values import ArtifactRef
from agentforge.documents import front_matter
from agentforge.gates.change.documents import objects, texts
from agentforge.gates.debates.files import judge_debate
from agentforge.gates.debates.spelling import debate_texts, one_line, paragraph, score_of
from agentforge.gates.debates.trigger import Stakes
from agentforge.gates.verdict import Verdict
from agentforge.phases.debates import DebatePlan, spell_plan


def judge_arguments(world: World, state: RunView) -> tuple[Verdict, tuple[ArtifactRef, ...]]:
    """The verdict on a debate, and beside it what each of those wrote who were heard. One that is not owed
    asks nobody, and is on record as that.
    """
    run, documents = state.run, world.documents(state)
    if run.skipped:
        return Verdict("passed", (), {"held": False, "why": _why_not(world, state)}), ()
    stage = state.stage
    contracts = {debater.role: debater.contract for debater in stage.debaters}
    contracts["synthesizer"] = stage.products[0].contract
    said = {
        role: in_order(world.catalogue.contract(name), documents[name])
        for role, name in contracts.items()
        if name in documents
    }
    plan = world.parts(state).get("options", {})
    files = debate_texts(plan_text(plan, state.task_id), said)
    judged = judge_debate(files)
    record: dict[str, Json] = {
        "held": True,
        "objective": plan.get("objective"),
        **judged.record(),
        **_decided(said.get("synthesizer", {})),
        "positions": {
            role: _position(role, document) for role, document in said.items() if role in _POSITIONS
        },
        "files": {name: world.pack.put(text.encode()) for name, text in files.items()},
        "contexts": {each.name: each.context for each in state.beside(run.id, heard=True)},
    }
    record.pop("status")
    if not judged.complete:
        return Verdict("failed", judged.reasons, record), ()
    kept = [
        world.keep_final(ref.contract, ref.phase, ref.version, documents[ref.contract])
        for each in state.beside(run.id, heard=True)
        for ref in each.drafts
    ]
    return Verdict("passed", (), record), (*run.finals, *kept)


def plan_text(plan: Mapping[str, Json], debate_id: str) -> str:
    """The plan of a debate that roles of ours hold, as its file."""
    known = [one_line(plan["context"])] if plan.get("context") else []
    about = DebatePlan(
        debate_id,
        PHASE_OF["options"],
        paragraph(one_line(plan.get("objective"))),
        tuple(
            (one_line(option.get("name")), one_line(option.get("description")))
            for option in objects(plan, "options")
        ),
        context=(
            *known,
            *(f"No option may break this: {one_line(text)}" for text in texts(plan, "constraints")),
        ),
    )
    return front_matter.changed(spell_plan(about, folder=""), {"status": "complete"})


def is_minor(world: World, state: State) -> bool:
    """Whether the analysis shows that a decision need not be debated. Where it does not say, it is not
    minor.
    """
    stakes, rules = stakes_of(world, state), debate_rules()
    if stakes is None or not stakes.risk_score:
        return False
    return stakes.components <= rules.component_threshold and stakes.risk_score < rules.risk_threshold


def stakes_of(world: World, state: State) -> Stakes | None:
    """What is at stake, counted from the analysis: the folders of code that it names, and the risk that
    weighs most. None where nobody analysed.
    """
    analysis = world.parts(state).get("analysis", {})
    if not analysis or analysis.get("derived"):
        return None
    is_test = world.is_test(state)
    paths = [str(item.get("path", "")) for item in objects(analysis, "impacted_files")]
    code = [path for path in paths if not is_test(path) and what_kind_of_file(path) != "document"]
    worst = analysis.get("worst_risk")
    return Stakes(
        len({PurePosixPath(path).parent for path in code}), score_of(worst) if isinstance(worst, dict) else 0
    )


def _why_not(world: World, state: State) -> str:
    stakes, rules = stakes_of(world, state), debate_rules()
    if stakes is None:
        return "nobody wanted it"
    named = f"{stakes.components} component{'' if stakes.components == 1 else 's'}"
    return (
        f"the analysis names {named}, not more than {rules.component_threshold}, and its worst risk scores "
        f"{stakes.risk_score}, less than {rules.risk_threshold}"
    )


_POSITIONS: Mapping[str, str] = {
    "advocate": "core_argument",
    "skeptic": "critical_questions",
    "operator": "go_no_go_recommendation",
}
"""What stands for the position of each, where there is room for a line."""


def _position(role: str, document: Document) -> Json:
    value = document.get(_POSITIONS[role])
    if role == "operator":
        return "; ".join(
            f"{item.get('option')}: {item.get('verdict')}" for item in objects(document, _POSITIONS[role])
        )
    return texts(document, _POSITIONS[role])[0] if isinstance(value, list) and value else value


def _decided(synthesis: Document) -> dict[str, Json]:
    decided = synthesis.get("final_decision")
    said = decided if isinstance(decided, dict) else {}
    return {
        "decision": said.get("decision"),
        "rationale": said.get("rationale"),
        "kill_switches": synthesis.get("kill_switch_criteria", []),
        "fallback": synthesis.get("fallback_plan"),
        "risks_accepted": synthesis.get("risks_accepted", []),
        "action_items": synthesis.get("action_items", []),
    }
