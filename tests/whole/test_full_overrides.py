"""A project's own catalogue: what it may change, what it may not, what its line leaves out, and what no role
can do.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentforge.catalog.load import Catalog
from agentforge.catalog.roles import RESERVED_TOOLS
from agentforge.core.errors import UsageError
from agentforge.tools.base import WRITING_TOOLS
from agentforge.tools.bridge import TOOLS
from tests.depth import telling
from tests.whole.checkouts import differences, photograph
from tests.whole.full_plays import (
    EVERY_ROLE,
    READER,
    SECURITY,
    ambiguity,
    analyze,
    answer,
    approves,
    blocks,
    clarify,
    deliver,
    evidence,
    final,
    intake,
    newest,
    open_points,
    refactor,
    spec,
    start,
    steps,
)
from tests.whole.plays import (
    BUILT,
    FIX,
    FRAMED,
    NEW_TEST,
    OLD_TEST,
    SOURCE,
    TEST,
    Entry,
    Expected,
    Play,
    ask,
    asked,
    create,
    edit,
    examine,
    finished,
    green,
    red,
    say,
)

AGENT = ".agentforge/agents/software_developer.yaml"
IMPLEMENT = ".agentforge/pipelines/implement.yaml"
CONFIG = ".agentforge/orchestration/stage_config.yaml"
TICKET = ".agentforge/contracts/specification.yaml"
CATALOG = Catalog.packaged()

PROJECT = {
    AGENT: """\
extends: "agentforge:software_developer"
capabilities:
  tools:
    allowed: [read_file, search_codebase, edit_file, run_tests]
    path_constraints: {edit_file: "!{tests}, !shop/__init__.py"}
+constraints:
  - Say the unit of every amount.
""",
    ".agentforge/agents/surveyor.yaml": """\
agent: {role: surveyor, version: "2.1", display_name: Surveyor, tier: classification}
identity:
  description: |
    You know the shops that this library is used in. You tell who calls what will change, and whether they have
    to be told before it does. You never change anything yourself.
  expertise: [Callers, Contracts with customers, Words that they understand]
  thinking_style: You think of the person who opens the shop in the morning and finds other prices.
capabilities:
  tools:
    allowed: [read_file, search_codebase]
    forbidden: [create_file, edit_file, delete_file]
  output:
    contract: survey
    must_verify: [paths_are_relative]
constraints:
  - Name every caller.
orchestration: {stage: survey, receives_from: [software_architect], hands_off_to: [software_architect]}
""",
    ".agentforge/contracts/survey.yaml": """\
contract: survey
version: "1.0"
description: Who calls what will change.
schema:
  callers:
    type: array
    required: true
    min_items: 1
    items: {type: string, min_length: 1}
  told:
    type: string
    required: true
    enum: [before, after, never]
validation: []
""",
    ".agentforge/stages/survey.yaml": """\
name: survey
description: Who calls what will change.
role: surveyor
produces: [{contract: survey, phase: analyze}]
requires: [analysis]
gates: [contracts]
prompt: Name the callers of what will change.
""",
    ".agentforge/stages/own_green.yaml": """\
extends: "agentforge:green"
name: own_green
max_steps: 7
requires: [specification, test_suite, survey]
""",
    TICKET: """\
extends: "agentforge:specification"
schema:
  ticket: {type: string, required: true, pattern: '^SHOP-[0-9]+$', description: The ticket of this change}
""",
    IMPLEMENT: """\
extends: "agentforge:implement"
pipeline:
  lanes:
    full:
      insert_after:
        analyze: {name: survey, required: true}
      replace:
        green: {name: own_green}
""",
    CONFIG: """\
stages:
  red:
    reviewers: [reviewer]
    review_mode: advisory
  spec:
    +reviewers: [reviewer]
