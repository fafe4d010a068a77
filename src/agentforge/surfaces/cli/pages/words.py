"""How values are spelled for people: money, counts, names of commands, text that came from somewhere else."""

import shlex
from collections.abc import Iterable
from datetime import UTC, datetime

from agentforge.core.state import State
from agentforge.core.values import Amount
from agentforge.surfaces.cli.pages import ages
from agentforge.system.visible import brief

age = ages.age


def money(micro_usd: int | None) -> str:
    """Dollars, exact to the cent above one dollar and to a hundredth of a cent below; an unknown price is
    said, and never 0.
    """
    if micro_usd is None:
        return "not known"
    if micro_usd >= 1_000_000:
        cents = (micro_usd + 5_000) // 10_000
        return f"${cents // 100}.{cents % 100:02d}"
    return f"${(micro_usd + 50) // 100 / 10_000:.4f}" if micro_usd else "$0.00"


def count(number: int, thing: str) -> str:
    """A number with its noun: `1 call`, `2 calls`."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def size(number: int) -> str:
    """Bytes, in the unit in which they are a short number."""
    amount, unit = float(number), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"


def clock_time(moment: int) -> str:
    """A time of day here, of seconds since 1970; with its date where that is another day."""
    there = datetime.fromtimestamp(moment, UTC).astimezone()
    here = datetime.now(UTC).astimezone()
    return f"{there:%H:%M:%S}" if there.date() == here.date() else f"{there:%Y-%m-%d %H:%M}"


def bill(state: State) -> str:
    """What a task has cost so far, with what was sent and never answered."""
    cost = money(state.spent.micro_usd) if not state.unpriced else "price not known"
    text = f"{count(state.spent.calls, 'call')}, {count(state.spent.tokens, 'token')}, {cost}"
    lost: Amount = state.unaccounted
    if lost.calls:
        most = money(lost.micro_usd) if state.loss_is_priced else "a price that is not known"
        text += (
            f"; unaccounted: {count(lost.calls, 'call')} without an answer, at most {lost.tokens:,} "
            f"tokens and {most}"
        )
    return text


def allowance(state: State) -> str:
    """What is used of the cap, calls without an answer at their worst case."""
    used, cap = state.spent.plus(state.unaccounted), state.budget
    spent = money(used.micro_usd) if state.is_priced else "price not known"
    limit = f" of {money(cap.micro_usd)}" if cap.micro_usd is not None else ""
    return (
        f"{used.calls:,} of {count(cap.calls, 'call')}, {used.tokens:,} of "
        f"{count(cap.tokens, 'token')}, {spent}{limit}"
    )


_SKIPPED = {
    "no_ambiguities": "the request leaves nothing open",
    "trivial_change": "the change is trivial",
    "nothing_worse": "nothing got harder to read or was copied",
    "no_test_owed": "the request asks for no new behaviour",
    "only_tests": "the request asks for tests alone",
    "no_changelog": "the project keeps no changelog",
    "spec_provided": "a specification was given",
    "tests_provided": "tests were given",
}


def skip_reason(condition: str) -> str:
    """Why a stage was skipped: the facts that held, in words."""
    return brief(" and ".join(_SKIPPED.get(fact, fact) for fact in condition.split(", ")))


def kept_branches(kept: Iterable[str]) -> list[str]:
    """A line for each branch that this task found taken or moved, and left alone."""
    return [f"{branch} is not where this task left it, or is checked out: not touched" for branch in kept]


def command(*words: str) -> str:
    """A command line that can be pasted into a shell."""
    return shlex.join(words)
