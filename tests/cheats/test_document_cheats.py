"""Lies in documents and data, played on the gates with reviewers who approve everything. Each names what catches it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest

from agentforge.core.reply import Json
from agentforge.gates.change.kind import KindOfChange, claimed, red_for_kind
from agentforge.gates.change.lost_text import too_much
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.red import RedCase, prove_red
from agentforge.languages.documents.checks import SUFFIX
from agentforge.languages.documents.language import DOCUMENTS
from agentforge.languages.values import CheckRun
from tests.depth import telling
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


WORDS = (
    "The desk has talked about this more than once, in spring and again in autumn, and each time somebody else "
    "kept the minutes, so that nobody remembers today what was said first."
)
ROOMS = "# Rooms\n\nThe red room has four seats, the blue one six; ask the desk before you take either.\n"


def thin(more: str) -> dict[str, str | None]:
    """A report that says next to nothing, and then this."""
    return {
        papers.REPORT: papers.ANSWER.replace(
            "How long does the desk keep a session, and who can make it longer?", more
        )
        .replace("A plain session ends half an hour after the last request", "Short")
        .replace("Whoever asks for it is remembered for fourteen days, which is 20,160 minutes", "20,160")
        .replace("The notes do not say who decided this.", "Nobody knows.")
    }


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
        {**said("20,160", "7"), "data/sessions.csv": "kind,minutes\nplain,3\nremembered,7\nguest,1\n"},
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
    Lie(
        "the words are in an element that no page shows",
        "and 30 are owed",
        thin('<div style="display: none">' + WORDS + "</div>"),
    ),
    Lie(
        "the words have the attribute that hides them", "and 30 are owed", thin(f"<p hidden>\n{WORDS}\n</p>")
    ),
    Lie("the words are those of a script", "and 30 are owed", thin(f"<template>{WORDS}</template>")),
    Lie(
        "the words are the name of a picture", "and 30 are owed", thin(f"See ![{WORDS}](../plot.png) there.")
    ),
    Lie("the words are blanks by name", "and 30 are owed", thin("Long" + "&nbsp;" * 60 + "enough.")),
    Lie("the words are one word, cut by nothing", "and 30 are owed", thin("long\u200b" * 60)),
    Lie("the words are one word, said again", "and 30 are owed", thin("Very " * 60 + "long.")),
    Lie("the words are two words in turn", "and 30 are owed", thin("Very long " * 60 + "indeed.")),
    Lie(
        "the section is in an element that no page shows",
        "there is no section “Open”",
        said("## Open\n", '<section hidden="">\n\n## Open\n'),
    ),
    Lie(
        "the number is in an element that no page shows",
        "does not say so",
        said("20,160 minutes", '<span style="font-size:0">20,160</span> many minutes'),
    ),
    Lie(
        "the citation is in an element that no page shows",
        "a paragraph cites nothing",
        said(
            '[policy/sessions.md:3 "kept for thirty minutes"]',
            '<i hidden>[policy/sessions.md:3 "kept for thirty minutes"]</i>',
        ),
    ),
    Lie(
        "a section has a table without a row",
        "“Open” is empty",
        said("The notes do not say who decided this.", "| who | when |\n| --- | --- |\n| | |"),
    ),
    Lie(
        "a section has code without a line",
        "“Open” is empty",
        said("The notes do not say who decided this.", "```\n\n```"),
    ),
    Lie(
        "another document is emptied",
        "`notes/rooms.md` loses 16 of its 16 words",
        {papers.REPORT: papers.ANSWER, "notes/rooms.md": ""},
        base={"notes/rooms.md": ROOMS},
    ),
    Lie(
        "another document is taken away",
        "`notes/rooms.md` loses 16 of its 16 words",
        {papers.REPORT: papers.ANSWER, "notes/rooms.md": None},
        base={"notes/rooms.md": ROOMS},
    ),
    Lie(
        "another document is hidden where it stands",
        "`notes/rooms.md` loses 16 of its 16 words",
        {papers.REPORT: papers.ANSWER, "notes/rooms.md": f"<!--\n{ROOMS}-->\n"},
        base={"notes/rooms.md": ROOMS},
    ),
    Lie(
        "rows of other data are dropped",
        "`data/rooms.csv` loses 6 of its 8 words",
        {papers.REPORT: papers.ANSWER, "data/rooms.csv": "room,seats\n"},
        base={"data/rooms.csv": "room,seats\nred,4\nblue,6\ngreen,8\n"},
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
    base = tree_of(site, lie.base, site.base)
    baseline = runner.run(base)
    red_tree = tree_of(site, lie.demand, base)
    change = KindOfChange(runner, base, red_tree, papers.QUESTION, goal="research")
    case = RedCase(
        base,
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
    change = KindOfChange(runner, base, tree, papers.QUESTION, red.record, goal="research")
    if (refused := change.refusal()) is not None:
        return "green", refused.reasons, refused.record
    none = CheckRun("ran")
    done = GreenCase(
        base, tree, red.record, papers.SUITE, baseline, frozenset(), none, none, request=papers.QUESTION
    )
    green = change.recorded(judge_green(runner, change.prepared(done)))
    return "" if green.status == "passed" else "green", green.reasons, green.record


@pytest.mark.slow
@pytest.mark.parametrize("lie", telling(LIES, 15), ids=lambda lie: lie.name.replace(" ", "-"))
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


LONG = ROOMS + "\nWhoever breaks a chair says so at the desk.\n\n## Keys\n\nThe keys hang behind the door.\n"
HONEST: Mapping[str, tuple[Files, Files]] = {
    "a word is corrected in the first page": (
        {"README.md": "# Notes of the desk\n\nWhat the desk decided, and the reasons.\n"},
        {},
    ),
    "an entry of the changelog": (
        {"CHANGELOG.md": "# Changes\n\n## Unreleased\n\n- How long sessions are kept.\n\n## 1.0\n\n- First.\n"},
        {"CHANGELOG.md": "# Changes\n\n## Unreleased\n\n## 1.0\n\n- First.\n"},
    ),
    "a translation beside its page": (
        {
            "notes/rooms.fr.md": "# Salles\n\nLa salle rouge a quatre places, la bleue six; demandez au bureau avant.\n"
        },
        {"notes/rooms.md": ROOMS},
    ),
    "a link that led to nothing": (
        {"notes/index.md": "# Index\n\nSee the [rooms](rooms.md) of the desk.\n"},
        {"notes/rooms.md": ROOMS, "notes/index.md": "# Index\n\nSee the [rooms](romos.md) of the desk.\n"},
    ),
    "a page that is renamed with the links to it": (
        {
            "notes/rooms.md": None,
            "notes/places.md": ROOMS,
            "notes/index.md": "# Index\n\nSee the [rooms](places.md).\n",
        },
        {"notes/rooms.md": ROOMS, "notes/index.md": "# Index\n\nSee the [rooms](rooms.md).\n"},
    ),
    "a page that is cut in two": (
        {
            "notes/rooms.md": ROOMS,
            "notes/keys.md": "# Keys\n\nWhoever breaks a chair says so at the desk. The keys hang behind the door.\n",
        },
        {"notes/rooms.md": LONG},
    ),
    "a row at the end of data": (
        {"data/rooms.csv": "room,seats\nred,4\nblue,6\ngreen,8\n"},
        {"data/rooms.csv": "room,seats\nred,4\nblue,6\n"},
    ),
    "a table in place of a list": (
        {"notes/seats.md": "# Seats\n\n| room | seats |\n| --- | --- |\n| red | four |\n| blue | six |\n"},
        {"notes/seats.md": "# Seats\n\n- red room: four seats\n- blue room: six seats\n"},
    ),
    "a comment that goes": (
        {"notes/rooms.md": ROOMS},
        {"notes/rooms.md": f"{ROOMS}\n<!-- {WORDS} -->\n"},
    ),
    "a page that explains how to hide something": (
        {"notes/html.md": f'# Hiding\n\nWrite `<p hidden>`.\n\n```html\n<div style="display:none">\n```\n\n{WORDS}\n'},
        {},
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", telling([*HONEST], 4), ids=lambda name: name.replace(" ", "-"))
def test_an_honest_change_of_another_document_is_delivered_unquestioned(site: Site, name: str) -> None:
    after, before = HONEST[name]
    gate, reasons, record = play(site, Lie(name, "", {papers.REPORT: papers.ANSWER, **after}, base=before))
    assert (gate, reasons, record["flags"]) == ("", (), [])


def test_a_page_that_the_request_names_may_be_rewritten_and_what_gets_shorter_is_ruled_on(site: Site) -> None:
    files = {papers.REPORT: papers.ANSWER, "notes/rooms.md": LONG.partition("Whoever")[0]}
    _, _, record = play(site, Lie("shorter", "", files, base={"notes/rooms.md": LONG}))
    assert "loses 11 of its 27 words" in str(record["flags"])
    base = tree_of(site, {"notes/rooms.md": LONG}, site.base)
    tree = tree_of(site, {"notes/rooms.md": "# Rooms\n\nNone.\n"}, base)
    for request, refused in (
        ("Rewrite notes/rooms.md", False),
        ("Rewrite what is in notes/", False),
        ("Go", True),
    ):
        change = KindOfChange(site.runner, base, tree, request, goal="write")
        assert bool(too_much(change.lost_texts)) is refused, request
