"""Documents and data as a language: what checks demand, what a lazy author would try, and what honest ones may do."""

import hashlib
from pathlib import Path

import pytest

from agentforge.languages.documents.checks import liveness, made_to_fail, problem, read_checks
from agentforge.languages.documents.demands import faults_of
from agentforge.languages.documents.language import DOCUMENTS
from agentforge.languages.documents.library import Library, ListedShelf, TreeShelf
from agentforge.languages.documents.lint import lint
from agentforge.languages.outcomes import TestRun, Watch
from agentforge.languages.values import Environment
from agentforge.sandbox.walls.none import NoSandbox
from tests.rows import every

PAGE = b"<html><style>p{}</style><p>Tokens live for <b>one hour</b> &amp; then end.</p></html>"
RECORD = (
    "sources:\n  - url: https://example.org/tokens\n    fetched: 2026-01-02T03:04:05Z\n"
    f"    sha256: {hashlib.sha256(PAGE).hexdigest()}\n    file: tokens.html\n"
)
FILES = {
    "src/cache.py": b"import time\n\nTTL = 3600  # seconds, as agreed\n",
    "sources/sources.yaml": RECORD.encode(),
    "sources/tokens.html": PAGE,
    "data/sales.csv": b"id,region,amount\n1,north,10.5\n2,south,20\n3,north,30\n",
    "data/places.csv": b"code,name\nN,north\nS,south\n",
    "brief.md": b"# Brief\n\n## Questions\n\n- Speed: how fast is it?\n- Cost: what does it cost?\n",
}


def library(text: str) -> Library:
    return Library(ListedShelf({**FILES, "a.md": text.encode()}))


def faults(text: str, **demands: object) -> str:
    return "; ".join(faults_of({"name": "x", "file": "a.md", **demands}, library(text=text)))


CITED = "# A\n\n## Findings\n\nAn hour [{}].\n"


@every(
    ("citation", "why"),
    [
        ('src/cache.py:3 "TTL = 3600"', ""),
        ('src/cache.py:1-3 "TTL = 3600"', ""),
        ("src/cache.py:3 `TTL  =  3600`", ""),
        ('src/cache.py:3 "TTL = 7200"', "does not say “TTL = 7200”"),
        ('src/cache.py:1 "TTL = 3600"', "does not say"),
        ('src/cache.py:40 "TTL = 3600"', "the file has 3 lines"),
        ('src/cache.py:3-2 "TTL = 3600"', "is not there"),
        ('src/store.py:3 "TTL = 3600"', "no such file"),
        ('../etc/passwd:1 "root:x:0:0"', "0 citations hold"),
        ("src/cache.py:3", "is cited without its words"),
        ('src/cache.py:3 "TTL"', "could stand anywhere"),
        ('https://example.org/tokens "live for one hour & then"', ""),
        ('https://example.org/tokens "live for two hours"', "does not say"),
        ('https://example.org/other "live for one hour"', "was never recorded"),
        ("doi:10.1000/182", ""),
        ("doi:10.1/", "is no DOI"),
        ("doi:11.1000/182", "is no DOI"),
        ("https://doi.org/not-one", "is no DOI"),
    ],
)
def test_a_citation_holds_only_if_the_place_is_there_and_says_that(citation: str, why: str) -> None:
    found = faults(CITED.format(citation), within="Findings", cites={"each": "paragraph"})
    assert (why in found, bool(why)) == (True, bool(found)), found


def test_a_recorded_page_whose_copy_was_changed_or_lost_is_no_source() -> None:
    check = {"name": "x", "file": "a.md", "cites": {}}
    text = {"a.md": b'Words [https://example.org/tokens "one hour"].\n'}
    changed = ListedShelf({**FILES, **text, "sources/tokens.html": PAGE + b" "})
    assert "another hash" in faults_of(check, Library(changed))[0]
    lost = ListedShelf({path: data for path, data in {**FILES, **text}.items() if "html" not in path})
    assert "has no recorded copy" in faults_of(check, Library(lost))[0]
    outside = RECORD.replace("file: tokens.html", "file: ../../etc/hosts").encode()
    far = ListedShelf({**FILES, **text, "sources/sources.yaml": outside})
    assert "has no recorded copy" in faults_of(check, Library(far))[0]


