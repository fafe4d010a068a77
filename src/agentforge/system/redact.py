"""Secrets out of text, before it is sent, hashed or stored. What looks like one by its form, or by its name and its randomness, goes.

Every pattern is bounded or possessive, so time grows with the length of the text and nothing else. What a replacement leaves matches
no pattern, so a second pass changes nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

_EDGE = r"(?<![A-Za-z0-9])"

# By kind: texts of which one must be there before the pattern is tried at all, and the pattern.
_TOKENS = {
    "aws_key": (("AKIA", "ASIA", "ABIA", "ACCA"), _EDGE + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    "github_token": (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _EDGE + r"gh[pousr]_[A-Za-z0-9]{36,}+"),
    "github_pat": (("github_pat_",), _EDGE + r"github_pat_[A-Za-z0-9_]{50,}+"),
    "gitlab_token": (
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-"),
        _EDGE + r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_.-]{20,}+",
    ),
    "slack_token": (("xox", "xapp-"), _EDGE + r"(?:xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-[0-9]-[A-Za-z0-9-]{20,}+)"),
    "slack_webhook": (("hooks.slack.com/",), r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}+"),
    "anthropic_key": (("sk-ant-",), _EDGE + r"sk-ant-[A-Za-z0-9_-]{20,}+"),
    # The literal first: `sk-` is in `task-`, and from a literal the search is quick.
    "openai_key": (("sk-",), r"sk-(?<![A-Za-z0-9]sk-)[A-Za-z0-9_-]{20,}+"),
    "google_key": (("AIza", "ya29."), _EDGE + r"(?:AIza[A-Za-z0-9_-]{35,}+|ya29\.[A-Za-z0-9_-]{20,}+)"),
    "stripe_key": (("k_live_", "k_test_", "whsec_"), _EDGE + r"(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}+"),
    "registry_token": (("npm_", "pypi-AgE"), _EDGE + r"(?:npm_[A-Za-z0-9]{36,}+|pypi-AgE[A-Za-z0-9_-]{40,}+)"),
    "huggingface_token": (("hf_",), _EDGE + r"hf_[A-Za-z0-9]{30,}+"),
    "jwt": (("eyJ",), _EDGE + r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
}

# Between the lines of a key there are line breaks, also written out, and the quotes and signs that join pieces of text in code.
_JOIN = r"(?:\s|\\[nrt]|[\"'+,|>#*()])*+"
_PEM = (
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?:{_JOIN}(?:[A-Za-z0-9+/]{{16,}}+={{0,2}}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{{0,200}}))++"
    rf"(?:{_JOIN}=?[A-Za-z0-9+/]{{1,15}}={{0,2}}(?={_JOIN}-----END))?"
    rf"(?:{_JOIN}-----END [A-Z0-9 ]{{0,60}}-----)?"
)

_QUOTE = r"(?:\\{0,3}[\"'`])"
_HEADER = (
    rf"(?P<keep>(?i:\b(?:proxy-)?authorization{_QUOTE}?\s{{0,4}}[:=,]\s{{0,4}}{_QUOTE}?(?:bearer|basic|token)\s{{1,4}}))"
    r"(?P<value>[A-Za-z0-9._~+/=-]{12,}+)"
)
_URL = r"(?P<keep>://(?P<user>[^\s/:@'\"`<>\[\]]{0,100}):)(?P<value>[^\s/@'\"`<>\[\]{}$%]{3,200})(?=@)"


def _spellings(words: tuple[str, ...], tail: str = "") -> str:
    """Lower, upper and capital, spelled out: a pattern that ignores case is searched many times slower."""
    return "|".join(spelling + tail for word in words for spelling in (word, word.upper(), word.capitalize()))


_WORDS = ("password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "credentials")
_KEYS = ("api", "access", "auth", "account", "encryption", "private", "signing", "storage")
_NAME = rf"(?:{_spellings(_WORDS)}|{_spellings(_KEYS, '[_-]?(?:key|Key|KEY)')})"
_SUFFIX = rf"(?:[_-]?(?:{_spellings(('key', 'value', 'prod', 'live', 'dev', 'test'))}|[0-9]{{1,3}}))?"
_NAMED = (
    rf"(?P<keep>{_NAME}{_SUFFIX}(?![A-Za-z0-9_-])(?:{_QUOTE}\]?)?\s{{0,8}}(?:=>|:=|[:=])\s{{0,8}})(?:"
    rf"(?P<open>{_QUOTE})(?P<value>[^\s\"'`\\<>\[\]{{}}]{{12,400}})(?={_QUOTE})"
    r"|(?P<bare>[A-Za-z0-9+/=_~!@#%^&*-]{16,400}+)(?=\s|[,;}]|\\[nr]|$))"
)

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-fA-F]{32,}")
_HARMLESS = re.compile(r"(?:sha[0-9]{1,3}[:-]|[./~]|https?:|\$|%)")
_PLACEHOLDERS = frozenset(
    {"pass", "password", "passwd", "pw", "pwd", "secret", "token", "changeme", "example", "user", "root", "admin", "test", "xxx"}
)
_HEX_BITS = 2.8
# How random a named value has to look: from this length on, kinds of characters, digits, and bits per character at least.
_LOOKS = ((32, 3, 1, 3.9), (20, 2, 3, 3.2), (12, 3, 2, 3.2))


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    hints: tuple[str, ...]
    """One of these is in every text that the pattern matches."""
    pattern: re.Pattern[str]
    is_secret: Callable[[re.Match[str]], bool]


_PASSES = 8
"""Two secrets without a gap hide each other's edges: when one is taken out, the next look finds the other."""


