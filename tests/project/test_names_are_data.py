"""No contract and no stage is known to the code by its name: the engine asks by part, property and gate."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from agentforge.catalog.load import OWN_CONTRACTS, Catalog
from agentforge.core.machine import Point
from agentforge.core.pipeline import GATE_NAMES, PARTS
from tests.project.texts import nodes

PACKAGE = Path(__file__).parents[2] / "src" / "agentforge"
CATALOG = Catalog.packaged()
OTHER_WORDS = {*GATE_NAMES, *PARTS, *get_args(Point), *OWN_CONTRACTS}
"""A name that is also a gate's, a part's or a point's says nothing; contracts about our own files are ours."""

NAMES = (CATALOG.names("contracts") | CATALOG.names("stages")) - OTHER_WORDS

QUOTED = re.compile(rf"""["'](?:{"|".join(sorted(NAMES))})["']""")
"""What a module must have that spells one of them: only such are parsed."""

ALLOWED = {
    "core/pipeline.py": "what contracts and stages were before they said it: tasks on record are read by it",
    "catalog/rules.py": "another name that files may call the packaged contract by",
    "gates/finals.py": "what is done to a target, in the record of a request",
    "sizing/triage.py": "what is done to a target, as requests say it",
    "activities/preview.py": "an argument of a tool",
    "tools/change/patching.py": "an argument of a tool",
    "tools/change/releasing.py": "an argument of a tool",
    "store/task/upcast.py": "a key of events of the first release",
    "store/task/views.py": "a key of a view",
    "app/record/details.py": "a field of `step_detail`",
    "surfaces/cli/pages/details.py": "a field of `step_detail`",
    "surfaces/cli/pages/escalation.py": "a word on a page",
    "surfaces/cli/commands/models.py": "an argument of a command",
}
"""Where such a word means something else, and what."""


@cache
def spelled() -> tuple[tuple[str, str], ...]:
    """Every such word in the code, with its place: all of it is read once."""
    return tuple(_spelled())


def _spelled() -> Iterator[tuple[str, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        text = path.read_text(encoding="utf-8")
        if not QUOTED.search(text):
            continue
        for node in nodes(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES:
                yield f"{name}:{node.lineno}", node.value


def test_no_contract_and_no_stage_is_spelled_in_code() -> None:
    assert [place for place in spelled() if not place[0].startswith(tuple(ALLOWED))] == []


def test_every_exception_is_still_needed() -> None:
    places = [place for place, _ in spelled()]
    assert [row for row in ALLOWED if not any(place.startswith(row) for place in places)] == []
