"""What model calls used and cost. Read from the journals, which are the bill; of those that somebody removed,
from the ledger.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from agentforge.core.errors import UserError
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.calls import CallState, ModelCall, journal_calls
from agentforge.store.user.ledger import TRIAL, Ledger, ledger_file


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
    found: list[ModelCall] = []
    unread = set()
    for path in sorted(site.project.tasks.glob("*/actions.yaml")):
        try:
            found += calls_of(site, TaskFiles(path.parent))
        except UserError as error:
            notice(f"{path.parent.name} is not counted: {error.sentence}")
            unread.add(path.parent.name)
    yield from found
    yield from (call for call in _without_record(site, found, notice) if call.task not in unread)


def _without_record(site: Site, known: Sequence[ModelCall], notice: Callable[[str], None]) -> list[ModelCall]:
    """Calls that were made here and are in no journal any more, since somebody removed it: the provider's
    bill has them all the same. A task may have got the name of one that is gone.
    """
    if not ledger_file(site.home).exists():
        return []
    with Ledger.of(site.home, notice) as ledger:
        booked = ledger.calls(site.git.top)
    tasks = {call.task for call in known}
    of_journals = Counter((call.task, call.key) for call in known)
    gone = []
    for call in reversed(booked):  # the last ones of a name are those of the journal
        if of_journals[call.task, call.key]:
            of_journals[call.task, call.key] -= 1
        elif call.task not in tasks or call.state == "settled":
            # Nobody will ever know what became of it.
            gone.append(replace(call, state="lost") if call.state == "reserved" else call)
    gone.reverse()
    names = sorted({call.task for call in gone} - {TRIAL})
    if names:
        notice(f"from the ledger, since the record is gone: {', '.join(names)}")
    return gone


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
