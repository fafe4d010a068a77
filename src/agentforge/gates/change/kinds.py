"""The kind of proof that a change gets, decided by the diff: what a model says of it counts for nothing.

A change is new behaviour only if tests that it brings failed without it. Without such a test, a change of the
program can only be shown to behave as before; of tests alone, to test what is there; of documents, data and
settings, to change nothing that a test sees.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentforge.catalog.kinds import AskedFor, asked_for, lowered_to, what_kind_of_file
from agentforge.catalog.kinds_policy import NoCode, kinds_policy
from agentforge.core.kinds import IN_WORDS, ProofKind, is_weaker
from agentforge.core.reply import Json
from agentforge.core.values import VIOLATION, Escalation, EscalationKind, Question, agrees
from agentforge.gates.flags import Flag
from agentforge.gates.runs.pristine import PristineRunner
from agentforge.languages.measures import same_code
from agentforge.languages.symbols import decode
from agentforge.languages.table import LANGUAGES, is_source

FileKind = Literal["source", "comment", "test"] | NoCode
"""What a changed file is. `comment`: the same program up to comments and documentation. `source` is also
everything that nobody knows.
"""

ABOUT = "kind: "
"""How the question whether a weaker kind will do is marked, so that its answer is found again."""
UNKNOWN = "the change is not known yet"
"""How such a question is marked too, where it came before the change."""
MAX_NAMED = 5
_ABOUT_THE_WORK: frozenset[EscalationKind] = frozenset(
    {"question", "exhausted", "terminal", "replan", "review"}
)
"""Questions whose answers may say what is wanted."""

PROVED_BY: Mapping[ProofKind, str] = {
    "new_behaviour": "tests that fail without the change and pass with it",
    "same_behaviour": "the base's own tests, which say the same of the new code",
    "tests_only": "a suite that says what it said before; no source changed",
    "no_code": "the whole suite, which says what it said before; no program changed",
}
WITHOUT_SUITE = "the difference itself, which is words for people and nothing else; the project has no tests"
"""What a change of documents rests on where there is no suite."""
BY_CHECKS = (
    "new content, by checks that failed without it and hold with it; each is data that we read ourselves"
)
"""What documents and data rest on."""
OWED: Mapping[ProofKind, str] = {
    "new_behaviour": "tests that fail without the change and pass with it",
    "same_behaviour": (
        "the change alone, with no failing test: every test of the base must say of the new code what it "
        "says now, and no public name may be lost or called differently unless the request names it. Names "
        "that are renamed are renamed in the tests too, and nothing else there changes"
    ),
    "tests_only": (
        "tests that pass now, and no change of source: each new test must notice a mistake in the lines that "
        "it runs, or run lines that no test ran; an old test that is repaired or removed is named in "
        "supersedes by its exact id"
    ),
    "no_code": "the change of documents, data or settings alone: no test is owed, and no program may change",
}
"""What a role has to hand in, for the kind that the request asks for."""
ASKS: Mapping[ProofKind, str] = {
    "same_behaviour": "This changes no behaviour",
    "tests_only": "This changes tests only, and no behaviour",
    "no_code": "This changes no code, and no behaviour",
}


@dataclass(frozen=True, slots=True)
class Allowed:
    """The weakest kind that will do: by the words of the request, or because a person said so."""

    kind: ProofKind
    why: str
    asked: AskedFor
    least: ProofKind | None = None
    """What will do all the same, where a person said that no behaviour need change before there was a
    change."""


GOALS: Mapping[str, ProofKind] = {
    "test": "tests_only",
    "document": "no_code",
    **dict.fromkeys(("research", "write", "analyse", "curate"), "new_behaviour"),
}
"""Pipelines whose goal says the kind itself, whatever the words of the request."""


def allowed_kind(request: str, escalations: Sequence[Escalation] = (), goal: str = "") -> Allowed:
    """What the goal or else the request asks for, unless a person was asked and said that less will do."""
    asked = asked_for(request)
    if goal in GOALS:
        return Allowed(GOALS[goal], f"the goal is {goal}", asked)
    if goal == "fix" and (named := VIOLATION.search(request)):
        # What fails now is the check that found it; whatever else the change shows is proved as what it is.
        return Allowed("no_code", f"{named[0]} is proved by its check", asked)
    found = Allowed(asked.kind, f"“{asked.words}”" if asked.words else "no words ask for less", asked)
    for item in escalations:
        kind = _lowered_to(item)
        if kind is not None and is_weaker(kind, found.kind):
            least: ProofKind | None = "no_code" if UNKNOWN in item.question.about else None
            found = Allowed(kind, f"{item.by or 'a person'} answered {item.id}: {item.answer}", asked, least)
    return found


def owed_line(allowed: Allowed) -> str:
    """The line that a role reads before it begins; which words ask for new behaviour is no news."""
    quoted = allowed.why == f"“{allowed.asked.words}”" and allowed.kind == "new_behaviour"
    why = "" if quoted else f" ({allowed.why})"
    return f"The request asks for {IN_WORDS[allowed.kind]}{why}; so owed is {OWED[allowed.kind]}."


def kind_question(kind: ProofKind, asked: ProofKind, *more: str) -> Question:
    """What a person is asked where a change shows less than the request asks for; `more` marks it."""
    text = f"{ASKS[kind]}; is that what you want? The request reads as one for {IN_WORDS[asked]}."
    told = f"A person says that {IN_WORDS[kind]} is not what they want; owed is {OWED[asked]}."
    return Question(text, ("yes", "no", "abort"), "", about=(f"{ABOUT}{kind}", *more), if_no=told)


def not_asked_yet(question: Question, escalations: Sequence[Escalation]) -> bool:
    """Whether nobody has answered this very question: a no is not asked for twice."""
    return all(item.question.about != question.about or item.answer is None for item in escalations)


def _lowered_to(item: Escalation) -> ProofKind | None:
    """The kind that a person let do: by a yes to our own question about it, or by the words of an answer to
    a question of the role ("only add a test").
    """
    answer = item.answer or ""
    about = next((kind for kind in ASKS if f"{ABOUT}{kind}" in item.question.about), None)
    if about is not None:
        return about if agrees(answer) else None
    return lowered_to(answer) if item.kind in _ABOUT_THE_WORK else None


# ------------------------------------------------------------------ the diff


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A path that differs, and what it is."""

    path: str
    kind: FileKind


