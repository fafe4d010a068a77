"""`cost`: what the model calls of a task, or of all tasks here, used and cost. Read from the journals, which
are the bill.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.core.reply import Json
    from agentforge.models.prices import Prices
    from agentforge.store.calls import Call
    from agentforge.store.site import Site


@click.command(
    epilog="""\b
Examples:
  agentforge cost
  agentforge cost task-20300131-add-a-version-flag
  agentforge cost --by model
  agentforge cost task-20300131-add-a-version-flag --by day --json

Of the input, `cached` was read from a prompt cache and `written` put into one.
A call that was sent and never answered may be on the provider's bill: it is counted apart, at the most it
can have cost."""
)
@click.argument("task", required=False)
@click.option(
    "--by",
    type=click.Choice(["stage", "role", "model", "day"]),
    help="One line for each.  [default: stage; without TASK: task]",
)
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def cost(*, task: str | None, by: str | None, as_data: bool) -> int:
    """Show what TASK, or every task of this repository, has cost."""
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.printing import print_json

    site = Site.open(Path.cwd())
    files = site.find(task) if task else None
    calls = _of_task(site, files.journal) if files else list(_of_all(site))
    by = by or ("stage" if task else "task")
    if as_data:
        print_json({"task": files.task_id if files else None, "by": by, **_data(calls, by)})
    elif not calls:
        click.echo("No model has been asked yet.")
    else:
        click.echo(_page(calls, by))
    return 0


@dataclass(frozen=True, slots=True)
class Sum:
    """Calls of one kind together."""

    calls: int
    input: int
    cached: int
    written: int
    output: int
    tokens: int
    micro_usd: int
    """Of those whose price is known."""
    unknown: int
    """Calls whose price is not."""

    @property
    def data(self) -> "dict[str, Json]":
        """For a program: null where the price of one call is not known."""
        return {
            "calls": self.calls,
            "input_tokens": self.input,
            "cached_tokens": self.cached,
            "written_tokens": self.written,
            "output_tokens": self.output,
            "tokens": self.tokens,
            "micro_usd": None if self.unknown else self.micro_usd,
        }

    @property
    def money(self) -> str:
        """For a person."""
        from agentforge.surfaces.cli.pages.words import money

        if not self.unknown:
            return money(self.micro_usd)
        return "not known" if self.unknown == self.calls else f"{money(self.micro_usd)} + ?"


def add_up(calls: "Iterable[Call]") -> Sum:
    """The calls together."""
    found = list(calls)
    return Sum(
        len(found),
        sum(call.usage.input_tokens for call in found),
        sum(call.usage.cached_tokens for call in found),
        sum(call.usage.written_tokens for call in found),
        sum(call.usage.output_tokens for call in found),
        sum(call.tokens for call in found),
        sum(call.micro_usd or 0 for call in found),
        sum(call.micro_usd is None for call in found),
    )


def _of_task(site: "Site", journal: Path) -> "list[Call]":
    from agentforge.store.calls import journal_calls

    return list(journal_calls(journal, str(site.git.top)))


def _of_all(site: "Site") -> "Iterable[Call]":
    from agentforge.core.errors import UserError

    for name in site.restore_archived():
        click.echo(f"restored from git: {name}", err=True)
    for path in sorted(site.project.tasks.glob("*/actions.yaml")):
        try:
            yield from _of_task(site, path)
        except UserError as error:
            click.echo(f"{path.parent.name} is not counted: {error.sentence}", err=True)


def _groups(calls: "Sequence[Call]", by: str) -> "dict[str, list[Call]]":
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(str(getattr(call, by)) or "-", []).append(call)
    return dict(sorted(groups.items())) if by == "day" else groups


def _state(calls: "Sequence[Call]", state: str) -> "list[Call]":
    return [call for call in calls if call.state == state]


def _data(calls: "Sequence[Call]", by: str) -> "dict[str, Json]":
    answered, lost, flying = (_state(calls, state) for state in ("settled", "lost", "reserved"))
    rows: list[Json] = [{by: name, **add_up(group).data} for name, group in _groups(answered, by).items()]
    cached, batched = _savings(answered)
    return {
        "rows": rows,
        "total": add_up(answered).data,
        "unaccounted": _outside(lost),
        "under_way": _outside(flying),
        "failed_calls": len(_state(calls, "failed")),
        "saved_micro_usd": {"cache": cached, "batch": batched},
    }


def _outside(calls: "Sequence[Call]") -> "dict[str, Json]":
    """What is not known to have cost anything: at most its reservation."""
    money = None if any(not call.priced for call in calls) else sum(call.reserved.micro_usd for call in calls)
    return {"calls": len(calls), "tokens": sum(call.reserved.tokens for call in calls), "micro_usd": money}


def _page(calls: "Sequence[Call]", by: str) -> str:
    from agentforge.surfaces.cli.printing import table

    answered = _state(calls, "settled")
    lines = [(name, add_up(group)) for name, group in _groups(answered, by).items()]
    lines.append(("total", add_up(answered)))
    names = (by, "calls", "in", "cached", "written", "out", "cost")
    counts = [(each.calls, each.input, each.cached, each.written, each.output) for _, each in lines]
    rows = [
        (name, *(f"{count:,}" for count in row), each.money)
        for (name, each), row in zip(lines, counts, strict=True)
    ]
    return "\n".join([table(names, rows, right=frozenset(names[1:])), *_remarks(calls, lines[-1][1])])


def _remarks(calls: "Sequence[Call]", total: Sum) -> Iterable[str]:
    from agentforge.surfaces.cli.pages.words import count

    words = {"lost": "unaccounted: {} without an answer, at most", "reserved": "under way: {}, at most"}
    for state, beginning in words.items():
        if found := _state(calls, state):
            yield f"{beginning.format(count(len(found), 'call'))} {_worst(found)}"
    if total.unknown:
        unknown = f"The price of {count(total.unknown, 'call')} is not known"
        yield f"{unknown}; AGENTFORGE_PRICE_INPUT and AGENTFORGE_PRICE_OUTPUT can tell it."
    cached, batched = _savings(_state(calls, "settled"))
    if total.cached or total.written:
        yield _saved("prompt caches", cached)
    if any(call.delivery == "batch" for call in calls):
        yield _saved("batches", batched)


def _saved(what: str, amount: int | None) -> str:
    from agentforge.surfaces.cli.pages.words import money

    if amount is None:
        return f"What {what} saved is not known: no price list has all of these models."
    beginning = f"{what[0].upper()}{what[1:]}"
    return (
        f"{beginning} saved {money(amount)}."
        if amount >= 0
        else f"{beginning} cost {money(-amount)} more than they saved."
    )


def _worst(calls: "Sequence[Call]") -> str:
    """The most that calls without an answer can have cost, in words."""
    from agentforge.surfaces.cli.pages.words import money

    most = _outside(calls)
    known = (
        f"{money(most['micro_usd'])}" if isinstance(most["micro_usd"], int) else "a price that is not known"
    )
    return f"{most['tokens']:,} tokens and {known}"


def _savings(calls: "Sequence[Call]") -> tuple[int | None, int | None]:
    """What caches and batches saved, by the price list of today; None as soon as one price is missing."""
    prices = _price_list()
    cached = [
        (call, prices(call.model)) for call in calls if call.usage.cached_tokens or call.usage.written_tokens
    ]
    batched = [(call, prices(call.model)) for call in calls if call.delivery == "batch"]
    by_cache = [price.saved_by_cache(call.usage, call.delivery) if price else None for call, price in cached]
    by_batch = [price.saved_by_batch(call.usage) if price else None for call, price in batched]
    return _all(by_cache), _all(by_batch)


def _all(amounts: list[int | None]) -> int | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _price_list() -> "Callable[[str], Prices | None]":
    """By model, read when first asked for: most tasks need none of it."""

    @cache
    def look_up(spec: str) -> "Prices | None":
        import os

        from agentforge.app.models_config import models_config
        from agentforge.models.prices import price_list
        from agentforge.store.site import home_path

        name, _, model = spec.partition(":")
        provider = models_config(home_path()).providers.get(name)
        return price_list(os.environ)(provider, model) if provider and model else None

    return look_up
