"""The tool that runs tests, and the control actions, which the caller performs."""

from collections.abc import Mapping
from dataclasses import replace

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.tools.base import Tool, ToolResult, ToolSpec, Workbench, bounded, object_schema


def run_tests(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Run tests by id or file, or those that matter here when none is named."""
    ids = args.get("ids") or []
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise ModelMistake("bad_arguments", "`ids` is a list of test ids or files")
    result = bench.run_tests([str(each) for each in ids])
    return replace(result, text=bounded(result.text))


RUNNING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "run_tests",
            "Run tests: ids (`tests/test_a.py::test_b`) or files; without `ids`, those this change affects.",
            object_schema({}, {"ids": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 500}, "maxItems": 200}}),
            "execute",
        ),
        run_tests,
    ),
)

CONTROL: tuple[ToolSpec, ...] = (
    ToolSpec(
        "submit_artifact",
        "Hand in a finished document under its contract.",
        object_schema({"contract": {"type": "string", "minLength": 1}, "artifact": {"type": "object"}}),
        "control",
    ),
    ToolSpec(
        "escalate",
        "Ask a person one precise question; the work stops until it is answered.",
        object_schema(
            {"question": {"type": "string", "minLength": 1, "maxLength": 2000}},
            {
                "options": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 10},
                "recommendation": {"type": "string"},
            },
        ),
        "control",
    ),
)
"""Every role has these. They change the task, not the tree, so the one who decides about tasks performs them."""
