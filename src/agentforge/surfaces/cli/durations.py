"""How long, as a person writes it: `90s`, `45m`, `2h`, `1d`, `1h30m`."""

import re

from agentforge.core.errors import UsageError

_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_FORM = re.compile(r"(?:\d{1,6}[dhms])+")


def seconds(text: str) -> int:
    """The whole of it in seconds."""
    parts = re.findall(r"(\d+)([dhms])", text) if _FORM.fullmatch(text) else []
    total = sum(int(count) * _SECONDS[unit] for count, unit in parts)
    if not total:
        raise UsageError(
            f"{text[:40]!r} is not a duration.", "Write, say, `--deadline 90m` or `--deadline 1h30m`."
        )
    return total
