"""An artifact as it is taken in: what a model may spell in its own way is put into the one form that is
recorded.
"""

import re
from decimal import ROUND_DOWN, Decimal

from agentforge.core.reply import Json

CONFIDENCE = "confidence"
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
