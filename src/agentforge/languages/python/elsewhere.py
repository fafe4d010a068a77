"""Makes the calls that tests made of changed functions where no test is: with the code as it is, and as it
was.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.languages.outcomes import (
    CalledElsewhere,
    NearCall,
    NearValues,
    RunElsewhere,
    SeenCall,
    TestRun,
)
from agentforge.languages.python.direct import run_script
from agentforge.languages.python.neighbours import neighbours
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Sandbox

SCRIPTS = ("plain_calls.py", "plain_values.py", "plain_loading.py")
Changing = Mapping[str, tuple[str, ...]]
TIMES = 60
"""How often a call is made; who counts to a round number is met."""
SECONDS = 2.0
MOST_NEAR = 10
"""Calls that are also made with values near theirs."""
AT_LEAST_S, TIMES_THE_RUN, AT_MOST_S = 8, 8, 120
"""How long all of it may take, beside what the calls are repeated for: the changed files are loaded seven
times, and the tests that made the calls took no longer than their run, so that what hangs without them, or
hung in the base, is not waited for.
"""


def call_functions(  # noqa: PLR0913 - the facts of one run
    sandbox: Sandbox,
    env: Environment,
    tree: Path,
    calls: Sequence[SeenCall],
    old: Mapping[str, str | None],
    *,
    like: TestRun,
    scratch: Path,
) -> RunElsewhere | None:
    """What each of these calls gives, of a checkout and of the same with `old` texts by path (None: no such
    file), and what loading them changes. None where it is not known how they are imported; nothing where the
    process ended before they did.
    """
    tree = tree.resolve()
    modules = {file: name for name, file in sorted(like.modules.items(), reverse=True)}
    named = {call.file: modules.get(str(tree / call.file), "") for call in calls}
    if not all(named.values()):
        return None
    rows: list[dict[str, Any]] = [
        {
            "module": named[call.file],
            "name": call.name,
            "code": call.code or call.name.rpartition(".")[2],
            "given": call.given,
        }
        for call in calls
    ]
    texts: dict[str, tuple[str | None, str]] = {
        modules[str(tree / path)]: (text, str(tree / path))
        for path, text in old.items()
        if str(tree / path) in modules
    }
    once = dict([(f"{call.file}::{call.name}", place) for place, call in enumerate(calls)][::-1])
    near = [neighbours(call.given or "") if place < MOST_NEAR else [] for place, call in enumerate(calls)]
    settings = {
        "calls": rows,
        "near": [
            {**row, "given": each.given} for row, values in zip(rows, near, strict=True) for each in values
        ],
        "old": texts,
        "once": [*once.values()],
        "modules": [name for name, (text, _) in texts.items()],
        "tree": str(tree),
        "times": TIMES,
        "seconds": SECONDS,
    }
    _, told = run_script(
        SCRIPTS,
        settings,
        sandbox,
        env,
        tree,
        like=like,
        scratch=scratch,
        timeout_s=min(2 * SECONDS + AT_LEAST_S + TIMES_THE_RUN * like.duration_ms / 1000, AT_MOST_S),
        inside=False,
    )
    now, before = (told or {}).get("now", []), (told or {}).get("before", [])
    if len(now) != len(calls) or len(before) != len(calls):
        return RunElsewhere()
    both = list(zip((told or {})["near_now"], (told or {})["near_before"], strict=False))
    made = tuple(
        CalledElsewhere(call, tuple(seen), then[0], _near(values, both))
        for call, seen, then, values in zip(calls, now, before, near, strict=True)
    )
    files = [str(Path(place).relative_to(tree)) for _, place in texts.values()]
    return RunElsewhere(made, *_changing([*files, ""], [*once], (told or {})["loading"]))


def _changing(
    files: Sequence[str], functions: Sequence[str], told: Mapping[str, Any]
) -> tuple[Changing | None, Changing]:
    """What loading each file changes that it did not change before, and under no name what is not as written;
    and what calling each function changes.
    """
    now, before = told.get("now", []), told.get("before", [])
    count = len(files)
    if len(now) < count or len(before) < count:
        return None, {}
    loading, calling = (
        {
            name: tuple(what for what in row if what not in {each for old in earlier for each in old})
            for name, row in zip(names, rows, strict=False)
        }
        for names, rows, earlier in (
            (files, now[:count], before[:count]),
            (functions, now[count:], before[count:]),
        )
    )
    return loading, calling


def _near(values: Sequence[NearValues], both: list[tuple[str, str]]) -> tuple[NearCall, ...]:
    """What these gave; `both` has what all gave that are not taken yet, as far as they got."""
    mine, both[:] = both[: len(values)], both[len(values) :]
    return tuple(
        NearCall(each, now, before)
        for each, (now, before) in zip(values, mine, strict=False)
        if "MemoryError" not in now + before and not (now + before).count("cannot be called")
    )