def test_every_paragraph_and_item_of_a_section_is_held_to_its_citation_and_notes_count() -> None:
    text = (
        '## Findings\n\nOne.[^1]\n\n- Two, of nothing.\n- Three (src/cache.py:3 "TTL = 3600").\n\n'
        '| a | b |\n|---|---|\n| 1 | 2 |\n\n## Else\n\nNot asked.\n\n[^1]: src/cache.py:1 "import time"\n'
    )
    found = faults(text, within="Findings", cites={"each": "paragraph", "min": 2})
    assert found == "line 5: a paragraph cites nothing"
    assert "there is no note `9`" in faults("Words.[^9]\n", cites={})


@every(
    ("body", "why"),
    [
        ("Words.", ""),
        ("", "is empty"),
        ("TODO", "is empty"),
        ("*To be written.*", "is empty"),
        ("<!-- words, but nobody sees them -->", "is empty"),
        ("...", "is empty"),
        ("### Below\n\nWords.", ""),
        ("### Below\n\nTBD", "is empty"),
        ("```\ncode\n```", ""),
        ("| a |\n|---|\n| 1 |", ""),
        ("![a picture](a.png)", ""),
    ],
)
def test_a_section_that_only_has_its_heading_is_empty(body: str, why: str) -> None:
    found = faults(f"# T\n\n## Open\n\n{body}\n\n## Next\n\nWords.\n", sections=["open"])
    assert (why in found, bool(why)) == (True, bool(found)), found
    assert "there is no section" in faults("# T\n\n```\n## Open\n```\n", sections=["Open"])


def test_words_that_are_there_to_fill_the_page_are_counted_once_and_named() -> None:
    once = "The cache keeps every entry for an hour. "
    assert "has 8 words, and 100 are owed (a sentence that is there twice counts once)" in faults(
        once * 40, words={"min": 100}
    )
    assert faults(" ".join(f"Sentence number {n} says it." for n in range(30)), words={"min": 100}) == ""
    assert "12 are the most" in faults(
        " ".join(f"Sentence number {n} says it." for n in range(30)), words={"max": 12}
    )
    rows = [*lint("a.md", library(text=f"# T\n\n{once * 4}\n"))]
    assert [row[1] for row in rows] == ["repeated"]


@every(
    ("text", "why"),
    [
        ("As Table 1 shows.\n\nTable 1: All.\n\n| a |\n|---|\n| 1 |\n", ""),
        (
            "As Table 2 shows.\n\nTable 1: All.\n\n| a |\n|---|\n| 1 |\n",
            "Table 2 is spoken of, and there is none",
        ),
        ("As Table 1 shows.\n\nTable 1: All.\n", "Table 1 has a caption, and there is no table beside it"),
        ("See Figure 1.\n\n![Figure 1: A drawing](brief.md)\n", ""),
        ("See Figure 3 of the paper, and `Table 7` in code.\n", ""),
    ],
)
def test_a_table_or_figure_that_is_spoken_of_is_there(text: str, why: str) -> None:
    found = faults(text, references=True)
    assert (why in found, bool(why)) == (True, bool(found)), found


@every(
    ("text", "why"),
    [
        ("[a](brief.md) [b](brief.md#questions) [c](src/) [d](https://example.org) [e](#top)\n\n# Top\n", ""),
        ("[a](gone.md)", "there is no `gone.md`"),
        ("[a](brief.md#answers)", "there is no heading `answers`"),
        ("[a](../../outside.md)", "leads to nothing"),
        ("[a][one]\n\n[one]: brief.md\n", ""),
        ("[a][two]\n", "nothing is defined under this name"),
        ("`[a](gone.md)`\n\n```\n[a](gone.md)\n```\n", ""),
    ],
)
def test_links_lead_somewhere_in_the_tree(text: str, why: str) -> None:
    found = faults(text, links=True)
    assert (why in found, bool(why)) == (True, bool(found)), found


def test_numbers_are_computed_from_the_data_and_must_be_said() -> None:
    wanted = [
        {"from": "data/sales.csv", "column": "amount", "take": "sum", "digits": 1},
        {
            "from": "data/sales.csv",
            "column": "amount",
            "take": "mean",
            "where": {"region": "north"},
            "digits": 2,
        },
        {"from": "data/sales.csv", "take": "count"},
    ]
    assert faults("In all 60.5, of which 20.25 in the north, in 3 rows.", numbers=wanted) == ""
    assert "the sum of `amount` in `data/sales.csv` is 60.5" in faults("In all 61, 20.25, 3.", numbers=wanted)
    assert "no column `price`" in faults(
        "1", numbers=[{"from": "data/sales.csv", "column": "price", "take": "max"}]
    )
    assert "cells that are no numbers" in faults(
        "1", numbers=[{"from": "data/sales.csv", "column": "region", "take": "max"}]
    )