def redact(text: str) -> tuple[str, int]:
    """The text with every secret as `[REDACTED:kind]`, and how many there were."""
    total = 0
    for _ in range(_PASSES):
        text, count = _one_pass(text)
        total += count
        if count == 0:
            break
    return text, total


def _one_pass(text: str) -> tuple[str, int]:
    count = 0
    for rule in _RULES:

        def replace(match: re.Match[str], rule: _Rule = rule) -> str:
            nonlocal count
            if not rule.is_secret(match):
                return match[0]
            count += 1
            parts = match.groupdict()
            return f"{parts.get('keep') or ''}{parts.get('open') or ''}[REDACTED:{rule.kind}]"

        if any(hint in text for hint in rule.hints):
            text = rule.pattern.sub(replace, text)
    return text, count


def _always(_match: re.Match[str]) -> bool:
    return True


def _mixed(match: re.Match[str]) -> bool:
    """A key has digits and both cases; a style class such as `sk-toggleable-content-arrow` has not."""
    body = match[0]
    return any(map(str.isdigit, body)) and any(map(str.isupper, body)) and any(map(str.islower, body))


def _header_value(match: re.Match[str]) -> bool:
    value = match["value"]
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and _bits(value) >= _HEX_BITS


def _url_value(match: re.Match[str]) -> bool:
    value = match["value"].lower()
    return value not in _PLACEHOLDERS and value != match["user"].lower() and set(value) != {"*"} and not value.isdigit()


def _named_value(match: re.Match[str]) -> bool:
    value = match["value"] or match["bare"]
    if _UUID.fullmatch(value) or _HARMLESS.match(value) or "://" in value:
        return False
    bits = _bits(value)
    if _HEX.fullmatch(value):
        return bits >= _HEX_BITS
    digits = sum(map(str.isdigit, value))
    # Signs that join words are no sign of chance.
    signs = any(not (c.isalnum() or c in "-_.") for c in value)
    kinds = (digits > 0) + any(map(str.isupper, value)) + any(map(str.islower, value)) + signs
    return any(len(value) >= look[0] and kinds >= look[1] and digits >= look[2] and bits >= look[3] for look in _LOOKS)


def _bits(value: str) -> float:
    """Shannon's entropy per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


_RULES = (
    _Rule("private_key", ("PRIVATE KEY",), re.compile(_PEM), _always),
    *(
        _Rule(kind, hints, re.compile(pattern), _mixed if kind in ("openai_key", "huggingface_token") else _always)
        for kind, (hints, pattern) in _TOKENS.items()
    ),
    _Rule("authorization", ("uthorization", "UTHORIZATION"), re.compile(_HEADER), _header_value),
    _Rule("url_password", ("://",), re.compile(_URL), _url_value),
    _Rule("secret", ("=", ":"), re.compile(_NAMED), _named_value),
)
