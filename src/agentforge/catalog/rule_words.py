"""The rules by their names: a predicate's own, or other words that files may say it in
(`policies/rules.yaml`).
"""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from agentforge.catalog.faults import did_you_mean
from agentforge.catalog.policies import read_policy, refusal
from agentforge.core.pipeline import PREDICATES, Predicate


def predicate_named(said: str) -> Predicate | None:
    """The predicate behind a name or behind other words for it; None where there is none."""
    return next((name for name in PREDICATES if name == said), other_words().get(_plain(said)))


def nearest_rule(said: str, among: Collection[str] = PREDICATES) -> str:
    """The end of a sentence about a rule that there is not: the nearest that there is."""
    return did_you_mean(said, among) or did_you_mean(_plain(said), other_words())


def with_predicates(rules: Any) -> Any:  # noqa: ANN401  a document is any YAML
    """The rules of a contract under the names of their predicates, each once; unknown ones as they are."""
    if not isinstance(rules, list):
        return rules
    found = [(predicate_named(rule) or rule) if isinstance(rule, str) else rule for rule in rules]
    return [rule for at, rule in enumerate(found) if rule not in found[:at]]


@cache
def other_words() -> Mapping[str, Predicate]:
    """The predicate behind each of the other words."""
    found: dict[str, Predicate] = {}
    for words, name in read_policy("rules")["predicates"].items():
        known = next((predicate for predicate in PREDICATES if predicate == name), None)
        if known is None or words in PREDICATES:
            raise refusal("rules.yaml", f"`{words}` is bound to {name}, which is no other predicate")
        found[_plain(words)] = known
    return found


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")