def test_what_a_list_asks_for_is_covered_or_named() -> None:
    wanted = {"from": "brief.md", "section": "Questions"}
    assert faults("On speed and cost.", covers=wanted) == ""
    assert faults("On speed.", covers=wanted) == "nothing is there about “Cost”"
    data = {
        "name": "x",
        "file": "data/sales.csv",
        "covers": {"from": "data/places.csv", "key": "name", "column": "region"},
    }
    assert faults_of(data, library(text="")) == []
    assert faults_of({**data, "covers": {"items": ["east"], "column": "region"}}, library(text="")) == [
        "nothing is there about “east”"
    ]


def test_data_is_held_to_its_schema_its_keys_and_its_size() -> None:
    row = {"type": "object", "required": ["id"], "properties": {"amount": {"type": "number", "minimum": 15}}}
    check = {
        "name": "x",
        "file": "data/sales.csv",
        "row": row,
        "unique": ["id", "region"],
        "rows": {"min": 4},
    }
    found = faults_of(check, library(text=""))
    assert any(line.startswith("row 1: amount") for line in found)
    assert "`region` has 'north' 2 times" in found
    assert "it has 3 rows, and 4 are wanted" in found
    ragged = Library(ListedShelf({"a.csv": b"a,b\n1,2\n1\n"}))
    assert faults_of({"name": "x", "file": "a.csv", "rows": {"min": 1}}, ragged) == [
        "row 3 has 1 fields, and there are 2 columns"
    ]
    broken = Library(ListedShelf({"a.json": b"{"}))
    assert (
        "is no valid data"
        in faults_of({"name": "x", "file": "a.json", "schema": {"type": "object"}}, broken)[0]
    )


# ------------------------------------------------------------------ files of checks


def checks_of(*lines: str) -> str:
    return "checks:\n" + "".join(f"  - {{name: n{at}, {line}}}\n" for at, line in enumerate(lines))


@every(
    "demand",
    [
        "file: a.md, words: {max: 500}",
        "file: a.md, words: {min: 300, max: 310}",
        "file: a.md, words: {min: 1}",
        "file: a.md, lacks: [TODO]",
        "file: a.md, links: true, references: true",
        "file: a.csv, rows: {min: 1}",
        "file: a.csv, row: {type: object}",
        "file: a.json, schema: {}",
    ],
)
def test_a_check_that_accepts_everything_is_refused(demand: str) -> None:
    assert "it accepts" in liveness(checks_of(demand), "n0").refused


@every(
    "demand",
    [
        "file: a.md, sections: [Findings], words: {max: 500}",
        "file: a.md, says: [an hour]",
        "file: a.md, cites: {}",
        "file: a.md, covers: {items: [speed]}",
        "file: a.csv, row: {required: [id]}",
        "file: a.csv, unique: [id]",
    ],
)
def test_a_check_that_demands_something_can_fail_and_is_made_to(demand: str) -> None:
    text = checks_of(demand)
    assert liveness(text, "n0")[:2] == ("", "")
    made, found = made_to_fail(text, ["n0", "n9"])
    assert found == {"n0"}
    check = read_checks(made, "x.checks.yaml")["n0"]
    everything = Library(ListedShelf({"a.md": b"# Findings\n\nan hour speed\n", "a.csv": b"id\n1\n"}))
    assert faults_of(check, everything)


@every(
    ("text", "line", "why"),
    [
        ("checks: []\n", 1, "checks"),
        ("checks:\n  - {name: a, file: b.md}\n", 2, "demands nothing"),
        ("checks:\n  - {name: a, file: b.md, regex: '.*'}\n", 2, "regex"),
        (checks_of("file: a.md, says: [e]"), 2, "says"),
        (checks_of("file: a.csv, row: {$ref: 'https://example.org/s.json'}"), 2, "reaches for"),
        (checks_of("file: a.csv, row: {type: nonsense}"), 2, "nonsense"),
        (
            "checks:\n  - {name: a, file: b.md, links: true}\n  - {name: a, file: b.md, links: true}\n",
            3,
            "twice",
        ),
    ],
)
def test_a_file_of_checks_that_is_none_is_said_with_its_line(text: str, line: int, why: str) -> None:
    found = problem(text, "x.checks.yaml")
    assert found is not None
    assert (found[0], why in found[1]) == (line, True), found


