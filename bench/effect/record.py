"""Records the reader: shows the context that waits for a reply, takes the reply, and goes on.

    python -m bench.effect.record NAME              the context that waits; plays what is recorded first
    python -m bench.effect.record NAME --answer     reads a reply (YAML) from the standard input, keeps it, goes on

Whoever answers sees what is printed and nothing else: neither the library, nor its next release.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from agentforge.app.record.contexts import ContextReport, recorded_context
from agentforge.app.record.steps import steps_of
from agentforge.system import strict_yaml
from bench.effect.cases import Case, read_cases
from bench.effect.measure import hash_of, is_answered
from bench.effect.play import Stage, ended, go_on, set_stage, stage_of, start
from bench.effect.reader import Recorded, read_replies, write_replies


def main() -> None:
    """One turn of the recording."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name")
    parser.add_argument("--answer", action="store_true")
    parser.add_argument("--renew", type=int, metavar="N", help="Drop the replies from the Nth on first.")
    parser.add_argument("--lane", help="Play it in this lane, whatever the request says.")
    parser.add_argument("--tools", action="store_true", help="Show the definitions of the tools, too.")
    words = parser.parse_args()
    case = next((each for each in read_cases() if each.name == words.name), None)
    if case is None:
        raise SystemExit(f"There is no case {words.name}.")
    case = replace(case, lane=words.lane or case.lane)
    stage = stage_of(case)
    if words.answer:
        _answer(case, stage)
    else:
        kept = read_replies(case.replies)
        if words.renew:
            kept = _dropped(case, stage, kept, words.renew - 1)
        set_stage(case, stage)
        print(start(case, stage, kept).stderr[-1500:])
    show(stage, tools=words.tools)


def _dropped(case: Case, stage: Stage, kept: tuple[Recorded, ...], first: int) -> tuple[Recorded, ...]:
    """The replies before the first that is recorded again; how often those were is kept for the new ones."""
    counts = [each.renewed + 1 for each in kept[first:]]
    stage.root.mkdir(parents=True, exist_ok=True)
    _renewals(stage).write_text(json.dumps({str(first + at): count for at, count in enumerate(counts)}))
    write_replies(case.replies, kept[:first])
    return kept[:first]


def _renewals(stage: Stage) -> Path:
    return stage.root / "renewed.json"


def _answer(case: Case, stage: Stage) -> None:
    reply = strict_yaml.load(sys.stdin.read(), "the reply")
    if not isinstance(reply, dict | str):
        raise SystemExit("A reply is a mapping or a text.")
    step = steps_of(stage.task)[-1]
    if not step.context or is_answered(step):
        raise SystemExit("Nothing waits for a reply now.")
    kept = read_replies(case.replies)
    place = _renewals(stage)
    counts = json.loads(place.read_text()) if place.is_file() else {}
    renewed = int(counts.get(str(len(kept)), 0))
    new = Recorded(step.stage, step.seat, hash_of(stage.task, step), reply, renewed)
    write_replies(case.replies, (*kept, new))
    print(go_on(stage, (*kept, new)).stderr[-1500:])


def show(stage: Stage, *, tools: bool) -> None:
    """What waits for a reply, or how it ended."""
    steps = steps_of(stage.task)
    if not steps or not steps[-1].context or is_answered(steps[-1]):
        print(f"ENDED: {ended(stage)}")
        print(stage.run("status", stage.task.task_id).stdout[-3000:])
        return
    report: ContextReport = recorded_context(stage.task, None)
    print(f"WAITS: step {report.step}, {report.stage} {report.seat}, {report.tokens} tokens; left out:")
    print("\n".join(report.dropped))
    for block in report.blocks:
        if tools or not block.name.startswith("tools: "):
            print(f"\n<block {block.name}>\n{block.text}")
        else:
            print(block.name, end="; ")


if __name__ == "__main__":
    main()
