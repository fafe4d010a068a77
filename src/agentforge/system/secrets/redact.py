"""Secrets out of text, before it is sent, hashed or stored. What is one by its form, by its name and its
looks, or by sheer chance, goes.

Every pattern begins with one of a few literal texts. Those are searched, which is quick; the pattern is tried
only where one was found. Most shapes are tried only on long words with digits in them. Every pattern is
bounded or possessive, so time grows with the length of the text and nothing else. What a replacement leaves
matches no pattern, so a second pass changes nothing.
"""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import TypeAlias

from agentforge.system.secrets import chance, encoded, key_blocks
from agentforge.system.secrets import known as known_secrets
from agentforge.system.secrets.named import NAMED, SecretRule
from agentforge.system.secrets.shapes import BEGINNINGS, EDGE, LONG_WORDS, PLAIN_EDGE

_Hints: TypeAlias = dict[str, dict[str, dict[str, list[int]]]]
"""By letter, by stem and by hint: the numbers of the rules that it hints at. One letter is found thirty times
quicker than two.
"""
_PASSES = 8
"""Two secrets without a gap hide each other's edges: when one is taken out, the next look finds the other."""


_WORTH_REMEMBERING = 8
"""Characters: a shorter text is looked at as quickly as remembered."""
_REMEMBERED = 4096
_harmless: dict[bytes, tuple[str, ...]] = {}
"""Digests of texts in which there was nothing, each with the keys that this process knew at the time. Most
of what a step shows and records was shown and recorded by the step before.
"""


def redact(text: str) -> tuple[str, int]:
    """The text with every secret as `[REDACTED:kind]`, and how many there were."""
    if len(text) < _WORTH_REMEMBERING:
        return _redact(text)
    name, known = sha256(text.encode(errors="surrogatepass")).digest(), known_secrets.spellings()
    if _harmless.get(name) is known:
        return text, 0
    found = _redact(text)
    if found[1] == 0:
        if len(_harmless) >= _REMEMBERED:
            _harmless.clear()
        _harmless[name] = known
    return found


def hints_at(text: str) -> bool:
    """Whether any of the rules could find something that begins in this text."""
    return bool(_View(text).hinted(0))


def _redact(text: str) -> tuple[str, int]:
    total = 0
    for _ in range(_PASSES):
        text, count = _one_pass(text)
        total += count
        if count == 0:
            break
    return text, total


def _one_pass(text: str) -> tuple[str, int]:
    # Blocks first: a known key that is taken out of the middle of one would hide what is around it.
    text, count = key_blocks.take_out(text)
    text, found = known_secrets.take_out(text)
    count += found
    view = _View(text)
    hinted, at = view.hinted(0), 0
    while at < len(hinted):
        number = hinted[at]
        text, found = _take_out(view.text, _RULES[number], view.starts(_RULES[number]))
        at += 1
        if found:
            view, count = _View(text), count + found
            hinted, at = view.hinted(number + 1), 0
    text, found = encoded.take_out(view.text, lambda plain: _redact(plain)[1] > 0)
    count += found
    text, found = chance.take_out(text, _LONG_WORD)
    return text, count + found


class _View:
    """A text, and where in it what is looked for begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        # One letter for each character, so that places are the same.
        self._small = text.encode("latin-1", "replace").lower().decode("latin-1")

    def hinted(self, first: int) -> list[int]:
        """The numbers of the rules, from `first` on, that may find something; most texts have none."""
        found = {*_hinted(self.text, _EXACT_HINTS), *_hinted(self._small, _SMALL_HINTS)}
        return sorted(number for number in found if number >= first)

    def starts(self, rule: SecretRule) -> list[int]:
        text = self._small if rule.any_case else self.text
        return sorted(at for hint in rule.hints for at in _places(text, hint))


def _hinted(text: str, hints: _Hints) -> Iterator[int]:
    for letter, stems in hints.items():
        if letter in text:
            for stem, rows in stems.items():
                if stem in text:
                    for hint, numbers in rows.items():
                        if hint in text:
                            yield from numbers


def _places(text: str, hint: str) -> Iterator[int]:
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + 1)


def _take_out(text: str, rule: SecretRule, starts: list[int]) -> tuple[str, int]:
    """The text without what the rule matches at `starts`."""
    pieces: list[str] = []
    kept_to = looked_to = count = 0
    pattern = re.compile(rule.pattern)
    for at in starts:
        if at < looked_to or (rule.fits is not None and not rule.fits(text, at)):
            continue
        match = pattern.match(text, at)
        if match is None:
            continue
        looked_to = match.end()  # also if it is no secret: what begins within it has been looked at
        if rule.is_secret(match):
            parts = match.groupdict()
            pieces += (
                text[kept_to:at],
                parts.get("keep") or "",
                parts.get("open") or "",
                f"[REDACTED:{rule.kind}]",
            )
            kept_to, count = match.end(), count + 1
    return ("".join((*pieces, text[kept_to:])), count) if count else (text, 0)


def _always(_match: re.Match[str]) -> bool:
    return True


def _mixed(match: re.Match[str]) -> bool:
    """A key has digits and both cases; a style class such as `sk-toggleable-content-arrow` has not."""
    body = match[0]
    return any(map(str.isdigit, body)) and any(map(str.isupper, body)) and any(map(str.islower, body))


def _both_cases(match: re.Match[str]) -> bool:
    return any(map(str.isupper, match[0])) and any(map(str.islower, match[0][3:]))


def _in_an_address(match: re.Match[str]) -> bool:
    return "%" in match[0]


_LOOK_TWICE = {"openai_key": _mixed, "huggingface_token": _both_cases, "twitter_bearer": _in_an_address}
_LONG_WORD = chance.WordShapes(
    *(
        f"{edge}(?:{'|'.join(rows)})(?![A-Za-z0-9_])"
        for edge, rows in (
            (EDGE, LONG_WORDS.values()),
            (PLAIN_EDGE, LONG_WORDS.values()),
            (EDGE, [f"(?P<{kind}>{shape})" for kind, shape in LONG_WORDS.items()]),
        )
    )
)
_RULES = (
    *(
        SecretRule(kind, hints, EDGE + pattern, _LOOK_TWICE.get(kind, _always))
        for kind, (hints, pattern) in BEGINNINGS.items()
    ),
    *NAMED,
)
_STEMS = (
    *("pass", "auth", "secret", "token", "key", "login", "-u", "-p", "env ", "gh", "gl", "_live_", "_test_"),
    *("https://", "sk-", "eyJ", "hv", "dckr_", "432:", "://", "fm", "IA"),
)  # fmt: skip
"""What several hints have in common: where it is not, none of them is."""


_COMMON = " etaoinsr_lhdcump.,fg():='\"b-y/v0k1w2x34567890zjq"
"""Letters and signs of ordinary text and code, the most usual first."""


def _rarity(letter: str) -> int:
    return _COMMON.find(letter) % (len(_COMMON) + 1)


def _by_stem(*, any_case: bool) -> _Hints:
    found: _Hints = {}
    for number, rule in enumerate(_RULES):
        for hint in rule.hints if rule.any_case is any_case else ():
            stem = next((stem for stem in _STEMS if stem in hint), hint)
            letter = max(stem, key=_rarity)
            found.setdefault(letter, {}).setdefault(stem, {}).setdefault(hint, []).append(number)
    return found


_EXACT_HINTS, _SMALL_HINTS = _by_stem(any_case=False), _by_stem(any_case=True)
