"""Whether this process runs in a session of AO: there is a terminal then, and nobody who types."""

import os

from agentforge.integrations.ao import session_of


def is_under_ao() -> bool:
    """Whether AO started whoever called us."""
    return session_of(os.environ) is not None
