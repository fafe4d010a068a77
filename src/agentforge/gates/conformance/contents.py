"""The readings of a tree: those of contents that were read before are kept, the others are read now."""

from collections.abc import Callable, Mapping

from agentforge.languages.conformance import FORMAT, is_checked, read_file
from agentforge.languages.generated import is_in_made_folder
from agentforge.languages.readings import FileReading
from agentforge.languages.symbols import decode
from agentforge.store.user.code_facts import KeptFacts
from agentforge.system.collection import no_collection


def is_wanted(path: str) -> bool:
    """Whether checks look at a file: it is code, and somebody wrote it."""
    return is_checked(path) and not is_in_made_folder(path)


def readings_of(
    contents: Mapping[str, str], load: Callable[[str], bytes | None], kept: KeptFacts | None
) -> dict[str, FileReading]:
    """The readings of files, given the name of each one's content. What cannot be loaded any more is left
    out.
    """
    keys = {path: f"{FORMAT}:{path.rpartition('.')[2]}:{name}" for path, name in contents.items()}
    known = kept.get(list(dict.fromkeys(keys.values()))) if kept else {}
    found: dict[str, FileReading] = {}
    new: dict[str, str] = {}
    with no_collection():
        for path, key in keys.items():
            reading = FileReading.from_json(known[key]) if key in known else None
            if reading is None:
                if (data := load(path)) is None:
                    continue
                reading = read_file(decode(data, path), path)
                new[key] = known[key] = reading.to_json()
            found[path] = reading
    if kept and new:
        kept.put(new)
    return found
