"""Rules of the specification and of the suite that proves it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from agentforge.gates.new_tests.amendments import amended, unknown_amendments
from agentforge.gates.rules.subject import Artifact, Subject, cut, fold, name_of, parts


def every_requirement_has_criterion(subject: Subject) -> list[str]:
    """Each requirement can be decided."""
    return [
        f"{name_of(requirement)} has no acceptance criterion; write at least one that a test can decide"
        for requirement in parts(subject.artifact, "requirements")
        if not any(str(criterion).strip() for criterion in parts(requirement, "acceptance_criteria"))
    ]


def requirements_addressed(subject: Subject) -> list[str]:
    """The specification says how it answers the request, as a whole or requirement by requirement."""
    if str(subject.artifact.get("trace_to_request") or "").strip():
        return []
    return [
        f"{name_of(requirement)} says nothing; describe it, or say in trace_to_request how all of them "
        "answer the request"
        for requirement in parts(subject.artifact, "requirements")
        if not str(requirement.get("description") or "").strip()
    ]


def interfaces_defined(subject: Subject) -> list[str]:
    """An interface that is named is also described."""
    return [
        f"the interface {interface.get('name')} has no {key}; one of {choices}"
        for interface in parts(subject.artifact, "interfaces")
        for key, choices in (
            ("type", "api, event, file, database"),
            ("direction", "input, output, bidirectional"),
        )
        if not interface.get(key)
    ]


def constraints_documented(subject: Subject) -> list[str]:
    """A constraint says what it demands, or why."""
    return [
        f"constraint {constraint.get('id') or place} says nothing; give it a description and a "
        "rationale, or leave it out"
        for place, constraint in enumerate(parts(subject.artifact, "constraints"), 1)
        if not any(str(constraint.get(key) or "").strip() for key in ("description", "rationale"))
    ]


def requirement_ids_unique(subject: Subject) -> list[str]:
    """An id names one requirement."""
    counts = Counter(name_of(requirement) for requirement in parts(subject.artifact, "requirements"))
    return [
        f"{name} is the id of {count} requirements; give each its own"
        for name, count in counts.items()
        if count > 1
    ]


def no_circular_dependencies(subject: Subject) -> list[str]:
    """`A -> B` entries have an order, and no task waits for one that waits for it. Entries without an arrow
    are names of other things and bind nothing.
    """
    edges: dict[str, list[str]] = {}
    for entry in parts(subject.artifact, "dependencies"):
        chain = [part.strip() for part in re.split(r"->|→", str(entry))]
        for start, end in pairwise(chain):
            edges.setdefault(start, []).append(end)
    cycle = _cycle(edges)
    own = [f"dependencies: {' -> '.join(cycle)} is a circle; remove one of them"] if cycle else []
    return [*own, *subject.waits(subject.artifact)]


def tests_name_known_requirements(subject: Subject) -> list[str]:
    """Each test says what it is for, in ids of the specification."""
    if (specification := subject.inputs.get("requirements")) is None:
        return [subject.missing("requirements")]
    known = [name_of(requirement) for requirement in parts(specification, "requirements")]
    wrong = [
        f"{test.get('name')} has no requirement_ref; one of {', '.join(known)} (only a guard may go without)"
        for test in _tests(subject.artifact)
        if not test.get("requirement_ref") and not test.get("guard") and subject.owes_tests
    ]
    named = [
        (str(test.get("name")), test["requirement_ref"])
        for test in _tests(subject.artifact)
        if test.get("requirement_ref")
    ]
    named += [
        (f"supersedes {old.get('id')}", old.get("requirement_ref"))
        for old in parts(subject.artifact, "supersedes")
    ]
    named += [("coverage_mapping", name) for name in subject.artifact.get("coverage_mapping", {})]
    wrong += unknown_amendments(specification, subject.artifact)
    return wrong + [
        f"{who} names {name}, which the specification does not have; one of {', '.join(known)}"
        for who, name in named
        if name not in known
    ]


def every_requirement_has_test(subject: Subject) -> list[str]:
    """No requirement that a test should decide goes without one, where tests are owed. Whether a suite
    without any test will do, the gate says, which knows whom to ask.
    """
    if not subject.owes_tests:
        return []
    if (specification := subject.inputs.get("requirements")) is None:
        return [subject.missing("requirements")]
    if not any(_tests(subject.artifact)):
        return []
    return _untested(subject, [name for name, _ in _testable(specification)])


def all_requirements_have_tests(subject: Subject) -> list[str]:
    """Nothing that will be built goes without a test, whatever else should decide it."""
    if not subject.owes_tests:
        return []
    if (specification := subject.inputs.get("requirements")) is None:
        return [subject.missing("requirements")]
    built = [each for each in parts(specification, "requirements") if each.get("priority") != "wont"]
    return _untested(subject, [name_of(each) for each in built])


def _untested(subject: Subject, names: Sequence[str]) -> list[str]:
    tested = {test.get("requirement_ref") for test in _tests(subject.artifact)}
    return [
        f"{name} has no test; name it as a test's requirement_ref" for name in names if name not in tested
    ]


def every_criterion_has_test(subject: Subject) -> list[str]:
    """Each criterion is named by a test: in its words, or by place (`REQ-001.2`, `2`), several with commas.
    A test that names its requirement alone is about all of its criteria, unless it is a guard.
    """
    if not subject.owes_tests:
        return []
    if (specification := subject.inputs.get("requirements")) is None:
        return [subject.missing("requirements")]
    named: dict[str, set[str]] = {}
    whole: set[str] = set()
    for test in _tests(subject.artifact):
        requirement, criterion = str(test.get("requirement_ref")), str(test.get("acceptance_criterion", ""))
        said = {fold(criterion), *(fold(each) for each in criterion.split(","))}
        named.setdefault(requirement, set()).update(said)
        if not criterion.strip() and not test.get("guard"):
            whole.add(requirement)
    wrong = []
    for name, criteria in _testable(amended(specification, subject.artifact)):
        if name not in named or name in whole or len(criteria) == 1:
            # without any test is the rule before; a single criterion is what any of its tests is about
            continue
        wrong += [
            f'{name}.{place} has no test: "{cut(text)}"; set acceptance_criterion to {name}.{place} in '
            "the test that proves it"
            for place, text in enumerate(criteria, 1)
            if not named[name] & {fold(text), fold(f"{name}.{place}"), str(place)}
        ]
    return wrong


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
    for requirement in parts(specification, "requirements"):
        if requirement.get("verification_method", "test") == "test" and requirement.get("priority") != "wont":
            yield (
                name_of(requirement),
                [str(criterion) for criterion in parts(requirement, "acceptance_criteria")],
            )


def _tests(suite: Artifact) -> Iterator[Artifact]:
    for file in parts(suite, "test_files"):
        yield from parts(file, "tests")
