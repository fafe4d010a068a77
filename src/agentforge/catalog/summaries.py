"""What a task hands over, in one sentence that its pipeline words: `exit.summary_template`."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from agentforge.catalog.faults import did_you_mean
from agentforge.catalog.policies import read_policy
from agentforge.core.reply import Json

_COUNTED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "requirements": ("requirement", ("requirements",)),
    "files": ("file", ("files", "files_to_modify", "files_to_create", "impacted_files")),
    "risks": ("risk", ("risks",)),
    "questions": ("question", ("questions",)),
}
"""Lists of a document: what an entry is called, and the keys that have it."""

_WORDS = (*_COUNTED, "criteria", "tests", "title", "decision", "task", "request", "pipeline")
_BRACES = re.compile(r"\{(\w*)\}")


def template_text(said: str) -> str:
    """The text behind a name; a text is its own."""
    return templates().get(said, said)


def template_problem(said: str) -> str:
    """Why nothing can be summed up by this; empty if it can."""
    text = template_text(said)
    wrong = [word for word in _BRACES.findall(text) if word not in _WORDS]
    if wrong:
        near = did_you_mean(wrong[0], _WORDS)
        return f"{{{wrong[0]}}} is nothing that can be filled in{near}; there are {', '.join(_WORDS)}"
    if text == said and not re.search(r"[\s{]", said):
        near = did_you_mean(said, templates())
        return f"there is no template {said}{near}; there are {', '.join(templates())}, or write a text"
    return ""


def summed_up(text: str, document: Mapping[str, Json], known: Mapping[str, str]) -> str:
    """A template with what its document and its task say. `known` has what is no part of the document."""
    decided = document.get("final_decision")
    words = {
        **dict(_counts(document)),
        "title": str(document.get("title") or ""),
        "decision": str(decided.get("decision") or "") if isinstance(decided, dict) else "",
        **known,
    }
    return _BRACES.sub(lambda match: words.get(match[1], ""), text).strip()


@cache
def templates() -> Mapping[str, str]:
    """The templates that come with us, by name."""
    found: Mapping[str, str] = read_policy("summaries")["templates"]
    return found


def _counts(document: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, (thing, keys) in _COUNTED.items():
        yield name, _number(sum(len(_list(document, key)) for key in keys), thing)
    criteria = sum(len(_list(item, "acceptance_criteria")) for item in _list(document, "requirements"))
    yield "criteria", f"{criteria:,} acceptance criteri{'on' if criteria == 1 else 'a'}"
    files = _list(document, "test_files")
    yield "tests", _number(sum(len(_list(file, "tests")) for file in files), "test")
    if files:
        tested = {test.get("requirement_ref") for file in files for test in _list(file, "tests")} - {None}
        yield "requirements", _number(len(tested), "requirement")


def _list(value: Any, key: str) -> list[Any]:  # noqa: ANN401 - a part of a document
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _number(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
