"""The tasks at a glance: three lines for each that is under way, in a frame; one line each in a pipe."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from agentforge.store.task.moments import Summary, seconds_between, stamp
from agentforge.surfaces.cli.pages.ages import age
from agentforge.surfaces.cli.safe_text import safe
from agentforge.system.visible import brief, harmless

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_BAR = 10
_MOST_DONE = 8
_MOST_OPEN = 30
NARROWEST, _WIDEST = 40, 100
"""The columns of a frame: below the first, lines are broken by the terminal instead."""
_REPO = 18
_WORDS = {"completed": "DELIVERED ✓", "awaiting_decision": "AWAITING YOUR DECISION"}
_MARKS = {"in_progress": "●", "pending": "○", "completed": "✓", "failed": "✗", "aborted": "✗"}
_STYLES = {"●": "green", "○": "dim", "✓": "green", "✗": "red", "⚠": "yellow", "‖": "yellow"}
_WAITING = ("escalated", "awaiting_decision")


def word_of(summary: Summary) -> str:
    """The state of a task as it is shouted in a list."""
    if summary["stopped"]:
        return "STOPPED"
    state = str(summary["status"]["state"])
    if state == "completed" and not any(summary["files"].values()):
        return "COMPLETED ✓"  # a document, or nothing to change
    return _WORDS.get(state, state.upper())


def pipe_lines(summaries: Sequence[Summary], now: datetime) -> list[str]:
    """One line for each task: repository, state, stage, bar, time, tests, last action, name, request."""
    width = max((len(harmless(name)) for name in {str(item["repo"]) for item in summaries}), default=0) + 1
    return [
        f"{brief(item['repo'], 60) + ':':<{width}}  {_pipe_line(item, now)}  @{place} {item['task_id']}  "
        f"{_quoted(item, 60)}"
        for place, item in numbered(summaries)
    ]


def numbered(summaries: Sequence[Summary]) -> list[tuple[int, Summary]]:
    """Each task with the number by which commands know it: its place among those of its own repository."""
    seen: Counter[str] = Counter()
    places = []
    for item in summaries:
        seen[str(item["repo_path"])] += 1
        places.append((seen[str(item["repo_path"])], item))
    return places


def _pipe_line(summary: Summary, now: datetime) -> str:
    if "problem" in summary:
        return f"UNREADABLE ({brief(summary['problem'], 200)})"
    status, word = summary["status"], word_of(summary)
    parts = [word]
    if status["state"] in _WAITING and (asked := summary["waiting"]):
        parts = [f"{word} ({asked['id']}: {brief(asked['question'], 60)})"]
    elif status["phase"] and status["state"] != "completed":
        parts = [f"{word} (stage: {status['phase']}, {_percent(summary)})", _bar(summary)]
    parts.append(age(summary["timing"]["elapsed_seconds"]))
    if awaited := _awaited(summary, now):
        return "  ".join((*parts, awaited))
    return "  ".join((*parts, *_facts(summary, now)))


def _awaited(summary: Summary, now: datetime) -> str:
    """What a task waits for by itself; empty where it works, or no process waits."""
    found = None if summary["stopped"] else summary.get("waits_for")
    if not found:
        return ""
    left = f" ({age(seconds_between(stamp(now), found['until']))} left)" if found["until"] else ""
    return f"Waiting: {brief(safe(found['text']), 120)}{left}"


def _facts(summary: Summary, now: datetime) -> list[str]:
    health, last = summary["health"], summary["last_action"]
    found = []
    if health["tests_total"] is not None:
        found.append(f"Tests: {health['tests_passing']}/{health['tests_total']}{not_before(health)}")
    if health["conformance_total"] is not None:
        met = health["conformance_passing"] == health["conformance_total"]
        found.append(f"Conformance: {'✓' if met else '✗'}")
    if last is not None and summary["status"]["state"] in ("in_progress", "pending"):
        found.append(
            f"Last: {brief(last['action'], 40)} ({age(seconds_between(last['at'], stamp(now)))} ago)"
        )
    return found


def not_before(health: Summary) -> str:
    """Says of tests that do not pass how many did not on the base either; empty where there are none."""
    count = health.get("tests_not_passing_before", 0)
    return f" ({count} did not pass before)" if count else ""


def _percent(summary: Summary) -> str:
    return f"{round(100 * summary['status']['overall_progress'])}%"


def _bar(summary: Summary) -> str:
    full: int = round(_BAR * summary["status"]["overall_progress"])
    return "█" * full + "░" * (_BAR - full)


def _quoted(summary: Summary, width: int) -> str:
    return f'"{brief(str(summary.get("request", "")), width)}"'


# ------------------------------------------------------------------ the frame


def board(summaries: Sequence[Summary], now: datetime, width: int) -> "Table":
    """What a terminal shows: counts, then the tasks that are under way or wait, then the newest that are
    over.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    frame = Table(box=box.SQUARE, width=max(NARROWEST, min(width, _WIDEST)), show_edge=True)
    frame.add_column("AGENTFORGE STATUS", no_wrap=True, overflow="ellipsis", header_style="bold")
    states = [str(item["status"]["state"]) for item in summaries]
    active, waiting = (
        sum(state in group for state in states) for group in (("in_progress", "pending"), _WAITING)
    )
    frame.add_row(Text(f"Active: {active}    Completed: {states.count('completed')}    Escalated: {waiting}"))
    places = numbered(summaries)
    unfinished = [
        item for item in places if item[1]["status"]["state"] not in ("completed", "aborted", "failed")
    ]
    over = [item for item in places if item not in unfinished]
    for place, summary in unfinished[:_MOST_OPEN]:
        frame.add_row("")
        for line in _open_lines(place, summary, now):
            frame.add_row(line)
    if over:
        frame.add_row("")
    for place, summary in over[:_MOST_DONE]:
        frame.add_row(_done_line(place, summary, now))
    if rest := len(unfinished[_MOST_OPEN:]) + len(over[_MOST_DONE:]):
        frame.add_row(Text(f"… and {rest} more: `agentforge status --json` has all", style="dim"))
    return frame


