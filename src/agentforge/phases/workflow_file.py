"""The two files of settings that other tools read: `workflows/forge-workflow.json` and `config.json`.

Both are written when they are not there. Ours are kept up to date while they are in the form that we write;
one that a person has shaped is theirs.
"""

import json

from agentforge.catalog.debates import debate_rules
from agentforge.catalog.phases import PHASES, PhaseDefinition, workflow
from agentforge.phases.knowledge import registry_path
from agentforge.phases.state import VERSION, WorkflowState
from agentforge.phases.tree import (
    CONFIG,
    DEBATES,
    DOCS,
    HANDOFFS,
    KNOWLEDGE,
    PHASE_DOCUMENTS,
    STATE,
    WorkflowTree,
    handoff,
    working_document,
)


def new_workflow_file() -> str:
    """The definition of the workflow, as tools of the wild expect it."""
    rules = debate_rules()
    definition = {
        "name": "forge",
        "version": f"{VERSION}.0",
        "description": "Ten phases whose state is files",
        "execution_model": "ao-native",
        "principles": [
            "Files are the source of truth",
            "Debates block",
            "The same files lead to the same action",
        ],
        "debate_config": {
            "default_trigger": rules.default_trigger,
            "risk_threshold": rules.risk_threshold,
            "component_threshold": rules.component_threshold,
            "cli_flags": {
                "debate": {"description": "Hold a debate", "long_form": "--debate", "short_form": "-d"},
                "no_debate": {"description": "Hold none", "long_form": "--no-debate", "short_form": "-D"},
            },
        },
        "phases": [_phase(phase) for phase in workflow().phases.values()],
        "phase_order": list(PHASES),
        "knowledge_structure": {"location": KNOWLEDGE, "files": list(workflow().knowledge)},
        "artifact_structure": {"phases": PHASE_DOCUMENTS, "handoffs": HANDOFFS, "debate": DEBATES},
        "state_file": STATE,
        "debate_schema": {
            "version": VERSION,
            "location": DEBATES,
            "required_files": [file.name for file in rules.files],
            "completion_criteria": {
                "all_files_exist": True,
                "all_files_non_empty": True,
                "synthesis_includes": [
                    name for name in rules.synthesis.sections if name in rules.synthesis.blocking
                ],
            },
            "blocking": True,
        },
        "continue_behavior": {"interactive": False, "deterministic": True},
    }
    return _spelled(definition)


def _phase(phase: PhaseDefinition) -> dict[str, object]:
    entry = [f"read {handoff(phase.previous, phase.id)}"] if phase.previous else []
    artifacts = [working_document(phase.id), f"{DOCS}/{phase.artifact}"] if phase.artifact else []
    if not artifacts:
        artifacts = [registry_path(name) for name in workflow().knowledge]
    found: dict[str, object] = {
        "id": phase.id,
        "name": phase.name,
        "command": f"/forge:{phase.command}",
        "description": phase.description,
        "entry_actions": entry,
        "artifacts": [*artifacts, *(f"{DOCS}/{name}" for name in phase.documents)],
        "exit_criteria": [*phase.sections, *phase.exit],
        "optional": False,
    }
    if phase.debate.enabled:
        found["debate_gate"] = {
            "required": phase.debate.required,
            "debate_enabled": True,
            "debate_trigger": phase.debate.trigger,
            "blocking": True,
        }
    return found


def new_config(state: WorkflowState) -> str:
    """The configuration of a project that begins."""
    return _spelled(
        {
            "project_type": "unknown",
            "initialized": True,
            "artifact_level": "intelligent",
            "phases": _phases(state),
            "preferences": {
                "karpathy_enforced": False,
                "security_checks": True,
                "auto_lint": False,
                "debate_required": True,
            },
        }
    )


def keep_config(tree: WorkflowTree, state: WorkflowState) -> None:
    """The phases in `config.json` follow the state, if the file is in the form that we write."""
    text = tree.get(CONFIG)
    if text is None:
        tree.put(CONFIG, new_config(state))
        return
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        tree.notes.append(f"{CONFIG} is not JSON; it was not changed.")
        return
    if isinstance(found, dict) and isinstance(found.get("phases"), dict) and text == _spelled(found):
        tree.put(CONFIG, _spelled({**found, "phases": {**found["phases"], **_phases(state)}}))


def _phases(state: WorkflowState) -> dict[str, object]:
    current = None if state.is_complete else state.phase
    pending = [phase for phase in PHASES if phase not in state.completed_phases and phase != current]
    return {"completed": list(state.completed_phases), "current": current, "pending": pending}


def _spelled(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
