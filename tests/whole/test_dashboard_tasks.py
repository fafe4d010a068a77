"""A task that is started on the page is driven by a process of its own: it goes on when the server is gone, and
whoever answers is heard.
"""

import json
import time
from typing import Any

from tests.surfaces.dashboards import dashboard
from tests.whole.plays import REQUEST, Play, ask


def waiting(play: Play) -> list[dict[str, Any]]:
    """The open questions, as the command prints them."""
    deadline = time.monotonic() + 120
    while not (found := json.loads(play.person.run("inbox", "--json").out)):
        assert time.monotonic() < deadline
        time.sleep(0.3)
    assert isinstance(found, list)
    return found


def test_a_task_of_the_page_outlives_the_server_and_an_answer_of_the_page_drives_it_on(play: Play) -> None:
    play.person.scripted(ask("patch", "Round down?"), ask("patch", "And then?", expects=("Always down",)))
    model = f"scripted:{play.person.script}"
    with dashboard(play.top) as visitor:
        said = {"request": REQUEST, "repo": str(play.top), "lane": "hotfix", "model": model}
        came = visitor.enter().post("/api/tasks", **said)
        assert came.status == 201, came
        task = came.data["task_id"]
    (first,) = waiting(play)
    assert (first["task_id"], first["question"]) == (task, "Round down?")
    with dashboard(play.top) as visitor:
        answered = visitor.enter().post(
            f"/api/tasks/{task}/escalations/ESC-001/resolve", answer="Always down"
        )
        assert answered.status == 200, answered
        (second,) = [each for each in waiting(play) if each["id"] != "ESC-001"] or waiting(play)
        assert second["question"] == "And then?"
        assert visitor.get(f"/api/tasks/{task}/escalations")["escalations"][0]["answer"] == "Always down"
        assert visitor.post(f"/api/tasks/{task}/abort").data["status"] == "cancelled"
