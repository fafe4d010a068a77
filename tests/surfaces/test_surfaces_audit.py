"""`audit` and `compare`: nothing on record is left out, nothing in a report is markup of others, and a report
can be checked.
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from agentforge.core.codec import decode
from agentforge.core.events import EVENT_TYPES, Event, event_name
from agentforge.core.state import State
from agentforge.store.task.journal import read_lines
from agentforge.store.task.lines import spell_header, spell_line
from agentforge.surfaces.cli.commands.audit import first_difference
from agentforge.surfaces.cli.main import main
from agentforge.surfaces.cli.pages.audit import event_words
from agentforge.surfaces.cli.pages.document import Code, Document, Patch, Points, Prose, ReportSection, Table
from agentforge.surfaces.cli.pages.html import as_html
from agentforge.surfaces.cli.pages.markdown import as_markdown
from agentforge.system.canon import digest
from tests.surfaces.scene import CODE, QUESTION, TEST, make_scene
from tests.surfaces.shapes import conform
from tests.surfaces.test_surfaces_describe import smallest

JOURNALS = Path(__file__).parents[1] / "store" / "journals"
HOSTILE = '<script>alert("x")</script> | [a](javascript:b) `c` --> \x1b[31m\u202e'


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two recorded tasks: one that was delivered in the full lane, and one in the small."""
    top = tmp_path / "repo"
    subprocess.run(["git", "init", "--quiet", str(top)], check=True)
    for task, name in (("task-full", "v2-full-arbiter"), ("task-small", "v2-small-lane")):
        keep(top, task, name)
    monkeypatch.chdir(top)
    monkeypatch.setenv("AGENTFORGE_HOME", str(tmp_path / "home"))
    return top


def keep(top: Path, task: str, name: str, request: str = "x") -> None:
    """A recorded journal as the task of this name, with this request."""
    data = spell_header(task, request, "2030-01-31T00:00:00.000Z")
    prev = digest(data)
    for line in read_lines(JOURNALS / f"{name}.yaml"):
        body: Any = {key: value for key, value in line.body.items() if key not in ("prev", "hash")}
        for event in body["events"]:
            if event["type"] == "task_created":
                event.get("spec", event).update({"task_id": task, "request": request})
        text, prev = spell_line(body, prev)
        data += text
    folder = top / ".agentforge" / "tasks" / task
    folder.mkdir(parents=True)
    (folder / "actions.yaml").write_bytes(data)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = main(words)
    out = capsys.readouterr()
    assert code == 0, out.err
    return out.out


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_no_kind_of_event_is_without_words_in_an_audit(kind: type[Event]) -> None:
    words = event_words(decode(kind, smallest(kind)), State())
    fields = set(smallest(kind) or ()) - {"run"}  # type: ignore[arg-type] # an object
    assert words.strip() or not fields


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v1-full-panel", "v1-panel-asks-a-person", "v2-full-arbiter", "v1-demo"])
@pytest.mark.parametrize("kind", ["md", "html", "json"])
def test_every_event_on_record_is_in_the_report(
    repo: Path, capsys: pytest.CaptureFixture[str], name: str, kind: str
) -> None:
    keep(repo, "task-told", name)
    text = said(capsys, "audit", "task-told", "--format", kind, "--output", "-")
    lines = read_lines(repo / ".agentforge" / "tasks" / "task-told" / "actions.yaml")
    recorded = [event_name(event) for line in lines for event in line.events]
    pattern = {"md": r"\| `(\w+)` \|", "html": r"<code>(\w+)</code>", "json": r'"type": "(\w+)"'}[kind]
    told = [found for found in re.findall(pattern, text) if found in EVENT_TYPES]
    assert told == recorded
    assert lines[-1].hash in text


@pytest.mark.slow
def test_a_report_is_made_again_byte_for_byte_and_a_changed_one_is_named(
    repo: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for kind in ("md", "html", "json"):
        said(capsys, "audit", "task-full", "--format", kind)
        place = repo / ".agentforge" / "audit" / f"task-full.{kind}"
        assert "is what the journal of task-full says" in said(
            capsys, "audit", "task-full", "--verify", str(place)
        )
        told = place.read_text(encoding="utf-8")
        place.write_text(told.replace("approve", "approvE", 1), encoding="utf-8")
        assert main(["audit", "task-full", "--verify", str(place), "--json"]) == 1
        found = conform("audit", capsys.readouterr().out)
        line = first_difference(told, place.read_text(encoding="utf-8"))
        assert (found["holds"], found["line"]) == (False, line)
        assert line is not None
        place.write_text(told + "one more\n", encoding="utf-8")
        assert main(["audit", "task-full", "--verify", str(place)]) == 1
        capsys.readouterr()
    said(capsys, "audit", "task-full", "--output", "here.md")
    assert (repo / "here.md").is_file()
    elsewhere = tmp_path / "deep & wide" / "report.md"
    told = said(capsys, "audit", "task-full", "--output", str(elsewhere))
    (line,) = re.findall(r"`agentforge (.*)`", told)
    assert "is what the journal of task-full says" in said(capsys, *shlex.split(line)), "as it is pasted"
    assert main(["audit", "task-small", "--verify", str(elsewhere)]) == 2
    assert "is a report of task-full" in capsys.readouterr().err
    assert main(["audit", "task-full", "--verify", str(tmp_path / "none.md")]) == 2
    elsewhere.write_text("# nothing of ours\n", encoding="utf-8")
    assert main(["audit", "task-full", "--verify", str(elsewhere)]) == 2
    assert "is no audit report" in capsys.readouterr().err
    elsewhere.write_text('agentforge-audit {"lines": "x", "format": 1}\n', encoding="utf-8")
    assert main(["audit", "task-full", "--verify", str(elsewhere)]) == 2


def test_a_report_of_a_task_that_went_on_is_held_to_the_lines_that_it_names(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = repo / ".agentforge" / "tasks" / "task-small" / "actions.yaml"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-4]))
    said(capsys, "audit", "task-small")
    path.write_bytes(whole)
    place = repo / ".agentforge" / "audit" / "task-small.md"
    held = said(capsys, "audit", "task-small", "--verify", str(place))
    assert "The journal has gone on since: 4 more" in held  # an old report is no report of the end
    path.write_bytes(b"".join(lines[:-6]))
    assert main(["audit", "task-small", "--verify", str(place)]) == 2
    assert re.search(r"has \d+ lines, and not \d+", capsys.readouterr().err)


