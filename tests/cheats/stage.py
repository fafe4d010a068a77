"""Cheats as data, and a stage to play them on: real gates, recorded trees, and reviewers who approve everything.

A cheat is what a model hands in to have a lie delivered: the repository it meets, what it writes as tests, as
code and after the last review. It is caught if a gate refuses it in the words of a named mechanism. Where that is
impossible in principle it is a known limit, and then a flag with these words stands in the record.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from agentforge.core.reply import Json
from agentforge.gates.change.delicate import delicate_paths
from agentforge.gates.change.kind import KindOfChange, claimed, red_for_kind
from agentforge.gates.change.named import NamedCase, named_flags
from agentforge.gates.change.words import not_words
from agentforge.gates.flags import Flag, shown_flags
from agentforge.gates.green import GreenCase, judge_green
from agentforge.gates.red import RedCase, prove_red
from agentforge.gates.suite.justified import unjustified
from agentforge.gates.verdict import Verdict
from agentforge.languages.outcomes import TestRun
from agentforge.languages.python.layout import test_globs as globs_of_tests
from agentforge.languages.table import DEFAULT
from agentforge.languages.values import CheckRun
from agentforge.sandbox.base import Sandbox
from agentforge.tools.paths import PathLimits
from tests.gates.bench_of_judges import QUICK, Site, make_site
from tests.whole.plays import NEW_TEST, REQUEST, RIGHT, SHOP, SOURCE, TEST

Lane = Literal["hotfix", "small", "full"]
How = Literal["refused", "flagged", "open"]
Files = Mapping[str, str | None]

FIXED = SHOP[SOURCE].replace("return price\n", f"{RIGHT}\n")
ID = f"{NEW_TEST}::test_ten_percent_off"
LIMIT_S = 20


def code(net: str = RIGHT, label: str = 'return f"{price} EUR"', top: str = "") -> dict[str, str]:
    """The shop's one module, with these bodies."""
    return {
        SOURCE: f'{top}def net(price: int, percent: int) -> int:\n    """The price without the discount."""\n'
        f"    {net}\n\n\ndef label(price: int) -> str:\n    {label}\n"
    }


@dataclass(frozen=True)
class Cheat:
    """What is handed in, and what must be said of it."""

    name: str
    caught_by: str
    """A pattern: what the refusal says, or the flag."""
    how: How = "refused"
    red: Files = field(default_factory=lambda: {NEW_TEST: TEST})
    green: Files = field(default_factory=lambda: {SOURCE: FIXED})
    later: Files = field(default_factory=dict)
    """What is written after the last review."""
    project: Files = field(default_factory=lambda: SHOP)
    """The repository it meets."""
    tests_in: str = "tests"
    base: Files = field(default_factory=dict)
    """What the repository has beside that."""
    tests: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {NEW_TEST: ("test_ten_percent_off",)}
    )
    guards: tuple[str, ...] = ()
    refs: Mapping[str, str] = field(default_factory=dict)
    """Tests that are about another requirement than the first."""
    supersedes: tuple[str, ...] = ()
    spec: Mapping[str, Json] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    """Paths that are no plain files, by git's mode."""
    request: str = REQUEST
    lane: Lane = "small"
    command: tuple[str, ...] = QUICK
    sneaks: Files = field(default_factory=dict)
    """What a later stage changes of the code, after GREEN: the full lane's refactoring."""

    @property
    def suite(self) -> dict[str, Json]:
        """The suite document."""
        files: list[Json] = [
            {
                "path": path,
                "tests": [
                    {
                        "name": name,
                        "requirement_ref": self.refs.get(name, "REQ-001"),
                        **({"guard": True} if name in self.guards else {}),
                    }
                    for name in names
                ],
            }
            for path, names in self.tests.items()
        ]
        given_up: list[Json] = [
            {"id": identity, "reason": "it says what was true before", "requirement_ref": "REQ-001"}
            for identity in self.supersedes
        ]
        return {"test_files": files, **({"supersedes": given_up} if given_up else {})}

    @property
    def specification(self) -> dict[str, Json]:
        """The specification document."""
        requirement: Json = {
            "id": "REQ-001",
            "description": "the discount is off",
            "acceptance_criteria": ["90"],
        }
        return {"requirements": [requirement], "files_to_modify": [SOURCE], **self.spec}


@dataclass(frozen=True)
class Ended:
    """How a play ended: refused by a gate, or delivered, and with which flags."""

    gate: str
    """Empty: it was delivered."""
    reasons: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def said(self) -> str:
        return "\n".join([*self.reasons, *(flag.line for flag in self.flags)])

    def is_caught(self, cheat: Cheat) -> bool:
        """Whether the named mechanism caught it."""
        lines = self.reasons if cheat.how == "refused" else [flag.line for flag in self.flags]
        return bool(self.gate) == (cheat.how == "refused") and any(
            re.search(cheat.caught_by, line) for line in lines
        )


