"""Private keys that go over many lines: whole, cut off before their end, without their beginning, with numbers
or signs before each line, or with line breaks that are written out. What is left of one is as good as the
whole.
"""

import re

_MOST = 1 << 16
"""Characters. No key is longer."""
_BREAK = r"(?:\r?\n|\\{1,4}[nr]|\\{1,4}u000[aAdD]|%0[aAdD])"
# Between the pieces of a key there are line breaks, also written out, the quotes and signs that join pieces of
# text in code, and the numbers, names and signs that tools put before lines.
# (Atomic groups: before 3.11.5 a possessive repetition of a group that half matches eats that half.)
_JOIN = (
    rf"(?>(?:\s|{_BREAK}|(?<=\n)E(?=[ \t]{{2}})|\\{{1,4}}[t\"']|[\"'+,|>#*();:]|-(?!----)|[0-9]{{1,6}}(?=[ \t]{{0,4}}[:|)\-\t ])"
    r"|(?![A-Za-z0-9+/]{16,200}={0,2}(?:[\s\\\"',]|$))[^\s\\-][^\n\\]{0,100}?[:|>\]\- \t][ \t]{0,4}(?=[A-Za-z0-9+/=]{40,100}(?:[\s\\\"',]|$)"
    r"|[A-Za-z0-9+/=]{1,100}[\"', \t]{0,6}(?:[\r\n]|\\{1,4}n)[^\n\\]{0,100}(?:-----END|Private-)|-----END|Private-(?:MAC|Hash)))*)"
)
_BODY = r"[A-Za-z0-9+/]{16,}+={0,2}"
_FIELDS = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|X-[A-Za-z-]{1,30}|Subject): [^\n\\]{0,200}"
_BEGIN = r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END = r"-{4,5} ?END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?(?: ?-{4,5})?"
_REST = (
    rf"(?>(?:{_JOIN}(?:{_BODY}|{_FIELDS}))+)"
    rf"(?:{_JOIN}=?[A-Za-z0-9+/]{{1,15}}={{0,2}}(?={_JOIN}-----END))?"
    rf"(?:{_JOIN}-{{4,5}} ?END [A-Z0-9 ]{{0,60}}-{{0,5}})?"
)
_WHOLE = _BEGIN + _REST
_PUTTY = (
    rf"Private-Lines: ?[0-9]{{1,3}}(?>(?:{_JOIN}{_BODY})+)(?:{_JOIN}[A-Za-z0-9+/]{{1,15}}={{0,2}}(?={_JOIN}Private))?"
    rf"(?:{_JOIN}Private-(?:MAC|Hash): ?[0-9a-f]{{16,80}})?"
)
# How the most usual kinds of keys begin when they are spelled in base64, whoever took the first line away.
_SPELLED = (
    *("b3BlbnNzaC1rZXktdjEA", "MIIEowIBAA", "MIIEpAIBAA", "MIIEpQIBAA", "MIIEogIBAA", "MIICXAIBAA", "MIICXQIBAA"),
    *("MIICWwIBAA", "MIIJKQIBAA", "MIIJKAIBAA", "MIIJJwIBAA", "MIIJKgIBAA", "MIIG4wIBAA", "MIIG5AIBAA"),
    *("MIIEvgIBADAN", "MIIEvQIBADAN", "MIIEvwIBADAN", "MIIJQgIBADAN", "MIIJQwIBADAN", "MIIJRAIBADAN"),
    # The same with its first line, in base64 once more, as a file of Kubernetes has it.
    *("LS0tLS1CRUdJTiBQUklWQVRF", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURS", "LS0tLS1CRUdJTiBFQyBQUklWQVRF"),
    *("LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg", "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURS", "LS0tLS1CRUdJTiBQR1AgUFJJVkFURS"),
    *("LS0tLS1CRUdJTiBEU0EgUFJJVkFURS",),
    *("MHcCAQEEI", "MIGkAgEBBD", "MIGHAgEAMBMG", "MIGTAgEAMBMG", "MC4CAQAwBQYDK2Vw", "MIIFHDBOBgkqhkiG9w0BBQ0"),
)  # fmt: skip
_HEADLESS = (
    rf"(?=(?:{'|'.join(_SPELLED)}))[A-Za-z0-9+/]{{40,}}+={{0,2}}"
    rf"(?:{_JOIN}{_BODY})*"
    rf"(?:{_JOIN}[A-Za-z0-9+/]{{1,15}}={{0,2}}(?={_JOIN}-----END))?(?:{_JOIN}{_END})?"
)
_TAIL = re.compile(_END)
_LINE_END = re.compile(_BREAK)
_LAST_BODY = re.compile(r"(?P<body>=?[A-Za-z0-9+/]{1,100}={0,2})[\"'\\+,|); \t]{0,12}$")
_ENOUGH = 16

_STARTS = (("-----BEGIN ", _WHOLE), ("---- BEGIN ", _WHOLE), ("Private-Lines:", _PUTTY))
_HEADLESS_HINTS = ("LS0tLS1CRUdJTi", "MII", "MIG", "MHcCAQEEI", "MC4CAQAwBQYDK2Vw", "b3BlbnNzaC1rZXktdjEA")
HINTS = ("PRIVATE KEY", "Private-Lines:", *_HEADLESS_HINTS)
BEGINNINGS = (*(hint for hint, _ in _STARTS), "PuTTY-User-Key-File-")


def take_out(text: str) -> tuple[str, int]:
    """The text with every private key as `[REDACTED:private_key]`, and how many there were."""
    if not any(hint in text for hint in HINTS):
        return text, 0
    found = 0
    for hint, pattern in (*_STARTS, *((each, _HEADLESS) for each in _HEADLESS_HINTS)):
        if hint in text:
            text, count = _from_its_start(text, hint, pattern)
            found += count
    text, count = _tails(text)
    return text, found + count


def _from_its_start(text: str, hint: str, pattern: str) -> tuple[str, int]:
    pieces: list[str] = []
    done = count = 0
    at = text.find(hint)
    while at >= 0:
        match = re.compile(pattern).match(text, at) if at >= done else None
        if match is not None:
            pieces += (text[done:at], "[REDACTED:private_key]")
            done, count = match.end(), count + 1
        at = text.find(hint, max(at + 1, done))
    return "".join((*pieces, text[done:])), count


def _tails(text: str) -> tuple[str, int]:
    """Ends of keys whose beginnings are not there."""
    pieces: list[str] = []
    done = looked = count = 0
    for end in _TAIL.finditer(text):
        start = _tail_start(text, max(looked, end.start() - _MOST), end.start())
        looked = end.end()
        if start < end.start():
            pieces += (text[done:start], "[REDACTED:private_key]")
            done, count = end.end(), count + 1
    return "".join((*pieces, text[done:])), count


def _tail_start(text: str, first: int, end: int) -> int:
    """Where the lines of a key begin that go on up to `end`; `end` if there are none."""
    lines = [first, *(match.end() for match in _LINE_END.finditer(text, first, end))]
    start, upper, full = end, end, False
    for line in reversed(lines):
        piece = text[line:upper].rstrip()
        while match := re.search(rf"{_BREAK}$", piece):
            piece = piece[: match.start()]
        upper = line
        if not piece.strip("\"'+-|> \t0123456789:"):
            continue
        match = _LAST_BODY.search(piece[-160:])
        if match is None or (full and len(match["body"]) < _ENOUGH):
            break
        full = full or len(match["body"]) >= _ENOUGH
        start = line + len(piece) - len(piece[-160:]) + match.start("body")
    return start if full else end
