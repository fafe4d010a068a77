"""What each provider's extra costs when its first request is about to be sent, in fresh interpreters."""

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import get_args

from agentforge.models.known.providers import BUILT_IN, Extra
from agentforge.models.provider_model import installed
from bench.timed import median_ms

ROUNDS = 5
_COUNT = "; import sys; print(len(sys.modules))"


@dataclass(frozen=True, slots=True)
class Import:
    """One thing to load."""

    name: str
    ms: float
    """On top of an interpreter that does nothing."""
    modules: int


def measure_imports() -> list[Import]:
    """Medians of rounds in which each is loaded once. What is not installed is left out."""
    wires = {
        provider.extra: provider.wire.replace("-", "_")
        for provider in BUILT_IN
        if provider.wire != "openai-responses"
    }
    code = {
        extra: f"import agentforge.models.wire.send, agentforge.models.wire.{wires[extra]}"
        for extra in get_args(Extra)
        if installed(extra)
    }
    light = {"nothing": "pass", "opening a model (no extra)": "import agentforge.models.open"}
    statements = {
        **light,
        **{f"the wire of the extra `{extra}`": statement for extra, statement in code.items()},
    }
    rounds = [[_load(statement) for statement in statements.values()] for _ in range(ROUNDS)]
    columns = list(zip(*rounds, strict=True))
    bare = median_ms([seconds for seconds, _ in columns[0]])
    return [
        Import(name, median_ms([seconds for seconds, _ in column]) - bare, column[0][1])
        for name, column in zip(statements, columns, strict=True)
        if name != "nothing"
    ]


def _load(statement: str) -> tuple[float, int]:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", statement + _COUNT], capture_output=True, check=True, text=True
    )
    return time.perf_counter() - started, int(done.stdout)
