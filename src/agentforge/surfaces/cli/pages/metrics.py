"""The figures of all tasks, for a screen, for programs, and for Prometheus."""

from collections.abc import Iterator

from agentforge.app.evidence.metrics import FIGURES, Figures, Metrics
from agentforge.surfaces.cli.pages.words import count, money
from agentforge.surfaces.cli.printing import table

_BAR = 20
_SHOWN = tuple(name for name in FIGURES if name != "human_unseen")


def metrics_page(found: Metrics) -> str:
    """For a person: each figure beside its target, and a bar for what is a share."""
    rows = [
        (FIGURES[name].words, _spelled(name, found.all), _bar(name, found.all), _target(name, found.all))
        for name in _SHOWN
    ]
    since = f" since {found.since}" if found.since else ""
    parts = [
        f"{count(int(found.all['tasks'] or 0), 'task')}{since}, of all your repositories",
        table(("", "", "", "target"), rows),
    ]
    if unseen := int(found.all["human_unseen"] or 0):
        parts.append(
            f"{count(unseen, 'answer')} not counted as time of a person: nobody knows when "
            "the question was shown."
        )
    if found.by is not None:
        parts.append(_groups(found))
    return "\n\n".join(parts)


def metrics_prometheus(found: Metrics) -> str:
    """In the text format that Prometheus reads; what is not known has no line."""
    lines: list[str] = []
    for name, figure in FIGURES.items():
        samples = [*_samples(name, found)]
        if samples:
            lines += [f"# HELP agentforge_{name} {figure.words}", f"# TYPE agentforge_{name} gauge", *samples]
    return "\n".join(lines) + "\n"


def _samples(name: str, found: Metrics) -> Iterator[str]:
    if not found.groups:
        value = found.all[name]
        if value is not None:
            yield f"agentforge_{name} {value}"
    for label, each in found.groups.items():
        value = each[name]
        if value is not None:
            quoted = label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            yield f'agentforge_{name}{{{found.by}="{quoted}"}} {value}'


def _groups(found: Metrics) -> str:
    columns = ("tasks", "finished", "steps_per_finished", "escalation_rate", "first_pass_rate", "micro_usd")
    header = (str(found.by), "tasks", "finished", "steps", "asked", "first try", "cost")
    rows = [(name, *(_spelled(column, each) for column in columns)) for name, each in found.groups.items()]
    return table(header, rows, right=frozenset(header[1:]))


def _spelled(name: str, figures: Figures) -> str:
    value = figures[name]
    if name == "micro_usd" and not isinstance(value, float):
        return money(value)
    if value is None:
        return "-"
    if FIGURES[name].is_share:
        return f"{value:.0%}"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def _bar(name: str, figures: Figures) -> str:
    value = figures[name]
    if not FIGURES[name].is_share or value is None:
        return ""
    full = round(value * _BAR)
    return "█" * full + "░" * (_BAR - full)


def _target(name: str, figures: Figures) -> str:
    figure, value = FIGURES[name], figures[name]
    wanted = figure.over if figure.under is None else figure.under
    if wanted is None:
        return ""
    side = "over" if figure.under is None else "under"
    words = f"{side} {wanted:.0%}" if figure.is_share else f"{side} {wanted:g}"
    return words if value is None else f"{words}: {'met' if figure.is_met(value) else 'missed'}"
