"""One call's input as a page, as data and as text."""

import shutil
import sys
from collections.abc import Iterator

from agentforge.app.record.contexts import TOOLS, ContextReport
from agentforge.app.record.steps import beside_words
from agentforge.surfaces.cli.pages.words import count
from agentforge.surfaces.cli.printing import Tone
from agentforge.system.visible import brief, one_line

NAME_WIDTH = 44
"""Longer names of blocks are cut in their middle; `--json` has them whole."""


def context_page(report: ContextReport) -> Iterator[tuple[str, Tone]]:
    """Where it stands, each block with its reason, what was left out, what can be reused."""
    seat = beside_words(report.seat, heard=report.heard)
    what = f"{report.task}, step {report.step}" if report.task else "dry run, the first step"
    yield f"{what}: stage {report.stage}{seat}, role {report.role}, lane {report.lane}", "heading"
    if report.reasons:
        yield f"  lane chosen because: {brief('; '.join(report.reasons), 400)}", "quiet"
    cap = f" of {report.cap:,}" if report.cap else ""
    tools = report.tokens - report.packed
    yield f"  {count(report.tokens, 'token')}: {report.packed:,}{cap} in blocks, {tools:,} in tools", ""
    yield "", ""
    yield f"  {'tokens':>7}  {'block':<{NAME_WIDTH}}  why", "heading"
    for name, tokens, why, reused in _rows(report):
        line = f"{'+' if reused else ' '} {tokens:>7,}  {_fitted(name):<{NAME_WIDTH}}  {why}"
        yield _cut(line), "good" if reused else ""
    yield "", ""
    if report.dropped:
        yield "left out", "heading"
        yield from ((f"  {one_line(line)}", "caught") for line in report.dropped)
    else:
        yield "nothing was left out", "quiet"
    yield from ((f"reads like an instruction: {brief(flag, 300)}", "caught") for flag in report.flagged)
    yield reuse_line(report), "good" if report.reusable else "quiet"


def reuse_line(report: ContextReport) -> str:
    """What a provider's cache can reuse, in a sentence."""
    percent = report.reusable * 100 // max(1, report.tokens)
    if not report.task:
        return f"the next step of the stage can reuse {report.reusable:,} tokens of it ({percent} %)"
    if not report.like:
        return "no earlier step begins like this one, so a cache has nothing to reuse"
    return f"a cache can reuse {report.reusable:,} tokens ({percent} %), which step {report.like} began with"


def _rows(report: ContextReport) -> Iterator[tuple[str, int, str, bool]]:
    """One row for all tools, then one per block."""
    tools = [block for block in report.blocks if block.name.startswith(f"{TOOLS}: ")]
    if tools:
        names = ", ".join(block.name.removeprefix(f"{TOOLS}: ") for block in tools)
        total, reused = sum(block.tokens for block in tools), all(block.reused for block in tools)
        yield f"{len(tools)} tools", total, f"what the role may do here: {names}", reused
    for block in report.blocks:
        if block not in tools:
            less = "" if block.shown == "full" else f"{block.shown} only; "
            why = f"{less}{block.why} (from: {block.source}; {block.priority})"
            yield block.name, block.tokens, why, block.reused


def context_texts(report: ContextReport) -> str:
    """Every block with its text, as it is sent."""
    return "\n".join(
        f"\n===== {block.name} ({block.tokens:,} tokens)\n{block.text}" for block in report.blocks
    )


def _fitted(name: str) -> str:
    line = one_line(name)
    if len(line) <= NAME_WIDTH:
        return line
    half = (NAME_WIDTH - 1) // 2
    return f"{line[:half]}…{line[half + 1 - NAME_WIDTH :]}"


def _cut(line: str) -> str:
    """On a terminal a row is one line."""
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    return f"{line[: edge - 1]}…" if edge and len(line) > edge else line
