"""Views: what people read of a task."""

from collections.abc import Callable
from dataclasses import replace

from agentforge.core.inputs import Resolution
from agentforge.core.reply import Json
from agentforge.core.runs import WORKER, Run
from agentforge.core.state import State
from agentforge.core.values import STATUSES, Escalation, EscalationKind, FailureReport, Question
from agentforge.store.layout import TaskFiles
from agentforge.store.task.artifacts import write_final
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import Times
from agentforge.store.task.views import dollars, escalation_view, north_star_word, reports, write_views
from agentforge.system import strict_yaml
from tests.rows import every

Drive = Callable[[Journal, int | None], Journal]


def _write(journal: Journal) -> dict[str, Json]:
    write_views(journal.files, journal.state, journal.head, journal.length, journal.times)
    view = strict_yaml.load(journal.files.state.read_text(encoding="utf-8"), "state.yaml")
    assert isinstance(view, dict)
    return view


def _stage(view: dict[str, Json], name: str) -> dict[str, Json]:
    pipeline = view["pipeline"]
    assert isinstance(pipeline, dict)
    stages = pipeline["stages"]
    assert isinstance(stages, dict)
    stage = stages[name]
    assert isinstance(stage, dict)
    return stage


def test_the_state_of_a_running_task_says_where_it_is(journal: Journal, drive: Drive) -> None:
    drive(journal, 20)
    view = _write(journal)
    assert (view["status"], view["state"], view["outcome"]) == ("running", "in_progress", None)
    assert view["journal"] == {"length": journal.length, "head": journal.head}
    assert _stage(view, "frame")["status"] == "completed"
    assert _stage(view, "frame")["artifacts"] == ["artifacts/phases/spec/specification_final.yaml"]
    assert _stage(view, "frame")["completed_at"] == dict(journal.times.accepted)["frame"]
    assert _stage(view, "green")["status"] == "in_progress"
    assert _stage(view, "deliver") == {"status": "pending"}
    assert view["success_criteria"] == [journal.state.request]


def test_the_state_of_a_finished_task_has_the_totals(journal: Journal, drive: Drive) -> None:
    drive(journal, None)
    view = _write(journal)
    assert (view["status"], view["state"], view["outcome"]) == ("completed", "completed", "success")
    assert view["total_steps"] == journal.state.step
    assert view["total_tokens"] == journal.state.spent.tokens
    assert view["total_cost_usd"] == dollars(journal.state.spent.micro_usd)
    assert view["completed_at"] == journal.times.updated_at
    assert {"task", "pipeline", "external_inputs", "continuation"} <= set(view)
    assert all(_stage(view, name)["status"] == "completed" for name in ("frame", "green", "deliver"))


def test_success_criteria_come_from_the_specification_once_there_is_one(
    journal: Journal, drive: Drive
) -> None:
    drive(journal, None)
    requirement: dict[str, Json] = {
        "id": "REQ-001",
        "acceptance_criteria": ["--size is known", "--größe still works"],
    }
    ref = write_final(journal.files, "specification", "spec", 1, {"requirements": [requirement]})
    accepted = tuple(replace(item, finals=(ref,)) if item.finals else item for item in journal.state.accepted)
    journal.state = replace(journal.state, accepted=accepted)
    assert _write(journal)["success_criteria"] == ["--size is known", "--größe still works"]


def test_views_can_be_deleted_and_come_back_equal(journal: Journal, drive: Drive, files: TaskFiles) -> None:
    drive(journal, 25)
    _write(journal)
    before = {
        path: path.read_bytes() for path in (files.state, files.working_memory, files.escalation("ESC-001"))
    }
    for path in before:
        path.unlink()
    _write(journal)
    assert {path: path.read_bytes() for path in before} == before


def test_working_memory_holds_what_the_next_step_is_told(
    journal: Journal, drive: Drive, files: TaskFiles
) -> None:
    drive(journal, 23)
    _write(journal)
    view = strict_yaml.load(files.working_memory.read_text(encoding="utf-8"), "working_memory.yaml")
    assert isinstance(view, dict)
    assert view["notes"] == "the flag is in one place"
    assert view["working_set"] == [{"path": "src/größe.py", "symbol": "parse"}]
    assert view["recent_actions"]


def test_a_question_has_a_page_with_how_to_answer_and_then_the_answer(
    journal: Journal, drive: Drive, files: TaskFiles
) -> None:
    drive(journal, 10)
    assert journal.state.status == "blocked"
    _write(journal)
    page = strict_yaml.load(files.escalation("ESC-001").read_text(encoding="utf-8"), "page")
    assert isinstance(page, dict)
    assert (page["status"], page["question"], page["options"]) == (
        "open",
        "Keep the old flag as an alias?",
        ["yes", "no"],
    )
    assert "agentforge resolve ESC-001" in str(page["answer_with"])
    journal.advance("inbox/ESC-001", Resolution("ESC-001", "yes", "Ada"))
    _write(journal)
    page = strict_yaml.load(files.escalation("ESC-001").read_text(encoding="utf-8"), "page")
    assert isinstance(page, dict)
    assert (page["status"], page["answer"], page["answered_by"]) == ("answered", "yes", "Ada")
    assert str(page["opened_at"]) < str(page["answered_at"])


