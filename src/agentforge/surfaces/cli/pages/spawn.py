"""How the sessions of AO that a debate needs are shown: as lines to run."""

from agentforge.app.workflow.under_ao import SpawnPlan
from agentforge.core.reply import Json


def spawn_page(plan: SpawnPlan) -> str:
    """One line for each role, those first that argue side by side."""
    program = plan.program
    asked = f"as the installed ao{f' {program.version}' if program.version else ''} takes them"
    origin = (
        asked if program.is_asked else "untested here: no `ao` answered, this is the newest form known to us"
    )
    lines = ["", "", f"AO starts the roles with these commands ({origin}):"]
    lines += [each.line for each in plan.commands if not each.comes_last]
    last = [each.line for each in plan.commands if each.comes_last]
    if last and len(plan.commands) > len(last):
        lines.append("and, when the files of the others are complete:")
    return "\n".join([*lines, *last])


def spawn_record(plan: SpawnPlan) -> dict[str, Json]:
    """The same as `--json` prints it."""
    return {
        "spawn": [
            {"role": each.role, "command": each.line, "request": each.request, "comes_last": each.comes_last}
            for each in plan.commands
        ],
        "spawn_tested": plan.program.is_asked,
    }
