"""The commands by which a person decides about a version, or lets a task go on."""

from agentforge.core.state import State
from agentforge.core.values import Escalation
from agentforge.surfaces.cli.pages.words import command


def built_on(state: State) -> str:
    """What builds on a task that ends before its delivery."""
    if state.pipeline.extends_to:
        return command("agentforge", "continue", state.task_id, "--extend-to", state.pipeline.extends_to[-1])
    return command("agentforge", "implement", "--from-task", state.task_id)


def decision_commands(state: State, waiting: Escalation) -> list[str]:
    """One command for each answer, after the one that shows what it is about."""
    task = state.task_id
    whole = command("agentforge", "escalations", "show", waiting.id, "--task", task)
    shown = command("agentforge", "artifacts", "show", task) if waiting.kind == "iteration" else whole
    ways = [_way(state, waiting, option) for option in waiting.question.options]
    return [shown, *dict.fromkeys(way for way in ways if way), command("agentforge", "abort", task)]


def _way(state: State, waiting: Escalation, option: str) -> str:
    task = state.task_id
    match option:
        case "approve" | "go on":
            return command("agentforge", "approve", task)
        case "revise":
            return command("agentforge", "feedback", task, "WHAT SHOULD BE DIFFERENT")
        case "reject" | "refuse" | "stop":
            return command("agentforge", "reject", task, "WHY")
        case "exit":
            return command("agentforge", "approve", task, "--exit")
        case "extend":
            return built_on(state) if state.pipeline.extends_to else ""
        case _:
            return command("agentforge", "resolve", waiting.id, "--task", task, "--answer", option)
