"""A person in the loop, through the installed command: versions, feedback, approval, extension, and what is
refused on the way.
"""

import json
import subprocess

import pytest

from tests import forked
from tests.rows import every
from tests.surfaces.shapes import conform
from tests.whole.checkouts import COMMAND, Done
from tests.whole.full_plays import SECURITY, analyze, approves, entered, intake, spec, waits
from tests.whole.plays import FRAMED, NEW_TEST, SOURCE, Entry, Play, finished, green, patch, red, review
from tests.whole.walks import CALLS, FIRST, SECOND, WANTED, check_walk, script, told

pytestmark = pytest.mark.slow

REQUEST = "Take the discount off in net"


def design(play: Play, *words: str) -> Done:
    return play.person.run(
        "design", REQUEST, "--model", f"scripted:{play.person.script}", "--json", *(words or ("--iterate",))
    )


def test_a_design_is_revised_approved_and_built_by_commands_alone_and_nothing_is_paid_twice(
    play: Play,
) -> None:
    play.person.scripted(*script())
    shown = design(play)
    asked = waits(shown, "iteration")
    task = shown.data["task_id"]
    assert asked["question"]["options"] == ["approve", "revise", "reject", "exit", "extend"]
    assert [line.split()[1] for line in shown.data["next"]] == [
        "artifacts", "approve", "feedback", "reject", "approve", "continue", "abort"
    ]  # fmt: skip
    assert FIRST in play.follow(shown, "artifacts").out
    again = play.follow(shown, "feedback", WANTED)
    conform("feedback", again.out)
    assert waits(again, "iteration")["question"]["text"].startswith("specification v2 is ready")
    assert "+Title: " + SECOND in play.person.run("escalations", "show", "ESC-002", "--task", task).out
    done = finished(designed := play.follow(again, "approve"))
    assert (done["branch"], done["cost"]["calls"]) == (None, 6)
    assert [each["exit_type"] for each in told(play, "pipeline_exit")] == ["default_exit"]
    assert [play.follow(designed, word).code for word in ("cat", "inspect")] == [0, 0]
    built = finished(play.follow(designed, "continue"))
    assert (built["cost"]["calls"], built["branch"]) == (CALLS, f"agentforge/{task}")
    check_walk(play)
    assert play.person.run("verify", task).code == 0
    listed = play.person.run("artifacts", "list", task).out
    assert "specification v1" in listed
    assert "superseded" in listed


def presented(play: Play, *more: Entry, words: tuple[str, ...] = ("--iterate",)) -> str:
    """A design whose first version waits for a decision; `more` is what the model says then."""
    play.person.scripted(intake(), analyze(), spec(FIRST), approves("spec", SECURITY), *more)
    shown = design(play, *words)
    assert waits(shown, "iteration")
    return str(shown.data["task_id"])


def refused(done: Done) -> str:
    assert done.code == 2, done.said
    assert len(done.err.strip().splitlines()) <= 2, done.err
    return done.err


def test_a_person_leaves_with_the_version_and_whoever_comes_later_is_told(play: Play) -> None:
    task = presented(play)
    conform("approve", play.person.run("approve", task, "--exit", "--no-drive", "--json").out)
    assert "was already answered" in refused(
        play.person.run("resolve", "ESC-001", "--task", task, "--answer", "revise: more")
    )
    done = finished(play.person.run("continue", task, "--json"))
    assert done["next"][1] == f"agentforge continue {task} --extend-to deliver"
    assert [each["exit_type"] for each in told(play, "pipeline_exit")] == ["user_exit"]
    late = refused(play.person.run("feedback", task, "Too late"))
    assert f"agentforge continue {task} --revise" in late
    assert "--extend-to deliver" in late
    assert "is completed" in refused(play.person.run("approve", task))
    illegal = refused(play.person.run("continue", task, "--extend-to", "clarify"))
    assert "is already a stage of" in illegal
    assert "red, green, refactor, deliver" in illegal
    unknown = refused(play.person.run("continue", task, "--extend-to", "moon"))
    assert "It can be extended to red, green, refactor, deliver" in unknown
    # Whoever only repeats the command is shown the result again.
    assert finished(play.person.run("continue", task, "--json"))["cost"]["calls"] == 4


def test_what_is_rejected_goes_back_one_stage_and_is_made_from_what_that_hands_over(play: Play) -> None:
    reason = "net is the wrong place for it"
    again = (analyze(expects=(reason,)), spec(SECOND, expects=(reason,)), approves("spec", SECURITY))
    task = presented(play, *again)
    conform("reject", play.person.run("reject", task, reason, "--no-drive", "--json").out)
    shown = play.person.run("continue", task, "--json")
    assert "iteration 2 of 5" in waits(shown, "iteration")["question"]["text"]
    assert entered(play.top)[-5:] == [
        "spec",
        "spec/security_architect",
        "analyze",
        "spec",
        "spec/security_architect",
    ]
    assert reason in play.file("iteration_history/spec/v1_rejection.yaml")


