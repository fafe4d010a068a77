"""A weak model: it means the right thing and says it wrong. Each of its usual mistakes is one reply, about the
sample of `agentforge demo`, in the lane where one reply does it all.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import agentforge
from tests.whole.checkouts import PINNED

REQUEST = 'parse in src/pantry/quantity.py must read fractions: parse("1/2 cup") is half a cup'
SOURCE, TESTS = "src/pantry/quantity.py", "tests/test_fractions.py"
TEST = """\
from fractions import Fraction

from pantry import Quantity, parse


def test_a_fraction_is_an_amount():
    assert parse("1/2 cup") == Quantity(Fraction(1, 2), "cup")
"""
NAME = "test_a_fraction_is_an_amount"
OLD = "    return Quantity(Fraction(int(amount)), unit.strip())\n"
NEW = "    return Quantity(Fraction(amount), unit.strip())\n"
REQUIREMENT = {
    "id": "REQ-001",
    "description": "A fraction is an amount",
    "acceptance_criteria": ["1/2 cup is half a cup"],
}
SPECIFICATION: dict[str, Any] = {
    "title": "parse reads fractions",
    "description": "The amount may be a fraction.",
    "requirements": [REQUIREMENT],
    "files_to_modify": [SOURCE],
}
APPROVAL = json.dumps({"artifacts": {"review": {"verdict": "approve", "summary": "as asked"}}})
Action = dict[str, Any]


def sample() -> dict[str, str]:
    """The repository of the demo, with packages that no index is asked for."""
    top = Path(agentforge.__file__).parent / "catalog/demo/sample"
    files = {
        str(path.relative_to(top)): path.read_text()
        for path in top.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    project = f'[project]\nname = "pantry"\nversion = "0.3.0"\n\n[dependency-groups]\ntest = [{PINNED}]\n'
    return files | {"pyproject.toml": f'{project}\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'}


def call(name: str, /, **args: Any) -> Action:  # noqa: ANN401 - whatever a model writes
    return {"name": name, "args": args}


def suite(path: str = TESTS, name: str = NAME, requirement: str = "REQ-001") -> dict[str, Any]:
    return {"test_files": [{"path": path, "tests": [{"name": name, "requirement_ref": requirement}]}]}


def reply(*actions: Action, **more: Any) -> str:  # noqa: ANN401 - whatever a model writes
    return json.dumps({"thought": "Fraction reads it.", "actions": [*actions], **more})


def changed(**other: Action) -> list[Action]:
    """What would be right, with some of it said otherwise."""
    right = {
        "test": call("create_file", path=TESTS, content=TEST),
        "edit": call("edit_file", path=SOURCE, old=OLD, new=NEW),
        "specification": call("submit_specification", **SPECIFICATION),
        "suite": call("submit_test_suite", **suite()),
        "change": call("submit_implementation", summary="Fraction itself reads the amount"),
    }
    return [*(right | other).values()]


CALLS = changed()
RIGHT = reply(*CALLS)
PLAIN = json.loads(RIGHT)
_CODE = "```python\nparse = {}\n```"
_SHIFTED = '  amount, _, unit = text.strip().partition(" ")\n'

READ: dict[str, str] = {
    "thinking before it": f'<think>\nmaybe {{"actions": []}}?\n{{ no }}\n</think>\n{RIGHT}',
    "thinking without its first tag": f"Okay, so I need to\n{{ look\n</think>\n{RIGHT}",
    "a fence inside prose": f"Sure! My plan:\n\n```json\n{RIGHT}\n```\n\nLet me know!",
    "code before it": f"First the code:\n{_CODE}\n```json\n{RIGHT}\n```",
    "yaml in a fence": f"```yaml\n{yaml.safe_dump(PLAIN)}```",
    "yaml": yaml.safe_dump(PLAIN),
    "a comma too many": f"{RIGHT[:-1]},}}",
    "line breaks in texts": RIGHT.replace("\\n", "\n"),
    "the quotes of Python": str(PLAIN),
    "calls as on a wire": json.dumps(
        {
            "tool_calls": [
                {
                    "type": "function",
                    "function": {"name": each["name"], "arguments": json.dumps(each["args"])},
                }
                for each in CALLS
            ]
        }
    ),
    "tool and parameters": json.dumps(
        {"actions": [{"tool": each["name"], "parameters": each["args"]} for each in CALLS]}
    ),
    "name and arguments": json.dumps(
        {"actions": [{"name": each["name"], "arguments": each["args"]} for each in CALLS]}
    ),
    "a bare list": json.dumps(CALLS),
    "flat actions": json.dumps({"actions": [{"name": each["name"], **each["args"]} for each in CALLS]}),
    "tools as keys": json.dumps({"actions": [{each["name"]: each["args"]} for each in CALLS]}),
    "tags around each call": "\n".join(
        f"<tool_call>\n{json.dumps({'name': each['name'], 'arguments': each['args']})}\n</tool_call>"
        for each in CALLS
    ),
    "a call on each line": "\n".join(map(json.dumps, CALLS)),
}
"""Spellings that can mean one thing only: each is the right reply."""

TAKEN: dict[str, str] = {
    "other names of arguments": reply(
        *changed(edit=call("edit_file", file_path=SOURCE, old_string=OLD, new_string=NEW))
    ),
    "another name of the tool": reply(
        *changed(edit=call("str_replace", path=SOURCE, old_text=OLD, new_text=NEW))
    ),
    "blanks that the file does not have": reply(
        *changed(edit=call("edit_file", path=SOURCE, old=f"{OLD.strip()}  \n", new=NEW.strip()))
    ),
    "another indent": reply(
        *changed(edit=call("edit_file", path=SOURCE, old=_SHIFTED + OLD[2:], new=_SHIFTED + NEW[2:]))
    ),
    "line numbers in the text": reply(
        *changed(edit=call("edit_file", path=SOURCE, old=f"25|{OLD}", new=f"25|{NEW}"))
    ),
    "the same edit twice": reply(*CALLS[:2], CALLS[1], *CALLS[2:]),
    "documents before what they speak of": reply(*CALLS[2:], *CALLS[:2]),
    "an id in another form": reply(*changed(suite=call("submit_test_suite", **suite(requirement="REQ-1")))),
    "a list written as text": reply(
        *changed(suite=call("submit_test_suite", test_files=json.dumps(suite()["test_files"])))
    ),
    "a document in a box": reply(
        *changed(specification=call("submit_specification", specification=SPECIFICATION))
    ),
    "a document in yaml": reply(
        *changed(
            specification=call(
                "submit_artifact", contract="specification", artifact=yaml.safe_dump(SPECIFICATION)
            )
        )
    ),
}
"""What reaches the tools and documents wrong, and is taken as it can only be meant."""


class Lost(NamedTuple):
    """A reply that costs a call, and what the model is told."""

    text: str
    told: str
    stop: str = "end"


TOLD: dict[str, Lost] = {
    "prose": Lost(
        "I would change `int(amount)` and add a test.", "holds no JSON object.*`actions` is a list"
    ),
    "a cut reply": Lost(RIGHT[: len(RIGHT) * 2 // 3], "Kept, in order: 1. create_file", "length"),
    "two replies": Lost(f"```json\n{reply(*CALLS[:2])}\n```\n```json\n{reply(*CALLS[2:])}\n```", "a second"),
    "an invented file": Lost(
        reply(*changed(edit=call("edit_file", path="src/pantry/quantities.py", old=OLD, new=NEW))),
        r"there is no file `src/pantry/quantities.py`; did you mean `src/pantry/quantity.py`\?",
    ),
    "a path from elsewhere": Lost(
        reply(*changed(edit=call("edit_file", path="/src/pantry/quantity.py", old=OLD, new=NEW))),
        "write it as 'src/pantry/quantity.py'",
    ),
    "tests in the wrong folder": Lost(
        reply(
            *changed(
                test=call("create_file", path="test_fractions.py", content=TEST),
                suite=call("submit_test_suite", **suite("test_fractions.py")),
            )
        ),
        "`test_fractions.py` is not among the tests of this repository; they are in `tests/`",
    ),
    "an invented test": Lost(
        reply(*changed(suite=call("submit_test_suite", **suite(name="test_fractions")))),
        "has no test test_fractions",
    ),
    "documents without the work": Lost(reply(*CALLS[2:]), "is not in the repository; create it before"),
    "wrong keys": Lost(
        reply(*changed(specification=call("submit_specification", name="x", text="y", requirements=[]))),
        "title: is missing",
    ),
    "tests without requirements": Lost(
        reply(*changed(suite=call("submit_test_suite", test_files=[{"path": TESTS, "tests": [NAME]}]))),
        "requirement_ref",
    ),
}
"""What nobody can know for it. After each it sends the whole right reply again, as weak models do."""
