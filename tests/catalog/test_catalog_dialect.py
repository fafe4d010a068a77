"""Claims about the contract dialect: what it refuses, and what it compiles to."""

from typing import Any

import pytest

from agentforge.catalog.contracts import Contract, compile_contract, problems
from agentforge.core.errors import UsageError
from tests.rows import every


def contract(schema: object, **more: object) -> Contract:
    return compile_contract(
        {"contract": "thing", "version": "1.0", "description": "A thing.", "schema": schema, **more},
        "thing.yaml",
    )


def test_required_lives_in_the_property_and_unknown_keys_are_refused() -> None:
    compiled = contract({"a": {"type": "string", "required": True}, "b": {"type": "integer"}})
    assert compiled.final_schema["required"] == ["a"]
    assert compiled.final_schema["additionalProperties"] is False
    assert problems(compiled, {"a": "x"}, final=True) == []
    assert problems(compiled, {"b": 1, "c": 2}, final=True) == [
        "c: unknown key; allowed: a, b",
        "a: is missing; it is text",
    ]


def test_filled_fields_may_be_left_out_of_a_draft_and_are_required_in_the_end() -> None:
    compiled = contract({"a": {"type": "string", "required": True, "filled": True}, "b": {"type": "boolean"}})
    assert problems(compiled, {"a": "x"}, final=False) == []
    assert problems(compiled, {}, final=False) == []
    assert problems(compiled, {}, final=True) == ["a: is missing; it is text"]


def test_what_only_the_engine_may_say_is_refused_in_a_draft() -> None:
    proof = {
        "type": "object",
        "required": True,
        "filled": "only",
        "properties": {"ok": {"type": "boolean", "required": True, "const": True}},
    }
    compiled = contract({"a": {"type": "string"}, "proof": proof})
    assert problems(compiled, {"proof": {"ok": True}}, final=False) == [
        "proof: is filled in by the engine; leave it out"
    ]
    assert problems(compiled, {"proof": {"ok": True}}, final=True) == []
    assert problems(compiled, {"proof": {"ok": False}}, final=True) == [
        "proof.ok: false does not fit; it is true"
    ]


def test_an_object_without_properties_is_free() -> None:
    assert (
        problems(contract({"a": {"type": "object"}}), {"a": {"anything": [1, None, "x"]}}, final=True) == []
    )


@every(
    ("node", "value", "expected"),
    [
        (
            {"type": "string", "max_length": 3},
            "long",
            "a: 'long' does not fit; it is text of at most 3 characters",
        ),
        (
            {"type": "string", "pattern": "^REQ-[0-9]{3}$"},
            "REQ-1",
            "a: 'REQ-1' does not fit; it is text like REQ-001",
        ),
        ({"type": "string", "enum": ["x", "y"]}, "z", "a: 'z' does not fit; it is one of x, y"),
        ({"type": "string"}, 7, "a: 7 does not fit; it is text"),
        (
            {"type": "array", "min_items": 1, "items": {"type": "string"}},
            [],
            "a: a list of 0 does not fit; it is a list with at least 1 entries",
        ),
        (
            {"type": "integer", "minimum": 0, "maximum": 100},
            101,
            "a: 101 does not fit; it is a whole number from 0, up to 100",
        ),
        ({"type": ["string", "null"]}, 7, "a: 7 does not fit; it is text or null"),
        ({"type": "boolean"}, "yes", "a: 'yes' does not fit; it is true or false"),
    ],
)
def test_a_problem_says_where_what_and_what_is_allowed(
    node: dict[str, object], value: object, expected: str
) -> None:
    assert problems(contract({"a": node}), {"a": value}, final=True) == [expected]


def test_a_date_and_time_has_its_format() -> None:
    compiled = contract({"at": {"type": "string", "format": "datetime"}})
    assert problems(compiled, {"at": "2026-01-31T12:00:00Z"}, final=True) == []
    assert len(problems(compiled, {"at": "yesterday"}, final=True)) == 1


def test_a_choice_explains_the_branch_that_was_meant() -> None:
    compiled = contract(
        {
            "a": {
                "any_of": [
                    {"type": "array", "items": {"type": "string"}},
                    {"type": "object", "properties": {"k": {"type": "string"}}},
                ]
            }
        }
    )
    assert problems(compiled, {"a": ["x"]}, final=True) == []
    assert problems(compiled, {"a": {"k": 1}}, final=True) == ["a.k: 1 does not fit; it is text"]
    assert problems(compiled, {"a": {"z": 1}}, final=True) == ["a.z: unknown key; allowed: k"]
    assert problems(compiled, {"a": 7}, final=True) == ["a: 7 does not fit; it is a list or an object"]


