"""Answers to questions for permission: what is granted, recorded and proposed in the person's own files, and
what is never granted.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentforge.app.people.answers import Taken, answer
from agentforge.app.people.offers import offered
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.digests import ActionResults, ContextDigest, RequestDigest
from agentforge.core.effects import Act, Ask, Assemble, Prepare, TakeBaseline
from agentforge.core.errors import PolicyError, UsageError
from agentforge.core.inputs import Acted, Answered, AskStarted, Assembled, BaselineReady, Create, Prepared
from agentforge.core.pending import pending
from agentforge.core.spec import TaskSpec
from agentforge.core.values import (
    PERMISSION_OPTIONS,
    ActionDigest,
    Amount,
    Budget,
    Price,
    Question,
    ReplyDigest,
    Usage,
    WantedCall,
)
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.journal import Journal
from agentforge.store.task.times import utc_now
from agentforge.store.user.approvals import approvals_file, approved_calls
from agentforge.store.user.consents import consented
from agentforge.store.user.grants import grants_file, read_grants
from agentforge.surfaces.cli.commands.permissions import permissions
from agentforge.surfaces.cli.main import main
from agentforge.system.canon import digest_value
from agentforge.system.git.repository import Git
from agentforge.system.visible import command_line
from tests.core.scenes import BASELINE, HOTFIX
from tests.whole.checkouts import make_repository


def command(*words: str, risk: str = "medium") -> WantedCall:
    return WantedCall(digest_value(["run_command", command_line(words)]), "run_command", risk, words)


def writing(*paths: str) -> WantedCall:
    return WantedCall("d" * 64, "edit_file", "medium", paths=paths)


@dataclass(frozen=True)
class Desk:
    """A repository with one task that asks again and again."""

    site: Site
    files: TaskFiles

    @property
    def project(self) -> str:
        return str(self.site.git.top.resolve())

    def ask(self, call: WantedCall, text: str = "") -> str:
        """Plays the task to its next question."""
        shown = text or f"May maintainer use {call.tool}?\n\n  {command_line(call.command)}\n"
        with Journal.open(self.files, utc_now, write=True) as journal:
            while journal.state.status != "blocked":
                (effect, *_) = pending(journal.state)
                match effect:
                    case Prepare():
                        journal.advance(effect.key, Prepared("t0"))
                    case TakeBaseline():
                        journal.advance(effect.key, BaselineReady(BASELINE))
                    case Assemble():
                        journal.advance(effect.key, Assembled(ContextDigest("context", 10)))
                    case Ask():
                        journal.advance(
                            f"{effect.key}/sent", AskStarted(RequestDigest("hash", "scripted", Amount(1, 10)))
                        )
                        journal.advance(
                            effect.key, Answered(ReplyDigest("reply", Usage(1, 1), Amount(1, 2), 1))
                        )
                    case Act():
                        results = (ActionDigest(call.tool, ok=False, mistake="asked"),)
                        journal.advance(
                            effect.key,
                            Acted(
                                ActionResults("results", "t0", results),
                                question=Question(shown, PERMISSION_OPTIONS, call=call),
                            ),
                        )
                    case _:
                        raise AssertionError(effect)
            waiting = journal.state.open_escalation
        assert waiting is not None
        return waiting.id

    def answer(self, call: WantedCall, said: str) -> Taken:
        identity = self.ask(call)
        return answer(OpenTask.open(self.site, self.files), identity, said)

    def allowed(self) -> frozenset[str]:
        return approved_calls(approvals_file(self.site.home), self.project, self.files.task_id)


@pytest.fixture
def desk(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    top = make_repository(tmp_path / "pantry", {"a.txt": "a\n"})
    monkeypatch.chdir(top)
    git = Git.open(top)
    site = Site(git, ProjectFiles(git.top), Home(home / ".agentforge"))
    head = git.head()
    budget = Budget(10_000, 10**9)
    create = Create(
        TaskSpec(
            "task-1",
            "mend",
            head,
            git.tree_of(head),
            "scripted:x",
            "bubblewrap",
            "cat",
            HOTFIX,
            budget,
            Price(0, 0),
        )
    )
    Journal.create(site.project.task("task-1"), create, utc_now).close()
    return Desk(site, site.project.task("task-1"))


def test_always_grants_just_this_command_and_says_how_to_take_it_back(desk: Desk) -> None:
    call = command("make", "docs")
    done = desk.answer(call, "always")
    (grant,) = read_grants(grants_file(desk.site.home)).grants
    assert (grant.project, grant.tool, grant.command, grant.exact, grant.risk) == (
        desk.project,
        "run_command",
        ("make", "docs"),
        True,
        "medium",
    )
    assert done == Taken(
        True,
        (f"Granted {grant.id}: {offered(call)}. `agentforge permissions revoke {grant.id}` removes it.",),
    )
    assert desk.allowed() == {call.digest}
    assert desk.site.read(desk.files).state.permits == {call.digest}


@pytest.mark.parametrize(
    "call", [writing("a.py", "b.py"), writing("docs/*.md"), writing(), command("make", risk="critical")]
)
def test_what_no_grant_is_as_narrow_as_is_allowed_for_the_task_only(desk: Desk, call: WantedCall) -> None:
    assert desk.answer(call, "always").notes == (
        "Allowed for this task only: a grant covers one command or one path.",
    )
    assert read_grants(grants_file(desk.site.home)).grants == ()
    assert "nothing beyond this task" in offered(call)


def test_a_no_leaves_no_trace_in_the_persons_own_files(desk: Desk) -> None:
    for said in ("deny", "Always ask first"):
        assert desk.answer(command("make"), said).notes == ()
    assert desk.allowed() == frozenset()
    assert sorted(path.name for path in desk.site.home.path.iterdir() if "index" not in path.name) == []


def test_the_third_equal_yes_proposes_a_grant_once_and_makes_none(desk: Desk) -> None:
    said = [desk.answer(command("make", "docs"), "allow").notes for _ in range(4)]
    assert [len(notes) for notes in said] == [0, 0, 1, 0]
    words = "agentforge permissions allow run_command --command 'make docs' --exact --risk medium"
    assert said[2] == (f"You allowed this 3 times; `{words}` makes it a grant.",)
    assert read_grants(grants_file(desk.site.home)).grants == ()
    runner = CliRunner()
    assert words in runner.invoke(permissions, ["list"], standalone_mode=False).output
    made = runner.invoke(
        permissions, ["allow", "run_command", "--command", "make docs", "--exact"], standalone_mode=False
    )
    assert made.output.startswith("Granted grant-")
    assert words not in runner.invoke(permissions, ["list"], standalone_mode=False).output


def test_a_yes_to_a_tool_of_the_repository_is_a_consent_to_what_it_is_now(desk: Desk) -> None:
    desk.answer(replace(command("make"), content="c" * 64), "deny")
    assert not consented(desk.site.home, desk.project, "c" * 64)
    desk.answer(replace(command("make"), content="c" * 64), "allow")
    assert consented(desk.site.home, desk.project, "c" * 64)


def test_a_record_that_shows_one_command_and_asks_for_another_gets_no_yes(desk: Desk) -> None:
    forged = replace(command("curl", "x"), digest=command("ls").digest)
    identity = desk.ask(forged, "May maintainer use run_command?\n\n  ls\n")
    with pytest.raises(PolicyError, match="shows a different command"):
        answer(OpenTask.open(desk.site, desk.files), identity, "always")
    assert desk.allowed() == frozenset()
    with pytest.raises(UsageError, match="no escalation"):
        answer(OpenTask.open(desk.site, desk.files), "ESC-999", "allow")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run_command"], "name it with --command"),
        (["create_file"], "name them with --path"),
        (["edit_file", "--command", "make"], "runs no command"),
        (["run_command", "--command", "make", "--path", "x"], "either --command or --path"),
        (["run_command", "--command", "'"], "cannot be read"),
        (["run_command", "--command", " "], "is empty"),
        (["not a tool", "--command", "make"], "is not the name of a tool"),
        (["run_command", "--command", "make", "--risk", "critical"], "'critical' is not one of"),
        (["run_command", "--command", "make", "--days", "0"], "0 is not a number from 1"),
    ],
)
def test_a_grant_that_would_mean_nothing_or_too_much_is_refused(
    desk: Desk, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["permissions", "allow", *words]) == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "`agentforge permissions allow --help` shows how." in shown
    assert read_grants(grants_file(desk.site.home)).grants == ()


def test_a_grant_for_paths_and_one_by_another_name(desk: Desk) -> None:
    runner = CliRunner()
    assert (
        runner.invoke(
            permissions,
            ["allow", "write_file", "--path", "/srv/docs/**", "--days", "7"],
            standalone_mode=False,
        ).exception
        is None
    )
    (grant,) = read_grants(grants_file(desk.site.home)).grants
    assert (grant.tool, grant.path, grant.exact) == ("create_file", "/srv/docs/**", False)