# ------------------------------------------------------------------ as a language


def run(tree: Path, *ids: str, watch: Watch | None = None) -> TestRun:
    env = Environment(tree, tree, tree, (), (), "key", "", Path("/usr"))
    return DOCUMENTS.runs.run_tests(
        NoSandbox(), env, tree, ids=ids, base_command=("documents",), scratch=tree, timeout_s=9, watch=watch
    )


def test_each_check_is_a_test_that_says_what_it_read_and_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Findings\n\nWords.\n")
    (tmp_path / "a.checks.yaml").write_text(
        checks_of("file: a.md, sections: [Findings]", "file: b.md, says: [words]")
    )
    (tmp_path / "b.checks.yaml").write_text("checks: 7\n")
    found = run(tmp_path, watch=Watch((), ("a.md", "b.md")))
    assert {key: each.outcome for key, each in found.results.items()} == {
        "a.checks.yaml::n0": "passed",
        "a.checks.yaml::n1": "failed",
    }
    assert found.results["a.checks.yaml::n1"].message == "`b.md` is not there"
    assert "b.checks.yaml:1" in found.collect_errors["b.checks.yaml"]
    assert found.reached is not None
    assert found.reached.read["a.checks.yaml::n0"] == {"a.md"}
    asked = run(tmp_path, "a.checks.yaml::n0", "a.checks.yaml::n7")
    assert {key: each.outcome for key, each in asked.results.items()} == {
        "a.checks.yaml::n0": "passed",
        "a.checks.yaml::n7": "missing",
    }


def test_a_link_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    tree, secret = tmp_path / "tree", tmp_path / "secret.md"
    tree.mkdir()
    secret.write_text("# Findings\n\nWords.\n")
    (tree / "a.md").symlink_to(secret)
    assert TreeShelf(tree).data("a.md") is None
    assert TreeShelf(tree).data("../secret.md") is None


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('# T\n\nA claim [src/cache.py:3 "TTL = 1"].\n', ["citation"]),
        ("# T\n\nA place [src/cache.py:99].\n", ["citation"]),
        ('# T\n\nA page [https://example.org/never "words"].\n', ["citation"]),
        ("# T\n\nSee [it](gone.md).\n\n## Empty\n", ["link", "empty-section"]),
        ("# T\n\nAs Table 9 shows.\n", ["reference"]),
        ("# T\n\nStart it on (localhost:8080) or example.org:443, at 10:30 (see src/cache.py:3).\n", []),
        (
            "# T\n\nRead [more](https://example.org/never).[^1]\n\n[^1]: A word of thanks.\n\n## Unreleased\n",
            [],
        ),
    ],
)
def test_every_changed_document_is_held_to_what_it_points_to_and_honest_ones_pass(
    text: str, codes: list[str]
) -> None:
    assert [row[1] for row in lint("a.md", library(text=text))] == codes


YEARS = b"id,year,name\n1,1840,Ann\n2,18,Bob\n3,unknown,Cid\n"


@every(
    ("year", "wrong"),
    [
        ({"type": "string", "pattern": "^([0-9]{4}|unknown)$"}, [2]),
        ({"pattern": "^([0-9]{4}|unknown)$"}, [2]),
        ({"enum": ["1840", "18", "unknown"]}, []),
        ({"type": ["string", "null"], "minLength": 3}, [2]),
        ({"type": "integer"}, [3]),
        ({"type": ["integer", "string"]}, []),
    ],
)
def test_a_cell_of_a_plain_table_is_text_where_the_schema_speaks_of_text(
    year: dict[str, object], wrong: list[int]
) -> None:
    shelf = Library(ListedShelf({"years.csv": YEARS}))
    rows = {"type": "object", "properties": {"year": year}}
    found = faults_of({"name": "x", "file": "years.csv", "row": rows}, shelf)
    assert [int(each.split(":")[0].removeprefix("row ")) for each in found] == wrong
    whole = faults_of({"name": "x", "file": "years.csv", "schema": {"type": "array", "items": rows}}, shelf)
    assert bool(whole) == bool(wrong)
