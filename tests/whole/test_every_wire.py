"""One request through every wire: the same words by another way end in the same tree."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import agentforge
from agentforge.core.events import AskAnswered
from agentforge.core.reply import Json
from agentforge.core.state import State
from agentforge.engines.local import drive
from agentforge.models.base import Model
from agentforge.models.known.providers import ReplyFormat, known
from agentforge.models.open import open_spec
from agentforge.models.router import Router
from agentforge.store.layout import TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.journal import read_lines
from agentforge.testing import SERVERS, Fault, Scripted
from tests.depth import SOAK
from tests.whole.checkouts import EDITED, FIX, PROJECT, QUESTION, make_repository, patch, review
from tests.whole.moments import before_the_first_call

KEY = "a-key-of-no-known-form"
WIRES: list[tuple[str, ReplyFormat]] = [
    ("anthropic", "calls"),
    ("openai", "calls"),
    ("openai-responses", "schema"),
    ("mistral", "calls"),
    ("google", "calls"),
    ("ollama", "text"),
]
LOOK: Any = patch({"name": "read_file", "args": {"path": EDITED}}, done=False)["reply"]
TO_THE_END: list[Scripted] = [LOOK, patch(*FIX)["reply"], review()["reply"]]
TO_A_QUESTION: list[Scripted] = [LOOK, patch(*FIX, QUESTION)["reply"]]
"""The same change and the same papers; what is judged after them is not the wire's."""


@pytest.mark.slow
def test_one_request_through_every_wire_ends_in_the_same_tree(tmp_path: Path, agentforge_home: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(json.dumps({"replies": [review()]}))
    options = agentforge.StartOptions("double must double", lane="hotfix", model=f"scripted:{script}")
    moment = before_the_first_call(make_repository(tmp_path / "checkout", PROJECT), options)
    trees: dict[str, str] = {}
    for name, means in WIRES:
        whole = SOAK or name == "anthropic"
        replies = TO_THE_END if whole else TO_A_QUESTION
        turns = iter(
            [Fault(status=429, headers={"retry-after": "0"}), *replies] if name == "anthropic" else replies
        )

        def answer(_: Mapping[str, Json], turns: Any = turns) -> Scripted:  # noqa: ANN401 - the turns of this wire
            said: Scripted = next(turns)
            return said

        site, files = moment.copy(tmp_path / name)
        with SERVERS[known({})[name].wire](answer, key=KEY) as server:
            providers = known({}, {name: {"base_url": server.base_url, "reply": means}})
            state = run(site, files, open_spec(f"{name}:any", providers, lambda _: KEY, local_only=True))
        assert state.status == ("completed" if whole else "blocked"), (
            name,
            state.failure,
            state.open_escalation,
        )
        assert list(turns) == [], name
        assert len(server.requests) == len(replies) + (name == "anthropic"), name
        assert all("double must double" in seen.user for seen in server.requests), name
        answered = [
            event
            for line in read_lines(files.journal)
            for event in line.events
            if isinstance(event, AskAnswered)
        ]
        assert len(answered) == len(replies), name
        assert all(
            event.reply.usage.input_tokens > event.reply.usage.cached_tokens > 0 for event in answered
        ), name
        written = [
            path for path in site.git.top.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()
        ]
        assert written == [], name
        trees[name] = state.tree
    assert len(set(trees.values())) == 1, trees


def run(site: Site, files: TaskFiles, model: Model) -> State:
    """What a driver does, with this model in the place of the scripted one."""
    with agentforge.open_driver(agentforge.OpenTask.open(site, files)) as driver:
        world = replace(driver.world(), models=Router.single(model))
        return drive(driver.journal, driver.ports(world))
