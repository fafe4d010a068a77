"""The figures of all tasks, for a screen, for programs, and for Prometheus."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from agentforge.app.metrics import TARGETS, Figures, Metrics
from agentforge.surfaces.cli.pages.words import count, money
from agentforge.surfaces.cli.printing import table

_BAR = 20
_WORDS = {
    "tasks": "tasks",
    "finished": "finished",
    "steps_per_finished": "steps per finished task",
    "tokens_per_finished": "tokens per finished task",
    "micro_usd": "cost",
    "escalation_rate": "tasks that asked a person",
    "first_pass_rate": "verdicts that passed at the first try",
    "rework_rate": "finished tasks that were reworked",
    "defect_rate": "finished tasks with a defect",
    "audit_completeness": "complete records",
    "tasks_per_week": "finished tasks per week",
    "repositories_at_once": "repositories at once, at most",
    "human_minutes_per_task": "minutes of a person per task",
}
_SHARES = frozenset(
    {"escalation_rate", "first_pass_rate", "rework_rate", "defect_rate", "audit_completeness"}
)


def metrics_page(found: Metrics) -> str:
    """For a person: each figure beside its target, and a bar for what is a share."""
    rows = [
        (_WORDS[name], _spelled(name, found.all), _bar(name, found.all), _target(name, found.all))
        for name in _WORDS
    ]
    since = f" since {found.since}" if found.since else ""
    parts = [
        f"{count(found.all.tasks, 'task')}{since}, of all your repositories",
        table(("", "", "", "target"), rows),
    ]
    if found.all.human_unseen:
        parts.append(
            f"{count(found.all.human_unseen, 'answer')} not counted as time of a person: nobody knows when "
            "the question was shown."
        )
    if found.by is not None:
        parts.append(_groups(found))
    return "\n\n".join(parts)


def metrics_fields(found: Metrics) -> dict[str, Any]:
    """For a program."""
    rows = [{"name": name, **asdict(each)} for name, each in found.groups.items()]
    return {
        "since": found.since or None,
        "all": asdict(found.all),
        "by": found.by,
        "groups": rows,
        "targets": {name: {"is": relation, "value": value} for name, (relation, value) in TARGETS.items()},
    }


def metrics_prometheus(found: Metrics) -> str:
    """In the text format that Prometheus reads; what is not known has no line."""
    lines: list[str] = []
    for name, words in _WORDS.items():
        samples = [*_samples(name, found)]
        if samples:
            lines += [f"# HELP agentforge_{name} {words}", f"# TYPE agentforge_{name} gauge", *samples]
    return "\n".join(lines) + "\n"


def _samples(name: str, found: Metrics) -> Iterator[str]:
    if not found.groups:
        value = getattr(found.all, name)
        if value is not None:
            yield f"agentforge_{name} {value}"
    for label, each in found.groups.items():
        value = getattr(each, name)
        if value is not None:
            quoted = label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            yield f'agentforge_{name}{{{found.by}="{quoted}"}} {value}'


def _groups(found: Metrics) -> str:
    columns = ("tasks", "finished", "steps_per_finished", "escalation_rate", "first_pass_rate", "micro_usd")
    header = (str(found.by), "tasks", "finished", "steps", "asked", "first try", "cost")
    rows = [(name, *(_spelled(column, each) for column in columns)) for name, each in found.groups.items()]
    return table(header, rows, right=frozenset(header[1:]))


def _spelled(name: str, figures: Figures) -> str:
    value: float | int | None = getattr(figures, name)
    if name == "micro_usd" and not isinstance(value, float):
        return money(value)
    if value is None:
        return "-"
    if name in _SHARES:
        return f"{value:.0%}"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def _bar(name: str, figures: Figures) -> str:
    value = getattr(figures, name)
    if name not in _SHARES or value is None:
        return ""
    full = round(float(value) * _BAR)
    return "█" * full + "░" * (_BAR - full)


def _target(name: str, figures: Figures) -> str:
    if name not in TARGETS:
        return ""
    relation, wanted = TARGETS[name]
    words = f"{relation} {wanted:.0%}" if name in _SHARES else f"{relation} {wanted:g}"
    value = getattr(figures, name)
    if value is None:
        return words
    met = value < wanted if relation == "under" else value > wanted
    return f"{words}: {'met' if met else 'missed'}"
