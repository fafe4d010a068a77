"""Plain requests in other languages, word by word into the English that the policy knows. Only where every
word is known, or is a name of code: what is not understood keeps the strongest kind.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(r"`[^`]*`|\w[\w'\u2019-]*[./(_:=<>~]\w[\w./:()=<>~*-]*|\w[\w'\u2019-]*|[^\w\s]")
_NAME = re.compile(r"`[^`]*`|\W*|.*[\d_./()].*")
"""What is the same in every language: names of code, paths, numbers, signs."""
_QUOTED = re.compile(
    r"[«\u201e\u201c\"\u201a\u2018]\s*([^«»\u201e\u201c\u201d\"\u201a\u2018\u2019]*?)\s*[»\u201d\u201c\"\u2019]"
)


@dataclass(frozen=True)
class Translation:
    """A language, as far as plain requests need it."""

    words: Mapping[str, str]
    """Its words, in lower case, one or several, and the English for each; empty for one that says nothing."""
    verbs: frozenset[str]
    """What of the English stands first, also where this language has it last."""
    that: frozenset[str]
    """What begins the part of a sentence that only tells what is to be written."""

    def in_english(self, sentence: str, known: frozenset[str]) -> str | None:
        """A sentence in English; None where a word of it is unknown."""
        told, *content = self._that.split(_QUOTED.sub(" ", sentence), maxsplit=1)
        text = f" {' '.join(_TOKEN.findall(told))} "
        found = False
        for foreign in sorted(self.words, key=len, reverse=True):
            pattern = rf"(?<= ){re.escape(foreign)}(?= )"
            text, count = re.subn(pattern, f"\0{self.words[foreign]}\0", text, flags=re.IGNORECASE)
            found = found or (bool(count) and foreign != self.words[foreign])
        parts = re.split("\0", text)  # every second one is English
        others = [token for part in parts[::2] for token in part.split()]
        if not found or any(_NAME.fullmatch(each) is None and each.lower() not in known for each in others):
            return None
        english = " ".join(" ".join(parts).split())
        english = re.sub(r"\s+([.,;:!?])", r"\1", english)
        return self._verb_first(english) + (" that" if content else "")

    @cached_property
    def _that(self) -> re.Pattern[str]:
        return re.compile(rf",?\s+(?:{'|'.join(sorted(self.that))})\s", re.IGNORECASE)

    def _verb_first(self, english: str) -> str:
        """Where no verb begins the sentence and one stands later, that one first."""
        words = english.rstrip(".! ").split()
        first = next((word for word in words if word not in ("please", "the", ",")), "")
        if first in self.verbs:
            return english
        places = [place for place, word in enumerate(words) if word.strip(",") in self.verbs]
        if not places:
            return english
        last = places[-1]
        return " ".join([words[last].strip(","), *words[:last], *words[last + 1 :]])
