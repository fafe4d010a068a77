"""The named rules about artifacts: each says what is wrong in words that can be fed back, or nothing.

A rule reads an artifact, the artifacts beside it and the tree's file names; it runs nothing and asks nobody.
What a rule needs and does not find is a failure: not judged is not passed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from agentforge.core.pipeline import Predicate

SURE = 80
"""Percent of confidence under which a blocking question goes to a person."""

MAX_NAMED = 8
"""How many offenders one message names."""

Artifact: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """One artifact, valid under its contract's schema, and what it is judged beside."""

    artifact: Artifact
    contract: str
    inputs: Mapping[str, Artifact] = field(default_factory=dict)
    """By contract: earlier artifacts, and those of the same stage that are already submitted."""
    request: str = ""
    files: frozenset[str] = frozenset()
    """Every path of the tree at this moment."""


Rule: TypeAlias = Callable[[Subject], list[str]]


def every_requirement_has_criterion(subject: Subject) -> list[str]:
    """Each requirement can be decided."""
    return [
        f"{_name(requirement)} has no acceptance criterion; write at least one that a test can decide"
        for requirement in _list(subject.artifact, "requirements")
        if not any(str(criterion).strip() for criterion in _list(requirement, "acceptance_criteria"))
    ]


def requirement_ids_unique(subject: Subject) -> list[str]:
    """An id names one requirement."""
    counts = Counter(_name(requirement) for requirement in _list(subject.artifact, "requirements"))
    return [f"{name} is the id of {count} requirements; give each its own" for name, count in counts.items() if count > 1]


def paths_are_relative(subject: Subject) -> list[str]:
    """Every path stays inside the repository."""
    return [f"{where}: {path!r} {reason}" for where, path in paths_in(subject.artifact) if (reason := _astray(path))]


def files_exist(subject: Subject) -> list[str]:
    """What is cited is there, and what is to be created is not."""
    wrong = [
        f"{where}: {path} is not in the repository; {_ABSENT.get(subject.contract, 'name a file that is there')}"
        for where, path in paths_in(subject.artifact)
        if where.split("[")[0] not in _FREE and not _astray(path) and _plain(path) not in subject.files
    ]
    wrong += [
        f"files_to_create: {path} exists already; list it under files_to_modify"
        for path in _list(subject.artifact, "files_to_create")
        if _plain(str(path)) in subject.files
    ]
    return wrong


def no_circular_dependencies(subject: Subject) -> list[str]:
    """`A -> B` entries have an order. Entries without an arrow are names of other things and bind nothing."""
    edges: dict[str, list[str]] = {}
    for entry in _list(subject.artifact, "dependencies"):
        chain = [part.strip() for part in re.split(r"->|→", str(entry))]
        for start, end in pairwise(chain):
            edges.setdefault(start, []).append(end)
    cycle = _cycle(edges)
    return [f"dependencies: {' -> '.join(cycle)} is a circle; remove one of them"] if cycle else []


def tests_name_known_requirements(subject: Subject) -> list[str]:
    """Each test says what it is for, in ids of the specification."""
    if (specification := subject.inputs.get("specification")) is None:
        return [_missing("specification")]
    known = [_name(requirement) for requirement in _list(specification, "requirements")]
    wrong = [
        f"{test.get('name')} has no requirement_ref; one of {', '.join(known)} (only a guard may go without)"
        for test in _tests(subject.artifact)
        if not test.get("requirement_ref") and not test.get("guard")
    ]
    named = [(str(test.get("name")), test["requirement_ref"]) for test in _tests(subject.artifact) if test.get("requirement_ref")]
    named += [(f"supersedes {old.get('id')}", old.get("requirement_ref")) for old in _list(subject.artifact, "supersedes")]
    named += [("coverage_mapping", name) for name in subject.artifact.get("coverage_mapping", {})]
    return wrong + [
        f"{who} names {name}, which the specification does not have; one of {', '.join(known)}" for who, name in named if name not in known
    ]


def every_requirement_has_test(subject: Subject) -> list[str]:
    """No requirement that a test should decide goes without one."""
    if (specification := subject.inputs.get("specification")) is None:
        return [_missing("specification")]
    tested = {test.get("requirement_ref") for test in _tests(subject.artifact)}
    return [f"{name} has no test; name it as a test's requirement_ref" for name, _ in _testable(specification) if name not in tested]


def every_criterion_has_test(subject: Subject) -> list[str]:
    """Each criterion is named by a test: in its words, or by place (`REQ-001.2`, `2`)."""
    if (specification := subject.inputs.get("specification")) is None:
        return [_missing("specification")]
    named: dict[str, set[str]] = {}
    for test in _tests(subject.artifact):
        named.setdefault(str(test.get("requirement_ref")), set()).add(_fold(str(test.get("acceptance_criterion", ""))))
    wrong = []
    for name, criteria in _testable(specification):
        if name not in named or len(criteria) == 1:
            continue  # without any test is the rule before; a single criterion is what any of its tests is about
        wrong += [
            f'{name}.{place} has no test: "{_cut(text)}"; set acceptance_criterion to {name}.{place} in the test that proves it'
            for place, text in enumerate(criteria, 1)
            if not named[name] & {_fold(text), _fold(f"{name}.{place}"), str(place)}
        ]
    return wrong


