"""Each new test has an assertion that can fail, as far as its text can tell."""

from collections.abc import Iterable, Mapping

from agentforge.gates.flags import Flag
from agentforge.languages.tests import liveness


def lifeless(ids: Iterable[str], sources: Mapping[str, str]) -> tuple[list[str], list[Flag]]:
    """The tests that cannot fail, a sentence each, and those of which that is not sure."""
    reasons: list[str] = []
    flags: list[Flag] = []
    for identity in ids:
        found = liveness(sources.get(identity.partition("::")[0], ""), identity)
        if found.refused:
            reasons.append(
                f"{identity} cannot fail for a wrong result: {found.refused}; let it assert what the change "
                "must do"
            )
        elif found.doubt:
            flags.append(Flag(identity, found.doubt, ruling=True))
    return reasons, flags
