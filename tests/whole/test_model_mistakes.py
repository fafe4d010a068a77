"""Whatever a model does wrong is a normal outcome: fed back in words it can use, counted, and bounded."""

from collections.abc import Iterator, Sequence

import pytest

from tests.whole.plays import (
    FRAMED,
    HIDDEN_TEST,
    NEW_TEST,
    OLD_TEST,
    RIGHT,
    SOURCE,
    TEST,
    Entry,
    Expected,
    Play,
    ask,
    asked,
    create,
    edit,
    finished,
    frame,
    green,
    patch,
    raw,
    read,
    red,
    review,
    say,
)

Mistake = tuple[Entry, str]
"""What the model says, and a pattern of what it is told at its next step."""

SPECIFICATION = FRAMED["specification"]
VAGUE = [{"id": f"REQ-00{number}", "description": "it is better"} for number in (1, 2)]
KEY = "AKIA" + "Q7" * 8
CUT = (
    '{"actions": [{"name": "read_file", "args": {"path": "pyproject.toml"}}, {"name": "read_file", '
    '"args": {"pa'
)

IN_THE_REPLY: tuple[Mistake, ...] = (
    (raw("frame", "Let us talk about it first."), "The reply cannot be used: it holds no JSON object"),
    (raw("frame", '{"actions": [}'), r"it is not valid JSON: expecting value \(line 1 column 14\)"),
    (raw("frame", CUT, stop="length"), "cut off at the length limit"),
    ({"stage": "frame", "reply": {"mood": "great"}}, "Left out of your reply, which has no such key: mood"),
    (say("frame", signal="great"), "unknown signal 'great'; one of success"),
    (say("frame", thought="I wonder."), "The reply held no action"),
    (say("frame", *[read(f"{n}.py") for n in range(33)]), "33 actions in one reply; at most 32"),
    (say("frame", signal="success"), "Not handed in yet: specification"),
)
IN_AN_ACTION: tuple[Mistake, ...] = (
    (
        say("frame", {"name": "run_shell", "args": {"command": "ls"}}),
        "there is no tool 'run_shell'; allowed: list_files",
    ),
    (say("frame", create("notes.md", "x")), "create_file is not for software_architect"),
    (say("frame", {"name": "read_file", "args": {"files": SOURCE}}), "read_file cannot be called like this"),
    (say("frame", read("../../etc/passwd")), "read_file ../../etc/passwd: .*outside"),
    (say("frame", read(OLD_TEST), thought="Again."), "the same action on the same tree was done before"),
    (
        say("frame", artifacts={"specification": {**SPECIFICATION, "requirements": VAGUE}}),
        # Each fault once, then the document itself, and what is still owed.
        (
            r"(?s)is refused:\nrequirements\[\*\]\.acceptance_criteria: is missing[^\n]* \(REQ-001, REQ-002\)\n\n"
            r"As it was handed in:\n.*id: REQ-002.*## Owed\nHand in `submit_specification`"
        ),
    ),
    (say("frame", artifacts={"implementation": {}}), "this stage owes intake_record.* not implementation"),
    (
        say("frame", {"name": "search_codebase", "args": {"pattern": KEY}}),
        "held what looks like a secret, so none of it was used",
    ),
)


def played(mistakes: Sequence[Mistake]) -> Iterator[Entry]:
    """The mistakes in a row, each answered at the next step; good steps between, so that no row is long
    enough to end the attempt.
    """
    expected: tuple[str, ...] = ()
    yield say("frame", read(OLD_TEST))
    for at, (entry, told) in enumerate(mistakes):
        yield {**entry, "expects": [*expected]} if expected else entry
        expected = (told,)
        if at == 3:
            yield say("frame", read(HIDDEN_TEST), expects=expected)
            expected = ()
    yield ask("frame", expects=expected)


@pytest.mark.parametrize(
    "mistakes",
    [IN_THE_REPLY[:5], IN_THE_REPLY[5:] + IN_AN_ACTION[:2], IN_AN_ACTION[2:]],
    ids=["replies", "both", "actions"],
)
def test_each_mistake_is_fed_back_at_the_next_step(play: Play, mistakes: Sequence[Mistake]) -> None:
    done = play.start(*played(mistakes))
    asked(done)
    assert done.data["cost"]["calls"] == len(list(played(mistakes)))
    pack = b"".join(path.read_bytes() for path in play.top.rglob(".agentforge/tasks/*/*") if path.is_file())
    assert KEY.encode() not in pack


@pytest.mark.slow
def test_six_mistakes_end_an_attempt_and_two_attempts_end_in_a_question_with_both_reports(play: Play) -> None:
    left = say("red", create("tests/test_left_behind.py", "x = 1\n"))
    first = [raw("red", f"no {n}") for n in range(6)]
    fresh = say(
        "red",
        create("tests/test_left_behind.py", "x = 2\n"),
        expects=("An earlier attempt failed: 6 mistakes in a row. Take another way.", {"not": "x = 1"}),
    )
    second = [say("red", {"name": f"tool_{n}", "args": {}}) for n in range(6)]
    told = ("A person answered: Put it into test_net", {"not": "test_left_behind"})
    done = play.start(
        frame(), left, *first, fresh, *second, say("red", create(NEW_TEST, TEST), expects=told), ask("red")
    )
    assert done.code == 3, done.said
    escalation = done.data["escalation"]
    assert escalation["kind"] == "exhausted"
    assert [(report["attempt"], report["reason"]) for report in escalation["reports"]] == [
        (1, "6 mistakes in a row"),
        (2, "6 mistakes in a row"),
    ]
    assert "it holds no JSON object" in str(escalation["reports"][0]["last"])
    assert "there is no tool 'tool_5'" in str(escalation["reports"][1]["last"])
    shown = play.person.run("escalations", "show", escalation["id"])
    assert "attempt 1 of red" in shown.out
    assert "attempt 2 of red" in shown.out
    asked(play.answer(done, "Put it into test_net"))
    names = {path.name for path in (play.person.worktree(done.data["task_id"]) / "tests").iterdir()}
    assert ("test_net.py" in names, "test_left_behind.py" in names) == (True, False)


