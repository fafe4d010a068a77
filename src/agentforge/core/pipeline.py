"""A resolved pipeline as a value: what the catalogue's YAML means to the rules."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar, get_args

Lane = Literal["hotfix", "small", "full"]
LANES: tuple[Lane, ...] = get_args(Lane)

Tier = Literal["classification", "summarization", "generation", "reasoning"]
TIERS: tuple[Tier, ...] = get_args(Tier)
"""What kind of model; the last is the highest. Which model it is, is the router's affair."""

ReviewMode = Literal["blocking", "advisory"]

GateName = Literal["red", "green", "quality", "contracts", "review", "delivery", "examined", "debate"]
GATE_NAMES: tuple[GateName, ...] = get_args(GateName)

CheckName = Literal["syntax", "tests", "lint", "types", "conformance"]
CHECK_NAMES: tuple[CheckName, ...] = get_args(CheckName)

Predicate = Literal[
    # of artifacts alone, or beside the stage's inputs: judged when the artifact is submitted
    "every_requirement_has_criterion",
    "requirement_ids_unique",
    "paths_are_relative",
    "no_circular_dependencies",
    "every_requirement_has_test",
    "all_requirements_have_tests",  # also those that something else than a test should decide
    "every_criterion_has_test",
    "tests_name_known_requirements",
    "blocking_ambiguities_answered",
    "files_exist",
    "original_request_verbatim",
    "findings_block_or_approve",
    "intent_extracted",
    "scope_defined",
    "ambiguities_listed",
    "vague_request_questioned",
    "all_questions_addressed",
    "confidence_scores_provided",
    "evidence_is_in_the_files",
    "requirements_addressed",
    "interfaces_defined",
    "constraints_documented",
    "review_complete",
    "flags_ruled_on",
    "issues_categorized",
    "documentation_complete",
    "changelog_generated",
    "options_are_a_choice",
    "decision_is_an_option",
    "argues_for_an_option",
    # of what the engine ran: judged on the pristine checkout
    "all_tests_fail",
    "no_implementation_exists",
    "all_tests_pass",
    "conformance_passing",
    "no_regressions",
    "test_lock_held",
    "type_check_pass",
    "complexity_acceptable",
    "no_code_smells",
    "coverage_acceptable",
    "deployment_ready",
    # of catalogue files
    "tools_do_not_overlap",
    "output_contract_exists",
    "verifications_exist",
    "named_roles_exist",
    "named_judges_exist",
    "stages_exist",
]
PREDICATES: tuple[Predicate, ...] = get_args(Predicate)

Part = Literal[
    "request",
    "questions",
    "analysis",
    "requirements",
    "tests",
    "change",
    "review",
    "security",
    "report",
    "examination",
    "options",  # what is argued about: a question, and three or more answers to it
    "argument",  # what one of those says who are heard
    "decision",  # what came of it
]
PARTS: tuple[Part, ...] = get_args(Part)
"""What a contract can be to the work. The engine fills and asks by part, never by a contract's name."""

_PARTS_BEFORE: Mapping[str, Part] = {
    "intake_record": "request",
    "clarification": "questions",
    "analysis": "analysis",
    "specification": "requirements",
    "test_suite": "tests",
    "implementation": "change",
    "review": "review",
    "security_review": "security",
    "delivery_report": "report",
}
_VERBS_BEFORE: Mapping[str, str] = {
    "red": "Add failing tests",
    "green": "Implement",
    "patch": "Fix",
    "deliver": "Note",
}
"""Of contracts and stages that tasks have kept since before these said it themselves."""


ENTRY = "entry"
"""The computed stage in front of a line whose work begins after its first stage."""

PHASE_OF: Mapping[Part, str] = {
    "request": "intake",
    "questions": "clarify",
    "analysis": "analyze",
    "options": "debate",
    "requirements": "spec",
    "tests": "red",
}
"""The boundary that each part is which a task can be given or derive, in order."""


def part_of(contract: str, said: object = None) -> Part | None:
    """The part that a contract says it is. One that says nothing is what packaged ones of its name always
    were.
    """
    return next((part for part in PARTS if part == said), _PARTS_BEFORE.get(contract))


Name = TypeVar("Name", bound=str)
Row = TypeVar("Row")


def complete(table: Mapping[Name, Row], names: Collection[Name]) -> Mapping[Name, Row]:
    """The table, if it has a row for every name and no other; else the import of its module fails."""
    if wrong := sorted(set(names) ^ set(table)):
        raise LookupError(f"a name without a row, or a row without a name: {', '.join(wrong)}")
    return table


