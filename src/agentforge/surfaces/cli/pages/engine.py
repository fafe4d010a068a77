"""What the engine has to say of a task, on pages and for programs."""

from agentforge.app.drivers.engine_view import HOST_LOST, EngineView, LostTask
from agentforge.core.reply import Json


def engine_lines(view: EngineView) -> list[str]:
    """For a page; nothing for a task of the local engine."""
    if view.driven.engine != "temporal":
        return []
    return [
        f"engine: temporal, host {view.driven.host or 'not known yet'}",
        *(f"  {line}" for line in view.lines),
    ]


def lost_fields(lost: LostTask) -> dict[str, Json]:
    """With the names that other questions have."""
    task, state = lost.task.state.task_id, lost.task.state
    return {
        "id": HOST_LOST,
        "task_id": task,
        "request": state.request,
        "status": "open",
        "kind": "host_lost",
        "stage": state.worker.stage if state.worker else None,
        "opened_at": None,
        "last_recorded_at": lost.task.journal.times.updated_at,
        "question": lost.holdup.sentence,
        "options": ["start a worker on that host", "take the task over"],
        "recommendation": "start a worker on that host",
        "answer_with": f"agentforge continue {task} --take-over",
        "abort_with": f"agentforge abort {task}",
        "answer": None,
    }


def lost_page(lost: LostTask) -> str:
    """The page about a lost host: what is known, and the commands that help."""
    task, recorded = lost.task.state.task_id, lost.task.journal.times.updated_at
    ways = (
        (
            "agentforge worker",
            "on that host, as the same user: the task continues by itself, nothing is lost",
        ),
        (
            f"agentforge continue {task} --take-over",
            "another host that sees the repository restarts it from the record",
        ),
        (f"agentforge continue {task} --engine local --take-over", "run it with this command"),
        (f"agentforge abort {task}", "end it; its work is kept"),
    )
    return "\n".join(
        [
            f"{HOST_LOST} of {task} needs your decision (host_lost); last recorded {recorded}",
            "",
            "Question",
            f"  {lost.holdup.sentence}",
            "  Will its host come back, or should another one take over?",
            "",
            "What you can type",
            *(f"  {command}\n      {what}" for command, what in ways),
        ]
    )
