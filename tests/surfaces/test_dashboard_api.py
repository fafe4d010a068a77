"""What the dashboard says is what the commands say; and what people decide there is what the commands would
have put on record.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.inputs import Create
from agentforge.core.spec import TaskSpec
from agentforge.core.values import Budget
from agentforge.store.layout import Home
from agentforge.store.site import Site, home_path
from agentforge.store.task.artifacts import write_inputs
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import utc_now
from agentforge.store.user.index import Index
from agentforge.store.user.repositories import Repository, save_repository
from agentforge.surfaces.cli.main import main
from tests.app.test_app_answers import Desk, command
from tests.core.scenes import HOTFIX
from tests.surfaces.dashboards import Visitor, dashboard
from tests.whole.checkouts import make_repository

TASK = "task-20300131-tidy-the-pantry"


def put_task(top: Path, name: str = TASK, request: str = "Tidy the pantry") -> Desk:
    """A task on record that nobody drives."""
    site = Site.open(top)
    files = site.project.task(name)
    commit = site.git.head()
    spec = TaskSpec(
        name,
        request,
        commit,
        site.git.tree_of(commit),
        "plain",
        "none",
        "",
        HOTFIX,
        Budget(),
        None,
        marker="m",
    )
    with Journal.create(files, Create(spec), utc_now) as journal:
        write_inputs(files, spec, journal.times.created_at, "local")
    return Desk(site, files)


@pytest.fixture
def top(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = make_repository(tmp_path / "pantry", {"a.txt": "a\n"})
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def visitor(top: Path) -> Iterator[Visitor]:
    with dashboard(top) as found:
        yield found.enter()


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - whatever is printed
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def timeless(value: Any) -> Any:  # noqa: ANN401 - any document
    """Without what depends on the moment of reading."""
    moving = {"elapsed_seconds", "estimated_remaining_seconds", "host_lost", "seconds"}
    if isinstance(value, dict):
        return {name: timeless(item) for name, item in value.items() if name not in moving}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def test_lists_and_tasks_have_the_values_that_status_prints(
    top: Path, visitor: Visitor, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = put_task(top)
    put_task(top, "task-20300131-another", "Another <b>one</b>\u202e")
    desk.ask(command("git", "push"))
    listed = printed(capsys, "status")
    found = visitor.get("/api/tasks")
    assert timeless(found["tasks"]) == timeless(listed)
    assert found["total"] == 2
    board = visitor.get("/api/status")
    assert [task["task_id"] for task in board["attention"]] == [TASK]
    assert [task["task_id"] for task in board["active"]] == ["task-20300131-another"]
    assert board["counts"] == {"awaiting_decision": 1, "pending": 1}
    shown = visitor.get(f"/api/tasks/{TASK}?repo={quote(str(top))}")
    told = printed(capsys, "status", TASK)
    assert timeless({name: shown[name] for name in told}) == timeless(told)
    assert visitor.get(f"/api/tasks/{TASK}/phases/patch") == printed(
        capsys, "status", TASK, "--phase", "patch"
    )
    assert visitor.get(f"/api/tasks/{TASK}/steps")["steps"] == printed(capsys, "inspect", TASK)
    assert visitor.get("/api/metrics?by=lane")["all"] == printed(capsys, "metrics", "--by", "lane")["all"]
    assert visitor.get("/api/metrics?since=2999-01-01")["all"]["tasks"] == 0
    assert visitor.ask("GET", "/api/metrics?since=2020-13-45").status == 422
    (asked,) = visitor.get(f"/api/tasks/{TASK}/escalations")["escalations"]
    (inbox,) = printed(capsys, "inbox")
    assert timeless({name: asked[name] for name in inbox}) == timeless(inbox)
    assert asked["command"] == "git push"
    assert (
        visitor.get("/api/tasks?query=ANOTHER&limit=1")["tasks"][0]["request"] == "Another <b>one</b>\u202e"
    )
    assert visitor.get("/api/tasks?state=pending&offset=1") | {"counts": 0} == {
        "tasks": [],
        "total": 1,
        "next": None,
        "counts": 0,
    }


def test_to_look_at_tasks_loads_nothing_that_drives_them() -> None:
    looks = ("diffs", "contexts", "details", "document", "steps")
    modules = [f"agentforge.app.record.{name}" for name in looks]
    modules += [f"agentforge.app.people.{name}" for name in ("inbox", "offers", "presented", "questions")]
    modules += ["agentforge.app.evidence.metrics", "agentforge.app.drivers.driver_words"]
    code = (
        f"import sys, agentforge.surfaces.dashboard.serve, {', '.join(modules)}\n"
        "print([name for name in ('agentforge.app.drivers.driver', 'agentforge.languages.table')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", "a first look would take seconds, and memory for as long as it runs"


def test_an_answer_is_on_record_once_with_when_it_was_shown_and_the_commands_see_it(
    top: Path, visitor: Visitor, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = put_task(top)
    identity = desk.ask(command("git", "push"))
    where = f"/api/tasks/{TASK}/escalations/{identity}"
    assert visitor.post(f"{where}/shown").status == 200
    assert visitor.post(f"{where}/resolve", answer="  ").status == 400
    came = visitor.post(f"{where}/resolve", answer="abort")
    assert (came.status, came.data["status"]) == (200, "cancelled")
    (record,) = printed(capsys, "inbox", "--all")
    assert (record["answer"], record["status"]) == ("abort", "answered")
    assert record["shown_at"]
    again = visitor.post(f"{where}/resolve", answer="allow")
    assert again.status == 400
    assert "was already answered by" in again.data["error"]["message"]


def test_what_makes_no_sense_now_is_refused_in_the_words_of_the_commands(top: Path, visitor: Visitor) -> None:
    put_task(top)
    rows: list[tuple[str, dict[str, Any], int, str]] = [
        ("approve", {}, 400, "no version of it waits for a decision"),
        ("exit", {}, 400, "no version of it waits for a decision"),
        ("reject", {"reason": "no"}, 400, "no version of it waits for a decision"),
        ("feedback", {"comments": "more"}, 400, "no version of it waits for a decision"),
        ("permissions", {"decision": "allow"}, 400, "waits for no decision about its permission"),
        ("budget", {"times": 3}, 400, "waits for no decision about its budget"),
        ("permissions", {"decision": "perhaps"}, 422, "decision: Input should be"),
        ("budget", {"times": 1}, 422, "times: Input should be greater"),
        ("escalations/ESC-001/resolve", {"answer": "yes"}, 400, "has no escalation ESC-001; it has none"),
    ]
    for path, said, status, words in rows:
        came = visitor.post(f"/api/tasks/{TASK}/{path}", **said)
        assert (came.status, words in came.data["error"]["message"]) == (status, True), (path, came)
    ended = visitor.post(f"/api/tasks/{TASK}/abort", reason="enough")
    assert (ended.status, ended.data["status"]) == (200, "cancelled")
    again = visitor.post(f"/api/tasks/{TASK}/abort")
    assert (again.status, "nothing to abort" in again.data["error"]["message"]) == (400, True)


def test_a_task_is_started_only_where_tasks_may_be_and_only_with_what_can_be_a_request(
    top: Path, visitor: Visitor
) -> None:
    elsewhere = make_repository(top.parent / "elsewhere", {"b.txt": "b\n"})
    assert visitor.get("/api/repositories")["repositories"] == [{"path": str(top), "name": "pantry"}]
    first = make_repository(top.parent / "a-first", {"a.txt": "a\n"})
    save_repository(Home(home_path()), Repository("first", str(first)))
    listed = [each["path"] for each in visitor.get("/api/repositories")["repositories"]]
    assert listed == [str(top), str(first)], "where the server was started comes first"
    for repo in (str(elsewhere), "/", "..", "pantry"):
        came = visitor.post("/api/tasks", request="Do it", repo=repo)
        assert (came.status, "not a repository that is known" in came.data["error"]["message"]) == (400, True)
    assert visitor.post("/api/tasks", request="", repo=str(top)).status == 422
    came = visitor.post("/api/tasks", request="Do it", repo=str(top))
    assert (came.status, came.data["error"]["message"]) == (400, "No model is configured.")
    assert visitor.get("/api/tasks")["total"] == 0


def test_a_name_that_two_repositories_use_needs_its_repository(top: Path, visitor: Visitor) -> None:
    other = make_repository(top.parent / "cellar", {"b.txt": "b\n"})
    for each in (top, other):
        put_task(each)
    with Index(Home(home_path()).task_index, lambda _: None) as index:
        assert len(index.rows(other)) == 1
    came = visitor.ask("GET", f"/api/tasks/{TASK}")
    assert (came.status, "is a task of 2 repositories" in came.data["error"]["message"]) == (400, True)
    assert visitor.get(f"/api/tasks/{TASK}?repo={quote(str(other))}")["repo_path"] == str(other)


def test_a_task_that_is_gone_or_damaged_is_a_sentence(top: Path, visitor: Visitor) -> None:
    desk = put_task(top)
    assert visitor.get(f"/api/tasks/{TASK}")["task_id"] == TASK
    journal = desk.files.journal
    journal.write_bytes(journal.read_bytes().replace(b"Tidy", b"Todo", 1))
    time.sleep(0.3)  # a list that was read this moment counts as new
    (broken,) = visitor.get("/api/tasks")["tasks"]
    assert broken["status"]["stored"] == "unreadable"
    journal.unlink()
    came = visitor.ask("GET", f"/api/tasks/{TASK}")
    assert (came.status, came.data["error"]["code"]) == (404, "usage")


def test_a_repository_that_is_gone_is_named_and_its_tasks_come_back_with_it(
    top: Path, visitor: Visitor
) -> None:
    put_task(top)
    assert visitor.get("/api/tasks")["total"] == 1
    moved = top.rename(top.with_name("moved"))
    time.sleep(0.3)  # until the list is read anew
    assert visitor.get("/api/tasks")["total"] == 0
    for came in (
        visitor.ask("GET", f"/api/tasks/{TASK}"),
        visitor.ask("GET", f"/api/tasks/{TASK}/audit"),
        visitor.post(f"/api/tasks/{TASK}/abort"),
    ):
        assert came.status == 404
        assert came.data["error"]["message"] == f"The repository of {TASK} is gone: {top}."
    moved.rename(top)
    assert visitor.get(f"/api/tasks/{TASK}")


def test_reading_changes_nothing_in_the_record(top: Path, visitor: Visitor) -> None:
    desk = put_task(top)
    desk.ask(command("git", "push"))
    before = desk.files.journal.read_bytes()
    for path in ("", "/phases/patch", "/steps", "/evidence", "/escalations"):
        assert visitor.ask("GET", f"/api/tasks/{TASK}{path}").status == 200, path
    came = visitor.ask("GET", f"/api/tasks/{TASK}/diff")
    assert (came.status, came.data["error"]["code"]) == (424, "unusable"), "its trees are not there"
    assert desk.files.journal.read_bytes() == before
    assert OpenTask.open(desk.site, desk.files).state.open_escalation is not None


@pytest.mark.slow
def test_what_a_driver_could_not_do_is_told_on_the_page_and_no_module_of_the_repository_is_run(
    top: Path, visitor: Visitor
) -> None:
    put_task(top)
    ran = top.parent / "ran"
    for name in ("agentforge.py", "json.py", "typing.py"):  # as if they were ours, or Python's
        (top / name).write_text(f"open({str(ran)!r}, 'w').close()\n", encoding="utf-8")
    assert visitor.ask("GET", f"/api/tasks/{TASK}/audit?kind=json").data["task_id"] == TASK
    assert visitor.get(f"/api/tasks/{TASK}")["driver_said"] is None
    assert visitor.post(f"/api/tasks/{TASK}/continue").status == 200
    deadline = time.monotonic() + 120
    while not (found := visitor.get(f"/api/tasks/{TASK}"))["driver_said"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert found["stopped"]
    assert "is not a model" in found["driver_said"]
    assert not ran.exists()


def test_another_task_of_the_same_name_is_read_as_itself(top: Path, visitor: Visitor) -> None:
    first = put_task(top)
    first.ask(command("git", "push"))
    assert visitor.get(f"/api/tasks/{TASK}")["steps"]["total"] == 1
    shutil.rmtree(first.files.root)
    put_task(top, request="Something else")
    time.sleep(0.3)
    assert visitor.get(f"/api/tasks/{TASK}")["request"] == "Something else"
    assert visitor.get(f"/api/tasks/{TASK}/steps")["total"] == 0


def test_marks_are_numbers_that_a_script_of_a_page_can_hold(top: Path, visitor: Visitor) -> None:
    put_task(top)
    assert 0 < visitor.get("/api/status")["mark"] < 2**53
