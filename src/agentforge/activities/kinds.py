"""Which kind of proof a task owes and has: by the words of its request, by a person's answer, by the diff."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from agentforge.activities.world import Document, World
from agentforge.core.conditions import Fact
from agentforge.core.kinds import IN_WORDS, ProofKind
from agentforge.core.reply import Json
from agentforge.core.state import RunView, State
from agentforge.core.values import Question, agrees
from agentforge.gates.flags import Flag
from agentforge.gates.green import GreenCase
from agentforge.gates.kinds import (
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
from agentforge.gates.pristine import PristineRunner
from agentforge.gates.red import NO_TEST, NOTHING_FAILS, RedCase
from agentforge.gates.same_behaviour import NameChanges, lost_about, lost_question, lost_reasons
from agentforge.gates.verdict import Verdict

FED_BACK = 1
"""How often a role hears that its change shows too little, before a person is asked."""


def allowed_now(state: State) -> Allowed:
    """The weakest kind that will do for this task."""
    return allowed_kind(state.request, state.escalations)


def owes_failing_test(state: State) -> bool:
    """Whether a test must fail without the change."""
    return allowed_now(state).kind == "new_behaviour"


@dataclass(frozen=True)
class KindOfChange:
    """A change, what it is shown to be, and what the request asks for."""

    state: RunView
    runner: PristineRunner
    tree: str
    red: Document
    """The record of RED."""

    @cached_property
    def allowed(self) -> Allowed:
        """What will do."""
        return allowed_now(self.state)

    @cached_property
    def files(self) -> Sequence[ChangedFile]:
        """What differs from the base."""
        return changed_files(self.runner, self.state.base_tree, self.tree)

    @cached_property
    def kind(self) -> ProofKind:
        """What the diff says that it is."""
        return kind_of(self.files, red=failed_before(self.red))

    @cached_property
    def names(self) -> NameChanges:
        """What becomes of public names."""
        asked = self.allowed.asked
        return NameChanges(
            self.runner, self.state.base_tree, self.tree, self.files, self.state.request, asked.dead_code
        )

    @cached_property
    def base_tests(self) -> str:
        """The tree that old tests are taken from."""
        return self.names.base_with_renames() if self.renames_count else self.state.base_tree

    @property
    def renames_count(self) -> bool:
        """Whether the request may be one for a rename, which new behaviour alone is not."""
        return self.allowed.kind != "new_behaviour"

    def refusal(self) -> Verdict | None:
        """Why this change does not do, before anything is run; a person may be asked."""
        if not self.files:
            return Verdict("failed", ("nothing has changed; make the change that the request asks for",), {})
        if reasons := too_weak(self.kind, self.allowed):
            return self._refused(reasons, kind_question(self.kind, self.allowed.kind))
        lost = self.names.lost if self.kind == "same_behaviour" else []
        if lost and not self._agreed(lost_about(lost)):
            return self._refused(lost_reasons(lost), lost_question(lost))
        return None

    def prepared(self, case: GreenCase) -> GreenCase:
        """The case of GREEN, with what this kind lets change."""
        if failed_before(self.red) and not self.allowed.asked.settings:
            return replace(case, base_tests=self.base_tests)
        settings = self.allowed.asked.settings
        return replace(case, base_tests=self.base_tests, may_change="settings" if settings else "fixtures")

    def recorded(self, verdict: Verdict) -> Verdict:
        """The verdict with the kind in its record, and what a reader should know of it."""
        flags = kind_flags(self.kind, self.allowed, self.files)
        if self.kind == "same_behaviour":
            flags += self.names.flags()
        return replace(verdict, record={**verdict.record, **self._record(flags, verdict.record)})

    def _record(self, flags: list[Flag], record: Document) -> Document:
        old = record.get("flags")
        names, modules = self.names.renames if self.renames_count else ({}, {})
        more: Document = {"renames": {**names, **modules}} if names or modules else {}
        return {
            "kind": self.kind,
            "asked": {"kind": self.allowed.asked.kind, "allowed": self.allowed.kind, "why": self.allowed.why},
            "proved_as": proved_as(self.kind, self._by()),
            "base_tests_tree": self.base_tests,
            "flags": [*(old if isinstance(old, list) else []), *(flag.to_json() for flag in flags)],
            **more,
        }

    def _by(self) -> str:
        names, modules = self.names.renames if self.renames_count else ({}, {})
        if self.kind == "same_behaviour" and (names or modules):
            told = ", ".join(f"{old} → {new}" for old, new in {**modules, **names}.items())
            return f"the base's own tests with the same rename ({told}), which say the same of the new code"
        return ""

    def _refused(self, reasons: list[str], question: Question) -> Verdict:
        asks = question if not_asked_yet(question, self.state.escalations) else None
        record: Document = {"kind": self.kind, "runs": []}
        return Verdict("failed", tuple(reasons[:10]), record, asks, ask_after=FED_BACK)

    def _agreed(self, about: tuple[str, ...]) -> bool:
        return any(
            set(about) <= set(item.question.about) and agrees(item.answer or "")
            for item in self.state.escalations
        )


def red_for_kind(world: World, state: RunView, case: RedCase) -> RedCase:
    """The case of RED, with what the request asks for."""
    allowed = allowed_now(state)
    if allowed.kind == "new_behaviour":
        return case
    runner = world.pristine_runner(state)
    change = KindOfChange(state, runner, case.tree, {})
    if (base := change.base_tests) != state.base_tree:
        world.workspace.keep(base)
    return replace(case, owes_failing=False, base_tests=base)


def claimed(world: World, state: RunView, case: RedCase, verdict: Verdict) -> Verdict:
    """The verdict of RED with the kind that it leaves open; where a failing test is owed and there is none,
    with the question whether less will do.
    """
    allowed = allowed_now(state)
    if verdict.status == "failed" and verdict.reasons[:1] in ((NO_TEST,), (NOTHING_FAILS,)):
        return _nothing_fails(world, state, case, verdict, allowed)
    if verdict.status != "passed":
        return verdict
    kind = "new_behaviour" if failed_before(verdict.record) else allowed.kind
    added: dict[str, Json] = {"kind": kind, "asked": {"kind": allowed.asked.kind, "why": allowed.why}}
    return replace(verdict, record={**verdict.record, **added})


def _nothing_fails(
    world: World, state: RunView, case: RedCase, verdict: Verdict, allowed: Allowed
) -> Verdict:
    kind: ProofKind = "same_behaviour"
    if case.same_author:
        kind = KindOfChange(state, world.pristine_runner(state), case.tree, {}).kind
    why = f"the request asks for {IN_WORDS[allowed.kind]} ({allowed.why})"
    question = kind_question(kind, allowed.kind)
    asks = question if not_asked_yet(question, state.escalations) else None
    return replace(verdict, reasons=(*verdict.reasons, why), question=asks, ask_after=FED_BACK)


def kind_facts(state: State, red: Document) -> tuple[Fact, ...]:
    """What a pipeline may ask about the kind: whose work is not needed."""
    kind = allowed_now(state).kind
    if kind == "tests_only":
        return () if failed_before(red) else ("only_tests",)
    return ("no_test_owed",) if kind != "new_behaviour" else ()