def test_fractions_are_refused_wherever_they_are() -> None:
    compiled = contract({"n": {"type": "integer"}, "free": {"type": "object"}})
    assert problems(compiled, {"n": 1.0, "free": {"x": [0.5]}}, final=True) == [
        "n: 1.0 has a fraction; write a whole number or text",
        "free.x[0]: 0.5 has a fraction; write a whole number or text",
    ]


def test_hostile_values_are_problems_and_not_crashes() -> None:
    compiled = contract({"free": {"type": "object"}})
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"x": deep}
    assert "nested deeper" in problems(compiled, {"free": deep}, final=True)[0]
    assert problems(compiled, {"free": {"n": 10**400}}, final=True) == []
    assert problems(compiled, None, final=True) == ["the artifact: null does not fit; it is an object"]
    assert problems(compiled, ["x"], final=False) == [
        "the artifact: a list of 1 does not fit; it is an object"
    ]


def test_at_most_twenty_problems_are_told() -> None:
    compiled = contract({"a": {"type": "string"}})
    told = problems(compiled, {f"k{number}": 1 for number in range(50)}, final=True)
    assert len(told) == 20
    assert told[-1] == "and 31 more problems"


@every(
    ("schema", "said"),
    [
        ({}, "schema allows nothing: it has no properties"),
        ({"a": {"type": "string", "enum": []}}, "schema.a allows nothing: `enum` is empty"),
        (
            {"a": {"type": "integer", "minimum": 5, "maximum": 1}},
            "schema.a allows nothing: minimum 5 is over maximum 1",
        ),
        (
            {"a": {"type": "string", "min_length": 5, "max_length": 1}},
            "allows nothing: min_length 5 is over max_length 1",
        ),
        (
            {"a": {"type": "array", "min_items": 2, "max_items": 1}},
            "allows nothing: min_items 2 is over max_items 1",
        ),
        ({"a": {"type": "integer", "enum": ["x"]}}, "schema.a allows nothing: 'x' does not fit"),
        (
            {"a": {"type": "string", "enum": ["x"], "pattern": "^y"}},
            "schema.a allows nothing: 'x' does not fit",
        ),
        ({"a": {"type": "boolean", "const": 1}}, "schema.a allows nothing: 1 does not fit"),
        ({"a": {"type": "string", "enum": ["x"], "const": "y"}}, "allows nothing: `const` is not in `enum`"),
        ({"a": {"any_of": []}}, "schema.a allows nothing: `any_of` is empty"),
        ({"a": {"type": "array", "items": {"type": "string", "enum": []}}}, "schema.a.items allows nothing"),
    ],
)
def test_a_contract_that_allows_nothing_is_an_error_that_says_so(schema: object, said: str) -> None:
    with pytest.raises(UsageError, match=r"^thing\.yaml: ") as caught:
        contract(schema)
    assert said in str(caught.value)


@every(
    ("schema", "said"),
    [
        ({"a": {"type": "string", "minLength": 1}}, "schema.a.minLength is not known here"),
        ({"a": {"type": "string", "min_items": 1}}, "schema.a.min_items is not known here"),
        ({"a": {"type": "text"}}, "schema.a.type 'text' is no type"),
        ({"a": {"type": "number"}}, "numbers are whole: `integer`"),
        ({"a": {}}, "schema.a says no `type`"),
        ({"a": "string"}, "schema.a is a mapping"),
        (
            {"a": {"type": "object", "required": ["b"], "properties": {"c": {"type": "string"}}}},
            "schema.a.required is true or false",
        ),
        ({"a": {"type": "string", "pattern": "("}}, "schema.a.pattern is no regular expression"),
        ({"a": {"type": "string", "format": "email"}}, "schema.a.format is one of datetime"),
        ({"a": {"type": "integer", "minimum": True}}, "schema.a.minimum is a whole number"),
        ({"a": {"type": "string", "filled": "yes"}}, "schema.a.filled is true, false or `only`"),
        ([], "schema is a mapping"),
    ],
)
def test_a_dialect_error_names_file_and_key(schema: object, said: str) -> None:
    with pytest.raises(UsageError, match=r"^thing\.yaml: ") as caught:
        contract(schema)
    assert said in str(caught.value)


def test_a_pattern_that_only_python_reads_is_refused_at_load() -> None:
    with pytest.raises(UsageError, match="cannot be compiled"):
        contract({"a": {"type": "string", "pattern": r"(?P<x>a)(?P=x)(?(x)b|c)\Z(?a:x)"}})


def test_an_unknown_rule_or_key_of_a_contract_is_refused() -> None:
    with pytest.raises(UsageError, match="'looks_nice', which is no predicate"):
        contract({"a": {"type": "string"}}, validation=["looks_nice"])
    with pytest.raises(UsageError, match="unknown key `rules`"):
        contract({"a": {"type": "string"}}, rules=[])
    with pytest.raises(UsageError, match="`version` is missing or not text"):
        contract({"a": {"type": "string"}}, version=1)
