"""What language servers have said of a tree, as it is kept: where definitions are used, and what went wrong.

It holds no word of a server: paths and lines that the tree bears out, names and sentences of ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentforge.core.reply import Json
from agentforge.languages.servers.asking import ServerSaid

_NO_USES: Mapping[str, tuple[int, ...]] = {}


@dataclass(frozen=True, slots=True)
class ToldUses:
    """All that is on record of one tree."""

    tree: str = ""
    asked: frozenset[str] = frozenset()
    """Ids of the definitions that were asked about, `path::name`, answered or not."""
    used: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    """Id of a definition, to the lines that use it, by file."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """Who answered, by language."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Why a server said no more, by its name: it is not asked again."""

    def uses(self, path: str, name: str) -> Mapping[str, tuple[int, ...]]:
        """The lines that use a definition, by file; none where nobody told. That nothing uses it is never
        believed: a server that has not read everything says the same.
        """
        return self.used.get(f"{path}::{name}", _NO_USES)

    def with_answer(self, language: str, server: str, asked: frozenset[str], said: ServerSaid) -> "ToldUses":
        """This, and what one server said when it was asked about these."""
        return ToldUses(
            self.tree,
            self.asked | asked,
            {**self.used, **said.uses},
            {**self.servers, language: server},
            {**self.problems, **({server: said.problem} if said.problem else {})},
        )

    def to_json(self) -> dict[str, Json]:
        """As it is kept."""
        return {
            "tree": self.tree,
            "asked": [*sorted(self.asked)],
            "uses": {
                name: {path: [*lines] for path, lines in files.items()}
                for name, files in sorted(self.used.items())
            },
            "servers": {**self.servers},
            "problems": {**self.problems},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "ToldUses":
        """What was kept."""
        fields = {name: value[name] for name in ("uses", "servers", "problems")}
        uses, servers, problems = (each if isinstance(each, dict) else {} for each in fields.values())
        asked = value["asked"]
        return cls(
            str(value["tree"]),
            frozenset(map(str, asked if isinstance(asked, list) else ())),
            {name: _lines(files) for name, files in uses.items()},
            {language: str(name) for language, name in servers.items()},
            {name: str(why) for name, why in problems.items()},
        )


def _lines(files: Json) -> dict[str, tuple[int, ...]]:
    known = files if isinstance(files, dict) else {}
    return {
        path: tuple(line for line in lines if isinstance(line, int))
        for path, lines in known.items()
        if isinstance(lines, list)
    }


NOTHING = ToldUses()
