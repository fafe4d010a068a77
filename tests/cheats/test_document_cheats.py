"""Lies in documents and data, played on the gates with reviewers who approve everything. Each names what catches it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from agentforge.core.reply import Json
from agentforge.gates.change_kind import KindOfChange, claimed, red_for_kind
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.red import RedCase, prove_red
from agentforge.languages.documents.checks import SUFFIX
from agentforge.languages.documents.language import DOCUMENTS
from agentforge.languages.values import CheckRun
from tests.gates.bench_of_judges import Site, make_site
from tests.whole import papers

Files = Mapping[str, str | None]
OTHER = '# S\n\nKept for thirty minutes, it says.\nTwice said.\nAnd "kept for fourteen days" too.\n'
PAGE = "sources:\n  - {url: 'https://example.org/s', sha256: '00', file: s.html}\n"


@dataclass(frozen=True)
class Lie:
    """What is handed in, and what must be said of it."""

    name: str
    caught_by: str
    compose: Files = field(default_factory=lambda: {papers.REPORT: papers.ANSWER})
    demand: Files = field(default_factory=lambda: {papers.CHECKS: papers.DEMANDS})
    base: Files = field(default_factory=dict)


def said(old: str, new: str) -> dict[str, str | None]:
    assert old in papers.ANSWER
    return {papers.REPORT: papers.ANSWER.replace(old, new)}


def demanded(text: str) -> dict[str, str | None]:
    return {papers.CHECKS: "checks:\n" + text}


LIES = (
    Lie(
        "the quoted line does not say that",
        "does not say",
        said("kept for thirty minutes", "kept for sixty minutes"),
    ),
    Lie(
        "it cites itself",
        "is the text itself",
        said('policy/sessions.md:3 "kept for thirty', 'reports/sessions.md:9 "after the last request'),
    ),
    Lie(
        "it cites itself by another way",
        "is the text itself",
        said('policy/sessions.md:3 "kept for thirty', 'reports/./sessions.md:9 "after the last request'),
    ),
    Lie(
        "the citation is in a comment",
        "a paragraph cites nothing",
        said(
            '[policy/sessions.md:3 "kept for thirty minutes"]',
            '<!-- [policy/sessions.md:3 "kept for thirty minutes"] -->',
        ),
    ),
    Lie(
        "one place is cited as two",
        "1 citations hold",
        said(':4 "kept for fourteen days"', ':3 "kept for thirty minutes"'),
    ),
    Lie(
        "the number is in a comment",
        "does not say so",
        said("20,160 minutes", "<!-- 20,160 --> some minutes"),
    ),
    Lie(
        "the section is of letters without a shape",
        "is empty",
        said("The notes do not say who decided this.", "\u200b"),
    ),
    Lie("the line is beyond the file", "the file has 4 lines", said("sessions.md:3", "sessions.md:31")),
    Lie("the file does not exist", "no such file", said("policy/sessions.md:3", "policy/logins.md:3")),
    Lie(
        "the page was never fetched",
        "was never recorded",
        said("policy/sessions.md:3 ", "https://example.org/s "),
    ),
    Lie(
        "the number of the paper is made up",
        "is no DOI",
        said('policy/sessions.md:3 "kept for thirty minutes"', "doi:10/x"),
    ),
    Lie("a claim stands alone", "a paragraph cites nothing", said("minutes.[^1]", "minutes.")),
    Lie("the note is not there", "there is no note", said("[^1]: policy", "policy")),
    Lie("a section only has its heading", "is empty", said("The notes do not say who decided this.", "TBD")),
    Lie(
        "the page is filled",
        "has 9 words, and 30 are owed",
        {
            papers.REPORT: "# T\n\n## Question\n\n"
            + "How long is it? " * 50
            + "\n\n## Findings\n\nLong.\n\n## Open\n\nIt is nearly all.\n"
        },
    ),
    Lie("the number is not that of the data", "does not say so", said("20,160", "20,161")),
    Lie(
        "the data is bent to the number",
        "data/sessions.csv` is locked",
        {**said("20,160", "7"), "data/sessions.csv": "kind,minutes\na,7\n"},
    ),
    Lie(
        "the text edits its own checks",
        "is locked since RED and was changed",
        {papers.REPORT: "# T\n", papers.CHECKS: papers.DEMANDS.replace("min: 2, ", "")},
    ),
    Lie(
        "the text removes its own checks",
        "is locked since RED and was deleted",
        {papers.REPORT: "# T\n", papers.CHECKS: None},
    ),
    Lie(
        "a page is recorded by who cites it",
        "decides how tests run and changed",
        {papers.REPORT: papers.ANSWER, "sources/sources.yaml": PAGE},
    ),
    Lie(
        "code is changed beside the words",
        "is no document and no data",
        {papers.REPORT: papers.ANSWER, "tool.py": "x = 1\n"},
    ),
    Lie(
        "the settings of others are changed",
        "is no document and no data",
        {papers.REPORT: papers.ANSWER, ".github/workflows/ci.yml": "on: push\n"},
    ),
    Lie(
        "a check accepts everything",
        "it accepts words that say nothing",
        demand=demanded(
            "  - {name: answers-in-order, file: reports/sessions.md, words: {min: 1}}\n"
            "  - {name: findings-are-cited, file: reports/sessions.md, lacks: [zzz]}\n"
        ),
    ),
    Lie(
        "a check holds already",
        "passes already",
        demand=demanded(
            "  - {name: answers-in-order, file: policy/sessions.md, sections: [Sessions]}\n"
            "  - {name: findings-are-cited, file: reports/sessions.md, cites: {}}\n"
        ),
    ),
    Lie(
        "the text comes with the checks",
        "only tests may change in RED",
        demand={papers.CHECKS: papers.DEMANDS, papers.REPORT: papers.ANSWER},
    ),
    Lie(
        "a table is spoken of that is not there",
        "Table 4 is spoken of",
        said("The notes", "As Table 4 shows, the notes"),
        {
            papers.CHECKS: papers.DEMANDS.replace(
                "    words: {min: 30", "    references: true\n    words: {min: 30"
            )
        },
    ),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = make_site(tmp_path_factory.mktemp("desk"), papers.LIBRARY)
    runner = replace(
        made.runner, language=DOCUMENTS, command=("documents",), is_test=lambda path: path.endswith(SUFFIX)
    )
    return replace(made, runner=runner)


def tree_of(site: Site, files: Files, on: str) -> str:
    entries = {
        path: None if text is None else ("100644", site.git.hash_blob(text.encode()))
        for path, text in files.items()
    }
    return site.git.overlay_tree(on, entries)


def play(site: Site, lie: Lie) -> tuple[str, tuple[str, ...], Mapping[str, Json]]:
    """The gate that refuses it, or none; why; and the record."""
    runner = replace(site.runner, runs=[])
    baseline = runner.run(site.base)
    red_tree = tree_of(site, lie.demand, site.base)
    change = KindOfChange(runner, site.base, red_tree, papers.QUESTION, goal="research")
    case = RedCase(
        site.base,
        red_tree,
        papers.SUITE,
        papers.TITLE,
        same_author=False,
        request=papers.QUESTION,
        baseline=baseline,
    )
    case = red_for_kind(case, change)
    red = claimed(case, change, prove_red(runner, case))
    if red.status != "passed":
        return "red", red.reasons, red.record
    tree = tree_of(site, lie.compose, red_tree)
    change = KindOfChange(runner, site.base, tree, papers.QUESTION, red.record, goal="research")
    if (refused := change.refusal()) is not None:
        return "green", refused.reasons, refused.record
    none = CheckRun("ran")
    done = GreenCase(
        site.base, tree, red.record, papers.SUITE, baseline, frozenset(), none, none, request=papers.QUESTION
    )
    green = change.recorded(judge_green(runner, change.prepared(done)))
    return "" if green.status == "passed" else "green", green.reasons, green.record


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name.replace(" ", "-"))
def test_a_lie_in_a_document_is_caught_by_name(site: Site, lie: Lie) -> None:
    gate, reasons, _ = play(site, lie)
    assert gate, f"{lie.name} was delivered"
    assert any(lie.caught_by in reason for reason in reasons), reasons


def test_an_honest_report_is_delivered_with_nothing_to_rule_on(site: Site) -> None:
    gate, reasons, record = play(site, Lie("none", ""))
    assert (gate, reasons) == ("", ())
    assert record["flags"] == []
    assert record["kind"] == "new_behaviour"
    assert record["about"] == {
        f"{papers.CHECKS}::answers-in-order": "reading it",
        f"{papers.CHECKS}::findings-are-cited": "reading it",
    }


def test_an_honest_report_may_bring_pictures_tables_and_bibliographies(site: Site) -> None:
    more = {"reports/refs.bib": "@book{a}\n", "reports/plot.svg": "<svg/>\n", "reports/rows.csv": "a\n1\n"}
    assert play(site, Lie("none", "", {papers.REPORT: papers.ANSWER, **more}))[:2] == ("", ())


def test_a_source_that_the_same_change_wrote_or_bent_is_shown_to_whoever_reads_it(site: Site) -> None:
    policy = papers.LIBRARY["policy/sessions.md"]
    bent = {
        **said("kept for thirty", "kept for sixty"),
        "policy/sessions.md": policy.replace("thirty", "sixty"),
    }
    made = {
        **said('policy/sessions.md:3 "kept', 'notes/new.md:1 "kept'),
        "notes/new.md": "It is kept for thirty minutes.\n",
    }
    for files, cited in ((bent, "policy/sessions.md"), (made, "notes/new.md")):
        gate, _, record = play(site, Lie("own source", "", files))
        assert gate == ""
        assert f"cites `{cited}`, which the same change wrote or changed" in str(record["flags"])
