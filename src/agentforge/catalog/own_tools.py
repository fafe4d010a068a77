"""Programs that a project declares as tools: what is wrong with a declaration beyond its contract.

The arguments come from a model, so a declaration must leave no room for an argument to become more than a
word: no shell line, no program text, no option. Its schema is a plain one: nothing in it can reach for
another document.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentforge.catalog.contracts import schema_fault
from agentforge.catalog.roles import RESERVED_TOOLS

# fmt: off
PACKAGED_TOOLS = frozenset({
    "analyze_complexity", "analyze_coverage", "analyze_dependencies", "apply_patch", "create_file",
    "create_release_notes", "delete_file",
    "edit_file", "generate_changelog", "git_branch", "git_diff", "git_log", "git_status", "list_dir",
    "list_files", "move_file", "outline",
    "read_documentation", "read_file", "read_symbol", "reopen_tests", "run_command", "run_conformance_check",
    "run_security_scan", "run_tests",
    "run_type_check", "search_codebase", "verify_deployment_ready", "view_architecture_diagram",
    "ask_user", "escalate", "escalate_question", "submit_artifact", "glob", "grep", "write_file",
}) | RESERVED_TOOLS
"""Every name that means something already: tools, their other names, control actions, and what is reserved.
"""
_SHELLS = frozenset({"sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "tcsh", "zsh", "busybox",
                     "pwsh", "powershell", "cmd"})
_KEYS = frozenset({
    "type", "properties", "required", "additionalProperties", "title", "description", "default", "enum",
    "pattern", "minLength",
    "maxLength", "minimum", "maximum", "items", "minItems", "maxItems", "uniqueItems",
})
# fmt: on

_TEXT = frozenset({"string", "integer", "boolean"})
_SLOT = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")
_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|node|deno|bun|php|lua|R|Rscript|osascript|guile|tclsh|[gmn]?awk)[0-9.]*"
)
_PROGRAM_TEXT = re.compile(r"-[A-Za-z]*[ceEpr]|--(command|eval|exec|execute|print|run)")
"""Options after which these take a program as text."""


def slots(word: str) -> list[str]:
    """The arguments that a word of `argv` names."""
    return [found[1] for found in _SLOT.finditer(word) if found[1]]


def filled(word: str, values: Mapping[str, str]) -> str:
    """A word with its arguments in their places. What they hold is not looked at again."""
    return _SLOT.sub(lambda found: values[found[1]] if found[1] else found[0][0], word)


def tool_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a declaration that is valid under its contract, as `key: what`."""
    tool = document["tool"]
    if tool["name"] in PACKAGED_TOOLS:
        yield f"tool.name: {tool['name']} is a name that AgentForge uses itself; choose another"
    yield from _input_problems(tool["input"])
    known = tool["input"].get("properties")
    yield from _argv_problems(tool["argv"], known if isinstance(known, dict) else {})


def _input_problems(schema: Mapping[str, Any]) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "tool.input.type: is object: a call has named arguments"
        return
    if schema.get("additionalProperties", False) is not False:
        yield "tool.input.additionalProperties: is false: an undeclared argument goes nowhere"
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        yield "tool.input.properties: is a mapping from argument to its schema"
        return
    yield from _keys_problems(schema, "tool.input")
    for name, node in properties.items():
        where = f"tool.input.properties.{name}"
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,59}", str(name)):
            yield f"{where}: is not a name for an argument: letters, digits and underscores"
        elif not isinstance(node, dict):
            yield f"{where}: is a mapping that says `type`"
        else:
            yield from _argument_problems(node, where)
    required = schema.get("required", [])
    if not isinstance(required, list) or any(name not in properties for name in required):
        yield "tool.input.required: is a list of the arguments above"
    elif fault := schema_fault(schema):
        yield f"tool.input: is no JSON Schema: {fault}"


def _argument_problems(node: Mapping[str, Any], where: str) -> Iterator[str]:
    yield from _keys_problems(node, where)
    kind = node.get("type")
    if kind == "array":
        items = node.get("items")
        if not isinstance(items, dict) or items.get("type") not in _TEXT:
            yield f"{where}.items: is a mapping whose type is string, integer or boolean"
        else:
            yield from _keys_problems(items, f"{where}.items")
    elif kind not in _TEXT:
        yield (
            f"{where}.type: is string, integer, boolean, or array of these: a word of a command can be "
            "nothing else"
        )


def _keys_problems(node: Mapping[str, Any], where: str) -> Iterator[str]:
    for key in sorted(map(str, set(node) - _KEYS)):
        yield f"{where}.{key}: is not known here; known: {', '.join(sorted(_KEYS))}"


def _argv_problems(argv: Sequence[str], properties: Mapping[str, Any]) -> Iterator[str]:
    program = argv[0]
    if not program or program.startswith("-") or "=" in program or slots(program):
        yield f"tool.argv[0]: {program!r} cannot be a program: its name is fixed, and begins with no dash"
    used: set[str] = set()
    interprets = any(
        _INTERPRETER.fullmatch(name) or name in _SHELLS for name in (word.rpartition("/")[2] for word in argv)
    )
    for number, word in enumerate(argv):
        where = f"tool.argv[{number}]"
        if "\0" in word:
            yield f"{where}: holds a NUL character"
        if any(found[0] in "{}" for found in _SLOT.finditer(word)):
            yield f"{where}: has a brace that closes nothing; write {{{{ or }}}} for a brace itself"
        for name in slots(word):
            used.add(name)
            if name not in properties:
                yield f"{where}: names {{{name}}}, and `input` has no such argument"
            elif (
                isinstance(properties[name], dict)
                and properties[name].get("type") == "array"
                and word != f"{{{name}}}"
            ):
                yield f"{where}: {{{name}}} is a list, which can only be a whole word"
        if number and interprets and slots(word) and _PROGRAM_TEXT.fullmatch(argv[number - 1]):
            yield (
                f"{where}: puts an argument into the program that follows {argv[number - 1]}; pass it "
                "as a word of its own"
            )
    yield from (
        f"tool.input.properties.{name}: is used nowhere in `argv`" for name in properties if name not in used
    )
    shell = next((number for number, word in enumerate(argv) if word.rpartition("/")[2] in _SHELLS), None)
    if shell is not None and any(
        re.fullmatch(r"-[A-Za-z]*c|-[cC]ommand|/[cC]", word) for word in argv[shell + 1 :]
    ):
        yield (
            f"tool.argv[{shell}]: is a shell with a line to run; put the line into a script of the "
            "project, and name that"
        )