FEEDBACK = """\
feedback:
  stage: "spec"
  iteration: 2
  previous_version: "artifacts/specification_v1.yaml"
  decision: "revise"
  overall_comments: |
    On the right track.
  specific_issues:
    - location: "requirements.REQ-001"
      issue: "Nothing is said of 100 percent"
      suggestion: "Add a criterion"
      priority: "must_address"
    - location: "constraints"
      issue: "Rounding is open"
      priority: "should_consider"
"""


def test_feedback_in_yaml_reaches_the_role_with_places_and_priorities(play: Play) -> None:
    shown = (
        "must_address:",
        "requirements.REQ-001: Nothing is said of 100 percent. Add a criterion.",
        "should_consider:",
        "constraints: Rounding is open.",
        "On the right track",
    )
    task = presented(
        play, spec(FIRST), spec(SECOND, expects=(*shown, "Nothing changed")), approves("spec", SECURITY)
    )
    place = play.top.parent / "feedback.yaml"
    place.write_text(FEEDBACK.replace("priority", "urgency"), encoding="utf-8")
    assert "urgency" in refused(play.person.run("feedback", task, "--file", str(place)))
    place.write_text(FEEDBACK.replace("_v1", "_v7"), encoding="utf-8")
    assert "specification_v7.yaml" in refused(play.person.run("feedback", task, "--file", str(place)))
    place.write_text("word " * 4000, encoding="utf-8")
    assert "room for 1,500" in refused(play.person.run("feedback", task, "--file", str(place)))
    place.write_text(FEEDBACK, encoding="utf-8")
    assert play.person.run("feedback", task, "--file", str(place), "--no-drive", "--json").code == 0
    assert waits(play.person.run("continue", task, "--json"), "iteration")
    assert "location: requirements.REQ-001" in play.file("iteration_history/spec/v1_feedback.yaml")
    state = play.file("state.yaml")
    assert "awaiting: user_decision" in state
    assert "can_extend: true" in state


def test_a_version_edited_in_the_editor_is_judged_and_presented_like_any_other(play: Play) -> None:
    task = presented(play, approves("spec", SECURITY, expects=("at most all of it",)))
    file = f".agentforge/tasks/{task}/artifacts/phases/spec/specification_v1.yaml"
    play.person.variables["EDITOR"] = "sed -i 's/the discount is off/at most all of it is off/'"
    shown = play.person.run("feedback", task, "--edit", "--json")
    assert "specification v2 is ready (iteration 2 of 5)" in waits(shown, "iteration")["question"]["text"]
    assert "the discount is off" in (play.top / file).read_text(encoding="utf-8")
    assert told(play, "artifact_edited")
    done = finished(play.person.run("approve", task, "--json"))
    assert done["cost"]["calls"] == 5
    assert "at most all of it is off" in play.file("artifacts/phases/spec/specification_final.yaml")
    assert play.person.run("verify", task).code == 0


def test_a_file_edited_by_hand_is_held_against_its_contract_and_is_the_version_that_counts(
    play: Play,
) -> None:
    task = presented(play, approves("spec", SECURITY))
    file = play.top / f".agentforge/tasks/{task}/artifacts/phases/spec/specification_v1.yaml"
    text = file.read_text(encoding="utf-8")
    for broken, said in (
        (text.replace("REQ-001", "R1"), "does not pass the contract specification"),
        ("just words", "not a mapping"),
        (text + "\n title: [", "specification_v1.yaml"),
    ):
        file.write_text(broken, encoding="utf-8")
        assert said in refused(play.person.run("approve", task))
        assert said in refused(play.person.run("continue", task))
    file.write_text(text, encoding="utf-8")
    other = file.with_name("specification_final.yaml")
    other.write_text(other.read_text(encoding="utf-8").replace("is off", "is on"), encoding="utf-8")
    assert "it was restored" in refused(play.person.run("approve", task))
    file.write_text(text.replace("the discount is off", "at most all of it is off"), encoding="utf-8")
    done = finished(play.person.run("approve", task, "--json"))
    assert done["cost"]["calls"] == 5
    assert "at most all of it is off" in play.file("artifacts/phases/spec/specification_final.yaml")
    assert "specification_v2.yaml" in play.file("iteration_history/spec/v1_approval.yaml")


