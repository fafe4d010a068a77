"""What a gate found and does not decide: told to the reviewer and to the user, by name.

A gate writes its flags into its record under `flags`; everybody reads them from there with `flags_of`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from agentforge.core.reply import Json
from agentforge.gates.documents import objects


@dataclass(frozen=True, slots=True)
class Flag:
    """One thing that a reader has to know before they approve."""

    about: str
    """What it is about: a test's id, a requirement's id, a path. A ruling names it by this."""
    text: str
    """One sentence."""
    ruling: bool = False
    """Whether the reviewer must rule on it by name; else it is only shown."""

    def to_json(self) -> dict[str, Json]:
        """The flag as JSON data."""
        return asdict(self)


def flags_of(records: Iterable[Mapping[str, Json]]) -> list[Flag]:
    """The flags of these records, each once."""
    found = (
        Flag(str(item.get("about", "")), str(item.get("text", "")), item.get("ruling") is True)
        for record in records
        for item in objects(record, "flags")
    )
    return list(dict.fromkeys(found))
