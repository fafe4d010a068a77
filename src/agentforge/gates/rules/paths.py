"""Rules of the paths an artifact cites."""

import re
from collections.abc import Iterator, Mapping

from agentforge.core.pipeline import Part
from agentforge.gates.rules.subject import Subject, parts

THE_REQUEST = "request"
"""What stands in place of a file where the evidence is the request itself."""


def paths_are_relative(subject: Subject) -> list[str]:
    """Every path stays inside the repository."""
    return [
        f"{where}: {path!r} {reason}"
        for where, path in paths_in(subject.artifact)
        if (reason := _astray(path))
    ]


def files_exist(subject: Subject) -> list[str]:
    """What is cited is there, and what is to be created is not."""
    wrong = [
        f"{where}: {path} is not in the repository; {_ABSENT.get(subject.part, 'name a file that is there')}"
        for where, path in paths_in(subject.artifact)
        if where.split("[")[0] not in _FREE
        and not _astray(path)
        and not _cites_request(subject, path)
        and plain(path) not in subject.files
    ]
    wrong += [
        f"files_to_create: {path} exists already; list it under files_to_modify"
        for path in parts(subject.artifact, "files_to_create")
        if plain(str(path)) in subject.files
    ]
    return wrong


_FREE = frozenset({"files_to_create", "supersedes", "files_created", "files_deleted"})
"""Keys whose paths need not be there."""

_ABSENT: Mapping[Part | None, str] = {
    "tests": "create it before you submit the suite",
    "requirements": "a new file belongs under files_to_create",
    "analysis": "impacted files must already exist; new ones belong in the specification",
}


def _cites_request(subject: Subject, path: str) -> bool:
    return subject.part == "questions" and path == THE_REQUEST


def paths_in(value: object, where: str = "") -> Iterator[tuple[str, str]]:
    """Every path an artifact cites, with its place."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            place = f"{where}.{key}" if where else str(key)
            if key in {"path", "file"} and isinstance(part, str):
                yield place, part
            elif key in {"files_to_modify", "files_to_create", "files_deleted", "affected_tests"}:
                yield from ((f"{place}[{index}]", str(path)) for index, path in enumerate(part or []))
            else:
                yield from paths_in(part, place)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from paths_in(part, f"{where}[{index}]")


def _astray(path: str) -> str:
    steps = path.replace("\\", "/").split("/")
    if not path.strip() or "\0" in path:
        return "is not a path"
    if path.startswith(("/", "~")) or "\\" in path or re.match(r"[A-Za-z]:", path):
        return "is not relative to the repository; write it like src/module.py"
    if ".." in steps:
        return "leads out of the repository"
    if any(part.lower() == ".git" for part in steps):
        return "is inside .git"
    return "" if path.strip(" ./") else "is no file"


def plain(path: str) -> str:
    """A path as the tree spells it; a test id loses its test."""
    return "/".join(part for part in path.split("::", maxsplit=1)[0].split("/") if part not in {"", "."})
