"""Claims about rules that are said in other words: whatever the words refuse, the predicate behind them
refuses.
"""

import json
from typing import Any

import pytest

from agentforge.catalog.check import judge_file
from agentforge.catalog.load import Catalog
from agentforge.catalog.rule_words import other_words, predicate_named
from agentforge.catalog.rules import CATALOG_RULES, JUDGED
from agentforge.core.errors import UsageError
from agentforge.gates.rules.table import ARTIFACT_RULES, Subject
from tests.rows import every

CATALOG = Catalog.packaged()
SPECIFICATION = {
    "requirements": [
        {"id": "REQ-001", "acceptance_criteria": ["a"], "verification_method": "test"},
        {"id": "REQ-002", "acceptance_criteria": ["b"], "verification_method": "inspection"},
    ]
}
HALF_TESTED = {"test_files": [{"path": "t.py", "tests": [{"name": "t", "requirement_ref": "REQ-001"}]}]}
ROLE = CATALOG.document("agents", "business_analyst")


def role(**orchestration: list[str]) -> dict[str, Any]:
    return {**ROLE, "orchestration": {**ROLE["orchestration"], **orchestration}}


def with_tools(**tools: list[str]) -> dict[str, Any]:
    return {**ROLE, "capabilities": {**ROLE["capabilities"], "tools": tools}}


def with_output(contract: str) -> dict[str, Any]:
    capabilities = ROLE["capabilities"]
    return {
        **ROLE,
        "capabilities": {**capabilities, "output": {**capabilities["output"], "contract": contract}},
    }


REFUSED: dict[str, list[dict[str, Any]]] = {
    "every requirement has at least one acceptance criterion": [
        {"requirements": [{"id": "REQ-001"}]},
        {"requirements": [{"id": "REQ-001", "acceptance_criteria": ["  "]}]},
    ],
    "all file paths are valid relative paths": [
        {"files_to_modify": ["/etc/passwd"]},
        {"files_to_create": ["../outside.py"]},
        {"files_to_create": ["a/../../b.py"]},
        {"files_to_modify": [""]},
    ],
    "no circular dependencies": [
        {"dependencies": ["REQ-001 -> REQ-002", "REQ-002 -> REQ-001"]},
        {"dependencies": ["A -> A"]},
    ],
    "every requirement in spec has at least one test": [HALF_TESTED, {"test_files": []}],
    "requirement_coverage": [HALF_TESTED, {"test_files": []}],
    "allowed and forbidden tools must not overlap": [
        with_tools(allowed=["read_file", "edit_file"], forbidden=["edit_file"])
    ],
    "output contract must exist in contracts directory": [with_output("wish")],
    "receives_from agents must exist": [role(receives_from=["nobody"])],
    "hands_off_to agents must exist": [role(hands_off_to=["nobody"])],
    "reviewed_by agents must exist": [role(reviewed_by=["nobody"])],
}
"""What each of the words says is wrong."""


@every("words", sorted(other_words()))
def test_what_the_words_refuse_their_predicate_refuses(words: str) -> None:
    predicate = predicate_named(words.upper() + ".")
    assert predicate is not None
    if predicate in JUDGED:
        return  # by a run of ours: the claims below, and those of the gate
    for wrong in REFUSED[words]:
        if predicate in CATALOG_RULES:
            found = [*CATALOG_RULES[predicate]("agents", wrong, CATALOG.names)]
        else:
            subject = Subject(wrong, "tests", {"requirements": SPECIFICATION})
            found = ARTIFACT_RULES[predicate](subject)
        assert found, wrong


@every("rule", sorted(rule for words, rule in other_words().items() if rule in JUDGED))
def test_a_rule_that_a_gate_judges_is_refused_where_no_such_gate_is(rule: str) -> None:
    words = next(words for words, name in other_words().items() if name == rule and " " in words)
    contract = ".agentforge/contracts/analysis.yaml"
    text = f'extends: "agentforge:analysis"\n+validation: ["{words}"]\n'
    wrong = {line.partition("analysis in ")[2] for line in judge_file({}, contract, text).wrong} - {""}
    said = f" asks for {rule}, which the gate {JUDGED[predicate(rule)]} judges"
    assert any(line.startswith(f"analyze{said}") for line in wrong)
    assert all(said in line for line in wrong)


def predicate(rule: str) -> Any:  # noqa: ANN401 - a key of the table
    return predicate_named(rule)


def test_what_a_role_must_verify_is_judged_of_what_it_hands_in() -> None:
    path = ".agentforge/agents/requirements_analyst.yaml"
    own = 'extends: "agentforge:requirements_analyst"\ncapabilities: {output: {must_verify: %s}}\n'
    rules = dict.fromkeys(CATALOG.role("requirements_analyst").must_verify, True)
    more = own % json.dumps({**rules, "paths_are_relative": True})
    resolved = CATALOG.with_overrides({path: more}).resolve("design")
    assert "paths_are_relative" in resolved.contract("intake_record").rules
    with pytest.raises(UsageError, match="asks for all_tests_pass, which the gate green judges"):
        CATALOG.with_overrides({path: own % json.dumps({**rules, "all_tests_pass": True})}).resolve("design")


@every(
    ("rule", "said"),
    [
        ("no test that exists is broken", "did you mean no existing tests broken?"),
        ("every requirement has criterion", "did you mean every_requirement_has_criterion?"),
        ("the code is beautiful", "'the code is beautiful', which is no predicate; known: "),
    ],
)
def test_unknown_words_are_refused_with_the_nearest(rule: str, said: str) -> None:
    text = f'extends: "agentforge:test_suite"\n+validation: ["{rule}"]\n'
    (wrong,) = judge_file({}, ".agentforge/contracts/test_suite.yaml", text).wrong
    assert said in wrong
