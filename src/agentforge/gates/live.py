"""Each new test has an assertion that can fail, as far as its text can tell; what is odd in it is shown."""

from collections.abc import Iterable, Mapping

from agentforge.gates.flags import Flag
from agentforge.languages.tests import liveness, test_doubts


def lifeless(ids: Iterable[str], sources: Mapping[str, str]) -> tuple[list[str], list[Flag]]:
    """The tests that cannot fail, a sentence each, and those of which that is not sure."""
    reasons: list[str] = []
    flags: list[Flag] = []
    for identity in ids:
        text = sources.get(identity.partition("::")[0], "")
        flags += [Flag(identity, said) for said in test_doubts(text, identity)]
        found = liveness(text, identity)
        if found.refused:
            reasons.append(
                f"{identity} cannot fail for a wrong result: {found.refused}; let it assert what the change "
                "must do"
            )
        elif found.doubt:
            flags.append(Flag(identity, found.doubt))
    return reasons, flags
