"""What the engine has to say of a task, on pages and for programs."""

from typing import TYPE_CHECKING

from agentforge.app.engine_view import HOST_LOST, EngineView, LostTask
from agentforge.app.holdups import SLOW_S
from agentforge.core.reply import Json

if TYPE_CHECKING:
    from agentforge.engines.temporal.look import PendingActivity


def engine_lines(view: EngineView) -> list[str]:
    """For a page; nothing for a task of the local engine."""
    if view.driven.engine != "temporal":
        return []
    return [
        f"engine: temporal, host {view.driven.host or 'not known yet'}",
        *(f"  {line}" for line in view.lines),
    ]


def engine_fields(view: EngineView) -> dict[str, Json]:
    """For a program. What the server was not asked, or did not answer, is null."""
    waiting = view.look.untaken(SLOW_S) if view.look else None
    return {
        "engine": view.driven.engine,
        "host": view.driven.host or None,
        "engine_says": [*view.lines],
        "engine_in_flight": [_flight(each) for each in view.look.flights] if view.look else None,
        "no_worker_for_s": int(waiting.seconds) if waiting else None,
        "host_lost": view.lost is not None if view.look else None,
    }


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


def _flight(flight: "PendingActivity") -> dict[str, Json]:
    return {
        "effect": flight.family,
        "queue": flight.queue,
        "taken": flight.taken,
        "for_s": int(flight.seconds),
        "attempt": flight.attempt,
        "doing": flight.progress or None,
        "heard_s_ago": int(flight.heard) if flight.taken else None,
    }