@dataclass(frozen=True, slots=True)
class Product:
    """One artifact that a stage owes."""

    contract: str
    phase: str
    """The stage of the eight whose boundary this artifact is; names its folder."""
    declared: Part | None = field(default=None, compare=False)
    """The part that its contract says it is."""
    derived: bool = field(default=False, compare=False)
    """Nobody is asked for it: the engine writes it, unless the request leaves something open."""

    @property
    def part(self) -> Part | None:
        """The part of the work that it is; None if it is none that the engine knows."""
        return part_of(self.contract, self.declared)


@dataclass(frozen=True, slots=True)
class Reviewer:
    """One of the panel that reads a stage's result, or of those who are heard before it."""

    role: str
    contract: str
    version: str = "1.0"
    tier: Tier = "generation"


@dataclass(frozen=True, slots=True)
class Rise:
    """What a lane cannot carry: beyond it, the task goes on in a higher one."""

    to: str
    files: int = 0
    """More changed files than this, tests aside."""
    lines: int = 0
    """More changed lines than this, tests aside."""
    blocks: int = 0
    """After so many blocking reviews; 0: never for this reason."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A role turns verified inputs into artifacts; gates judge them."""

    name: str
    role: str | None
    """None: the stage is computed, no model is asked."""
    products: tuple[Product, ...]
    role_version: str = "1.0"
    requires: tuple[str, ...] = ()
    """Contracts of earlier artifacts that this stage is given."""
    gates: tuple[GateName, ...] = ()
    """In order; the first that fails ends the round and is fed back."""
    checks: tuple[CheckName, ...] = ()
    """Steering checks after every edit, cheapest first."""
    context_tokens: int = 8000
    max_output_tokens: int = 8000
    max_steps: int = 12
    feedback_rounds: int = 4
    """How often a failed gate is fed back in one attempt."""
    mistakes: int = 6
    """Consecutive model mistakes that end an attempt."""
    attempts: int = 2
    needs_environment: bool = False
    verifying: bool = False
    """True for the stages that judge the result: the task is `verifying` there."""
    returns_to: str | None = None
    """The stage that works on a block; only for reviews."""
    max_revisions: int = 3
    reviewers: tuple[Reviewer, ...] = ()
    """Who reads the result, side by side, before the gate `review` judges. The stage itself works on what
    they block.
    """
    reviewers_if: str = ""
    """A condition under which they read; without one they always do."""
    left_out: tuple[str, ...] = ()
    """Who would read it too, if the project had not left them out."""
    arbiter: Reviewer | None = None
    """Who decides, at a higher tier, when they disagree."""
    debaters: tuple[Reviewer, ...] = ()
    """Who is heard, side by side, before the work of this stage begins: it weighs what they wrote."""
    undebated: str = ""
    """Why nobody is heard before it, although its pipeline wants a debate."""
    review_mode: ReviewMode = "blocking"
    skip_if: str = ""
    """A condition under which nobody is asked to work: the artifact is computed, and judged all the same."""
    reverts: bool = False
    """An edit that makes anything worse is undone, and when nothing helps the stage's entry stands."""
    tier: Tier = "generation"
    commits_as: str = ""
    """The first words of its commit's message, if it says them."""
    iterable: bool = False
    """Whether a person may ask for another version of its result."""
    max_iterations: int = 5
    """How many versions are presented before it is asked whether there shall be more."""
    iterate_prompt: str = ""
    """What a person is asked when one is presented."""
    exit_point: bool = False
    """Whether a task may end here."""

    @property
    def commit_verb(self) -> str:
        """The first words of the message of its commit."""
        return self.commits_as or _VERBS_BEFORE.get(self.name) or self.name.capitalize()

    @property
    def proves_red(self) -> bool:
        """Whether the tests that it leaves are proved to fail, and then locked."""
        return "red" in self.gates

    def makes(self, part: Part) -> bool:
        """Whether it owes the artifact that is this part of the work."""
        return any(product.part == part for product in self.products)

    @property
    def own_reader(self) -> "Reviewer | None":
        """The stage's own role as a reviewer, where its work is to review."""
        if self.role is None or not self.makes("review"):
            return None
        return Reviewer(self.role, self.products[0].contract, self.role_version, self.tier)

    def read_by(self, name: str) -> "Stage":
        """The stage as somebody beside its worker has it: read, hand in one artifact, no gates."""
        own = self.own_reader
        readers = [item for item in (own, *self.reviewers, self.arbiter, *self.debaters) if item is not None]
        reader = next(item for item in readers if reviewer_name(item, self) == reader_of(name))
        # What is read is the work of a stage, not what another reader said of it. Who is heard first reads
        # what the work begins with.
        made = () if own or reader in self.debaters else self.products
        under_review = tuple(product.contract for product in made)
        return replace(
            self,
            role=reader.role,
            role_version=reader.version,
            products=(Product(reader.contract, self.products[0].phase),),
            requires=tuple(dict.fromkeys((*self.requires, *under_review))),
            gates=(),
            checks=(),
            context_tokens=self.context_tokens if not made else max(self.context_tokens, REVIEW_CONTEXT),
            max_output_tokens=REVIEW_OUTPUT,
            max_steps=REVIEW_STEPS,
            needs_environment=False,
            reviewers=(),
            reviewers_if="",
            arbiter=None,
            debaters=(),
            reverts=False,
            tier=reader.tier,
        )


