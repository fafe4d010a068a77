"""What model calls used and cost. Read from the journals, which are the bill."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from agentforge.core.errors import UserError
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.calls import CallState, ModelCall, journal_calls


@dataclass(frozen=True, slots=True)
class Savings:
    """In micro-dollars, by the price list of today; None as soon as one price is missing."""

    by_caches: int | None = 0
    by_batches: int | None = 0


@dataclass(frozen=True, slots=True)
class CallTotal:
    """The tokens and the cost of a group of calls."""

    calls: int
    input: int
    cached: int
    written: int
    output: int
    tokens: int
    micro_usd: int
    """The cost of the calls whose price is known."""
    unknown: int
    """How many calls have no known price."""


def add_up(calls: Iterable[ModelCall]) -> CallTotal:
    """The tokens and the cost of several calls together."""
    found = list(calls)
    return CallTotal(
        len(found),
        sum(call.usage.input_tokens for call in found),
        sum(call.usage.cached_tokens for call in found),
        sum(call.usage.written_tokens for call in found),
        sum(call.usage.output_tokens for call in found),
        sum(call.tokens for call in found),
        sum(call.micro_usd or 0 for call in found),
        sum(call.micro_usd is None for call in found),
    )


def calls_of(site: Site, files: TaskFiles) -> list[ModelCall]:
    """Every model call of a task."""
    return list(journal_calls(files.journal, str(site.git.top)))


def calls_of_all(site: Site, notice: Callable[[str], None]) -> Iterator[ModelCall]:
    """Every model call of every task of the repository; what cannot be counted is said."""
    for name in site.restore_archived():
        notice(f"restored from git: {name}")
    for path in sorted(site.project.tasks.glob("*/actions.yaml")):
        try:
            yield from calls_of(site, TaskFiles(path.parent))
        except UserError as error:
            notice(f"{path.parent.name} is not counted: {error.sentence}")


def grouped(calls: Sequence[ModelCall], by: str) -> dict[str, list[ModelCall]]:
    """The calls by one of their fields, in order of appearance; days in their own order."""
    groups: dict[str, list[ModelCall]] = {}
    for call in calls:
        groups.setdefault(str(getattr(call, by)) or "-", []).append(call)
    return dict(sorted(groups.items())) if by == "day" else groups


def in_state(calls: Sequence[ModelCall], state: CallState) -> list[ModelCall]:
    """Those that are settled, lost, failed or still under way."""
    return [call for call in calls if call.state == state]


def is_discounted(call: ModelCall) -> bool:
    """Whether a prompt cache or a batch changed its price."""
    return bool(call.usage.cached_tokens or call.usage.written_tokens) or call.delivery == "batch"
