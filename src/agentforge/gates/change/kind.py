"""A change before the gates, by its kind: what it is shown to be, whether that will do, and what each kind
owes beside the suite.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from agentforge.core.kinds import IN_WORDS, ProofKind
from agentforge.core.reply import Json
from agentforge.core.values import Escalation, Question, agrees
from agentforge.gates.change.kinds import (
    BY_CHECKS,
    UNKNOWN,
    WITHOUT_SUITE,
    Allowed,
    ChangedFile,
    allowed_kind,
    changed_files,
    failed_before,
    kind_flags,
    kind_of,
    kind_question,
    not_asked_yet,
    proved_as,
    too_weak,
)
from agentforge.gates.change.lost_text import (
    LostText,
    lost_text_about,
    lost_text_flags,
    lost_text_question,
    lost_text_reasons,
    lost_texts,
    too_much,
)
from agentforge.gates.change.same_behaviour import (
    NameChanges,
    lost_about,
    lost_question,
    lost_reasons,
    not_tested,
)
from agentforge.gates.change.shadows import is_named
from agentforge.gates.change.tests_only import prove_new_tests
from agentforge.gates.flags import Flag
from agentforge.gates.green import GreenCase
from agentforge.gates.red import MAX_REASONS, NO_TEST, NOTHING_FAILS, RedCase, declared_tests
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.gates.verdict import Verdict
from agentforge.languages.table import is_source

FED_BACK = 1
"""How often a role hears that its change shows too little, before a person is asked."""


@dataclass(frozen=True)
class KindOfChange:
    """A change, what it is shown to be, and what the request asks for."""

    runner: PristineRunner
    base: str
    tree: str
    request: str
    red: Mapping[str, Json] = field(default_factory=dict)
    """The record of RED."""
    escalations: tuple[Escalation, ...] = ()
    """What persons were asked, and answered."""
    goal: str = ""
    """The goal of the pipeline, where that says the kind."""

    @cached_property
    def allowed(self) -> Allowed:
        """The weakest kind of proof that the request, an answer or the goal allows."""
        return allowed_kind(self.request, self.escalations, self.goal)

    @cached_property
    def files(self) -> Sequence[ChangedFile]:
        """The files that differ from the base."""
        return changed_files(self.runner, self.base, self.tree)

    @cached_property
    def kind(self) -> ProofKind:
        """What the diff says that it is. A test of a new name is none of new behaviour."""
        found = kind_of(self.files, red=failed_before(self.red), runs_code=self.runner.language.runs_code)
        if (
            self.allowed.asked.form
            and found == "no_code"
            and any(file.kind == "comment" for file in self.files)
        ):
            return "same_behaviour"  # another layout of the same program is what was asked for
        return "same_behaviour" if found == "new_behaviour" and self.names.is_all else found

    @cached_property
    def names(self) -> NameChanges:
        """The public names that the change removes, adds or renames."""
        asked = self.allowed.asked
        return NameChanges(self.runner, self.base, self.tree, self.files, self.request, asked.dead_code)

    @cached_property
    def lost_texts(self) -> tuple[LostText, ...]:
        """What documents and data lose, where these are what the change is about."""
        if self.runner.language.runs_code and self.kind != "no_code":
            return ()
        git = self.runner.workspace.git
        return lost_texts(git, self.base, self.tree, self.files, self.request)

    @cached_property
    def base_tests(self) -> str:
        """The tree that old tests are taken from."""
        return self.names.base_with_renames() if self.renames_count else self.base

    @property
    def renames_count(self) -> bool:
        """Whether the request may be one for a rename, which new behaviour alone is not."""
        return self.allowed.kind != "new_behaviour"

    def refusal(self) -> Verdict | None:
        """Why this change does not do, before anything is run; a person may be asked."""
        if not self.files:
            return Verdict("failed", ("nothing has changed; make the change that the request asks for",), {})
        if not self.runner.language.runs_code and (wrong := self._beyond_documents()):
            return Verdict("failed", tuple(wrong[:MAX_REASONS]), {"kind": self.kind, "runs": []})
        emptied = too_much(self.lost_texts)
        if emptied and not self._agreed(lost_text_about(emptied)):
            return self._refused(lost_text_reasons(emptied), lost_text_question(emptied))
        if reasons := too_weak(self.kind, self.allowed):
            return self._refused(reasons, kind_question(self.kind, self.allowed.kind))
        lost = self.names.lost if self.kind == "same_behaviour" else []
        if lost and not self._agreed(lost_about(lost)):
            return self._refused(lost_reasons(lost), lost_question(lost))
        return None

    def _beyond_documents(self) -> list[str]:
        """What changed although nothing that is run here says anything about it."""
        return [
            f"`{file.path}` is no document and no data, and nothing here tests it; take that back"
            for file in self.files
            if (is_source(file.path) and file.kind != "test")
            or (file.kind in ("ci", "settings") and not is_named([file.path], self.request))
        ]

    def prepared(self, case: GreenCase) -> GreenCase:
        """The case of GREEN, with what this kind lets change."""
        if failed_before(self.red) and not self.allowed.asked.settings:
            return replace(case, base_tests=self.base_tests)
        settings = self.allowed.asked.settings
        return replace(case, base_tests=self.base_tests, may_change="settings" if settings else "fixtures")

    def recorded(self, verdict: Verdict) -> Verdict:
        """The verdict with the kind in its record, and what a reader should know of it."""
        flags = kind_flags(self.kind, self.allowed, self.files)
        if verdict.status == "passed":
            flags += lost_text_flags(self.lost_texts)
        if self.kind == "same_behaviour" and verdict.status == "passed":
            old_tests = str(verdict.record["old_tests_tree"])
            flags += self.names.flags()
            flags += not_tested(self.runner, self.base, self.tree, old_tests)
        if not self.runner.language.runs_code and verdict.status == "passed":
            flags += self._own_sources()
        return replace(verdict, record={**verdict.record, **self._record(flags, verdict.record)})

    def _own_sources(self) -> list[Flag]:
        """Documents that cite a place which the same change wrote: it says whatever is wanted of it."""
        paths = [file.path for file in self.files]
        git = self.runner.workspace.git
        documents = [file.path for file in self.files if file.kind == "document"]
        blobs = {path: git.read_blob(self.tree, path) for path in documents}
        return [
            Flag(path, f"cites `{cited}`, which the same change wrote or changed", ruling=True)
            for path, data in blobs.items()
            for cited in paths
            if cited != path
            and re.search(rf"(?<![\w/.-]){re.escape(cited)}:\d", (data or b"").decode("utf-8", "replace"))
        ]

    def _record(self, flags: list[Flag], record: dict[str, Json]) -> dict[str, Json]:
        old = record.get("flags")
        names, modules = self.names.renames if self.renames_count else ({}, {})
        more: dict[str, Json] = {"renames": {**names, **modules}} if names or modules else {}
        return {
            "kind": self.kind,
            "asked": {"kind": self.allowed.asked.kind, "allowed": self.allowed.kind, "why": self.allowed.why},
            "proved_as": self._proved_as(no_suite=bool(record.get("no_suite"))),
            "base_tests_tree": self.base_tests,
            "flags": [*(old if isinstance(old, list) else []), *(flag.to_json() for flag in flags)],
            **more,
        }

    def _proved_as(self, *, no_suite: bool) -> str:
        if self.kind == "new_behaviour" and not self.runner.language.runs_code:
            return BY_CHECKS
        return proved_as(self.kind, WITHOUT_SUITE if no_suite else self._by())

    def _by(self) -> str:
        names, modules = self.names.renames if self.renames_count else ({}, {})
        if self.kind == "same_behaviour" and (names or modules):
            told = ", ".join(f"{old} → {new}" for old, new in {**modules, **names}.items())
            return f"the base's own tests with the same rename ({told}), which say the same of the new code"
        return ""

    def _refused(self, reasons: list[str], question: Question) -> Verdict:
        asks = question if not_asked_yet(question, self.escalations) else None
        record: dict[str, Json] = {"kind": self.kind, "runs": []}
        return Verdict("failed", tuple(reasons[:10]), record, asks, ask_after=FED_BACK)

    def _agreed(self, about: tuple[str, ...]) -> bool:
        return any(
            set(about) <= set(item.question.about) and agrees(item.answer or "") for item in self.escalations
        )


def red_for_kind(case: RedCase, change: KindOfChange) -> RedCase:
    """The case of RED, with what the request asks for."""
    if change.allowed.kind == "new_behaviour":
        return case
    return replace(case, owes_failing=False, base_tests=change.names.base_with_renames(moved=True))


def claimed(case: RedCase, change: KindOfChange, verdict: Verdict) -> Verdict:
    """The verdict of RED with the kind that it leaves open; where a failing test is owed and there is none,
    with the question whether less will do.
    """
    allowed = change.allowed
    if verdict.status == "failed" and verdict.reasons[:1] in ((NO_TEST,), (NOTHING_FAILS,)):
        return _nothing_fails(case, change, verdict)
    if verdict.status != "passed":
        return verdict
    kind = "new_behaviour" if failed_before(verdict.record) else allowed.kind
    if kind == "new_behaviour" and allowed.kind == "tests_only" and (mixed := _passing(case, verdict)):
        return replace(verdict, status="failed", reasons=tuple(mixed[:MAX_REASONS]))
    added: dict[str, Json] = {"kind": kind, "asked": {"kind": allowed.asked.kind, "why": allowed.why}}
    if kind == "tests_only":
        return _with_new_tests(case, change, replace(verdict, record={**verdict.record, **added}))
    return replace(verdict, record={**verdict.record, **added})


def _passing(case: RedCase, verdict: Verdict) -> list[str]:
    """Tests that pass beside others that fail, and are not called guards: nothing shows that they test
    anything.
    """
    guards = {(test.path, test.name) for test in declared_tests(case.suite) if test.guard}
    found = verdict.record.get("tests")
    proof = {
        name: entry
        for name, entry in (found.items() if isinstance(found, dict) else ())
        if isinstance(entry, dict)
    }
    failing = {_bare(name) for name, entry in proof.items() if not entry["guard"]}
    passing = [
        name for name, entry in proof.items() if entry["guard"] and _bare(name) not in guards | failing
    ]
    return [
        f"{name} passes already, and others fail: mark it as a guard, or make it fail for what is missing"
        for name in passing
    ]


def _bare(identity: str) -> tuple[str, str]:
    path, _, inside = identity.partition("::")
    return path, inside.partition("[")[0]


def _nothing_fails(case: RedCase, change: KindOfChange, verdict: Verdict) -> Verdict:
    allowed = change.allowed
    # Where RED comes before the change, nobody knows more than that it will change no behaviour.
    kind = change.kind if case.same_author else "same_behaviour"
    why = f"the request asks for {IN_WORDS[allowed.kind]} ({allowed.why})"
    question = kind_question(kind, allowed.kind, *(() if case.same_author else (UNKNOWN,)))
    asks = question if not_asked_yet(question, change.escalations) else None
    return replace(verdict, reasons=(*verdict.reasons, why), question=asks, ask_after=FED_BACK)


def _with_new_tests(case: RedCase, change: KindOfChange, verdict: Verdict) -> Verdict:
    """The verdict on tests of code that is there: each must be worth having."""
    runner = change.runner
    already = len(runner.runs)
    found = prove_new_tests(runner, change.base, str(verdict.record["red_tree"]), case.old, case.suite)
    runs = verdict.record.get("runs")
    record: dict[str, Json] = {
        **verdict.record,
        **found.to_json(),
        "runs": [*(runs if isinstance(runs, list) else []), *runner.runs[already:]],
    }
    if found.not_run:
        return Verdict("not_run", (found.not_run,), record)
    return Verdict("failed" if found.reasons else "passed", found.reasons[:10], record)
