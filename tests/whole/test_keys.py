"""A key of no known form, kept by `auth login`: it reaches the provider, and no file of the task, whatever
the server echoes.
"""

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from agentforge.core.reply import Json
from agentforge.testing import Fault, OpenAIServer, Scripted
from tests.whole.checkouts import COMMAND
from tests.whole.plays import SOURCE, Play, ask, asked, read, say

KEY = "weird/key~of~9/parts%and\"more'"
"""By its looks nothing tells that this is a secret; JSON and addresses spell it in their own ways."""


def test_a_key_without_any_form_is_never_written_down(play: Play) -> None:
    login = subprocess.run(
        [COMMAND, "auth", "login", "openai", "--from-stdin", "--file"],
        input=KEY,
        cwd=play.top,
        env=play.person.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert login.returncode == 0, login.stderr
    reading: dict[str, Any] = {
        **say("frame", read(SOURCE))["reply"],
        "thought": f"I was called with {KEY}",
        "notes": f"key: {KEY}",
    }
    asking: Mapping[str, Json] = ask("frame")["reply"]
    script: list[Scripted] = [
        Fault(status=500, message=f"no such key: {KEY}"),
        reading,
        {"actions": [{"name": "read_file", "args": {"path": KEY}}]},
        asking,
    ]
    with OpenAIServer(script) as server:
        play.person.variables |= {"OPENAI_BASE_URL": server.base_url}
        done = play.with_model("openai:any")
    asked(done)
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    spellings = [KEY, json.dumps(KEY)[1:-1], json.dumps(json.dumps(KEY))[1:-1]]
    task = done.data["task_id"]
    # The pack is compressed: what it holds is seen through the command.
    packed = [
        play.person.run("inspect", task, "--step", str(step), "--show", what).said
        for step in (1, 2, 3)
        for what in ("context", "reply")
    ]
    told = "".join((done.said, play.person.run("status", task).said, *packed))
    files = {path: path.read_bytes() for path in play.top.rglob("*") if path.is_file()}
    for spelling in spellings:
        assert spelling not in told
        assert [path for path, data in files.items() if spelling.encode() in data] == []
    assert "I was called with [REDACTED:key]" in told
