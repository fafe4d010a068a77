"""The tool that runs tests, and the control actions, which the caller performs."""

from collections.abc import Mapping, Sequence

from agentforge.core.reply import Json
from agentforge.tools.base import Tool, ToolResult, ToolSpec, Workbench, object_schema, texts_of


def run_tests(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Run tests by id or file, or those that matter here when none is named."""
    return bench.run_tests(texts_of(args, "ids"))


RUNNING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "run_tests",
            "Run tests: ids (`tests/test_a.py::test_b`) or files; without `ids`, those this change affects.",
            object_schema(
                {},
                {
                    "ids": {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1, "maxLength": 500},
                        "maxItems": 200,
                    }
                },
            ),
            "execute",
        ),
        run_tests,
    ),
)

_QUESTION = object_schema(
    {"question": {"type": "string", "minLength": 1, "maxLength": 2000}},
    {
        "options": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 10},
        "recommendation": {"type": "string"},
    },
)

_SUBMITS = "submit_"

SUBMIT = ToolSpec(
    "submit_artifact",
    "Hand in a finished document under its contract.",
    object_schema({"contract": {"type": "string", "minLength": 1}, "artifact": {"type": "object"}}),
    "control",
)
ESCALATE = ToolSpec(
    "escalate",
    "Ask a person one precise question; the work stops until it is answered.",
    _QUESTION,
    "control",
)
ESCALATE_QUESTION = ToolSpec("escalate_question", ESCALATE.description, _QUESTION, "control")

REOPEN = ToolSpec(
    "reopen_tests",
    "Say that locked tests are wrong or cannot be met, by id and why: they go back to RED, with your reason.",
    object_schema(
        {"reason": {"type": "string", "minLength": 1, "maxLength": 1000}},
        {
            "tests": {
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": 500},
                "maxItems": 20,
            }
        },
    ),
    "control",
)

CONTROL: tuple[ToolSpec, ...] = (SUBMIT, ESCALATE, ESCALATE_QUESTION, REOPEN)
"""They change the task, not the tree, so the one who decides about tasks performs them. Every role has them;
the last one means something only to a role that writes where tests are locked.
"""

ESCALATES = frozenset({ESCALATE.name, ESCALATE_QUESTION.name})
"""Two names of one action. A role is shown the one that its definition uses, and is heard by both."""


def submit_name(contract: str) -> str:
    """The tool that hands in an artifact under this contract."""
    return f"{_SUBMITS}{contract}"


def submit_tool(contract: str, description: str, schema: Mapping[str, Json]) -> ToolSpec:
    """The tool that hands in one artifact: its arguments are the document."""
    return ToolSpec(submit_name(contract), description, schema, "control")


def shown_control(
    allowed: Sequence[str], submits: Sequence[ToolSpec] = (), *, reopens: bool = False
) -> tuple[ToolSpec, ...]:
    """The control actions as a role with these tools is told of them. `submits` has one tool for each
    artifact that is asked for.
    """
    asks = ESCALATE_QUESTION if ESCALATE_QUESTION.name in allowed else ESCALATE
    return (*(submits or (SUBMIT,)), asks, *((REOPEN,) if reopens else ()))
