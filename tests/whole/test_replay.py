"""A recorded task played again: the same replies, and everything else for real."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentforge.activities import judge
from agentforge.app.evidence.replaying import replay
from agentforge.app.record.open_tasks import open_task
from agentforge.core.events import AskSent
from agentforge.gates.verdict import Verdict
from agentforge.store.task.journal import read_lines
from agentforge.store.user.start_permissions import read_permissions
from tests.depth import telling
from tests.surfaces.shapes import conform
from tests.whole.checkouts import git
from tests.whole.plays import (
    NEW_TEST,
    SOURCE,
    TEST,
    Play,
    ask,
    create,
    finished,
    frame,
    green,
    patch,
    raw,
    red,
    review,
    say,
)


def told(play: Play, *words: str, code: int = 0) -> Any:  # noqa: ANN401 - whatever a command prints
    done = play.person.run(*words, "--json")
    assert done.code == code, done.said
    return conform(words[0], done.out)


@pytest.mark.slow
def test_a_task_with_mistakes_and_a_question_comes_out_as_on_record_and_leaves_nothing(play: Play) -> None:
    asked = play.start(
        raw("patch", "I think it is done."),
        ask("patch", "Round down?"),
        patch(expects=("A person answered: down",)),
        review(),
        lane="hotfix",
    )
    assert asked.code == 3, asked.said
    done = finished(play.person.run("resolve", "ESC-001", "--answer", "down", "--json"))
    before = git(play.top, "for-each-ref"), sorted((play.top / ".agentforge/tasks").iterdir())
    again = told(play, "replay")
    assert (again["same"], again["diverged"], again["other_contexts"], again["kept"]) == (
        True,
        None,
        [],
        None,
    )
    assert again["compared"] > 10
    after = git(play.top, "for-each-ref"), sorted((play.top / ".agentforge/tasks").iterdir())
    assert after == before
    (one,) = told(play, "replay", "--all", "--since", "2020-01-01")
    assert one["task_id"] == done["task_id"]
    assert told(play, "replay", "--all", "--since", "2199-01-01") == []
    kept = told(play, "replay", "--keep")["kept"]
    same = told(play, "compare", done["task_id"], kept)
    assert (same["parted_at"], same["same_result"]) == (None, True)


@pytest.mark.slow
def test_another_rule_is_named_with_the_step_at_which_it_counts(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(play.start(patch(), review(), lane="hotfix"))
    for name, value in play.person.environment().items():
        monkeypatch.setenv(name, value)
    strict = Verdict("failed", ("nothing is good enough any more",), {})
    monkeypatch.setattr(judge, "GATES", {**judge.GATES, "quality": lambda *_: (strict, ())})
    found = replay(open_task(play.top)).divergence
    assert found is not None
    assert (found.stage, found.what, found.step) == ("patch", "gate quality", 1)
    assert "nothing is good enough" in found.replayed
    assert found.recorded == "gate quality: passed"


@pytest.mark.slow
def test_the_changes_alone_are_applied_elsewhere_up_to_the_first_conflict(play: Play) -> None:
    done = finished(play.start(patch(), review(), lane="hotfix"))
    top: Path = play.top
    dry = told(play, "replay", "--actions-only")
    assert (dry["branch"], [step["outcome"] for step in dry["steps"]]) == ("", ["applied"])
    assert {NEW_TEST, SOURCE} == set(dry["steps"][0]["paths"])
    git(top, "switch", "--quiet", "--create", "other")
    source = top / SOURCE
    source.write_text(source.read_text(encoding="utf-8") + "\n\nVAT = 19\n", encoding="utf-8")
    git(top, "commit", "--quiet", "--all", "--message", "VAT")
    made = told(play, "replay", done["task_id"], "--actions-only", "--onto", "other", "--apply")
    assert "VAT = 19" in git(top, "show", f"{made['branch']}:{SOURCE}")
    assert git(top, "rev-parse", f"{made['branch']}^").strip() == git(top, "rev-parse", "other").strip()
    assert told(play, "replay", "--actions-only", "--apply")["branch"] == made["branch"]  # and once more
    again = told(play, "replay", "--actions-only", "--onto", made["branch"])
    assert [step["outcome"] for step in again["steps"]] == ["already_there"]
    # What it would break there is not made.
    source.write_text(source.read_text(encoding="utf-8").replace('EUR"', 'USD"'), encoding="utf-8")
    broken = (top / NEW_TEST).with_name("test_zero.py")
    broken.write_text(
        "from shop.price import net\n\n\ndef test_zero():\n    assert net(5, 50) == 5\n", encoding="utf-8"
    )
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", "It stays whole")
    worse = told(play, "replay", "--actions-only", "--apply", code=1)
    assert (worse["branch"], any("test_zero" in reason for reason in worse["reasons"])) == ("", True)
    source.write_text(
        source.read_text(encoding="utf-8").replace("return price\n", "return price + 1\n"), encoding="utf-8"
    )
    git(top, "commit", "--quiet", "--all", "--message", "In the way")
    refs = git(top, "for-each-ref")
    clash = told(play, "replay", "--actions-only", "--apply", code=1)
    assert (clash["steps"][-1]["outcome"], clash["steps"][-1]["paths"]) == ("conflict", [SOURCE])
    assert git(top, "for-each-ref") == refs
    for words in (("--onto", "main"), ("--since", "2030-01-01"), ("--all", "--actions-only")):
        assert play.person.run("replay", *words).code == 2


@pytest.mark.slow
def test_a_fork_shares_what_came_before_pays_only_for_its_own_and_is_proved_by_itself(play: Play) -> None:
    first = finished(play.start(frame(), red(), green(), review()))
    top = play.top
    for step, calls in telling([(2, 2), (0, 4), (1, 3), (3, 1)], 1):
        done = finished(play.person.run("fork", first["task_id"], "--from-step", str(step), "--json"))
        assert done["cost"]["calls"] == calls
        same = told(play, "compare", first["task_id"], done["task_id"])
        assert (same["same_result"], same["parted_at"]) == (True, None)
        times = [told(play, "status", each["task_id"])["timing"] for each in (first, done)]
        assert times[1]["started_at"] > times[0]["ended_at"], "what it shares took its time elsewhere"
        assert play.person.run("verify", done["task_id"]).code == 0
        assert sum(call["calls"] for call in told(play, "cost", done["task_id"])["rows"]) == calls
        assert play.person.run("discard", done["task_id"]).code == 0
    forked = finished(
        play.person.run("fork", first["task_id"], "--json")
    )  # after the last stage that left work
    assert forked["cost"]["calls"] == 1
    # It needs the first task no more.
    assert play.person.run("discard", first["task_id"]).code == 0
    git(top, "gc", "--quiet", "--prune=now")
    assert play.person.run("verify", forked["task_id"]).code == 0, forked
    # The shared part has the name of the first task in its documents: that is no difference.
    again = play.person.run("replay", forked["task_id"])
    assert again.code == 0, again.said


@pytest.mark.slow
def test_a_fork_goes_on_with_another_prompt_model_or_answer(play: Play) -> None:
    asked = play.start(
        ask("patch", "Round down?"), patch(expects=("A person answered: (down|up)",)), review(), lane="hotfix"
    )
    assert asked.code == 3, asked.said
    first = finished(play.person.run("resolve", "ESC-001", "--answer", "down", "--json"))
    other = finished(play.person.run("fork", "--set", "answer=up", "--json"))
    journal = (play.top / ".agentforge/tasks" / other["task_id"] / "actions.yaml").read_text(encoding="utf-8")
    assert '"answer":"up"' in journal
    assert '"answer":"down"' not in journal
    words = play.top.parent / "words.md"
    words.write_text("Mind the zero.\n", encoding="utf-8")
    script = play.person.script
    script.write_text(
        script.read_text(encoding="utf-8").replace("A person answered", "Mind the zero"), encoding="utf-8"
    )
    script.write_text(script.read_text(encoding="utf-8").replace(": (down|up)", ""), encoding="utf-8")
    other_script = script.with_name("other.yaml")
    other_script.write_bytes(script.read_bytes())
    done = finished(
        play.person.run(
            *("fork", first["task_id"], "--from-step", "1", "--set", f"prompt={words}"),
            *("--set", f"model=scripted:{script}", "--set", f"tier.generation=scripted:{other_script}"),
            "--json",
        )
    )
    assert done["cost"]["calls"] == 2
    lines = read_lines(play.top / ".agentforge/tasks" / done["task_id"] / "actions.yaml")
    sent = [event for line in lines for event in line.events if isinstance(event, AskSent)][-2:]
    asked_of = {event.request.tier: event.request.model for event in sent}
    assert asked_of == {"generation": f"scripted:{other_script}"}
    waiting = play.person.run("fork", first["task_id"], "--from-step", "1", "--no-drive", "--json")
    assert conform("fork", waiting.out)["cost"]["calls"] == 0
    before = sorted((play.top / ".agentforge/tasks").iterdir())
    for wrong in (
        "colour=red",
        "model=",
        "model",
        "model=none:x",
        "tier.none=openai:x",
        "tier.reasoning=none:x",
        "prompt=/nowhere/x.md",
    ):
        assert play.person.run("fork", "--set", wrong).code == 2, wrong
    assert play.person.run("fork", "--from-step", "99").code == 2
    assert play.person.run("fork", "--set", "answer=a", "--set", "answer=b").code == 2
    assert sorted((play.top / ".agentforge/tasks").iterdir()) == before


@pytest.mark.slow
def test_what_a_person_allowed_once_is_not_allowed_again_by_a_replay(play: Play) -> None:
    asked = play.start(
        say("patch", create(NEW_TEST, TEST)), patch(), review(), lane="hotfix", words=("--strict",)
    )
    assert asked.data["escalation"]["kind"] == "permission", asked.said
    waiting = play.answer(asked, "allow")
    assert waiting.code == 3, waiting.said
    done = play.person.run("replay")
    assert done.code == 1, done.said
    assert "a replay allows nothing a second time" in done.out


@pytest.mark.slow
def test_what_flags_allowed_a_task_they_do_not_allow_its_fork(play: Play, agentforge_home: Path) -> None:
    first = finished(play.start(patch(), review(), lane="hotfix", words=("--yes", "--allow-shell")))
    made = play.person.run("fork", first["task_id"], "--no-drive", "--json")
    name = json.loads(made.out)["task_id"]
    assert f"`agentforge continue {name} --allow-shell --yes` allows it here, too." in made.err
    (kept,) = (agentforge_home / "wishes").rglob(f"{name}.yaml")
    said = read_permissions(kept).permissions
    assert (said.allow, said.yes) == (frozenset(), False)


@pytest.mark.slow
def test_a_standing_grant_or_missing_walls_let_no_replay_act_outside_unless_it_is_said_for_this_one(
    play: Play, agentforge_home: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "opened" / "mark"
    mark.parent.mkdir()

    def acted() -> bool:
        found = mark.exists()
        mark.unlink(missing_ok=True)
        return found

    act = {"name": "run_command", "args": {"argv": ["touch", str(mark)]}}
    config = agentforge_home / "config.yaml"
    config.write_text(f"roots: [{{path: {mark.parent}, write: true}}]\n", encoding="utf-8")
    finished(
        play.answer(
            play.start(say("patch", act), say("patch", act), patch(), review(), lane="hotfix"), "always"
        )
    )
    assert acted()
    first = finished(play.start(say("patch", act), patch(), review(), lane="hotfix"))["task_id"]
    assert acted(), "the control: with the grant, a task acts"
    done = play.person.run("replay", first)
    assert (done.code, acted()) == (1, False), done.said
    assert f"`agentforge replay {first} --as-allowed` lets it act outside" in done.out
    again = play.person.run("replay", first, "--as-allowed")
    assert (again.code, acted()) == (0, True), again.said
    assert play.person.run("replay", first, "--as-allowed", "--actions-only").code == 2

    config.write_text("sandbox: none\n", encoding="utf-8")
    bare = finished(play.start(say("patch", act), patch(), review(), lane="hotfix"))["task_id"]
    assert acted(), "the control: without walls, a task acts"
    for settings in ("sandbox: none\n", ""):
        config.write_text(settings, encoding="utf-8")
        done = play.person.run("replay", bare)
        assert not acted(), done.said
    split = play.person.run("fork", bare, "--no-drive")
    assert (split.code, "without a sandbox" in split.err) == (4, True), split.said