def _head(place: int, mark: str, summary: Summary, rest: str) -> "Text":
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ellipsis")
    text.append(f"{mark} ", style=_STYLES[mark])
    text.append(f"{brief(safe(summary['repo']), _REPO):<{_REPO}} ", style="bold")
    text.append(f"@{place:<3} ", style="dim")
    text.append(rest)
    return text


def _open_lines(place: int, summary: Summary, now: datetime) -> "list[Text]":
    from rich.text import Text

    status, elapsed = summary["status"], age(summary["timing"]["elapsed_seconds"])
    asked = summary["waiting"] if status["state"] in _WAITING else None
    if asked:
        head = _head(place, "⚠", summary, f"{word_of(summary):<24} {elapsed:>7}")
        tail = f"Waiting: {asked['id']} {brief(safe(asked['question']), 300)}"
    else:
        mark = "‖" if summary["stopped"] else _MARKS[status["state"]]
        stage = str(status["phase"] or status["state"]).upper()
        head = _head(place, mark, summary, f"{stage:<9} {_bar(summary)} {_percent(summary):>4}  {elapsed:>7}")
        tail = _awaited(summary, now) or "  ".join(_facts(summary, now))
        if summary["stopped"]:
            tail = f"Stopped: `agentforge continue {summary['task_id']}` resumes it"
    lines = [head, Text(f"  {safe(_quoted(summary, 300))}")]
    return (
        [*lines, Text(f"  {tail}", style="yellow" if asked or summary["stopped"] else "dim")]
        if tail
        else lines
    )


def _done_line(place: int, summary: Summary, now: datetime) -> "Text":
    if "problem" in summary:
        return _head(place, "✗", summary, f"UNREADABLE {brief(safe(summary['problem']), 200)}")
    ago = age(seconds_between(summary["timing"]["last_activity"], stamp(now)))
    mark = _MARKS[summary["status"]["state"]]
    return _head(
        place, mark, summary, f"{word_of(summary):<12} {ago + ' ago':>11}  {safe(_quoted(summary, 200))}"
    )
