"""`metrics` and `defect`: figures that come from the journals alone, and what a person found later."""

import re
import subprocess
from pathlib import Path

import pytest

from agentforge.app.evidence.metrics import Group, TaskMeasure, figures
from agentforge.core.errors import StateInvalid
from agentforge.core.inputs import NoteDefect
from agentforge.surfaces.cli.main import main
from tests.core.scenes import begun
from tests.rows import every
from tests.surfaces.shapes import conform
from tests.surfaces.test_surfaces_audit import keep, said


def task(name: str, started: str = "", ended: str = "", repo: str = "a", **more: object) -> TaskMeasure:
    return TaskMeasure(repo, name, started=started, ended=ended, status="completed", **more)  # type: ignore[arg-type] # fields by name


@pytest.fixture
def repos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two repositories that this user has worked in, with recorded tasks."""
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "home"))
    kept = {"one": ("v2-full-arbiter", "v1-waiting-for-a-person"), "two": ("v1-hotfix-revised",)}
    for name, journals in kept.items():
        top = tmp_path / name
        subprocess.run(["git", "init", "--quiet", str(top)], check=True)
        for journal in journals:
            keep(top, f"task-{journal}", journal)
        monkeypatch.chdir(top)
        assert main(["status"]) == 0
    return tmp_path


def test_the_figures_are_those_of_the_journals_by_group_and_for_prometheus(
    repos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    data = conform("metrics", said(capsys, "metrics", "--by", "repo", "--json"))
    assert (data["all"]["tasks"], data["all"]["finished"]) == (3, 2)
    assert {group["name"]: group["tasks"] for group in data["groups"]} == {"one": 2, "two": 1}
    assert 0 < data["all"]["escalation_rate"] < 1
    assert data["all"]["first_pass_rate"] < 1  # the hotfix was sent back
    told = said(capsys, "metrics", "--by", "lane")
    assert "under 5%: missed" in told
    assert "hotfix" in told
    lines = said(capsys, "metrics", "--prometheus", "--by", "model").splitlines()
    assert all(
        re.fullmatch(r'# (HELP|TYPE) .+|agentforge_\w+(\{model=".*"\})? [\d.]+', line) for line in lines
    )
    assert said(capsys, "metrics", "--since", "2199-01-01") == "No tasks since 2199-01-01.\n"
    assert main(["metrics", "--prometheus", "--json"]) == 2
    assert main(["metrics", "--since", "yesterday"]) == 2


def test_what_cannot_be_read_is_not_a_complete_record(
    repos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    path = repos / "two" / ".agentforge" / "tasks" / "task-v1-hotfix-revised" / "actions.yaml"
    path.write_bytes(path.read_bytes().replace(b'"seq":2', b'"seq":3', 1))
    data = conform("metrics", said(capsys, "metrics", "--json"))
    # Of the others one is delivered, and its evidence is not there.
    assert data["all"]["audit_completeness"] == pytest.approx(1 / 3, abs=0.001)


@every(
    ("tasks", "reworked", "name", "value"),
    [
        ([], set(), "escalation_rate", None),
        ([task("x"), task("y", questions=2)], set(), "escalation_rate", 0.5),
        ([task("x", first_verdicts=4, first_passed=3)], set(), "first_pass_rate", 0.75),
        ([task("x"), task("y")], {("a", "x"), ("b", "y")}, "rework_rate", 0.5),
        ([task("x", defects=2), task("y")], set(), "defect_rate", 0.5),
        ([task("x", micro_usd=None), task("y", micro_usd=5)], set(), "micro_usd", None),
        ([task("x", human_s=600), task("y")], set(), "human_minutes_per_task", 5.0),
        ([task("x", ended="2030-01-01"), task("y", ended="2030-01-08")], set(), "tasks_per_week", 1.0),
        (
            [task("x", "2030-01-01", "2030-01-03"), task("y", "2030-01-02", "", "b")],
            set(),
            "repositories_at_once",
            2,
        ),
        (
            [task("x", "2030-01-01", "2030-01-02"), task("y", "2030-01-03", "", "b")],
            set(),
            "repositories_at_once",
            1,
        ),
    ],
)
def test_each_figure(
    tasks: list[TaskMeasure], reworked: set[tuple[str, str]], name: str, value: object
) -> None:
    assert figures(Group(tasks, reworked))[name] == value


def test_only_what_was_delivered_can_have_a_defect() -> None:
    played = begun()
    with pytest.raises(StateInvalid, match="Only a delivered task"):
        played.say(NoteDefect("x", "ada"))


def test_a_defect_is_kept_in_the_journal_and_counted(repos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    name = "task-v1-hotfix-revised"
    data = conform("defect", said(capsys, "defect", name, "--note", "rounds twice", "--json"))
    assert data["defects"] == ["rounds twice"]
    assert "has 2 on record" in said(capsys, "defect", name, "--note", "and is slow")
    assert conform("metrics", said(capsys, "metrics", "--json"))["all"]["defect_rate"] == 0.5
    report = said(capsys, "audit", name, "--output", "-")
    assert report.count("defect_noted") == 2
    assert main(["defect", name, "--note", "  "]) == 2
    assert main(["defect", name, "--note", "x" * 5000]) == 2
