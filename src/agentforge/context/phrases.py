"""What instructions to a model look like, read from `catalog/policies/injections.yaml`."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any, Literal, NamedTuple, get_args

from agentforge.catalog.policies import check_keys, each_once, read_policy, refusal
from agentforge.tools.bridge import ALIASES, TOOLS

Kind = Literal[
    "override",
    "new_orders",
    "addressed",
    "tool_order",
    "secrets",
    "role_markup",
    "fake_call",
    "hidden_text",
    "encoded",
]
_STEM = 4
"""Characters of what several hints have in common: rare enough in ordinary text."""
_PART = re.compile(r"\{([a-z_]+)\}")


class Phrase(NamedTuple):
    """What a text is searched for behind a hint."""

    kind: Kind
    pattern: re.Pattern[str]
    back: int
    """How far before the hint a match may begin; else it begins with it."""


class Hints(dict[str, list[Phrase]]):
    """Phrases by hint, because each is searched once, whatever begins with it."""

    @cached_property
    def _stems(self) -> dict[str, list[str]]:
        """Few short texts of which every hint has one: where a stem is not, none of its hints is."""
        common = Counter(piece for hint in self for piece in _pieces(hint))
        found: dict[str, list[str]] = {}
        for hint in self:
            stem = max(_pieces(hint), key=lambda piece: (common[piece], piece))
            found.setdefault(stem, []).append(hint)
        return found

    def there(self, text: str) -> list[str]:
        """The hints that a text has, in their own order."""
        found = {
            hint for stem, hints in self._stems.items() if stem in text for hint in hints if hint in text
        }
        return [hint for hint in self if hint in found] if found else []


def _pieces(hint: str) -> set[str]:
    return {hint[at : at + _STEM] for at in range(max(1, len(hint) - _STEM + 1))}


@dataclass(frozen=True, slots=True)
class Injections:
    """The phrases of the policy `injections`, ready to search for."""

    phrases: Hints
    """Searched in the letters of a text alone."""
    marks: Hints
    """Searched in the text as it is."""
    other_scripts: Hints
    """Searched in the text as it is, if it is not ASCII."""
    lookalikes: Mapping[str, str]
    """Letters of other scripts, and the ones of ours that they are drawn like."""


@cache
def known() -> Injections:
    """The policy of phrases, read when first asked for."""
    return injections_from(read_policy("injections"))


def injections_from(document: Mapping[str, Any]) -> Injections:
    """The phrases of a document. What means nothing, and a part that is not there, are refused."""
    check_keys("injections.yaml", document, {"parts", *(item.name for item in fields(Injections))})
    names = sorted({name for name in (*TOOLS, *ALIASES, "submit_artifact") if "_" in name})
    parts = {"tool_names": f"(?:{'|'.join(names)})", "tools": f"(?:{'|'.join(names).replace('_', '')})"}
    for name, text in document["parts"].items():
        parts[name] = _filled(text, parts)
    drawn = [(other, ours) for ours, others in document["lookalikes"].items() for other in others.split()]
    return Injections(
        phrases=_by_hint(document["phrases"], parts),
        marks=_by_hint(document["marks"], parts),
        other_scripts=_by_hint(document["other_scripts"], parts),
        lookalikes=dict(each_once("injections.yaml: lookalikes", drawn)),
    )


def _by_hint(kinds: Mapping[Any, Any], parts: Mapping[str, str]) -> Hints:
    check_keys("injections.yaml", kinds, get_args(Kind))
    found = Hints()
    for kind, rows in kinds.items():
        for row in rows:
            check_keys(f"injections.yaml: {kind}", row, ("hints", "pattern", "back"))
            pattern = re.compile(_filled(row["pattern"], parts), re.MULTILINE | re.VERBOSE)
            for hint in row["hints"]:
                found.setdefault(hint, []).append(Phrase(kind, pattern, row.get("back", 0)))
    return found


def _filled(text: str, parts: Mapping[str, str]) -> str:
    """A pattern with its parts in their places. A part may use those before it."""
    if missing := [name for name in _PART.findall(text) if name not in parts]:
        raise refusal("injections.yaml", f"there is no part `{missing[0]}`")
    return _PART.sub(lambda found: parts[found[1]], text)
