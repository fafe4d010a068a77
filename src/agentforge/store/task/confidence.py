"""How sure an answer is: recorded as a whole percent (92), written in files as people do (0.92), and taken in
either way.
"""

import re
from collections.abc import Callable
from decimal import ROUND_DOWN, Decimal
from typing import Any, TypeGuard

from agentforge.core.reply import Json
from agentforge.system.strict_yaml import YamlValue

CONFIDENCE = "confidence"
_QUESTIONS = "questions"
"""Where files have one."""
_DECIMAL = re.compile(r"\d{1,3}\.\d{1,9}|\.\d{1,9}")


def taken_in(document: dict[str, Json]) -> dict[str, Json]:
    """The same with each confidence as a whole percent. What is no confidence at all stays, and its contract
    refuses it.
    """
    return {key: _percent(value) if key == CONFIDENCE else _within(value) for key, value in document.items()}


def _within(value: Json) -> Json:
    if isinstance(value, dict):
        return taken_in(value)
    return [_within(item) for item in value] if isinstance(value, list) else value


def _percent(value: Json) -> Json:
    """`0.92` is 92 and `92.0` is 92. Numbers with a fraction reach us as text, and are never rounded up:
    0.799 is not sure.
    """
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        return value
    number = Decimal(value)
    if number <= 1:
        return int((number * 100).to_integral_value(ROUND_DOWN))
    return int(number) if number == int(number) else value


def as_written(document: dict[str, Json]) -> dict[str, YamlValue]:
    """A document as its file has it; `as_read` gives back the same."""
    return _with_confidence(document, lambda said: said / 100 if _is_percent(said) else said)


def as_read(document: dict[str, Json]) -> dict[str, Json]:
    """What a file says, in the form that is recorded. Fractions are read as text."""
    return _with_confidence(document, _percent)


def _is_percent(said: Json) -> TypeGuard[int]:
    return isinstance(said, int) and not isinstance(said, bool) and 0 <= said <= 100


def _with_confidence(document: dict[str, Json], spell: Callable[[Json], Any]) -> dict[str, Any]:
    questions = document.get(_QUESTIONS)
    if not isinstance(questions, list):
        return document
    told = [
        {**item, CONFIDENCE: spell(item[CONFIDENCE])}
        if isinstance(item, dict) and CONFIDENCE in item
        else item
        for item in questions
    ]
    return {**document, _QUESTIONS: told}
