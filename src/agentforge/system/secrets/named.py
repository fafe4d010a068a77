"""Values that are secret because of what stands before them: a name, a header, an address, an option of a
command. The table of those, each with a look at the value, so that placeholders, types and references stay.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

from agentforge.system.secrets import chance

Look = Callable[[re.Match[str]], bool]
Fits = Callable[[str, int], bool]

_QUOTE = r"(?:\\{0,7}[\"'`])"
_BLOCK = r"[|>][+-]?[ \t]{0,4}(?:\r?\n|\\{1,4}n)[ \tE+>|:0-9-]{0,24}(?:[ \t]|\\{1,4}t)"
"""A value of YAML that stands below its name."""
_AFTER = r"(?=\s|[\"'`;&,)<]|\\|$)"


def _any_case(words: tuple[str, ...]) -> str:
    return f"(?i:{'|'.join(words)})"


# ------------------------------------------------------------------ headers and addresses

_HEADER = (
    rf"(?P<keep>(?i:authorization{_QUOTE}?\s{{0,4}}[:=,]\s{{0,4}}{_QUOTE}?"
    r"(?:bearer|basic|token|apikey|ssws|digest|negotiate)\s{1,4}))"
    r"(?P<value>[A-Za-z0-9._~+/=-]{12,}+)"
)
_BEARER = r"(?P<keep>[Bb]earer(?: |%20|\\u0020))(?P<value>[A-Za-z0-9._~+/=-]{20,}+)"
_SMTP = r"(?P<keep>(?i:AUTH) (?:PLAIN|LOGIN|XOAUTH2) )(?P<value>[A-Za-z0-9+/]{12,}+={0,2})"
_IN_URL = r"(?:[^\s/@'\"`<>\[\]{}$%\\]|%[0-9A-Fa-f]{2}|\$(?![A-Za-z{(]))"
_URL = rf"(?P<keep>://(?P<user>[^\s/:@'\"`<>\[\]]{{0,100}}):)(?P<value>{_IN_URL}{{3,200}})(?=@)"
_URL_TOKEN = r"(?P<keep>://)(?P<value>[A-Za-z0-9_-]{20,200})(?=@)"
_COOKIE = (
    r"(?P<keep>(?i:sess(?:ion)?(?:_?id)?|sid|auth|sso)=)(?P<value>(?:[A-Za-z0-9._~+/:|-]|%[0-9A-Fa-f]{2})"
    rf"{{20,400}}+={{0,2}}){_AFTER}"
)

# ------------------------------------------------------------------ names

_WORDS = ("password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "credentials")
_KEYS = (
    *("api", "access", "auth", "account", "encryption", "private", "signing", "storage", "fernet", "preshared"),
    *("shared", "subscription", "master", "session", "client", "consumer", "service", "webhook", "app", "license"),
    *("admin", "jwt", "hmac", "deploy", "write", "decryption", "aes", "cookie", "application", "integration"),
    *("openai", "anthropic", "mistral", "groq", "gemini", "cohere", "deepgram", "assemblyai", "serper", "maps"),
    *("stripe", "sendgrid", "mailgun", "datadog", "algolia", "elevenlabs", "twilio", "cloudflare"),
)  # fmt: skip
_NAME = _any_case(_WORDS)
_SUFFIX = (
    rf"(?:[_-]?(?:{_any_case(('key', 'value', 'prod', 'live', 'dev', 'test', 'base', 'primary', 'hash', 'salt'))}"
    r"|[0-9]{1,3})){0,2}"
)
_VALUE = (
    rf"{_SUFFIX})(?![A-Za-z0-9_-])(?:{_QUOTE}\]?)?\s{{0,8}}(?:=>|:=|\?=|[:=])\s{{0,8}}(?:{_BLOCK})?[bru]?)(?:"
    rf"(?P<open>{_QUOTE})(?P<value>[^\s\"'`\\<>\[\]{{}}]{{12,400}})(?={_QUOTE})"
    r"|(?P<bare>(?:base64:)?[A-Za-z0-9+/=_~!@#%^*.-]{16,400}+)(?=\s|[,;}&\"'`<]|\\{1,4}[nrtu\"']|$))"
)
_NAMED = rf"(?P<keep>(?P<name>{_NAME}{_VALUE}"
_KEY = rf"(?P<keep>(?P<name>(?i:key){_VALUE}"
_CALL = rf"(?P<keep>Fernet\([bru]?{_QUOTE})(?P<value>[A-Za-z0-9_-]{{43}}=)(?={_QUOTE})"

# Of a password also a short value counts, where it stands as in settings, data and command lines. A literal
# that code assigns stays to be seen: whoever works on the code must see it, and the scan for weak spots tells
# of it.
_PASSWORDS = ("password", "passwd", "passphrase", "pwd")
_LETTERS = r"A-Za-z0-9!@#%^*_+~$-"
_WORD = rf"[{_LETTERS}]{{6,64}}+={{0,2}}"
# Behind a colon a type may stand, too: in a line it is followed by a sign, or by a comma and begins with a
# capital.
_IN_A_LINE = rf"{_WORD}\.?[ \t]{{1,4}}[A-Za-z0-9#/(<;-]|{_WORD}\.(?:\s|$)|(?![A-Z]){_WORD},[ \t]"
_SHORT = (
    rf"(?P<keep>(?P<name>{_any_case(_PASSWORDS)})(?:"
    rf"{_QUOTE}?[ \t]{{0,8}}(?:=>|:)[ \t]{{0,8}}{_QUOTE}|(?<=[A-Z])[ \t]{{0,4}}=[ \t]{{0,4}}{_QUOTE}"
    r"|=|(?<=[A-Z])[ \t]{1,4}=[ \t]{1,4}(?=[^\s]{6,64}[ \t]{0,8}(?:[\r\n]|\\{1,4}[nr]|$))"
    rf"|:[ \t]{{0,4}}(?:{_BLOCK})?"
    r"(?=[^\s\\]{6,64}[ \t]{0,8}(?:[\r\n]|\\{1,4}[nr]|$))"
    rf"|:[ \t]{{1,4}}(?={_IN_A_LINE})))"
    rf"(?P<value>{_WORD})(?=\s|[\"'`;&]|\\|$|[.,](?:\s|$))"
)
_PHRASE = (
    rf"(?P<keep>{_any_case(_PASSWORDS)}{_QUOTE}?[ \t]{{0,8}}(?:=>|[:=])[ \t]{{0,8}})(?P<open>{_QUOTE})"
    rf"(?P<value>[^\"'`\\\n<>{{}}]{{8,120}})(?={_QUOTE})"
)
_NO_PASSWORD = re.compile(
    "pass|pwd|secret|test|example|sample|demo|dummy|fake|default|user|admin|root|guest|foo|bar|baz|qux|xxx|1234|abc|changeme|your|my_|none"
    "|null|true|false|u?int[0-9]|float[0-9]|sha[0-9]|md5|crypt|argon|pbkdf|utf|field|param|arg|input|value|token|string|bytes|hash",
    re.IGNORECASE,
)
_PASS = _SHORT.replace(_any_case(_PASSWORDS), "(?i:_pass)(?![A-Za-z])")
_DEFINE = (
    rf"(?P<keep>(?i:define)\(\s{{0,4}}{_QUOTE}\w{{0,40}}(?i:password|secret|token|_key|salt){_QUOTE}\s{{0,4}},\s{{0,4}}"
    rf"{_QUOTE})(?P<value>[^\s\"'\\]{{6,200}})(?={_QUOTE})"
)
_TAGS = _any_case(("password", "passphrase", "secret", "token", "api_?key", "privatekey"))
_TAG = rf"(?P<keep>{_TAGS}>)(?P<value>[^\s<>]{{6,200}})(?=</)"
_ATTRIBUTE = (
    rf"(?P<keep>{_TAGS}{_QUOTE}\s{{1,4}}(?i:value)={_QUOTE})(?P<value>[^\s\"'<>]{{6,200}})(?={_QUOTE})"
)
_DEFAULT = (
    rf"(?P<keep>{_any_case(('password', 'secret', 'token'))}{_QUOTE}\s{{0,2}}\{{[^{{}}]{{0,200}}?default\s{{0,12}}=\s{{0,4}}{_QUOTE})"
    rf"(?P<value>[^\s\"'\\]{{6,200}})(?={_QUOTE})"
)
_SET = (
    r"(?P<keep>(?:ENV|setenv|set -U?g?x)[ \t]{1,4}\w{0,40}(?i:password|secret|token|api_?key)[ \t]{1,4})"
    rf"(?P<value>[{_LETTERS}.=/+]{{12,200}}+){_AFTER}"
)
_MNEMONIC = (
    rf"(?P<keep>(?i:mnemonic|(?:seed|recovery|secret)[ _-]?(?:phrase|words)){_QUOTE}?\s{{0,4}}[:=]\s{{0,4}}{_QUOTE}?)"
    r"(?P<value>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![a-z])"
)
_JWK = rf"(?P<keep>\"d{_QUOTE}\s{{0,2}}:\s{{0,2}}{_QUOTE})(?P<value>[A-Za-z0-9_-]{{42,700}}+)(?={_QUOTE})"
_SQL = r"(?P<keep>(?i:IDENTIFIED BY|PASSWORD)(?: PASSWORD)? ')(?P<value>[^\s'\\]{6,100})(?=')"

# ------------------------------------------------------------------ files and command lines

_NETRC = (
    r"(?P<keep>login(?:[\s+>|0-9:-]|(?<=\n)E|\\{1,4}[nt]){1,24}\S{1,100}?(?:[\s+>|0-9:-]|(?<=\n)E|\\{1,4}[nt]){1,24}password(?:\s|\\{1,4}[nt]){1,8})"
    rf"(?P<value>[^\s\\\"']{{4,200}}){_AFTER}"
)
_MACHINE = _NETRC.replace(
    "(?P<keep>",
    r"(?P<keep>(?:machine [^\s.]{1,100}\.\S{1,100}?(?:[\s+>|0-9:-]|(?<=\n)E|\\{1,4}[nt]){1,24}|default )",
)
_PGPASS = (
    r"(?P<keep>:(?:5432|5433|6432|\*):[^:\s\\]{1,64}:[^:\s\\]{1,64}:)(?P<value>[^\s:\\\"'/]{4,100})"
    r"(?=\s|$|\\|[\"'])"
)
_AUTH = (
    rf"(?P<keep>(?:_auth|{_QUOTE}auth{_QUOTE})\s{{0,4}}[:=]\s{{0,4}}{_QUOTE}?)(?P<value>[A-Za-z0-9+/_-]{{8,}}+={{0,2}})"
    rf"{_AFTER}"
)
_NPM = rf"(?P<keep>:_(?:authToken|password)\s{{0,4}}=\s{{0,4}}{_QUOTE}?)(?P<value>[A-Za-z0-9+/_=.-]{{8,400}}+){_AFTER}"
_CURL = (
    rf"(?<=[\s\"',])(?P<keep>(?:-u|--user|-U|--proxy-user|-a|--auth)(?:[ =\"',]{{1,4}}|(?=[a-z])){_QUOTE}?[^\s:\"'$]{{0,100}}:)"
    rf"(?P<value>[^\s\"'`\\$]{{4,200}}){_AFTER}"
)
_LOGIN = (
    rf"(?<=[\s\"',])(?P<keep>(?:-p|--password|--passwd|-a|-w|-P)[ =\"',]{{0,4}}{_QUOTE}?)(?P<value>[{_LETTERS}.=/+]{{6,200}}+)"
    rf"{_AFTER}"
)
_FETCHERS = ("curl", "wget", "http ", "https ", "xh ")
_CLIENTS = (
    *("docker", "podman", "helm", "az ", "oc ", "skopeo", "buildah", "sshpass", "redis-cli", "mysql", "mariadb"),
    *("mongo", "ldapsearch", "snowsql", "sqlcmd", "kinit", "cqlsh", "influx", "twine", "cosign"),
)  # fmt: skip
_ENCODE = rf"(?<=\s)(?P<keep>-[kK][ ]{{1,2}}{_QUOTE}?)(?P<value>[{_LETTERS}.=/+]{{6,200}}+){_AFTER}"
_BRACED = r"(?P<keep>(?i:pwd|password)=\{)(?P<value>[^\s{}]{6,100})(?=\}\s{0,2}(?:;|$|[\"']))"
_BASIC_OF = rf"(?P<keep>http-basic\.[\w-]{{1,60}} \S{{1,100}} )(?P<value>[{_LETTERS}.=/+]{{6,200}}+){_AFTER}"
_IDENT = rf"(?P<keep>npmAuthIdent: {_QUOTE}?[^\s:\"']{{1,100}}:)(?P<value>[{_LETTERS}.=/+]{{6,200}}+){_AFTER}"
_SMB = rf"(?<=\s)(?P<keep>-U [^\s%]{{1,100}}%)(?P<value>[{_LETTERS}.=/+]{{6,100}}+){_AFTER}"
_PASSIN = r"(?P<keep>-pass(?:in|out)?[ =]{1,2}pass:)(?P<value>[^\s\"'\\$]{4,100})"
_SPACED = rf"(?P<keep>--(?:password|passwd|passphrase|token|api-key|secret|auth-token)[ ]{_QUOTE}?)(?P<value>[{_LETTERS}.=/+]{{6,200}}+){_AFTER}"

# ------------------------------------------------------------------ a look at the value

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"[0-9a-fA-F]{32,}")
_HARMLESS = re.compile(r"(?:sha[0-9]{1,3}[:-]|[./~]|https?:|\$|%(?![0-9A-Fa-f]{2}))")
_CODE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+")
_PLACEHOLDERS = frozenset(
    [
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
        "username",
        "redacted",
        "your_password",
        "your-password",
        "yourpassword",
        "mypassword",
    ]
)
_NAME_BEFORE = 10
_NAMES_OF_IDS = ("apikey", "password", "secretkey", "privatekey", "accesstoken", "authtoken", "servertoken")
"""Of these a whole id is the secret; of `secret_id` or `page_token` it is a name."""
_HEX_BITS = 2.8
_WITH_SLASH = (40, 44)
"""Characters of a secret key of AWS, and of 32 bytes in base64: the first of them may be a slash."""
# How random a named value has to look: from this length on, kinds of characters, digits, and bits per
# character at least.
_LOOKS = ((32, 3, 1, 3.9), (20, 2, 3, 3.2), (12, 3, 2, 3.2))


def _digits(value: str) -> int:
    return sum(map(str.isdigit, value))


def _is_mixed(value: str) -> bool:
    """Letters and digits, or letters that no word has in this order."""
    return (any(map(str.isdigit, value)) and any(map(str.isalpha, value))) or chance.is_jumbled(value)


def _short_value(match: re.Match[str]) -> bool:
    value = match["value"]
    if match["name"].lower() == "pwd" and "/" in value:
        return False
    return _is_mixed(value) and not value.startswith("$") and not _NO_PASSWORD.search(value)


def _phrase(match: re.Match[str]) -> bool:
    """Of several words, one of which only a password has."""
    words = match["value"].split(" ")
    odd = any(re.search(r"[A-Za-z][0-9]+[A-Za-z]|[0-9][A-Za-z]+[0-9]", word) for word in words)
    return len(words) > 1 and odd and not _NO_PASSWORD.search(match["value"])


def _given_value(match: re.Match[str]) -> bool:
    """What somebody typed or kept as a password; no placeholder, no variable."""
    value = match["value"].strip("'\"").lower()
    return (
        value not in _PLACEHOLDERS
        and not value.startswith(("$", "{", "<", "[redacted", "%("))
        and len(set(value)) > 2
    )


def _odd_value(match: re.Match[str]) -> bool:
    return _given_value(match) and _is_mixed(match["value"]) and not _NO_PASSWORD.search(match["value"])


def _header_value(match: re.Match[str]) -> bool:
    return _is_mixed(match["value"]) and chance.bits(match["value"]) >= _HEX_BITS


def _many_digits(match: re.Match[str]) -> bool:
    value = match["value"]
    return _digits(value) >= 3 and any(map(str.isalpha, value)) and chance.bits(value) >= _HEX_BITS


def _basic(match: re.Match[str]) -> bool:
    """A name and a password, in base64."""
    try:
        plain = base64.b64decode(
            match["value"] + "=" * (-len(match["value"]) % 4), altchars=b"-_", validate=True
        )
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and all(32 <= byte < 127 for byte in plain)


def _npm_value(match: re.Match[str]) -> bool:
    return _given_value(match) and _digits(match["value"]) >= 2


def _url_value(match: re.Match[str]) -> bool:
    value = match["value"].lower()
    return (
        value not in _PLACEHOLDERS
        and value != match["user"].lower()
        and set(value) != {"*"}
        and not value.isdigit()
        and not value.startswith("[redacted")
    )


def _named_value(match: re.Match[str]) -> bool:
    value = match["value"] or match["bare"]
    if _UUID.fullmatch(value):
        name = match.string[max(0, match.start() - _NAME_BEFORE) : match.start()] + match["name"]
        return name.lower().replace("-", "").replace("_", "").endswith(_NAMES_OF_IDS) or (
            match["name"] == "TOKEN" and match["keep"].endswith("=")  # a variable, and no name of a page
        )
    slash = value.startswith("/") and len(value) in _WITH_SLASH and chance.is_jumbled(value)
    if (_HARMLESS.match(value) and not slash) or "://" in value or _CODE.fullmatch(value):
        return False
    bits = chance.bits(value)
    if _HEX.fullmatch(value):
        return bits >= _HEX_BITS
    digits = _digits(value)
    # Signs that join words are no sign of chance.
    signs = any(not (c.isalnum() or c in "-_.") for c in value)
    kinds = (digits > 0) + any(map(str.isupper, value)) + any(map(str.islower, value)) + signs
    return chance.is_jumbled(value) or any(
        len(value) >= look[0] and kinds >= look[1] and digits >= look[2] and bits >= look[3]
        for look in _LOOKS
    )


def _in_a_line_of(programs: tuple[str, ...]) -> Fits:
    """Whether one of the programs is named before this place in its line."""

    def fits(text: str, at: int) -> bool:
        line = text[max(text.rfind("\n", 0, at), at - 300, 0) : at]
        return any(name in line for name in programs)

    return fits


def _names_a_key(text: str, at: int) -> bool:
    """Whether the word `key` at this place is the end of a name such as `api_key`."""
    return text[max(0, at - 14) : at].rstrip("_-").lower().endswith(_KEYS)


def _always(_match: re.Match[str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class SecretRule:
    """Where a kind of secrets begins, what it looks like from there, and a last look at what was found."""

    kind: str
    hints: tuple[str, ...]
    """With one of these every match begins."""
    pattern: str
    """Compiled where a hint was found, and kept by `re`: most texts hold none."""
    is_secret: Look
    fits: Fits | None = None
    """A first look at the place."""
    any_case: bool = False
    """The hints are spelled in small letters, and meant in any."""


def _rule(kind: str, hints: str, pattern: str, look: Look, fits: Fits | None = None) -> SecretRule:
    return SecretRule(kind, tuple(hints.split("|")), pattern, look, fits, any_case=True)


_WORD_HINTS, _PASSWORD_HINTS = (
    "password|passwd|passphrase|pwd|secret|token|credential",
    "password|passwd|passphrase|pwd",
)

NAMED = (
    _rule("authorization", "authorization", _HEADER, _header_value),
    _rule("authorization", "bearer", _BEARER, _many_digits),
    _rule("authorization", "auth plain|auth login|auth xoauth2", _SMTP, _always),
    _rule("url_password", "://", _URL, _url_value),
    _rule("url_password", "://", _URL_TOKEN, _many_digits),
    _rule("cookie", "sess|sid=|auth=|sso=", _COOKIE, _many_digits),
    _rule("password", "machine |default login", _MACHINE, _given_value),
    _rule("password", "login ", _NETRC, _odd_value),
    _rule("password", ":5432:|:5433:|:6432:|:*:", _PGPASS, _odd_value),
    _rule("basic", "_auth|\"auth|'auth", _AUTH, _basic),
    _rule("npm_token", ":_authtoken|:_password", _NPM, _npm_value),
    _rule("password", "-u|--user|--proxy-user|-a|--auth", _CURL, _odd_value, _in_a_line_of(_FETCHERS)),
    _rule("password", "-p|--pass|-a|-w", _LOGIN, _odd_value, _in_a_line_of(_CLIENTS)),
    _rule("password", "-pass", _PASSIN, _given_value),
    _rule("password", "pwd={|password={", _BRACED, _odd_value),
    _rule("password", "http-basic.", _BASIC_OF, _odd_value),
    _rule("password", "npmauthident", _IDENT, _odd_value),
    _rule("password", "-u ", _SMB, _odd_value, _in_a_line_of(("smbclient", "rpcclient", "smbget"))),
    _rule("password", "password>|passphrase>|secret>|token>|apikey>|api_key>|privatekey>", _TAG, _odd_value),
    _rule("password", "password|secret|token|apikey", _ATTRIBUTE, _odd_value),
    _rule("password", "password|secret|token", _DEFAULT, _odd_value),
    _rule("password", "env |setenv |set -", _SET, _odd_value),
    _rule("seed_phrase", "mnemonic|seed|recovery|secret", _MNEMONIC, _always),
    _rule("private_key", '"d', _JWK, _header_value),
    _rule("password", "-k ", _ENCODE, _odd_value, _in_a_line_of(("openssl",))),
    _rule("password", "identified by '|password '", _SQL, _odd_value),
    _rule("password", "_pass", _PASS, _short_value),
    _rule("password", "define(", _DEFINE, _odd_value),
    _rule("fernet_key", "fernet(", _CALL, _always),
    _rule("secret", _WORD_HINTS, _NAMED, _named_value),
    _rule("secret", "key", _KEY, _named_value, _names_a_key),
    _rule("password", _PASSWORD_HINTS, _SHORT, _short_value),
    _rule("password", _PASSWORD_HINTS, _PHRASE, _phrase),
    _rule(
        "password",
        "--password |--passwd |--passphrase |--token |--api-key |--secret |--auth-token ",
        _SPACED,
        _odd_value,
    ),
)