def test_what_others_wrote_is_text_in_every_format(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(repo, "task-evil", "v1-small-lane", HOSTILE)
    page = said(capsys, "audit", "task-evil", "--format", "html", "--output", "-")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    text = said(capsys, "audit", "task-evil", "--output", "-")
    assert "\\<script\\>" in text
    assert "](" not in text.replace("\\](", "")
    for shown in (page, text):
        assert not re.search("[\x1b\u202e]", shown)
        assert shown.count("agentforge-audit") == 1
    document = Document(
        HOSTILE,
        [
            ReportSection(
                HOSTILE, [Prose(HOSTILE), Points([HOSTILE, Code(HOSTILE)]), Table((HOSTILE,), [(HOSTILE,)])]
            ),
            ReportSection("change", [Patch(f"+{HOSTILE}\n```\n-x")]),
        ],
        "mark",
    )
    assert as_html(document).count("<script") == 0
    assert "````diff" in as_markdown(document)


def test_two_tasks_are_shown_beside_each_other(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "compare", "task-full", "task-small")
    assert "They part at step 1:" in told
    same = said(capsys, "compare", "task-small", "task-small", "--format", "text")
    assert "Both took the same steps." in same
    assert "Both left the same tree." in same
    data = conform("compare", said(capsys, "compare", "task-full", "task-small", "--json"))
    assert data["parted_at"]["step"] == 1
    assert data == json.loads(said(capsys, "compare", "task-full", "task-small", "--format", "json"))
    page = said(capsys, "compare", "task-full", "task-small", "--format", "html")
    assert page.startswith("<!doctype html>")
    assert main(["compare", "task-full", "task-none"]) == 2


@pytest.mark.slow
def test_a_task_that_was_started_for_it_is_compared_with_an_earlier_one(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, {"greeting.py": CODE, "tests/test_greeting.py": TEST})
    model = scene.script(("intake", QUESTION))
    asked = scene.run("design", "Greet the world", "--model", model)
    assert asked.returncode == 3, asked.stderr
    again = scene.run(
        *("start", "Design a greeting of the world", "--pipeline", "design", "--model", model),
        *("--compare-to", "@1"),
    )
    assert again.returncode == 3, again.stderr
    assert "Both took the same steps." in again.stdout
    before = sorted((scene.top / ".agentforge" / "tasks").iterdir())
    wrong = scene.run("start", "Greet the world", "--model", model, "--compare-to", "task-none")
    assert wrong.returncode == 2
    mixed = scene.run("start", "Greet the world", "--model", model, "--compare-to", "@1", "--json")
    assert (mixed.returncode, "agentforge compare" in mixed.stderr) == (2, True)
    assert sorted((scene.top / ".agentforge" / "tasks").iterdir()) == before


@pytest.mark.slow
def test_a_report_on_paper_is_made_of_the_same_page_and_fetches_nothing(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(repo, "task-hostile", "v2-small-lane", f'<img src="file:///etc/passwd"> {HOSTILE}')
    told = said(capsys, "audit", "task-hostile", "--format", "pdf")
    place = repo / ".agentforge" / "audit" / "task-hostile.pdf"
    first = place.read_bytes()
    assert first.startswith(b"%PDF")
    assert f"is in {place}" in told
    assert "--verify" not in told
    assert main(["audit", "task-hostile", "--verify", str(place)]) == 2
    assert "--format html" in capsys.readouterr().err
    # Without the library of the system, the same report is there as HTML, and the sentence says what is missing.
    monkeypatch.setitem(sys.modules, "agentforge.integrations.pdf", None)
    assert main(["audit", "task-hostile", "--format", "pdf", "--output", "here.pdf"]) == 1
    said_then = capsys.readouterr().err
    assert "here.html" in said_then
    assert "[pdf" in said_then
    assert "<img" not in (repo / "here.html").read_text(encoding="utf-8")