def blocking_ambiguities_answered(subject: Subject) -> list[str]:
    """What blocks is answered with confidence, or by a person."""
    wrong = [
        f'"{_cut(str(question))}" is still blocking; escalate it, or answer it from the repository under questions'
        for question in _list(subject.artifact, "blocking")
    ]
    if (intake := subject.inputs.get("intake_record")) is None:
        return [*wrong, _missing("intake_record")]
    questions = _list(subject.artifact, "questions")
    for ambiguity in _list(intake, "identified_ambiguities"):
        if ambiguity.get("impact") != "blocking":
            continue
        wanted = {_fold(str(ambiguity.get("question"))), _fold(str(ambiguity.get("area")))}
        answers = [question for question in questions if wanted & {_fold(str(question.get(key, ""))) for key in ("question", "area")}]
        if not answers:
            wrong.append(
                f'the blocking ambiguity "{_cut(str(ambiguity.get("question")))}" has no entry in questions; answer or escalate it'
            )
        elif not any(_settled(question) for question in answers):
            wrong.append(f'the blocking ambiguity "{_cut(str(ambiguity.get("question")))}" is answered below {SURE}; escalate it')
    return wrong


def original_request_verbatim(subject: Subject) -> list[str]:
    """The request is kept word for word. A draft may leave it out: the engine fills it in."""
    said = subject.artifact.get("original_request")
    return [] if said is None or said == subject.request else ["original_request differs from the request; leave it out, it is filled in"]


def findings_block_or_approve(subject: Subject) -> list[str]:
    """The verdict follows from the findings."""
    findings = _list(subject.artifact, "findings")
    blocking = [finding for finding in findings if finding.get("blocking")]
    verdict = subject.artifact.get("verdict")
    wrong = []
    if verdict == "approve" and blocking:
        wrong.append(f"the verdict is approve, but {_names(blocking)} is blocking; block, or make it not blocking")
    if verdict == "block" and not blocking:
        wrong.append("the verdict is block without a blocking finding; say what must change, or approve")
    wrong += [
        f"{_name(finding)} blocks without a remediation; say what to change" for finding in blocking if not finding.get("remediation")
    ]
    twice = [name for name, count in Counter(map(_name, findings)).items() if count > 1]
    return wrong + [f"{name} is the id of several findings; give each its own" for name in twice]


ARTIFACT_RULES: Mapping[Predicate, Rule] = {
    "every_requirement_has_criterion": every_requirement_has_criterion,
    "requirement_ids_unique": requirement_ids_unique,
    "paths_are_relative": paths_are_relative,
    "no_circular_dependencies": no_circular_dependencies,
    "every_requirement_has_test": every_requirement_has_test,
    "every_criterion_has_test": every_criterion_has_test,
    "tests_name_known_requirements": tests_name_known_requirements,
    "blocking_ambiguities_answered": blocking_ambiguities_answered,
    "files_exist": files_exist,
    "original_request_verbatim": original_request_verbatim,
    "findings_block_or_approve": findings_block_or_approve,
}
"""Rules of artifacts alone. Those of what the engine ran are the gates' own; those of catalogue files the catalogue's."""


_FREE = frozenset({"files_to_create", "supersedes", "files_created", "files_deleted"})
"""Keys whose paths need not be there."""

_ABSENT = {
    "test_suite": "create it before you submit the suite",
    "specification": "a new file belongs under files_to_create",
    "analysis": "impacted files are there already; new ones belong in the specification",
}


def paths_in(value: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Every path an artifact cites, with its place."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            place = f"{where}.{key}" if where else str(key)
            if key in {"path", "file"} and isinstance(part, str):
                yield place, part
            elif key in {"files_to_modify", "files_to_create", "files_deleted", "affected_tests"}:
                yield from ((f"{place}[{index}]", str(path)) for index, path in enumerate(part or []))
            else:
                yield from paths_in(part, place)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from paths_in(part, f"{where}[{index}]")


def _astray(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    if not path.strip() or "\0" in path:
        return "is no path"
    if path.startswith(("/", "~")) or "\\" in path or re.match(r"[A-Za-z]:", path):
        return "is not relative to the repository; write it like src/module.py"
    if ".." in parts:
        return "leads out of the repository"
    if any(part.lower() == ".git" for part in parts):
        return "is inside .git"
    return "" if path.strip(" ./") else "is no file"


def _plain(path: str) -> str:
    """A path as the tree spells it; a test id loses its test."""
    return "/".join(part for part in path.split("::", maxsplit=1)[0].split("/") if part not in {"", "."})


def _cycle(edges: Mapping[str, list[str]]) -> list[str]:
    done: set[str] = set()
    for start in edges:
        trail: list[str] = []
        todo: list[tuple[str, bool]] = [(start, False)]
        while todo:
            node, leave = todo.pop()
            if leave:
                done.add(trail.pop())
            elif node in trail:
                return [*trail[trail.index(node) :], node]
            elif node not in done:
                trail.append(node)
                todo.append((node, True))
                todo += [(after, False) for after in edges.get(node, [])]
    return []


def _testable(specification: Artifact) -> Iterator[tuple[str, list[str]]]:
    for requirement in _list(specification, "requirements"):
        if requirement.get("verification_method", "test") == "test" and requirement.get("priority") != "wont":
            yield _name(requirement), [str(criterion) for criterion in _list(requirement, "acceptance_criteria")]


def _tests(suite: Artifact) -> Iterator[Artifact]:
    for file in _list(suite, "test_files"):
        yield from _list(file, "tests")


def _settled(question: Artifact) -> bool:
    # `resolved_by` is the engine's to write; `source` is only what the role says.
    return bool(question.get("resolved_by")) or question.get("confidence", 0) >= SURE


def _list(value: Artifact, key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _name(part: Artifact) -> str:
    return str(part.get("id", "one without an id"))


def _names(parts: list[Artifact]) -> str:
    return ", ".join(_name(part) for part in parts[:MAX_NAMED])


def _fold(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _cut(text: str) -> str:
    return text if len(text) <= 90 else f"{text[:87]}…"


def _missing(contract: str) -> str:
    return f"there is no {contract} to compare with; submit it first"
