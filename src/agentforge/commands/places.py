"""Where a word of a command line points, if it is a path: read as text, because nothing may be touched to
find out.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal, NamedTuple

from agentforge.catalog.policies import read_policy, section

PlaceKind = Literal[
    "inside",
    "whole",
    "system",
    "device",
    "socket",
    "secret",
    "secret_name",
    "account",
    "startup",
    "runs_later",
    "home",
    "outside",
    "unknown",
    "no_path",
]

_GLOB_ONLY = re.compile(r"[.*?]*[*?][.*?]*|\*\*|\[[^\]]*\]\*?|\.\[.*")
_PERHAPS_EMPTY = re.compile(r"(?:\$\w+|\$\{[^}]*\}|\$\(.*\)|`[^`]*`)+")
"""What may turn out to be nothing: `/$X` is then `/`."""
_LINKED_ROOT = re.compile(r"/proc/[^/]+/(root|cwd)(?=/|$)")


@dataclass(frozen=True, slots=True)
class _Known:
    """What lies where, by name: `command_words` of `catalog/policies/places.yaml`, which explains each."""

    system: frozenset[str]
    top: frozenset[str]
    secret_folders: frozenset[str]
    secret_files: frozenset[str]
    secret_places: frozenset[str]
    account: frozenset[str]
    harmless: re.Pattern[str]
    secret_names: re.Pattern[str]
    runs_later: re.Pattern[str]
    perhaps_secret: re.Pattern[str]
    startup: re.Pattern[str]


@cache
def _known() -> _Known:
    return section(_Known, "places.yaml: command_words", read_policy("places")["command_words"])


class PathPlace(NamedTuple):
    """A path, normalised as text, and what lies there."""

    kind: PlaceKind
    path: str


def places_of(word: str, base: str = "", *, unknown_start: bool = False) -> tuple[PathPlace, ...]:
    """Every place that a word may name: itself, or what follows `=` or `@` in it."""
    candidates = [word]
    if "=" in word:
        candidates.append(word.partition("=")[2])
    candidates += [
        part[part.index("@") + 1 :].lstrip("@")
        for part in candidates
        if "@" in part[:40] and not re.search(r"@[^/~]*:", part)
    ]
    found = [place(each, base, unknown_start=unknown_start) for each in candidates]
    return tuple(item for item in found if item.kind != "no_path")


def place(word: str, base: str = "", *, unknown_start: bool = False) -> PathPlace:
    """Where one word points when it is taken from the directory `base` (empty: the project)."""
    text = word.removeprefix("file://")
    if not text or "://" in text or (text.startswith("-") and text != "-"):
        return PathPlace("no_path", text)
    if unknown_start:
        return PathPlace("unknown", text)
    path = normalise(text, base)
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return PathPlace("socket", path)
    if path.startswith("/dev/"):
        return PathPlace("inside" if _known().harmless.fullmatch(path) else "device", path)
    rooted = path.startswith(("/", "~", ".."))
    parts = [part for part in path.split("/") if part]
    if _secret(parts, rooted=rooted):
        return PathPlace("secret" if rooted else "secret_name", path)
    if parts and _known().perhaps_secret.fullmatch(parts[-1]):
        return PathPlace("secret_name", path)
    if not rooted and _known().runs_later.search(path):
        return PathPlace("runs_later", path)
    if not rooted:
        return PathPlace("unknown" if base == "?" and _whole_of(path) else "inside", path)
    return PathPlace(_rooted(path, parts), path)


def _rooted(path: str, parts: list[str]) -> PlaceKind:
    known = _known()
    if len(parts) >= 2 and parts[0] == "etc" and parts[1] in known.account:
        return "account"
    if re.fullmatch(r"/proc/[^/]+/(task/[^/]+/)?(environ|mem|maps|cmdline|fd)(/.*)?", path):
        return "account"
    while parts and _names_nothing(parts[-1]):
        parts = parts[:-1]
    if not parts or all(part == ".." for part in parts) or (parts[0].startswith("~") and len(parts) == 1):
        return "whole"
    if path.startswith("/"):
        if any(char in parts[0] for char in "*?[{") or (
            len(parts) == 1 and parts[0] in known.system | known.top
        ):
            return "whole"
        if parts[0] in ("home", "Users") and len(parts) == 2:
            return "whole"
        if parts[0] in known.system:
            return "system"
    if any(known.startup.fullmatch(part) for part in parts):
        return "startup"
    return "home" if parts[0] in ("~", "home", "root", "Users") else "outside"


def _names_nothing(part: str) -> bool:
    rest = _PERHAPS_EMPTY.sub("", part)
    return not rest or _GLOB_ONLY.fullmatch(rest) is not None


def _secret(parts: list[str], *, rooted: bool) -> bool:
    known = _known()
    if known.secret_folders.intersection(parts):
        return True
    if rooted and any(_may_name(part, known.secret_folders) for part in parts):
        return True
    last = parts[-1] if parts else ""
    if known.secret_names.fullmatch(last) or (
        last in known.secret_files and (rooted or last.startswith("."))
    ):
        return True
    whole = f"/{'/'.join(parts)}/"
    return rooted and any(f"/{each}/" in whole for each in known.secret_places)


def _may_name(part: str, names: Iterable[str]) -> bool:
    """Whether a pattern that says something of its own, as `.s*h` does, is one for any of these names."""
    return (
        any(char in part for char in "*?[")
        and not _GLOB_ONLY.fullmatch(part)
        and any(fnmatchcase(name, part) for name in names)
    )


def _whole_of(path: str) -> bool:
    return all(_GLOB_ONLY.fullmatch(part) or part in ("", ".") for part in path.split("/"))


def normalise(text: str, base: str = "") -> str:
    """A path without doubled slashes, `.` and `..` where they can be taken back; `~user` is read as `~`."""
    if text.startswith("~"):
        text = "~" + text[text.find("/") :] if "/" in text else "~"
    elif not text.startswith("/") and base not in ("", "?"):
        text = f"{base}/{text}"
    root = text[:1] if text.startswith(("/", "~")) else ""
    found: list[str] = []
    for part in text.removeprefix(root).split("/"):
        if part in ("", "."):
            continue
        if part == ".." and found and found[-1] != "..":
            found.pop()
        elif part != ".." or not root:
            found.append(part)
        elif root == "~":
            root = "/home/"  # above a home is the place of all of them
    joined = "/".join(found)
    path = {"": joined or ".", "/": f"/{joined}", "~": f"~/{joined}".rstrip("/")}.get(
        root, f"/home/{joined}".rstrip("/")
    )
    while linked := _LINKED_ROOT.match(path):  # another name of the root
        path = path[linked.end() :] or "/"
    return path
