"""`make effect`: plays every request with the recorded reader, and prints what each took, against the goals.

python -m bench.effect.run [NAME ...]
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.effect.cases import Case, read_cases
from bench.effect.measure import Effect, measure
from bench.effect.play import ended, set_stage, stage_of, start
from bench.effect.reader import read_replies
from bench.effect.sizes import write_sizes

RESULT = Path(__file__).resolve().parents[2] / "build" / "effect.json"
NAMED_CALLS, NAMED_INPUT = 3, 20_000
OTHER_CALLS, OTHER_INPUT = 6, 36_000
FULL_CALLS = 10
FIRST_TOKENS, FIRST_SHARE = 8_000, 0.9

NOTES = f"""\
`shown`: the right file and symbol are in the first context. `cache`: what a provider's cache can reuse of the input. `older`: replies that
answered an older context and still fit; `renewed`: replies that were recorded again, ever. Tokens are counted by context/tokens.py, tools too.
Goals: {NAMED_CALLS} calls and {NAMED_INPUT:,} input tokens where one place is named, {OTHER_CALLS} and {OTHER_INPUT:,} otherwise, {FULL_CALLS}
calls in the lane full; shown in {FIRST_SHARE:.0%} of the first contexts, within {FIRST_TOKENS:,} tokens."""


def main(names: Sequence[str]) -> int:
    """Plays, prints, writes. Fails if a recorded reply does not fit any more, or a hidden test fails."""
    cases = [case for case in read_cases() if not names or case.name in names]
    if unknown := sorted(set(names) - {case.name for case in cases}):
        print(f"There is no case {unknown[0]}.", file=sys.stderr)
        return 2
    silent = [case.name for case in cases if not case.replies.is_file()]
    found = []
    for case in cases:
        if case.name in silent:
            continue
        print(f"{case.name} …", file=sys.stderr, flush=True)
        found.append(play(case))
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps([asdict(each) for each in found], indent=2) + "\n", encoding="utf-8")
    if not names and not any(each.problem for each in found):
        write_sizes(found)
    print(page(found))
    if silent:
        print(f"\nNot recorded yet, so not played: {', '.join(silent)}.")
    return 1 if any(each.problem for each in found) else 0


def play(case: Case) -> Effect:
    """One request, from its recorded replies."""
    stage, replies = stage_of(case), read_replies(case.replies)
    set_stage(case, stage)
    done = start(case, stage, replies)
    if stage.files is None:
        raise SystemExit(f"{case.name} could not be started: {done.stderr}")
    return measure(case, stage, replies, ended(stage), done.stderr)


def page(found: Sequence[Effect]) -> str:
    """The table, what was refused, what does not fit any more, and one line against the goals."""
    numbers = ("calls", "input", "output", "cache", "first", "shown", "hidden", "refused", "older", "renewed")
    header = ("request", "lane", *numbers, "goal")
    lines = [header, *(_cells(each) for each in found)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(header))]
    table = [
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    refused = [f"{each.name}: {line}" for each in found for line in each.refusals]
    broken = [f"DOES NOT FIT ANY MORE: {each.name}: {each.problem}" for each in found if each.problem]
    parts = ["\n".join(table), "\n".join(refused), "\n".join(broken), summary(found), NOTES]
    return "\n\n".join(part for part in parts if part)


def _cells(each: Effect) -> tuple[str, ...]:
    percent = each.reusable_tokens * 100 // max(1, each.input_tokens)
    return (
        each.name,
        each.lane,
        str(each.calls),
        f"{each.input_tokens:,}",
        f"{each.output_tokens:,}",
        f"{percent} %",
        f"{each.first_tokens:,}",
        "yes" if each.shown else "NO",
        f"{each.hidden_passed}/{each.hidden}",
        str(len(each.refusals)),
        str(each.older),
        str(each.renewed),
        "met" if meets(each) else "MISSED",
    )


def meets(each: Effect) -> bool:
    """Whether a request took no more than it may, and was answered."""
    calls, tokens = (NAMED_CALLS, NAMED_INPUT) if each.named else (OTHER_CALLS, OTHER_INPUT)
    if each.lane == "full":
        calls, tokens = FULL_CALLS, sys.maxsize
    cheap = each.calls <= calls and each.input_tokens <= tokens
    return cheap and not each.problem and each.hidden_passed == each.hidden


def summary(found: Sequence[Effect]) -> str:
    """One line against the goals."""
    total = len(found)
    shown = sum(1 for each in found if each.shown and each.first_tokens <= FIRST_TOKENS)
    goal = "met" if shown >= FIRST_SHARE * total else "MISSED"
    return (
        f"{sum(map(meets, found))} of {total} requests within their goals; hidden tests pass in "
        f"{sum(1 for each in found if each.hidden_passed == each.hidden)}; the right place in the first "
        f"{FIRST_TOKENS:,} tokens in {shown} of {total} ({goal}); {sum(each.renewed for each in found)} "
        f"replies were renewed, {sum(each.older for each in found)} answered an older context."
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
