"""Violations that checks have found in a repository."""

from agentforge.core.errors import UsageError
from agentforge.sizing.goals import VIOLATION
from agentforge.store.site import Site


def check_violation(site: Site, name: str) -> None:
    """Refuses a violation that is not on record here."""
    if not VIOLATION.fullmatch(name):
        raise UsageError(
            f"{name[:80]} is no violation.", "One is called V- and twelve hexadecimal digits: V-04b31cde217a."
        )
    raise UsageError(
        f"There is no violation {name} in {site.git.top}: no check has recorded one.",
        'Say in words what is wrong: `agentforge implement "Fix …"`.',
    )
