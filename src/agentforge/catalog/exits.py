"""What a phase ends with, in numbers: `policies/exits.yaml` and the limits of the checks."""

from dataclasses import dataclass, fields
from functools import cache

from agentforge.catalog.checks import own_checks
from agentforge.catalog.policies import check_keys, read_policy

COMPLEXITY = "max-complexity"


@dataclass(frozen=True, slots=True)
class ExitNumbers:
    """The numbers."""

    coverage_percent: int
    """Of the changed lines, how many tests must run."""
    easy_complexity: int
    """Ways through a function up to which nobody has to look for a simpler form."""
    knotted_growth: int
    """Ways by which a function may grow that was too complex before."""


@cache
def exit_numbers() -> ExitNumbers:
    """The policy, read when first asked for."""
    document = read_policy("exits")
    check_keys("exits.yaml", document, [each.name for each in fields(ExitNumbers)])
    return ExitNumbers(**document)


def complexity_limit() -> int:
    """Ways through a function beyond which it is too complex, where a project sets no limit of its own."""
    limit = own_checks()[COMPLEXITY].limit
    assert limit is not None
    return limit
