"""What looks like something else: letters that nobody sees, code far to the right, and names of files."""

import re
import unicodedata

_ALIKE = frozenset(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0410\u0412\u0415\u041a\u041c"
    "\u041d\u041e\u0420\u0421\u0422\u0425\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u03bd"
)
"""Letters of other alphabets that look like ours."""
_WORDS = re.compile(r"[^\W\d_]+")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2060-\u2064\u2066-\u2069\u3164\ufeff\uffa0\U000e0000-\U000e007f]"
)
"""Letters without a shape of their own: some turn the order of what follows."""
_FAR = re.compile(r"[^\s#/*][ \t]{60,}[^\s#/*|]")
"""Code after more blanks than a window shows: not a table, nor a comment at the end of a line."""
_FAR_COLUMN = re.compile(r"^.{150,}(?: {8,}|;\s*)(?=[^\s#/*|;])")
"""The same where it takes many small steps, or text, to come there."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_OF_GIT = re.compile(r"\.?git(?:~\d+)?[. ]*|\.git(?:attributes|ignore|modules)[. ]+", re.IGNORECASE)
LONGEST = 143
"""Bytes of a name that every file system takes."""


def not_as_seen(line: str, *, code: bool) -> str:
    """How a line does something else than what is seen; it goes on after its number."""
    if found := _UNSEEN.search(line.removesuffix("\r")):
        told = f"U+{ord(found[0]):04X} ({unicodedata.name(found[0], 'a control letter').lower()})"
        return f"has {told}: what it does is not what is seen"
    wide = line.expandtabs(8)
    if code and (_FAR.search(wide) or _FAR_COLUMN.search(wide)):
        return "goes on far to the right: what it does is not what is seen"
    return ""


def odd_name(path: str) -> str:
    """Why a path is shown, kept or read as another one by some systems; empty for all others."""
    if found := next((letter for letter in path if _UNSEEN.match(letter) or letter in "\t\n"), ""):
        return f"its name has U+{ord(found):04X}, which nobody sees"
    if any(letter != " " and unicodedata.category(letter) == "Zs" for letter in path):
        return "its name has a blank that is another letter than a blank"
    for part in path.split("/"):
        if _OF_GIT.fullmatch(part) and part != "git":
            return "some systems take it for a part of git's own folder"
        if part != part.rstrip(" .") or part.startswith("-") or set(part) & set(':\\*?"<>|'):
            return f"some systems cannot have a file named `{part}`, or take it for another or for an option"
        if _DEVICE.fullmatch(part) or len(part.encode()) > LONGEST:
            return f"some systems cannot have a file named `{part[:40]}`"
    return ""


def disguised(line: str) -> str:
    """A word of our letters in which some are of another alphabet and look the same."""
    return next(
        (
            f"`{word}` ({', '.join(unicodedata.name(letter, 'unnamed').lower() for letter in strange)})"
            for word in _WORDS.findall(line)
            if (strange := [letter for letter in word if letter in _ALIKE])
            and any(letter.isascii() for letter in word)
        ),
        "",
    )


def folded(path: str) -> str:
    """A path as systems keep it that do not tell case and accents apart."""
    return unicodedata.normalize("NFC", path).casefold()


def looks_like_another(path: str) -> str:
    """The letters of another alphabet in a name that is written in ours."""
    for part in _WORDS.findall(path):
        strange = [letter for letter in part if ord(letter) > ord("z") and not _is_latin(letter)]
        if strange and any(letter.isascii() and letter.isalpha() for letter in part):
            return ", ".join(
                f"{letter} ({unicodedata.name(letter, 'unnamed').lower()})" for letter in strange
            )
    return ""


def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN ")