@pytest.mark.slow
def test_a_question_of_the_model_waits_for_a_person_and_the_answer_goes_on_to_the_end_without_secrets(
    play: Play,
) -> None:
    options = {"question": "Round up or down?", "options": ["up", "down"], "recommendation": "down"}
    play.person.scripted(
        say(
            "patch",
            {"name": "escalate", "args": options},
            expects=(r"net of db_password=\[REDACTED:password\]",),
        ),
        patch(
            expects=(
                "Round up or down",
                r"A person answered: down, and password: \[REDACTED:password\] is right",
            )
        ),
        review(),
    )
    words = ("--lane", "hotfix", "--model", f"scripted:{play.person.script}", "--json")
    done = play.person.run("start", "net of db_password=hunter2 must take the discount off the price", *words)
    assert asked(done) == "Round up or down?"
    assert done.data["next"][0].endswith("--answer down")
    assert "Round up or down?" in play.person.run("escalations", "list").out
    waiting = play.person.run("continue", done.data["task_id"])
    assert waiting.code == 3, waiting.said
    finished(play.answer(done, "down, and password: hunter2 is right"))
    records = [path for path in (play.top / ".agentforge").rglob("*") if path.is_file()]
    assert not [path for path in records if "hunter2" in path.name or b"hunter2" in path.read_bytes()]
    assert "hunter2" not in play.person.git("for-each-ref")
    again = play.answer(done, "up")
    assert (again.code, "already answered" in again.err) == (2, True), again.said


@pytest.mark.slow
def test_a_block_by_the_reviewer_goes_back_and_its_finding_is_shown(play: Play) -> None:
    finding = {
        "id": "REV-001",
        "severity": "major",
        "blocking": True,
        "path": SOURCE,
        "description": "No word on rounding.",
        "remediation": "Say it.",
    }
    blocked = say(
        "review",
        artifacts={"review": {"verdict": "block", "findings": [finding], "summary": "unclear"}},
        signal="success",
    )
    word = {
        "name": "edit_file",
        "args": {
            "path": SOURCE,
            "old": "The price without the discount.",
            "new": "The price without the discount, rounded up.",
        },
    }
    again = green(word, expects=("The reviewer blocks:", "REV-001: No word on rounding. Remedy: Say it."))
    done = play.start(frame(), red(), green(), blocked, again, ask("review", expects=("rounded up",)))
    asked(done)
    tree = play.person.worktree(done.data["task_id"])
    assert "rounded up" in (tree / SOURCE).read_text()
    assert (tree / NEW_TEST).read_text() == TEST


def test_documents_that_were_taken_in_are_kept_when_checks_fail_and_the_keys_that_change_are_enough(
    play: Play,
) -> None:
    wrong = edit(SOURCE, "return price\n", "return price - discount\n")
    mended = edit(SOURCE, "return price - discount\n", f"{RIGHT}\n")
    kept = (
        r"## Owed\nHanded in, and kept unless you change it: `submit_specification`, `submit_test_suite`, "
        r"`submit_implementation`\.\nNothing is missing\."
    )
    narrower = {"specification": {"title": "net takes a percentage off"}}
    done = play.start(
        patch(create(NEW_TEST, TEST), wrong),
        say("patch", mended, artifacts=narrower, expects=(kept,)),
        review(),
        lane="hotfix",
    )
    finished(done)
    task = play.top / ".agentforge/tasks" / done.data["task_id"]
    final = next(task.glob("artifacts/phases/*/specification_final.yaml"))
    assert "net takes a percentage off" in final.read_text()


def test_an_exhausted_script_is_a_clear_failure(play: Play) -> None:
    done = play.start(frame(), frame())
    assert done.code == 1, done.said
    assert "is out of replies: it has none for stage red" in done.data["failure"]


@pytest.mark.parametrize(
    ("expects", "told"),
    [
        ("a unicorn", "the pattern 'a unicorn' is not in the context"),
        ({"not": "net must"}, "the pattern 'net must' is in the context, and must not be"),
    ],
)
def test_an_unmet_expectation_fails_the_run_and_is_named(play: Play, expects: Expected, told: str) -> None:
    done = play.start(frame(expects=(expects,)))
    assert done.code == 1, done.said
    assert "Reply 1 of" in done.data["failure"]
    assert told in done.data["failure"]


def test_a_document_that_a_gate_sent_back_keeps_the_keys_that_are_not_handed_in_again(play: Play) -> None:
    holds, fails = "net(100, 0) == 100", "net(100, 10) == 90"
    again = say("red", edit(NEW_TEST, holds, fails), artifacts={"test_suite": {"supersedes": []}})
    done = play.start(frame(), red(TEST.replace(fails, holds)), again, ask("green"))
    asked(done)


def test_what_a_role_opened_is_open_for_whoever_makes_the_tests(play: Play) -> None:
    opened = (r"pyproject\.toml \(lines",)
    asked(play.start(say("frame", read("pyproject.toml")), frame(), ask("red", expects=opened)))
