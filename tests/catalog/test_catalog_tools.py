"""Tools that a project declares: what a declaration may say, and what is refused with its line and key."""

from pathlib import PurePath

import pytest

from agentforge.catalog.check import judge_file, place_of
from agentforge.catalog.load import Catalog
from agentforge.catalog.own_tools import PACKAGED_TOOLS
from agentforge.catalog.roles import RESERVED_TOOLS
from agentforge.core.errors import UsageError
from agentforge.tools.bridge import ALIASES, TOOLS
from agentforge.tools.run.running import CONTROL
from tests.rows import every

CATALOG = Catalog.packaged()
PLACE = ".agentforge/tools/check_links.yaml"
ROLE = ".agentforge/agents/software_developer.yaml"
TOOL = """\
tool:
  name: check_links
  description: Finds links in the documentation that lead nowhere.
  argv: [python, scripts/check.py, "--level={level}", --, "{paths}"]
  input:
    type: object
    properties:
      level: {type: integer, minimum: 1, maximum: 9}
      paths: {type: array, items: {type: string, maxLength: 200}, maxItems: 50}
    required: [paths]
  effect: read
  risk: low
  timeout_s: 60
"""
GIVEN = {ROLE: 'extends: "agentforge:software_developer"\ncapabilities: {tools: {+allowed: [check_links]}}\n'}

# What is put in place of what, and what is said about it.
WRONG = {
    "shadows a tool": (
        ("name: check_links", "name: read_file"),
        "tools/read_file.yaml:2: tool.name: read_file is a name that AgentForge uses",
    ),
    "shadows an alias": (("name: check_links", "name: grep"), "grep is a name that AgentForge uses"),
    "is reserved": (("name: check_links", "name: deploy"), "deploy is a name that AgentForge uses"),
    "another name than its file": (("name: check_links", "name: other_links"), "calls itself 'other_links'"),
    "capitals": (("name: check_links", "name: CheckLinks"), "tool.name: 'CheckLinks' does not fit"),
    "unknown key": (("effect: read", "effect: read\n  shell: true"), "tool.shell: unknown key"),
    "no argv": (
        ('argv: [python, scripts/check.py, "--level={level}", --, "{paths}"]', "argv: []"),
        "tool.argv: a list of 0 does not fit",
    ),
    "a line for a shell": (
        ('argv: [python, scripts/check.py, "--level={level}", --, "{paths}"]', "argv: check {paths}"),
        "tool.argv: 'check",
    ),
    "a shell": (
        ("[python, scripts/check.py,", '[bash, -c, "check {level}",'),
        "is a shell with a line to run",
    ),
    "a shell further on": (
        ("[python, scripts/check.py,", "[env, sh, -ec, check,"),
        "is a shell with a line to run",
    ),
    "program text": (
        ("[python, scripts/check.py,", '[python, -c, "print({level})",'),
        "puts an argument into the program that follows -c",
    ),
    "a program by argument": (("[python,", '["{level}",'), "tool.argv[0]: '{level}' cannot be a program"),
    "a dash as program": (("[python,", "[-x,"), "tool.argv[0]: '-x' cannot be a program"),
    "an unknown argument": (('"{paths}"', '"{files}"'), "names {files}, and `input` has no such argument"),
    "an open brace": (('"--level={level}"', '"--level={level}", "{ x"'), "has a brace that closes nothing"),
    "a list within a word": (
        ('"{paths}"', '"--in={paths}"'),
        "{paths} is a list, which can only be a whole word",
    ),
    "an unused argument": (('"--level={level}", ', ""), "tool.input.properties.level: is used nowhere"),
    "not an object": (("input:\n    type: object", "input:\n    type: string"), "tool.input.type: is object"),
    "more arguments": (
        ("required: [paths]", "required: [paths]\n    additionalProperties: true"),
        "additionalProperties: is false",
    ),
    "a reference": (
        ("{type: integer, minimum: 1, maximum: 9}", '{$ref: "http://example.invalid/x"}'),
        "$ref: is not known here",
    ),
    "an object argument": (
        ("{type: integer, minimum: 1, maximum: 9}", "{type: object}"),
        "level.type: is string, integer, boolean, or array",
    ),
    "a fraction": (
        ("{type: integer, minimum: 1, maximum: 9}", "{type: number}"),
        "level.type: is string, integer, boolean, or array",
    ),
    "a list of lists": (
        ("items: {type: string, maxLength: 200}", "items: {type: array}"),
        "paths.items: is a mapping whose type",
    ),
    "a bad pattern": (
        ("{type: integer, minimum: 1, maximum: 9}", '{type: string, pattern: "("}'),
        "tool.input: is no JSON Schema",
    ),
    "required and not there": (
        ("required: [paths]", "required: [path]"),
        "tool.input.required: is a list of the arguments above",
    ),
    "an unknown effect": (("effect: read", "effect: everything"), "tool.effect: 'everything' does not fit"),
    "an unknown risk": (("risk: low", "risk: none"), "tool.risk: 'none' does not fit"),
    "no end": (("timeout_s: 60", "timeout_s: 0"), "tool.timeout_s: 0 does not fit"),
    "too long": (("timeout_s: 60", "timeout_s: 100000"), "tool.timeout_s: 100000 does not fit"),
    "no description": (
        ("description: Finds links in the documentation that lead nowhere.", "description: x"),
        "tool.description: 'x' does not fit",
    ),
}