""",
}
UNCOMMITTED = {
    AGENT: PROJECT[AGENT] + "  - Sing while you work.\n",
    TICKET: PROJECT[TICKET].replace("SHOP", "OTHER"),
    IMPLEMENT: 'extends: "agentforge:implement"\n',
    CONFIG: "stages: {}\n",
}


THOUGHT = "The secret way I went about it"
ALONE: tuple[Expected, ...] = ("The whole change", "return price - price", "no regression", {"not": THOUGHT})


def hands_in(stage: str, contract: str, artifact: dict[str, Any], expects: tuple[str, ...] = ()) -> Entry:
    return say(stage, artifacts={contract: artifact}, signal="success", expects=expects)


def overridden() -> list[Entry]:
    """The line of this project, in which each override is met once."""
    survey = {"callers": ["the till"], "told": "before"}
    specification = {**FRAMED["specification"], "ticket": "SHOP-7"}
    return [
        intake(complexity="trivial"),
        analyze(),
        hands_in(
            "survey",
            "survey",
            {"callers": [], "told": "later"},
            ("Surveyor", "Name every caller", "impacted_files"),
        ),
        hands_in(
            "survey",
            "survey",
            survey,
            ("callers: a list of 0 does not fit", "told: 'later' does not fit; it is one of before"),
        ),
        spec(expects=("The ticket of this change",)),
        hands_in(
            "spec",
            "specification",
            {**specification, "ticket": "7"},
            (r"ticket: is missing; it is text matching \^SHOP-\[0-9\]\+\$",),
        ),
        hands_in("spec", "specification", specification, ("ticket: '7' does not fit; it is text matching",)),
        approves("spec", SECURITY),
        approves("spec", READER, expects=("SHOP-7",)),
        say("red", create(AGENT, UNCOMMITTED[AGENT])),
        thinking(red(expects=(f"`{AGENT}` is never written by a tool",))),
        blocks("red", READER, "One test is few.", expects=("test_ten_percent_off", {"not": THOUGHT})),
        say(
            "own_green",
            {"name": "delete_file", "args": {"path": SOURCE}},
            expects=("Say the unit of every amount", {"not": "Sing while"}, "the till"),
        ),
        say(
            "own_green",
            edit("shop/__init__.py", "", "x = 1\n"),
            expects=("delete_file is not for software_developer; allowed: read_file",),
        ),
        thinking(
            say(
                "own_green",
                FIX,
                artifacts=BUILT,
                signal="success",
                expects=("`shop/__init__.py` is closed to this role by `!shop/__init__.py`",),
            )
        ),
        # Nobody refactors a trivial change; two read it all the same, and neither sees what the author or the
        # other thought.
        approves("refactor", SECURITY, "Bound it.", expects=(*ALONE, {"not": "REV-"})),
        approves("refactor", READER, "Name it.", expects=(*ALONE, {"not": "Bound it"})),
    ]


def thinking(entry: Entry) -> Entry:
    return {**entry, "reply": {**entry["reply"], "thought": THOUGHT, "notes": THOUGHT}}


@pytest.mark.slow
def test_a_project_has_its_own_catalogue_as_committed_and_its_clear_and_trivial_change_is_only_read(
    play: Play,
) -> None:
    person, entries = play.person, overridden()
    person.write(PROJECT)
    person.commit_all()
    person.write(UNCOMMITTED)
    shown = person.run("pipelines", "show", "implement", "--lane", "full", "--json")
    (lane,) = shown.data["lanes"]
    assert [stage["name"] for stage in lane["stages"]] == [
        *("intake", "clarify", "analyze", "survey", "spec", "red", "own_green", "refactor", "deliver")
    ]
    assert next(stage["max_steps"] for stage in lane["stages"] if stage["name"] == "own_green") == 7
    assert f"not committed, so not used: {', '.join(sorted(UNCOMMITTED))}" in shown.err
    data = finished(play.start(*entries, lane="full"))
    assert data["cost"]["calls"] == len(entries)
    assert final(play.top, "analyze", "survey") == {"callers": ["the till"], "told": "before"}
    assert final(play.top, "spec", "specification")["ticket"] == "SHOP-7"
    _neither_clarified_nor_refactored(play.top)
    assert "skipped" in person.run("status", data["task_id"]).out
    changed = person.git("diff", "--name-only", data["base"], data["branch"]).splitlines()
    assert sorted(changed) == [SOURCE, NEW_TEST]
    verified = person.run("verify", data["task_id"])
    assert verified.code == 0, verified.said


def _neither_clarified_nor_refactored(top: Path) -> None:
    proof = evidence(top)
    assert proof["skipped"] == {
        "clarify": "no_ambiguities",
        "refactor": "nothing_worse, trivial_change",
        "deliver": "no_changelog",
    }
    assert final(top, "clarify", "clarification")["derived"] is True
    implementation = final(top, "refactor", "implementation")
    assert (implementation["derived"], implementation["verification"]["reused"]) == (True, True)
    assert not {step["agent"]["role"] for step in steps(top)} & {"business_analyst", "senior_developer"}
    assert proof["panels"]["red"]["mode"] == "advisory"
    points = "\n".join(open_points(top))
    for part in ("clarify was skipped", "refactor was skipped", "One test is few.", "Bound it.", "Name it."):
        assert part in points, part


# ------------------------------------------------------------------ what may not be changed

IMPLEMENTS = 'extends: "agentforge:implement"\npipeline:\n  lanes:\n    full:\n'
DEVELOPER = 'extends: "agentforge:software_developer"\n'
LOOSE: tuple[tuple[str, str, str], ...] = (
    (
        AGENT,
        f"{DEVELOPER}capabilities:\n  tools:\n    forbidden: [deploy]\n",
        ":4: capabilities.tools.forbidden: drops the forbidden tool commit",
    ),
    (
        AGENT,
        f"{DEVELOPER}capabilities:\n  tools:\n    +allowed: [commit]\n",
        ":4: capabilities.tools.+allowed[0]: commit is both allowed",
    ),
    (
        AGENT,
        f'{DEVELOPER}capabilities:\n  tools:\n    path_constraints:\n      edit_file: "**"\n',
        ":4: capabilities.tools.path_constraints: drops the path limit !{tests} of edit_file",
    ),
    (
        AGENT,
        f"{DEVELOPER}capabilities:\n  output:\n    must_verify: [all_tests_pass]\n",
        ":4: capabilities.output.must_verify: drops ",
    ),
    (
        TICKET,
        'extends: "agentforge:specification"\nschema:\n  title: {required: false}\n',
        ":3: schema.title.required: drops what the base",
    ),
    (
        TICKET,
        'extends: "agentforge:specification"\nschema:\n  title: {max_length: 900}\n',
        ":3: schema.title.max_length: asks for less than 100",
    ),
    (
        TICKET,
        'extends: "agentforge:specification"\nvalidation: [files_exist]\n',
        ":2: validation: drops the rule requirement_ids_unique",
    ),
    (
        ".agentforge/stages/green.yaml",
        'extends: "agentforge:green"\ngates: [contracts]\n',
        ":2: gates: drops the gate green",
    ),
    (".agentforge/stages/spec.yaml", 'extends: "agentforge:spec"\nskip_if: always\n', ":2: skip_if: "),
    (
        IMPLEMENT,
        f"{IMPLEMENTS}      remove: [red]\n",
        ":5: pipeline.lanes.full.remove: red is",
    ),
    (
        IMPLEMENT,
        f"{IMPLEMENTS}      replace:\n        spec: {{name: spec, reviewers: [reviewer]}}\n",
        (
            ":6: pipeline.lanes.full.replace.spec.reviewers[0]: lane full: spec: reviewers: drops the "
            "blocking reviewer"
        ),
    ),
    (
        CONFIG,
        "stages:\n  refactor:\n    reviewers: [reviewer]\n",
        ":3: stages.refactor.reviewers: drops the blocking reviewer security_architect",
    ),
    (
        CONFIG,
        "stages:\n  green:\n    primary: maintainer\n",
        ":3: stages.green.primary: maintainer drops the path limit !{tests}",
    ),
    (
        AGENT,
        "extends: software_developer\n",
        ":1: extends: circular extends in agents: software_developer -> software_developer",
    ),
)


@pytest.mark.slow
def test_each_loosening_is_refused_before_a_task_exists_with_file_line_and_key(play: Play) -> None:
    play.person.scripted()
    for path, text, said in LOOSE:
        with pytest.raises(UsageError) as caught:
            Catalog.packaged().with_overrides({path: text}).resolve("implement", "full")
        assert f"{path}{said}" in str(caught.value)
    for path, text, said in telling(LOOSE, 2):  # the command says the same words
        play.person.write({path: text})
        play.person.commit_all()
        done = play.with_model(f"scripted:{play.person.script}", lane="full")
        assert (done.code, f"{path}{said}" in done.err) == (2, True), done.said
        (play.top / path).unlink()
    play.person.commit_all()
    assert not (play.top / ".agentforge/tasks").exists()
    asked(play.start(ask("intake"), lane="full"))  # what was taken back counts no more


# ------------------------------------------------------------------ what no role can do


def trial(stage: str, number: int, *actions: dict[str, Any]) -> Entry:
    """A reply that looks for something new and then tries; the search keeps a row of refusals from ending the
    attempt.
    """
    return say(stage, {"name": "search_codebase", "args": {"pattern": f"{stage}{number}"}}, *actions)


def tries(right: Entry, role: str, *writes: tuple[dict[str, Any], str]) -> Iterator[Entry]:
    """Every tool that is not this role's, then these writes; one write to a reply, because a refused one
    stops those after it.
    """
    # A reviewer has few steps; that no role without them gets the tools made of others is held for each of
    # them alone.
    composed = frozenset({"apply_patch", "move_file"})  # made of acts that plain tools are limited in
    spared = composed if "role" in right else frozenset()
    foreign = sorted({*TOOLS, *RESERVED_TOOLS} - set(CATALOG.role(role).allowed) - spared)
    seat = {"role": right["role"]} if "role" in right else {}
    writing = WRITING_TOOLS | composed
    harmless = [name for name in foreign if name not in writing]
    attempts: list[tuple[list[dict[str, Any]], list[str]]] = [
        ([{"name": name, "args": {}}], [f"{name} is not for {role}; allowed: [a-z]"])
        for name in foreign
        if name in writing
    ]
    attempts[0][0][:0] = [{"name": name, "args": {}} for name in harmless]
    attempts[0][1].extend(f"{name} is not for {role}; allowed: [a-z]" for name in harmless)
    # That no role gets any of them by any tool is held for each by itself; a task shows some.
    attempts = [*telling(attempts, 2), *(([action], [told]) for action, told in telling(writes, 5))]
    told: list[str] = []
    for number, (actions, expected) in enumerate(attempts):
        yield {**trial(right["stage"], number, *actions), **seat, "expects": told}
        told = expected
    yield {**right, "expects": told}


def writing(path: str, told: str, *tools: str) -> list[tuple[dict[str, Any], str]]:
    """One path by every one of these tools, and the pattern of what is said about it."""
    calls = {
        "create_file": create(path, "x\n"),
        "edit_file": edit(path, "x", "y"),
        "delete_file": {"name": "delete_file", "args": {"path": path}},
    }
    return [(calls[tool], f"^- {tool} {re.escape(path)}: .*{re.escape(told)}") for tool in tools or calls]


def closed_everywhere(outside: Path, *tools: str) -> list[tuple[dict[str, Any], str]]:
    """Paths that no role may write."""
    return [
        *writing("../outside.md", "the path '../outside.md' leads outside of the repository", *tools),
        *writing(f"{outside}", "is not relative to the repository", *tools),
        *writing("link.md", "the path 'link.md' is a link that leads outside of the repository", *tools),
        *writing(".git/config", "the path '.git/config' leads into `.git`", *tools),
        *writing(
            ".agentforge/agents/reviewer.yaml",
            "`.agentforge/agents/reviewer.yaml` is never written by a tool",
            *tools,
        ),
    ]


def trespassing(outside: Path) -> Iterator[Entry]:
    """The roles up to a test that stands, each with what it may not do."""
    yield from tries(intake(ambiguity("Up or down?", "minor")), "requirements_analyst")
    yield from tries(clarify(answer("Up or down?", "Down.", 50)), "business_analyst")
    yield from tries(analyze(), "software_architect")
    yield from tries(spec(), "software_architect")
    yield from tries(approves("spec", SECURITY), "security_architect")
    yield from tries(
        red(),
        "test_engineer",
        *writing("shop/new.py", "`shop/new.py` is outside what this role may write: tests/**", "create_file"),
        *writing(OLD_TEST, "exists", "create_file"),
        *closed_everywhere(outside, "create_file"),
    )


OLD_IS_CLOSED = f"`{OLD_TEST}` is closed to this role by `!tests/**"


def developing(right: Entry, outside: Path) -> Iterator[Entry]:
    return tries(
        right,
        "software_developer",
        *writing(NEW_TEST, f"`{NEW_TEST}` is locked since RED"),
        *writing(OLD_TEST, OLD_IS_CLOSED),
        *writing("tests/conftest.py", "`tests/conftest.py` is closed to this role by `!tests/**"),
        *closed_everywhere(outside),
    )


def finishing() -> Iterator[Entry]:
    """The roles after the developer."""
    notes = {"name": "create_release_notes", "args": {"text": "x", "path": SOURCE}}
    beyond = {"name": "create_release_notes", "args": {"text": "x", "path": "../outside.md"}}
    locked = writing(NEW_TEST, f"`{NEW_TEST}` is locked since RED")
    yield from tries(refactor(), "senior_developer", *locked, *writing(OLD_TEST, OLD_IS_CLOSED))
    yield from tries(approves("refactor", SECURITY), "security_architect")
    yield from tries(approves("refactor", READER), "reviewer")
    yield examine()
    yield from tries(
        deliver(),
        "devops_engineer",
        *writing(
            "shop/new.txt", "`shop/new.txt` is outside what this role may write: docs/**", "create_file"
        ),
        *writing("tests/new.md", "`tests/new.md` is closed to this role by `!tests/**", "create_file"),
        *writing("../outside.md", "leads outside of the repository", "create_file"),
        (notes, re.escape(f"`{SOURCE}` is no release notes; this tool changes nothing else")),
        (beyond, r"^- create_release_notes \.\./outside\.md: the path '\.\./outside\.md' leads outside"),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "whole", telling((False, True), 1), ids=lambda whole: "to a branch" if whole else "up to a question"
)
def test_no_role_gets_a_tool_or_a_path_that_is_not_its_own_by_any_writing_tool(
    play: Play, tmp_path: Path, *, whole: bool
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("x\n")
    (play.top / "link.md").symlink_to(outside)
    play.person.write(EVERY_ROLE)
    play.person.commit_all()
    before = photograph(play.top)
    builds = [*developing(green(), outside), *finishing()] if whole else [*developing(ask("green"), outside)]
    entries = [*trespassing(outside), *builds]
    done = start(play, *entries, words=("--lane", "full", "--mode", "heavy"))
    assert (done.code, done.data["cost"]["calls"]) == (0 if whole else 3, len(entries)), done.said
    assert differences(before, photograph(play.top)) == []
    assert outside.read_text() == "x\n"
    worktree = play.person.worktree(done.data["task_id"])
    found = {path.relative_to(worktree): path for path in worktree.rglob("*") if path.is_file()}
    files = {name.as_posix(): path for name, path in found.items() if name.parts[0] != ".git"}
    theirs = {name: play.top / name for name in play.person.git("ls-files").splitlines()}
    changed = {
        name
        for name, path in files.items()
        if name not in theirs or path.read_bytes() != theirs[name].read_bytes()
    }
    assert changed == ({SOURCE, NEW_TEST} if whole else {NEW_TEST})
    assert files[NEW_TEST].read_text() == TEST
    patches = [*(newest(play.top) / "artifacts/snapshots").iterdir()]
    assert len(patches) == len(changed), "nothing else was ever written"
