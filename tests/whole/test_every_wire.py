"""One request through every wire: the same words by another way end in the same tree."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentforge import wiring
from agentforge.activities.perform import perform
from agentforge.core.events import AskAnswered
from agentforge.core.reply import Json
from agentforge.engines.local import Ports, drive
from agentforge.models.open import open_spec
from agentforge.models.providers import Means, known
from agentforge.models.router import Router
from agentforge.store.journal import read_lines
from agentforge.store.site import Site
from agentforge.system import processes
from agentforge.testing import SERVERS, Fault, Scripted
from tests.whole.checkouts import FIX, PROJECT, make_repository, patch, review

KEY = "a-key-of-no-known-form"
WIRES: list[tuple[str, Means]] = [
    ("anthropic", "calls"),
    ("openai", "calls"),
    ("openai-responses", "schema"),
    ("mistral", "calls"),
    ("google", "calls"),
    ("ollama", "text"),
]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.yaml"
    path.write_text(json.dumps({"replies": [patch(*FIX), review()]}))
    return path


@pytest.mark.slow
def test_one_request_through_every_wire_ends_in_the_same_tree(tmp_path: Path, script: Path, agentforge_home: Path) -> None:
    replies: list[Any] = [patch(*FIX)["reply"], review()["reply"]]
    trees: dict[str, str] = {}
    for name, means in WIRES:
        checkout = make_repository(tmp_path / name, PROJECT)
        turns = iter([Fault(status=429, headers={"retry-after": "0"}), *replies] if name == "anthropic" else replies)

        def answer(_: Mapping[str, Json], turns: Any = turns) -> Scripted:  # noqa: ANN401 - the turns of this wire
            said: Scripted = next(turns)
            return said

        wire = known({})[name].wire
        with SERVERS[wire](answer, key=KEY) as server:
            providers = known({}, {name: {"base_url": server.base_url, "reply": means}})
            trees[name] = run(checkout, script, open_spec(f"{name}:any", providers, lambda _: KEY, local_only=True))
        assert len(server.requests) == (3 if name == "anthropic" else 2), name
        assert all("double must double" in seen.user for seen in server.requests), name
        written = [path for path in checkout.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
        assert written == [], name
    assert len(set(trees.values())) == 1, trees


def run(checkout: Path, script: Path, model: Any) -> str:  # noqa: ANN401 - a model
    """What `start` and its driver do, with this model in the place of the scripted one."""
    site = Site.open(checkout)
    files = wiring.start(site, wiring.StartOptions("double must double", lane="hotfix", model=f"scripted:{script}"))
    with wiring.driving(site, files) as driver:
        world = replace(driver.world(), models=Router.single(model))
        state = drive(driver.journal, Ports(partial(perform, world), lambda: (), lambda *_: None, processes.kill_all))
    assert state.status == "completed", (model.name, state.failure, state.open_escalation)
    answered = [event for line in read_lines(files.journal) for event in line.events if isinstance(event, AskAnswered)]
    assert len(answered) == 2
    assert all(event.usage.input_tokens > event.usage.cached_tokens > 0 for event in answered)
    return state.tree