def changed_files(runner: PristineRunner, before: str, after: str) -> list[ChangedFile]:
    """Every path that differs between two trees, with what it is."""
    git = runner.workspace.git
    return [
        ChangedFile(change.path, _file_kind(runner, before, after, change.path))
        for change in git.diff_names(before, after)
    ]


def _file_kind(runner: PristineRunner, before: str, after: str, path: str) -> FileKind:
    git = runner.workspace.git
    if is_source(path) or runner.is_test(path):
        then, now = git.read_blob(before, path), git.read_blob(after, path)
        both = then is not None and now is not None and is_source(path)
        if both and same_code(decode(then or b"", path), decode(now or b"", path), path):
            return "comment"
        return "test" if runner.is_test(path) else "source"
    return what_kind_of_file(path) or "source"


def kind_of(files: Iterable[ChangedFile], *, red: bool, runs_code: bool = True) -> ProofKind:
    """The kind of a change. `red`: tests that it brings failed without it. Where tests run no code,
    documents are what they are about.
    """
    kinds = {file.kind for file in files}
    told = {"source", "data", "settings"} if runs_code else {"source", "data", "settings", "document"}
    if red and kinds & told:
        return "new_behaviour"
    if "source" in kinds:
        return "same_behaviour"
    return "tests_only" if "test" in kinds else "no_code"


def failed_before(red: Mapping[str, Json]) -> bool:
    """Whether the record of RED has a test that failed without the change."""
    tests = red.get("tests")
    entries = tests.values() if isinstance(tests, dict) else ()
    return any(isinstance(entry, dict) and not entry.get("guard") for entry in entries)


def too_weak(kind: ProofKind, allowed: Allowed) -> list[str]:
    """Why a change does not do for the request: it shows less than was asked for."""
    if not is_weaker(kind, allowed.least or allowed.kind):
        return []
    text = (
        f"the request asks for {IN_WORDS[allowed.kind]} ({allowed.why}), and this change shows "
        f"{IN_WORDS[kind]}; owed is {OWED[allowed.kind]}"
    )
    return [text]


def kind_flags(kind: ProofKind, allowed: Allowed, files: Sequence[ChangedFile]) -> list[Flag]:
    """What a reader has to know about the kind: more than was asked for, data that code may read, and a
    request for weaker tests.
    """
    found = []
    if is_weaker(allowed.kind, kind):
        wider = [file.path for file in files if file.kind in _BEYOND[allowed.kind]]
        named = ", ".join(wider[:MAX_NAMED])
        text = f"the request asks for {IN_WORDS[allowed.kind]}, and this is {IN_WORDS[kind]}: {named}"
        if not _only_packaging(wider, allowed):
            found.append(Flag(wider[0] if wider else "the change", text, ruling=True))
    if kind == "no_code":
        found += [
            Flag(file.path, f"`{file.path}` is data that code may read; only the suite looked at it")
            for file in files
            if file.kind == "data"
        ]
    if allowed.asked.weakens_tests:
        said = allowed.asked.weakens_tests
        found.append(Flag("request", f"the request itself asks for fewer or weaker tests: “{said}”"))
    return found


def _only_packaging(paths: Sequence[str], allowed: Allowed) -> bool:
    """Whether a request about packaging changes nothing but the program that packages: that is flagged as
    what builds the project.
    """
    builds = frozenset(name for language in LANGUAGES for name in language.projects.BUILD_FILES)
    of_packaging = kinds_policy().packaging.search(allowed.asked.words) is not None
    return of_packaging and bool(paths) and all(path.rpartition("/")[2] in builds for path in paths)


_BEYOND: Mapping[ProofKind, frozenset[FileKind]] = {
    "no_code": frozenset({"source", "test"}),
    "tests_only": frozenset({"source", "data", "settings"}),
    "same_behaviour": frozenset({"source"}),
    "new_behaviour": frozenset(),
}
"""Files that a change of this kind has no business with."""


def proved_as(kind: ProofKind, by: str = "") -> str:
    """How the proof is named to a person, first of all."""
    return f"{IN_WORDS[kind]}, by {by or PROVED_BY[kind]}"
