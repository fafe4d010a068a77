"""When a task limps: the numbers of `policies/degraded.yaml`."""

from functools import cache

from agentforge.catalog.policies import check_keys, read_policy, refusal
from agentforge.core.values import DegradedRule


@cache
def degraded_rule() -> DegradedRule:
    """How many of how many steps may fail before a person is asked."""
    found = read_policy("degraded")
    check_keys("degraded.yaml", found, ("window", "failures"))
    rule = DegradedRule(int(found["window"]), int(found["failures"]))
    if rule.failures > rule.window:
        raise refusal("degraded.yaml", "`failures` is more than `window`, so nothing would ever meet it")
    return rule