@pytest.mark.slow
@every("case", WRONG)
def test_a_declaration_that_could_do_harm_is_refused_with_its_key(case: str) -> None:
    (old, new), said = WRONG[case]
    assert old in TOOL
    text = TOOL.replace(old, new)
    place = (
        PLACE
        if "name: check" in text or "other" in new or "Check" in new
        else f".agentforge/tools/{new.removeprefix('name: ')}.yaml"
    )
    found = faults(GIVEN, place, text)
    assert any(said in fault for fault in found), found
    with pytest.raises(UsageError):
        CATALOG.with_overrides({**GIVEN, PLACE: text}).resolve("implement", "small")


def faults(others: dict[str, str], place: str, text: str) -> list[str]:
    return [*judge_file(others, place, text).wrong]


def test_a_declaration_is_valid_and_a_task_keeps_it() -> None:
    assert faults(GIVEN, PLACE, TOOL) == []
    assert place_of(PurePath("somewhere.yaml"), TOOL) == PLACE
    resolved = CATALOG.with_overrides({**GIVEN, PLACE: TOOL}).resolve("implement", "small")
    assert list(resolved.tools()) == ["check_links"]
    assert resolved.tools()["check_links"]["timeout_s"] == 60
    assert "check_links" in resolved.role("software_developer").allowed


def test_a_task_keeps_no_tool_that_no_role_of_it_uses() -> None:
    plain = CATALOG.resolve("implement", "small")
    assert "tools" not in CATALOG.with_overrides({PLACE: TOOL}).resolve("implement", "small").to_json()
    assert "tools" not in plain.to_json()
    assert plain.tools() == {}


def test_a_tool_that_nobody_declares_is_offered_to_nobody_and_that_is_said() -> None:
    assert faults({}, ROLE, GIVEN[ROLE]) == []
    (warning,) = judge_file({}, ROLE, GIVEN[ROLE]).warnings
    assert warning.startswith(f"{ROLE}:2: ")
    assert "check_links is offered to nobody until .agentforge/tools/check_links.yaml declares it" in warning
    role = CATALOG.with_overrides(GIVEN).resolve("implement", "small").role("software_developer")
    assert "check_links" not in role.allowed
    (fault,) = faults({}, ROLE, GIVEN[ROLE].replace("check_links", "raed_file"))
    assert "raed_file is allowed, and there is no such tool; did you mean read_file?" in fault


def test_braces_can_be_written() -> None:
    text = TOOL.replace('"{paths}"', '"{{x}}", "{paths}"')
    assert faults(GIVEN, PLACE, text) == []


def test_every_name_that_is_taken_is_known_to_the_catalogue() -> None:
    assert {*TOOLS, *ALIASES, *RESERVED_TOOLS, *(spec.name for spec in CONTROL)} == PACKAGED_TOOLS