def test_documents_are_listed_shown_and_exported(play: Play) -> None:
    task = presented(play)
    rows = json.loads(play.person.run("artifacts", "list", task, "--json").out)
    assert [row["state"] for row in rows if row["contract"] == "specification"] == ["pending_review"]
    assert "Acceptance criteria" in play.person.run("artifacts", "show", task, "--version", "1").out
    assert "no v3" in refused(play.person.run("artifacts", "show", task, "specification", "--version", "3"))
    finished(play.person.run("approve", task, "--json"))
    rows = json.loads(play.person.run("artifacts", "list", task, "--json").out)
    assert {row["state"] for row in rows if row["final"]} == {"final"}
    place = play.top.parent / "out.yaml"
    words = ("artifacts", "export", task, "specification", "--to", str(place))
    assert play.person.run(*words, "--json").data == {"written": [str(place)]}
    assert "exists" in refused(play.person.run(*words, "--version", "1"))
    assert "a mapping" not in refused(play.person.run("artifacts", "export", task, "--to", str(place)))
    done = json.loads(play.person.run("artifacts", "show", task, "--json").out)
    assert done["document"]["title"] == FIRST


def test_a_completed_design_is_presented_again_and_changed_and_the_old_final_stays(play: Play) -> None:
    task = presented(play, spec(SECOND, expects=(WANTED,)), approves("spec", SECURITY))
    finished(play.person.run("approve", task, "--json"))
    before = play.file("artifacts/phases/spec/specification_final.yaml")
    assert waits(play.person.run("continue", task, "--revise", "--json"), "iteration")
    assert finished(play.person.run("approve", task, "--json"))["cost"]["calls"] == 4  # nothing is paid twice
    shown = play.person.run("continue", task, "--revise", "--feedback", WANTED, "--json")
    assert waits(shown, "iteration")
    finished(play.person.run("approve", task, "--json"))
    assert f"title: {SECOND}" in play.file("artifacts/phases/spec/specification_final.yaml")
    assert play.file("artifacts/phases/spec/specification_v1_final.yaml") == before
    assert play.person.run("verify", task).code == 0


def test_two_people_decide_at_once_one_wins_and_the_other_is_told(play: Play) -> None:
    task = presented(play)
    said = (("approve", task, "--no-drive"), ("feedback", task, WANTED, "--no-drive"))
    both = [
        forked.ForkedCommand(
            [COMMAND, *words],
            cwd=play.top,
            env=play.person.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for words in said
    ]
    told_them = [process.communicate(timeout=120)[1] for process in both]
    codes = [process.returncode for process in both]
    assert sorted(codes) in ([0, 2], [0, 4]), (codes, told_them)
    late = told_them[codes.index(max(codes))]
    assert "answer" in late or "decided about the last" in late, late
    assert len(told(play, "user_decision")) == 1


def test_what_a_stage_made_is_approved_or_refused_and_a_refusal_is_not_got_round(play: Play) -> None:
    asked = play.start(patch(), review(), lane="hotfix", words=("--approve", "design"))
    assert waits(asked, "approval")["question"]["text"].startswith("Stage patch has passed its gates")
    task = asked.data["task_id"]
    assert "is approved or refused" in refused(play.person.run("feedback", task, "Do more"))
    ended = play.follow(asked, "reject", "too much at once")
    assert (ended.data["status"], ended.data["branch"]) == ("cancelled", None)
    again = play.person.run("continue", task, "--json")
    assert waits(again, "approval")
    assert finished(play.person.run("approve", task, "--json"))["branch"] == f"agentforge/{task}"


@every(
    ("words", "said"),
    [
        (("--iterate-at", "red"), "cannot be iterated at red; possible is spec"),
        (("--lane", "hotfix", "--iterate"), "cannot be iterated at any stage"),
        (("--iterate", "--no-iterate"), "--no-iterate contradicts --iterate"),
        (("--approve", "moon"), "has no stage moon to approve; it has"),
        (("--supervised", "--non-interactive"), "--non-interactive never asks"),
    ],
)
def test_what_cannot_be_watched_is_refused_before_there_is_a_task(
    play: Play, words: tuple[str, ...], said: str
) -> None:
    play.person.scripted()
    done = play.person.run("start", REQUEST, "--model", f"scripted:{play.person.script}", *words)
    assert said in refused(done)
    assert not (play.top / ".agentforge/tasks").exists()


def test_tests_that_were_delivered_keep_their_branch_when_the_change_is_made_on_them(play: Play) -> None:
    spec_file = play.top.parent / "spec.yaml"
    spec_file.write_text(json.dumps({"specification": FRAMED["specification"]}), encoding="utf-8")
    play.person.scripted(analyze(), red(), green())
    tests = finished(
        play.person.run(
            "test", "--spec", "../spec.yaml", "--model", f"scripted:{play.person.script}", "--json"
        )
    )
    task, tip = tests["task_id"], play.person.git("rev-parse", tests["branch"])
    assert f"agentforge continue {task} --extend-to deliver" in tests["next"]
    built = finished(play.person.run("continue", task, "--extend-to", "green", "--json"))
    assert (built["branch"], built["cost"]["calls"]) == (f"agentforge/{task}-2", 3)
    assert play.person.git("rev-parse", tests["branch"]) == tip
    changed = {change.path for change in play.person.changes(built["base"], built["branch"])}
    assert changed == {SOURCE, NEW_TEST}
    assert play.person.run("verify", task).code == 0
