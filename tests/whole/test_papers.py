"""A question answered in a repository of documents, through the installed command: checks first, then the text."""

import json
from pathlib import Path

import pytest

from tests.whole import papers
from tests.whole.checkouts import Person, make_repository


@pytest.mark.slow
def test_a_question_killed_on_the_way_becomes_a_cited_report_on_a_verified_branch(tmp_path: Path) -> None:
    person = Person(make_repository(tmp_path / "desk", papers.LIBRARY), tmp_path / "script.json")
    person.scripted(papers.frame(), papers.demand(), papers.compose(), papers.approve())
    start = ("start", papers.QUESTION, "--lane", "small", "--model", f"scripted:{person.script}", "--json")
    person.run_and_kill_at("demand", *start)
    done = person.run("continue", person.only_task(), "--json")
    assert done.code == 0, done.said
    task = person.checkout / ".agentforge/tasks" / person.only_task()
    evidence = json.loads((task / "evidence.json").read_text())
    rows = {row.get("gate"): row for row in evidence["rows"]}
    cited = f"{papers.CHECKS}::findings-are-cited"
    assert rows["red"]["tests"][cited]["outcome"] == "failed"
    assert rows["green"]["runs"][0]["outcomes"][cited] == "passed"
    assert "new content, by checks" in str(evidence["proved_as"])
    assert (
        person.git("show", f"agentforge/{person.only_task()}:{papers.REPORT}").strip()
        == papers.ANSWER.strip()
    )
    verified = person.run("verify", person.only_task(), "--rerun", "--json")
    assert verified.code == 0, verified.said
