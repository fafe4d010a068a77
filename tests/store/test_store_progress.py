"""How far a task has come: the same whether its journal is read at once or line by line, with the field names
of the dashboard, and cheap however many tasks there are.
"""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentforge.app.record.listed import list_all_tasks, task_summary
from agentforge.core.inputs import Create
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.task.journal import Journal
from agentforge.store.task.summary import changed_files, summary_of, timed
from agentforge.store.user.index import Index

Clock = Callable[[], datetime]
Drive = Callable[[Journal, int | None], Journal]


def summary(journal: Journal) -> dict[str, Any]:
    files = changed_files(None, journal.state)
    return timed(
        summary_of(journal.state, journal.times, journal.progress, files), datetime(2026, 1, 2, 4, tzinfo=UTC)
    )


def test_a_reader_who_follows_and_one_who_comes_later_see_the_same(
    journal: Journal, drive: Drive, files: TaskFiles, clock: Clock
) -> None:
    follower = Journal.open(files, clock, write=False)
    journal.listeners.append(lambda *_: follower.catch_up())
    drive(journal, None)
    late = Journal.open(files, clock, write=False)
    assert follower.progress == late.progress == journal.progress
    assert summary(follower) == summary(late)


def test_a_summary_has_every_field_of_the_dashboard(journal: Journal, drive: Drive) -> None:
    blocked: list[dict[str, Any]] = []
    journal.listeners.append(
        lambda *_: blocked.append(summary(journal)) if journal.state.status == "blocked" else None
    )
    drive(journal, None)
    found = blocked[0]
    assert found["status"]["state"] == "escalated"
    assert found["waiting"]["question"] == "Keep the old flag as an alias?"
    assert found["current_stage"] == {
        "name": "frame",
        "status": "escalated",
        "iteration": 1,
        "awaiting": "user_decision",
    }
    assert found["available_actions"] == ["resolve", "abort"]
    # The fields of 11.2 and 13.13, each with its sub-fields.
    wanted = {
        "status": {"state", "phase", "phase_progress", "overall_progress"},
        "timing": {"started_at", "last_activity", "elapsed_seconds", "estimated_remaining_seconds"},
        "steps": {"total", "by_phase"},
        "health": {
            "tests_passing",
            "tests_total",
            "conformance_passing",
            "conformance_total",
            "escalations_pending",
            "errors_recent",
        },
        "cost": {"tokens_used", "estimated_cost_usd"},
        "files": {"created", "modified"},
        "current_action": {"step", "action", "target", "started_at"},
        "pipeline": {"template", "entry_stage", "exit_stage", "progress"},
        "current_stage": {"name", "status", "iteration", "awaiting"},
    }
    assert {
        "task_id",
        "request",
        "goal",
        "goal_type",
        "iteration_summary",
        "available_actions",
    } <= found.keys()
    assert {key: fields - found[key].keys() for key, fields in wanted.items()} == {
        key: set() for key in wanted
    }
    assert found["health"]["escalations_pending"] == 1
    assert found["health"]["errors_recent"] == 1  # the provider was in trouble once


def test_what_was_not_measured_is_null_and_a_finished_task_is_whole(journal: Journal, drive: Drive) -> None:
    found = summary(drive(journal, None))
    assert (found["status"]["state"], found["status"]["overall_progress"]) == ("completed", 1.0)
    assert found["health"]["conformance_total"] is None
    assert found["current_action"] is None
    assert found["steps"]["by_phase"]["green"] >= 2
    assert found["timing"]["estimated_remaining_seconds"] is None


def test_the_closing_line_of_a_step_has_the_sub_fields_of_the_seed(
    journal: Journal, drive: Drive, files: TaskFiles
) -> None:
    drive(journal, None)
    lines = [
        json.loads(line[2:]) for line in files.journal.read_bytes().splitlines() if line.startswith(b"- ")
    ]
    entry = next(line for line in lines if line.get("step") and "edit_file" in line["action"]["type"])
    assert entry["action"] | {"input_hash": ""} == {
        "type": "edit_file",
        "tool": "edit_file",
        "target": "src/größe.py",
        "params": {"actions": [{"tool": "edit_file", "target": "src/größe.py", "success": True}]},
        "input_hash": "",
        "revision_for": [],
    }
    assert {"status", "success", "changes", "output_artifact", "output_hash"} <= entry["result"].keys()
    assert {"blocking_issues", "advisory_issues", "artifact_path"} <= entry["result"].keys()
    handed = [line for line in lines if (line.get("result") or {}).get("output_artifact")]
    assert handed[0]["result"]["output_hash"] in {"4" * 64, "5" * 64}


def test_a_long_list_over_many_repositories_replays_only_what_has_changed(
    tmp_path: Path, create: Create, clock: Clock
) -> None:
    home, tasks = Home(tmp_path / "home"), 100
    repos = [tmp_path / f"repo{number}" for number in range(20)]
    for number in range(tasks):
        task_id = f"task-20260102-{number}"
        files = ProjectFiles(repos[number % 20]).task(task_id)
        Journal.create(files, Create(replace(create.spec, task_id=task_id)), clock).close()
    with Index(home.task_index, pytest.fail) as index:
        for repo in repos:
            index.rows(repo)
    victim = ProjectFiles(repos[0]).task("task-20260102-0").journal
    about = victim.stat()
    victim.write_bytes(b"x" * about.st_size)
    os.utime(victim, ns=(about.st_atime_ns, about.st_mtime_ns))
    rows = list_all_tasks(home, pytest.fail)
    assert len(rows) == tasks
    assert {row.status for row in rows} == {"scheduled"}  # nobody has looked into the broken one
    shown = [task_summary(row, clock) for row in rows]
    assert {item["repo"] for item in shown} == {repo.name for repo in repos}
    victim.write_bytes(b"x")
    broken = [task_summary(row, clock) for row in list_all_tasks(home, pytest.fail) if not row.summary]
    assert [item["status"]["stored"] for item in broken] == ["unreadable"]
    assert "damaged" in broken[0]["problem"]
