"""Panels: reviewers side by side, revisions that come to an end, and what a person says to a panel that still
blocks.
"""

import subprocess
from collections.abc import Mapping
from typing import Any

import pytest

from agentforge.core.reply import Json
from agentforge.testing import Fault, OpenAIServer, Scripted
from tests import forked
from tests.whole.checkouts import COMMAND, Done
from tests.whole.full_plays import (
    READER,
    SECURITY,
    analyze,
    approves,
    blocks,
    entered,
    events,
    evidence,
    final,
    intake,
    newest,
    spec,
    start,
    waits,
)
from tests.whole.plays import REQUEST, Entry, Play, ask, asked, finished

pytestmark = pytest.mark.slow

DESIGN = ("--pipeline", "design")


def at_once(play: Play, *commands: tuple[str, ...]) -> list[Done]:
    """Commands that are started together."""
    person = play.person
    running = [
        forked.ForkedCommand(
            [COMMAND, *words],
            cwd=play.top,
            env=person.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for words in commands
    ]
    ended = [(process, *process.communicate(timeout=60)) for process in running]
    assert all("Traceback" not in err and "internal error" not in err for _, _, err in ended)
    return [Done(process.returncode, out, err) for process, out, err in ended]


def sent_back_three_times(last: str = "Flaw 4.") -> list[Entry]:
    """A specification that is revised three times, and blocked at each of its four readings."""
    told = [
        spec(f"version {at + 1}", expects=("The reviewer blocks:", f"Flaw {at}", "Remedy: Mend it"))
        for at in (1, 2, 3)
    ]
    reads = [blocks("spec", SECURITY, f"Flaw {at}.", expects=(f"version {at}",)) for at in (1, 2, 3)]
    return [intake(), analyze(), spec("version 1"), *told, *reads, blocks("spec", SECURITY, last)]


def test_a_specification_that_is_still_blocked_after_three_revisions_goes_to_a_person_and_on_with_the_first_answer(
    play: Play,
) -> None:
    question = {**ask("spec", "Who may call it?"), "role": SECURITY}
    script = sent_back_three_times()
    done = start(
        play,
        question,  # a reviewer may ask too
        *script,
        spec("version 5", expects=("A person answered: Keep it .*", "Flaw 4")),
        blocks(
            "spec",
            SECURITY,
            "Flaw 5.",
            expects=("version 5", "The version before was sent back for", "Flaw 4"),
        ),
        spec("version 6", expects=("A person answered: once more", "Flaw 5")),
        approves("spec", SECURITY, "Good enough.", expects=("version 6", "Who may call it", "anybody")),
        words=DESIGN,
    )
    assert asked(done) == "Who may call it?"
    done = play.answer(done, "anybody")
    raised = waits(done, "review")
    assert "after 3 revisions" in raised["question"]["text"]
    assert "Flaw 4." in raised["question"]["text"]
    assert entered(play.top).count("spec/security_architect") == 4
    page = play.person.run("escalations", "show", raised["id"]).out
    for part in ("Flaw 4.", "revised       spec, 3 times", "analyze   accepted", f"resolve {raised['id']} "):
        assert part in page, page
    task = done.data["task_id"]
    both = at_once(
        play,
        *(
            ("resolve", raised["id"], "--task", task, "--answer", f"Keep it {word}", "--json")
            for word in ("short", "long")
        ),
    )
    assert sorted(item.code for item in both) == [2, 3], [item.said for item in both]
    won, lost = sorted(both, key=lambda item: item.code, reverse=True)
    assert "answer" in lost.err, lost.said
    again = waits(won, "review")
    assert "after 4 revisions" in again["question"]["text"]
    data = finished(play.answer(won, "once more"))
    assert data["branch"] is None
    assert final(play.top, "spec", "specification")["title"] == "version 6"
    (answered,) = [
        event
        for event in events(play.top)
        if event["type"] == "resolved" and event["answer"].startswith("Keep it")
    ]
    assert (answered["id"], answered["answer"]) == (
        raised["id"],
        f"Keep it {'short' if won is both[0] else 'long'}",
    )
    assert evidence(play.top)["panels"]["spec"]["advisory"] == ["SEC-001 (security_architect): Good enough."]
    late = play.person.run("resolve", raised["id"], "--task", task, "--answer", "too late")
    assert (late.code, "already answered" in late.err) == (2, True), late.said


def test_a_blocked_panel_that_a_person_aborts_ends_the_task_and_keeps_the_work(play: Play) -> None:
    done = start(play, *sent_back_three_times(), words=(*DESIGN, "--mode", "architect"))
    raised = waits(done, "review")
    ended = play.person.run("resolve", raised["id"], "--abort", "--json")
    assert ended.code == 0, ended.said
    assert ended.data["status"] == "cancelled"
    assert (newest(play.top) / "artifacts/phases/spec/specification_v4.yaml").is_file()
    assert play.person.run("escalations", "list").out.strip() == "No open questions."


def test_reviewers_are_asked_side_by_side_and_neither_sees_what_the_other_or_the_author_thought(
    play: Play,
) -> None:
    play.person.write(
        {".agentforge/orchestration/stage_config.yaml": "stages: {spec: {+reviewers: [reviewer]}}\n"}
    )
    play.person.commit_all()
    thought = "I am not sure about any of this"
    readers = {SECURITY: "Bound the percent.", READER: "Name the unit."}
    script = {
        "# Role: Requirements Analyst": intake(),
        "# Role: Security Architect": approves("spec", SECURITY, readers[SECURITY]),
        "# Role: Reviewer": approves("spec", READER, readers[READER]),
        "This stage: analyze": analyze(),
        "This stage: spec": spec(thought=thought),
    }
    seen: dict[str, str] = {}

    def reply(body: Mapping[str, Json]) -> Scripted:
        words = str(body["messages"])
        entry = next(entry for name, entry in script.items() if name in words)
        seen[entry.get("role", "")] = words
        said: dict[str, Any] = entry["reply"]
        return Fault(delay_s=1, reply=said) if "role" in entry else said

    with OpenAIServer(reply) as server:
        play.person.variables |= {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "none"}
        done = play.person.run("start", REQUEST, "--model", "openai:any", "--json", *DESIGN)
    finished(done)
    order = [
        event["type"]
        for event in events(play.top)
        if event.get("run", "worker") != "worker" and event["type"] in ("ask_sent", "ask_answered")
    ]
    assert order == ["ask_sent", "ask_sent", "ask_answered", "ask_answered"]
    for seat, other in ((SECURITY, READER), (READER, SECURITY)):
        assert "net takes the discount off" in seen[seat]
        assert thought not in seen[seat]
        assert readers[other] not in seen[seat]
    assert evidence(play.top)["panels"]["spec"]["verdicts"] == {READER: "approve", SECURITY: "approve"}
