"""A request that cannot be judged as it stands names no place and shows no result: its intake must ask."""

import re

from agentforge.catalog.kinds import shows_result
from agentforge.gates.rules.subject import Subject, cut, parts
from agentforge.languages.table import LANGUAGES, is_code, without_suffix

MAX_READ = 300
"""Files that are looked through for a name of the request."""
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


def vague_request_questioned(subject: Subject) -> list[str]:
    """What names no place and no result carries at least one question; its answer, or what is assumed
    instead, is then on record.
    """
    if subject.artifact.get("derived") or parts(subject.artifact, "identified_ambiguities"):
        return []
    if not subject.request or shows_result(subject.request) or _names_place(subject):
        return []
    text = (
        f'the request "{cut(subject.request)}" names no place and no result that could be seen; list what is '
        "open under identified_ambiguities, each with its question, and answer it in clarification"
    )
    return [text]


def _names_place(subject: Subject) -> bool:
    said = {word.lower() for word in _WORD.findall(subject.request)}
    stems = {part.lower() for path in subject.files for part in without_suffix(path).split("/")}
    if said & stems:
        return True
    names = sorted(set(_WORD.findall(subject.request)))
    patterns = [language.source.definitions(names) for language in LANGUAGES]
    code = [path for path in sorted(subject.files) if is_code(path)][:MAX_READ]
    return any(pattern.search(subject.read(path) or "") for path in code for pattern in patterns)