REVIEW_CONTEXT, REVIEW_OUTPUT, REVIEW_STEPS = 32_000, 4000, 6
"""Tokens of context, tokens of output and steps that a reviewer has."""

ARBITER = "arbiter"


def reviewer_name(reviewer: Reviewer, stage: Stage) -> str:
    """How a reviewer is called in the journal: by the role, or `arbiter`."""
    return ARBITER if reviewer is stage.arbiter else reviewer.role


def part_name(name: str, part: int) -> str:
    """How the reader of one part of a change is called; who reads the first has the plain name."""
    return name if part == 1 else f"{name}-{part}"


def reader_of(name: str) -> str:
    """Who reads, whichever part it is."""
    return name.partition("-")[0]


def part_number(name: str) -> int:
    """The part that a reader of this name reads."""
    return int(name.partition("-")[2] or 1)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """An ordered list of stages, fixed for the life of a task, unless its lane rises."""

    name: str
    lane: str
    stages: tuple[Stage, ...]
    rises: Rise | None = None
    mode: str = "balanced"
    writes: bool = True
    """False: no role of this task may change anything, by any tool."""
    goal: str = ""
    """What kind of request it is for; empty in tasks of before a pipeline could be another's."""
    enters: str = ""
    """The stage that the work begins at, where that is not the first of the line."""
    passed_over: tuple[tuple[str, str], ...] = ()
    """The stages before it, each with why nobody works on it."""
    ends_early: bool = False
    """Whether it ends before the last stage of its line."""
    continues_with: str = ""
    """The pipeline that a task of this one can go on with."""
    summary: str = ""
    """How its end sums up what it hands over, with words in braces."""
    continue_prompt: str = ""
    """What a person is asked when a task of this one is done and can go on."""
    works_on: str = ""
    """The language that its tests are written in, where that is not the repository's own."""
    extends_to: tuple[str, ...] = ()
    """The stages that a task can be extended to, in order; none in tasks of before that was known."""

    @property
    def line(self) -> str:
        """The part of the pipeline that a task runs, by name: tasks of the same line take about the same."""
        whole = not (self.passed_over or self.ends_early)
        return self.name if whole else f"{self.name} from {self.entry_stage} to {self.exit_stage}"

    @property
    def entry_stage(self) -> str:
        """The stage that the work begins at."""
        return self.enters or (self.stages[0].name if self.stages else "")

    @property
    def exit_stage(self) -> str:
        """The stage that it ends at."""
        return self.stages[-1].name if self.stages else ""

    def index(self, name: str) -> int:
        """The position of the stage of this name, from 0."""
        return [stage.name for stage in self.stages].index(name)

    def contract_for(self, part: Part) -> str | None:
        """The contract that is this part of the work here; None where no stage owes it."""
        products = [product for stage in self.stages for product in stage.products]
        return next((product.contract for product in products if product.part == part), None)

    def part_of_contract(self, contract: str) -> Part | None:
        """What a contract is to the work here."""
        products = [product for stage in self.stages for product in stage.products]
        return next((product.part for product in products if product.contract == contract), None)

    def proving(self, before: str) -> Stage | None:
        """The stage whose tests are locked in the stage `before`: an earlier one that proves red."""
        earlier = self.stages[: self.index(before)]
        return next((stage for stage in earlier if stage.proves_red), None)

    def stage(self, name: str) -> Stage:
        """The stage of this name, which is one of the pipeline."""
        return self.stages[self.index(name)]