class Stage:
    """Where cheats are played. A repository is made once for all who meet the same one."""

    def __init__(self, folder: Path, environment: Path | None = None, sandbox: Sandbox | None = None) -> None:
        self._folder = folder
        self._environment, self._sandbox = environment, sandbox
        self._sites: dict[tuple[object, ...], tuple[Site, TestRun]] = {}

    def play(self, cheat: Cheat) -> Ended:
        """The cheat before the gates, as the engine would ask them."""
        site, baseline = self._site({**cheat.project, **cheat.base}, cheat.command, cheat.tests_in)
        site.runner.runs.clear()
        red_tree = _tree(site, cheat.red, site.base, cheat.modes)
        tree = _tree(site, cheat.green, red_tree, cheat.modes)
        red = _red(site, cheat, baseline, tree if cheat.lane == "hotfix" else red_tree)
        if red.status != "passed":
            return Ended("red", red.reasons)
        if ids := unjustified(site.runner, cheat.suite, cheat.request, red_tree):
            return Ended("red", tuple(f"question: may {identity} be given up?" for identity in ids))
        records: dict[str, Mapping[str, Json]] = {"red": red.record}
        for judged in dict.fromkeys((tree, _tree(site, cheat.sneaks, tree, cheat.modes))):
            green = _green(site, cheat, baseline, red, judged)
            if green.status != "passed":
                return Ended("green", green.reasons)
            records["green"], tree = green.record, judged
        handed_over = _tree(site, cheat.later, tree, cheat.modes)
        if unread := not_words(site.git, tree, handed_over):
            return Ended("delivery", tuple(f"`{path}` changed after the last review" for path in unread))
        return Ended("", (), (*shown_flags(records), *_named(site, cheat, handed_over)))

    def _site(self, files: Files, command: tuple[str, ...], tests_in: str) -> tuple[Site, TestRun]:
        key = (*sorted(files.items()), command)
        if key not in self._sites:
            present = {path: text for path, text in files.items() if text is not None}
            place = self._folder / str(len(self._sites))
            place.mkdir()
            site = make_site(place, present, anew=True)
            root = "src" if any(path.startswith("src/") for path in files) else "."
            limits = PathLimits.compile({"create_file": "{tests}"}, globs_of_tests((tests_in,)), ())
            env = replace(site.runner.env, import_roots=(root,))
            if self._environment is not None:
                env = replace(env, path=self._environment, program=self._environment / "bin/python")
            runner = replace(
                site.runner,
                env=env,
                sandbox=self._sandbox or site.runner.sandbox,
                command=command,
                timeout_s=LIMIT_S,
                is_test=lambda path: limits.allows("create_file", path) is None,
            )
            self._sites[key] = (replace(site, runner=runner), runner.run(site.base))
        return self._sites[key]


def _red(site: Site, cheat: Cheat, baseline: TestRun, tree: str) -> Verdict:
    change = KindOfChange(site.runner, site.base, tree, cheat.request)
    case = RedCase(
        site.base,
        tree,
        cheat.suite,
        cheat.specification,
        same_author=cheat.lane == "hotfix",
        request=cheat.request,
        old=frozenset(baseline.results),
        baseline=baseline,
    )
    case = red_for_kind(case, change)
    return claimed(case, change, prove_red(site.runner, case))


def _green(site: Site, cheat: Cheat, baseline: TestRun, red: Verdict, tree: str) -> Verdict:
    change = KindOfChange(site.runner, site.base, tree, cheat.request, red.record)
    if (refused := change.refusal()) is not None:
        return refused
    none = CheckRun("not_configured")
    case = GreenCase(
        site.base,
        tree,
        red.record,
        cheat.suite,
        baseline,
        frozenset(),
        none,
        none,
        request=cheat.request,
    )
    return change.recorded(judge_green(site.runner, change.prepared(case)))


def _named(site: Site, cheat: Cheat, tree: str) -> Iterator[Flag]:
    is_test = site.runner.is_test
    yield from named_flags(
        NamedCase(
            site.git, site.base, tree, is_test, DEFAULT, cheat.specification, cheat.suite, cheat.request
        )
    )
    for path, why in delicate_paths(site.git, site.base, tree, is_test).items():
        yield Flag(path, f"delicate, and read for security once more: {why}")


def _tree(site: Site, files: Files, on: str, modes: Mapping[str, str]) -> str:
    entries = {
        path: None
        if text is None
        else (
            modes.get(path, "100644"),
            text if modes.get(path) == "160000" else site.git.hash_blob(text.encode()),
        )
        for path, text in files.items()
    }
    return site.git.overlay_tree(on, entries) if entries else on
