"""Secrets out of text, before it is sent, hashed or stored. What is one by its form, by its name and its
looks, or by sheer chance, goes.

Every pattern begins with one of a few literal texts. Those are searched, which is quick; the pattern is tried
only where one was found. Every pattern is bounded or possessive, so time grows with the length of the text
and nothing else. What a replacement leaves matches no pattern, so a second pass changes nothing.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentforge.system.secrets import chance
from agentforge.system.secrets import known as known_secrets

_EDGE = r"(?<![A-Za-z0-9])"

# Services whose tokens are a name and then chance.
_SERVICES = (
    *(
        "dop_v1_",
        "doo_v1_",
        "dor_v1_",
        "shpat_",
        "shpss_",
        "shpca_",
        "lin_api_",
        "gsk_",
        "pplx-",
        "xai-",
        "rubygems_",
        "NRAK-",
    ),
    *("PMAK-", "figd_", "tskey-", "ATATT3", "sntrys_", "sbp_", "glsa_", "nvapi-"),
)

# By kind: the texts with one of which every match begins, and the pattern.
_TOKENS = {
    "aws_key": (("AKIA", "ASIA", "ABIA", "ACCA"), _EDGE + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    "github_token": (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _EDGE + r"gh[pousr]_[A-Za-z0-9]{36,}+"),
    "github_pat": (("github_pat_",), _EDGE + r"github_pat_[A-Za-z0-9_]{50,}+"),
    "gitlab_token": (
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-"),
        _EDGE + r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_.-]{20,}+",
    ),
    "slack_token": (
        ("xox", "xapp-"),
        _EDGE + r"(?:xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-[0-9]-[A-Za-z0-9-]{20,}+)",
    ),
    "slack_webhook": (
        ("https://hooks.slack.com/",),
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}+",
    ),
    "anthropic_key": (("sk-ant-",), _EDGE + r"sk-ant-[A-Za-z0-9_-]{20,}+"),
    "openai_key": (("sk-",), _EDGE + r"sk-[A-Za-z0-9_-]{20,}+"),
    "google_key": (("AIza", "ya29."), _EDGE + r"(?:AIza[A-Za-z0-9_-]{35,}+|ya29\.[A-Za-z0-9_-]{20,}+)"),
    "stripe_key": (
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
        _EDGE + r"(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}+",
    ),
    "registry_token": (
        ("npm_", "pypi-AgE"),
        _EDGE + r"(?:npm_[A-Za-z0-9]{36,}+|pypi-AgE[A-Za-z0-9_-]{40,}+)",
    ),
    "huggingface_token": (("hf_",), _EDGE + r"hf_[A-Za-z0-9]{30,}+"),
    "docker_token": (("dckr_pat_", "dckr_oat_"), _EDGE + r"dckr_[po]at_[A-Za-z0-9_-]{16,}+"),
    "sendgrid_key": (("SG.",), _EDGE + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}(?![A-Za-z0-9_-])"),
    "vault_token": (("hvs.", "hvb."), _EDGE + r"hv[sb]\.[A-Za-z0-9_-]{24,}+"),
    "age_key": (("AGE-SECRET-KEY-1",), _EDGE + r"AGE-SECRET-KEY-1[0-9A-Z]{40,}+"),
    "service_token": (
        _SERVICES,
        _EDGE + "(?:" + "|".join(_SERVICES) + r")[A-Za-z0-9_-]{24,}+",
    ),
    "jwt": (("eyJ",), _EDGE + r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
}

# Between the lines of a key there are line breaks, also written out, and the quotes and signs that join
# pieces of text in code.
# (Atomic groups: before 3.11.5 a possessive repetition of a group that half matches eats that half.)
_JOIN = r"(?>(?:\s|\\[nrt]|[\"'+,|>#*()])*)"
_PEM = (
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    rf"(?>(?:{_JOIN}(?:[A-Za-z0-9+/]{{16,}}+={{0,2}}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): "
    r"[^\n\\]{0,200}))+)"
    rf"(?:{_JOIN}=?[A-Za-z0-9+/]{{1,15}}={{0,2}}(?={_JOIN}-----END))?"
    rf"(?:{_JOIN}-----END [A-Z0-9 ]{{0,60}}-----)?"
)

_QUOTE = r"(?:\\{0,3}[\"'`])"
_HEADER = (
    rf"(?P<keep>(?i:\bauthorization{_QUOTE}?\s{{0,4}}[:=,]\s{{0,4}}{_QUOTE}?(?:bearer|basic|token)\s{{1,4}}))"
    r"(?P<value>[A-Za-z0-9._~+/=-]{12,}+)"
)
_URL = r"(?P<keep>://(?P<user>[^\s/:@'\"`<>\[\]]{0,100}):)(?P<value>[^\s/@'\"`<>\[\]{}$%]{3,200})(?=@)"


def _cases(words: tuple[str, ...]) -> tuple[str, ...]:
    """Lower, upper and capital, spelled out: a pattern that ignores case is searched many times slower."""
    return tuple(spelling for word in words for spelling in (word, word.upper(), word.capitalize()))


def _spellings(words: tuple[str, ...], tail: str = "") -> str:
    return "|".join(spelling + tail for spelling in _cases(words))


_WORDS = ("password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "credentials")
_KEYS = ("api", "access", "auth", "account", "encryption", "private", "signing", "storage")
_NAME = rf"(?:{_spellings(_WORDS)}|{_spellings(_KEYS, '[_-]?(?:key|Key|KEY)')})"
_SUFFIX = rf"(?:[_-]?(?:{_spellings(('key', 'value', 'prod', 'live', 'dev', 'test'))}|[0-9]{{1,3}}))?"
_NAMED = (
    rf"(?P<keep>{_NAME}{_SUFFIX}(?![A-Za-z0-9_-])(?:{_QUOTE}\]?)?\s{{0,8}}(?:=>|:=|[:=])\s{{0,8}})(?:"
    rf"(?P<open>{_QUOTE})(?P<value>[^\s\"'`\\<>\[\]{{}}]{{12,400}})(?={_QUOTE})"
    r"|(?P<bare>[A-Za-z0-9+/=_~!@#%^&*-]{16,400}+)(?=\s|[,;}]|\\[nr]|$))"
)

# Of a password also a short value counts, where it stands as in settings, data and command lines. A literal
# that code assigns stays to be
# seen: whoever works on the code must see it, and the scan for weak spots tells of it.
_PASSWORDS = ("password", "passwd", "passphrase", "pwd")
_LETTERS = r"A-Za-z0-9!@#%^*_+~-"
_WORD = f"[{_LETTERS}]{{6,64}}+"
# Behind a colon a type may stand, too: in a line it is followed by a sign, or by a comma and begins with a
# capital.
_IN_A_LINE = rf"{_WORD}\.?[ \t]{{1,4}}[A-Za-z0-9#/(<;-]|{_WORD}\.(?:\s|$)|(?![A-Z]){_WORD},[ \t]"
_SHORT = (
    rf"(?P<keep>(?:{_spellings(_PASSWORDS)})(?:"
    rf"{_QUOTE}?[ \t]{{0,8}}(?:=>|:)[ \t]{{0,8}}{_QUOTE}|(?<=[A-Z])={_QUOTE}"
    r"|=|:[ \t]{0,4}(?=[^\s]{6,64}[ \t]{0,8}(?:[\r\n]|\\[nr]|$))"
    rf"|:[ \t]{{1,4}}(?={_IN_A_LINE})))"
    rf"(?P<value>{_WORD})(?=\s|[\"'`;&]|\\|$|[.,](?:\s|$))"
)
_NO_PASSWORD = re.compile(
    "pass|pwd|secret|test|example|sample|demo|dummy|fake|default|user|admin|root|guest|foo|bar|baz|qux|xxx|1234|abc|changeme|your|my_|none"
    "|null|true|false|u?int[0-9]|float[0-9]|sha[0-9]|md5|crypt|argon|pbkdf|utf|field|param|arg|input|value|token|string|bytes|hash",
    re.IGNORECASE,
)

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-fA-F]{32,}")
_HARMLESS = re.compile(r"(?:sha[0-9]{1,3}[:-]|[./~]|https?:|\$|%)")
_PLACEHOLDERS = frozenset(
    {
        "pass",
        "password",
        "passwd",
        "pw",
        "pwd",
        "secret",
        "token",
        "changeme",
        "example",
        "user",
        "root",
        "admin",
        "test",
        "xxx",
    }
)
_HEX_BITS = 2.8
# How random a named value has to look: from this length on, kinds of characters, digits, and bits per
# character at least.
_LOOKS = ((32, 3, 1, 3.9), (20, 2, 3, 3.2), (12, 3, 2, 3.2))


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    hints: tuple[str, ...]
    """With one of these every match begins."""
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
    text, count = known_secrets.take_out(text)
    for rule in _RULES:
        starts = [at for hint in rule.hints for at in _places(text, hint)]
        if starts:
            text, found = _take_out(text, rule, sorted(starts))
            count += found
    text, found = chance.take_out(text)
    return text, count + found


def _places(text: str, hint: str) -> Iterator[int]:
    at = text.find(hint)
    while at >= 0:
        yield at
        at = text.find(hint, at + 1)


def _take_out(text: str, rule: _Rule, starts: list[int]) -> tuple[str, int]:
    """The text without what the rule matches at `starts`."""
    pieces: list[str] = []
    kept_to = looked_to = count = 0
    for at in starts:
        match = rule.pattern.match(text, at) if at >= looked_to else None
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


def _numbered(match: re.Match[str]) -> bool:
    """A name with such a beginning has a number or two; chance has many."""
    return sum(map(str.isdigit, match[0])) >= 4


def _short_value(match: re.Match[str]) -> bool:
    value = match["value"]
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and not _NO_PASSWORD.search(value)


def _header_value(match: re.Match[str]) -> bool:
    value = match["value"]
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and chance.bits(value) >= _HEX_BITS


def _url_value(match: re.Match[str]) -> bool:
    value = match["value"].lower()
    return (
        value not in _PLACEHOLDERS
        and value != match["user"].lower()
        and set(value) != {"*"}
        and not value.isdigit()
    )


def _named_value(match: re.Match[str]) -> bool:
    value = match["value"] or match["bare"]
    if _UUID.fullmatch(value) or _HARMLESS.match(value) or "://" in value:
        return False
    bits = chance.bits(value)
    if _HEX.fullmatch(value):
        return bits >= _HEX_BITS
    digits = sum(map(str.isdigit, value))
    # Signs that join words are no sign of chance.
    signs = any(not (c.isalnum() or c in "-_.") for c in value)
    kinds = (digits > 0) + any(map(str.isupper, value)) + any(map(str.islower, value)) + signs
    return any(
        len(value) >= look[0] and kinds >= look[1] and digits >= look[2] and bits >= look[3]
        for look in _LOOKS
    )


_LOOK_TWICE = {"openai_key": _mixed, "huggingface_token": _both_cases, "service_token": _numbered}
_RULES = (
    _Rule("private_key", ("-----BEGIN ",), re.compile(_PEM), _always),
    *(
        _Rule(kind, hints, re.compile(pattern), _LOOK_TWICE.get(kind, _always))
        for kind, (hints, pattern) in _TOKENS.items()
    ),
    _Rule("authorization", _cases(("authorization",)), re.compile(_HEADER), _header_value),
    _Rule("url_password", ("://",), re.compile(_URL), _url_value),
    _Rule("secret", _cases((*_WORDS, *_KEYS)), re.compile(_NAMED), _named_value),
    _Rule("password", _cases(_PASSWORDS), re.compile(_SHORT), _short_value),
)