def test_the_page_of_a_question_has_plan_reports_understanding_and_branch(
    journal: Journal, drive: Drive, files: TaskFiles
) -> None:
    drive(journal, 10)
    _write(journal)
    page = strict_yaml.load(files.escalation("ESC-001").read_text(encoding="utf-8"), "page")
    assert isinstance(page, dict)
    assert page["plan"] == [
        {"stage": "frame", "progress": "under_way"},
        {"stage": "green", "progress": "left"},
        {"stage": "deliver", "progress": "left"},
    ]
    assert (page["done"], page["left"], page["reports"], page["branch"]) == (
        [],
        ["green", "deliver"],
        [],
        None,
    )
    assert page["abort_with"] == f"agentforge resolve ESC-001 --task {files.task_id} --abort"
    understanding = page["understanding"]
    assert isinstance(understanding, dict)
    assert (understanding["lane"], understanding["mode"], understanding["why"]) == (
        "small",
        "balanced",
        ["one module"],
    )
    assert understanding["baseline"] == "11 of 12 pass"
    assert understanding["specification"] is None
    assert understanding["budget"] == {
        "calls": {"used": 1, "cap": 200},
        "tokens": {"used": 6400, "cap": 4_000_000},
        "usd": {"used": "0.024000", "cap": None},
    }


def test_the_page_of_a_question_names_what_is_done_and_the_branch(
    journal: Journal, drive: Drive, files: TaskFiles
) -> None:
    drive(journal, 20)
    _write(journal)
    page = strict_yaml.load(files.escalation("ESC-001").read_text(encoding="utf-8"), "page")
    assert isinstance(page, dict)
    (done,) = page["done"] if isinstance(page["done"], list) else []
    assert isinstance(done, dict)
    assert (done["stage"], done["artifacts"]) == ("frame", ["specification"])
    assert page["branch"] == {
        "name": f"agentforge/{files.task_id}",
        "commit": journal.state.commit,
        "base": "c" * 40,
    }


def test_a_question_without_reports_shows_what_failed_at_its_stage_before(files: TaskFiles) -> None:
    failed = tuple(FailureReport("red", attempt, attempt, f"reason {attempt}") for attempt in (1, 2, 3))
    asked = Escalation("ESC-001", "question", "red", Question("?"))
    state = State(
        task_id="task-1", failures=(*failed, FailureReport("green", 1, 9, "other")), escalations=(asked,)
    )
    assert [report.reason for report in reports(state, asked)] == ["reason 2", "reason 3"]
    assert reports(state, replace(asked, reports=failed[:1])) == failed[:1]
    assert isinstance(escalation_view(files, state, asked, Times()), dict)


def test_the_state_names_mode_skipped_stages_and_reviewers_at_work(journal: Journal, drive: Drive) -> None:
    drive(journal, 20)
    skipped = tuple(replace(item, skipped="no_ambiguities") for item in journal.state.accepted)
    readers = (
        Run("worker/reviewer", "green", 1, "t", "reviewer", WORKER, point="handed_in", steps=2),
        Run("worker/security_architect", "green", 1, "t", "reviewer", WORKER),
    )
    pipeline = replace(journal.state.pipeline, mode="heavy")
    journal.state = replace(
        journal.state,
        accepted=skipped,
        runs=(*journal.state.runs, *readers),
        pipeline=pipeline,
        risen=("a review blocked 2 times",),
    )
    view = _write(journal)
    shown = view["pipeline"]
    assert isinstance(shown, dict)
    assert (shown["mode"], shown["skipped"], shown["risen"]) == (
        "heavy",
        [{"stage": "frame", "reason": "no_ambiguities"}],
        ["a review blocked 2 times"],
    )
    assert _stage(view, "frame")["skipped"] == "no_ambiguities"
    assert _stage(view, "green")["reviewers"] == {
        "reviewer": {"handed_in": True, "steps": 2},
        "security_architect": {"handed_in": False, "steps": 0},
    }


@every(("micro", "text"), [(0, "0.000000"), (1, "0.000001"), (4_260_000, "4.260000")])
def test_money_is_exact(micro: int, text: str) -> None:
    assert dollars(micro) == text


def test_every_status_has_a_word() -> None:
    words = [north_star_word(State(status=status)) for status in STATUSES]
    assert words == ["pending"] * 4 + ["in_progress"] * 2 + ["completed", "escalated", "failed", "aborted"]


@every(
    ("kind", "word"), [("question", "escalated"), ("budget", "awaiting_decision"), ("confused", "escalated")]
)
def test_a_choice_that_no_work_can_make_awaits_a_decision(kind: EscalationKind, word: str) -> None:
    state = State(status="blocked", escalations=(Escalation("ESC-001", kind, "red", Question("?")),))
    assert north_star_word(state) == word
