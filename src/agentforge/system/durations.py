"""How long, as a person writes it: `90s`, `45m`, `2h`, `1d`, `1h30m`."""

import re

_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_FORM = re.compile(r"(?:\d{1,6}[dhms])+")


def parse_duration(text: str) -> int | None:
    """The whole of it in seconds; None where it is no duration."""
    if not _FORM.fullmatch(text):
        return None
    return sum(int(count) * _SECONDS[unit] for count, unit in re.findall(r"(\d+)([dhms])", text))
