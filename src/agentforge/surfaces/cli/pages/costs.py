"""The bill: a table with remarks, and the same for programs."""

from collections.abc import Iterable, Sequence

from agentforge.app.models.costs import CallTotal, Savings, add_up, grouped, in_state
from agentforge.core.reply import Json
from agentforge.store.task.calls import CallState, ModelCall
from agentforge.surfaces.cli.pages.words import count, money
from agentforge.surfaces.cli.printing import table


def _fields(total: CallTotal) -> dict[str, Json]:
    """For a program: null where the price of one call is not known."""
    return {
        "calls": total.calls,
        "input_tokens": total.input,
        "cached_tokens": total.cached,
        "written_tokens": total.written,
        "output_tokens": total.output,
        "tokens": total.tokens,
        "micro_usd": None if total.unknown else total.micro_usd,
    }


def _money(total: CallTotal) -> str:
    if not total.unknown:
        return money(total.micro_usd)
    return "not known" if total.unknown == total.calls else f"{money(total.micro_usd)} + ?"


def costs_fields(calls: Sequence[ModelCall], by: str, saved: Savings) -> dict[str, Json]:
    """The whole bill, for a program."""
    answered = in_state(calls, "settled")
    rows: list[Json] = [{by: name, **_fields(add_up(group))} for name, group in grouped(answered, by).items()]
    return {
        "rows": rows,
        "total": _fields(add_up(answered)),
        "unaccounted": _outside(in_state(calls, "lost")),
        "under_way": _outside(in_state(calls, "reserved")),
        "failed_calls": len(in_state(calls, "failed")),
        "saved_micro_usd": {"cache": saved.by_caches, "batch": saved.by_batches},
    }


def _outside(calls: Sequence[ModelCall]) -> dict[str, Json]:
    """What is not known to have cost anything: at most its reservation."""
    known = all(call.priced for call in calls)
    most = sum(call.reserved.micro_usd for call in calls) if known else None
    return {"calls": len(calls), "tokens": sum(call.reserved.tokens for call in calls), "micro_usd": most}


def costs_page(calls: Sequence[ModelCall], by: str, saved: Savings) -> str:
    """The whole bill, for a person."""
    answered = in_state(calls, "settled")
    lines = [(name, add_up(group)) for name, group in grouped(answered, by).items()]
    lines.append(("total", add_up(answered)))
    names = (by, "calls", "in", "cached", "written", "out", "cost")
    counts = [(each.calls, each.input, each.cached, each.written, each.output) for _, each in lines]
    rows = [
        (name, *(f"{number:,}" for number in row), _money(each))
        for (name, each), row in zip(lines, counts, strict=True)
    ]
    return "\n".join([table(names, rows, right=frozenset(names[1:])), *_remarks(calls, lines[-1][1], saved)])


def _remarks(calls: Sequence[ModelCall], total: CallTotal, saved: Savings) -> Iterable[str]:
    words: dict[CallState, str] = {
        "lost": "unaccounted: {} without an answer, at most",
        "reserved": "under way: {}, at most",
    }
    for state, beginning in words.items():
        if found := in_state(calls, state):
            yield f"{beginning.format(count(len(found), 'call'))} {_worst(found)}"
    if total.unknown:
        unknown = f"The price of {count(total.unknown, 'call')} is not known"
        yield f"{unknown}; AGENTFORGE_PRICE_INPUT and AGENTFORGE_PRICE_OUTPUT set it."
    if total.cached or total.written:
        yield _saved("prompt caches", saved.by_caches)
    if any(call.delivery == "batch" for call in calls):
        yield _saved("batches", saved.by_batches)


def _saved(what: str, amount: int | None) -> str:
    if amount is None:
        return f"What {what} saved is not known: no price list has all of these models."
    beginning = f"{what[0].upper()}{what[1:]}"
    return (
        f"{beginning} saved {money(amount)}."
        if amount >= 0
        else f"{beginning} cost {money(-amount)} more than they saved."
    )


def _worst(calls: Sequence[ModelCall]) -> str:
    """The most that calls without an answer can have cost, in words."""
    most = _outside(calls)
    known = (
        f"{money(most['micro_usd'])}" if isinstance(most["micro_usd"], int) else "a price that is not known"
    )
    return f"{most['tokens']:,} tokens and {known}"
