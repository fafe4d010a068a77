"""How long ago, in the words of lists."""


def age(seconds: int) -> str:
    """How long something took, or how long ago it was: `12s`, `45m`, `2h 15m`, `3d 4h`."""
    seconds = max(0, seconds)
    if seconds < 60:
        return f"{seconds}s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if hours == 0:
        return f"{minutes}m"
    if days == 0:
        return f"{hours}h {minutes % 60:02d}m"
    return f"{days}d {hours % 24}h"
