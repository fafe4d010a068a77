"""Ids of tests that hold a secret, as those of a scanner's own tests do: what is on record, and compared with
it later, is the id without the secret.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from agentforge.languages.outcomes import Reached, TestResult
from agentforge.system.secrets.redact import redact

_MARK = "[REDACTED:"


def safe_names(ids: Iterable[str]) -> dict[str, str]:
    """A name for each id that holds a secret; two of the same name are numbered. Mostly there is none."""
    known = list(ids)
    if redact("\n".join(known))[1] == 0:
        return {}
    names: dict[str, str] = {}
    for identity in known:
        safe, count = redact(identity)
        if count:
            taken = set(names.values())
            names[identity] = next(
                name
                for name in (safe, *(f"{safe}#{number}" for number in range(2, len(known) + 2)))
                if name not in taken
            )
    return names


def with_names(results: Mapping[str, TestResult], names: Mapping[str, str]) -> dict[str, TestResult]:
    """The results under their safe names."""
    return {names.get(key, key): replace(result, id=names.get(key, key)) for key, result in results.items()}


def reached_with_names(reached: Reached | None, names: Mapping[str, str]) -> Reached | None:
    """What was reached, under the safe names of the tests."""
    if reached is None or not names:
        return reached
    return replace(
        reached,
        tests={names.get(key, key): lines for key, lines in reached.tests.items()},
        children={names.get(key, key): lines for key, lines in reached.children.items()},
        started=frozenset(names.get(key, key) for key in reached.started),
        lost=frozenset(names.get(key, key) for key in reached.lost),
        replaced={names.get(key, key): found for key, found in reached.replaced.items()},
        calls={names.get(key, key): found for key, found in reached.calls.items()},
    )


def to_run(identity: str) -> str:
    """What to ask the runner for: of a test whose id is not known whole, all its cases."""
    return identity[: identity.find("[")] if _MARK in identity else identity
