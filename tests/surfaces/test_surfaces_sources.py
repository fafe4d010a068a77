"""`sources`: what a person records is what documents may cite."""

from pathlib import Path

import pytest

from agentforge.languages.documents.demands import faults_of
from agentforge.languages.documents.library import Library, TreeShelf
from tests.sandbox.loopback import folder
from tests.surfaces.shapes import conform
from tests.whole.checkouts import Person, make_repository


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(make_repository(tmp_path / "desk", {"README.md": "# Desk\n"}), tmp_path / "script.json")


def holds(person: Person, text: str) -> list[str]:
    person.write({"a.md": text})
    check = {"name": "x", "file": "a.md", "cites": {}}
    return faults_of(check, Library(TreeShelf(person.checkout)))


def test_a_page_that_a_person_fetched_can_be_cited_and_one_whose_copy_changed_cannot(
    person: Person, tmp_path: Path
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/spec.html").write_text("<p>Tokens live for <b>one hour</b>.</p>")
    with folder(tmp_path / "pages") as port:
        url = f"http://127.0.0.1:{port}/spec.html"
        done = person.run("sources", "add", url)
        gone = person.run("sources", "add", f"http://127.0.0.1:{port}/gone.html")
    assert done.code == 0, done.said
    assert "Commit the folder sources" in done.out
    assert (gone.code, "could not be fetched: File not found" in gone.err) == (2, True), gone.said
    assert "--from FILE" in gone.err
    assert holds(person, f'It ends [{url} "live for one hour"].\n') == []
    listed = person.run("sources", "list", "--json")
    (row,) = conform("sources list", listed.out)["sources"]
    assert (listed.code, row["url"], row["state"]) == (0, url, "kept")
    (person.checkout / row["file"]).write_text("<p>Tokens live for ever.</p>")
    assert person.run("sources", "list").code == 1
    assert "another hash" in holds(person, f'It ends [{url} "live for ever"].\n')[0]


def test_a_saved_page_is_recorded_without_a_network_and_again_renews_it(
    person: Person, tmp_path: Path
) -> None:
    assert "No page is recorded" in person.run("sources", "list").out
    saved, url = tmp_path / "page.txt", "https://example.org/a"
    for words in ("first words of it", "second words of it"):
        saved.write_text(words)
        made = person.run("sources", "add", url, "--from", str(saved), "--json")
        assert made.code == 0, made.said
        assert conform("sources add", made.out)["state"] == "kept"
    assert len(person.run("sources", "list", "--json").data["sources"]) == 1
    assert holds(person, f'So [{url} "second words of it"].\n') == []
    assert person.run("sources", "add", "file:///etc/passwd").code == 2
    assert person.run("sources", "add", url, "--from", str(tmp_path / "none")).code == 2
