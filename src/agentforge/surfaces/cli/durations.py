"""How long, where an option asks for it."""

from agentforge.core.errors import UsageError
from agentforge.system.durations import parse_duration


def seconds(text: str) -> int:
    """The whole of it in seconds."""
    total = parse_duration(text)
    if not total:
        raise UsageError(
            f"{text[:40]!r} is not a duration.", "Write, say, `--deadline 90m` or `--deadline 1h30m`."
        )
    return total
