"""Contents that a reply keeps outside its JSON: `{"$block": "name"}` stands for the fenced block of that
name.
"""

from dataclasses import dataclass

from agentforge.core.errors import ModelMistake
from agentforge.core.reply import Json
from agentforge.models.reply.fences import Fence


@dataclass(frozen=True, slots=True)
class Blocks:
    """The named blocks of one reply."""

    usable: dict[str, str]
    """Text by name."""
    broken: dict[str, str]
    """For each name that cannot be used, why."""

    def hold_all_of(self, part: Json) -> bool:
        """Whether every block that `part` refers to is usable."""
        if (name := _reference(part)) is not None:
            return name in self.usable
        if isinstance(part, dict):
            return all(self.hold_all_of(item) for item in part.values())
        return all(self.hold_all_of(item) for item in part) if isinstance(part, list) else True

    def fill(self, value: Json, limit: int) -> Json:
        """`value` with each block's text in its place, or a `ModelMistake`. A block may stand in many places:
        `limit` bounds the sum.
        """
        room = limit

        def fill(part: Json) -> Json:
            nonlocal room
            if (name := _reference(part)) is not None:
                text = self._text(name)
                room -= len(text)
                if room < 0:
                    raise ModelMistake(
                        "reply_size", f"with its blocks filled in it is longer than {limit:,} characters"
                    )
                return text
            if isinstance(part, dict):
                return {key: fill(item) for key, item in part.items()}
            return [fill(item) for item in part] if isinstance(part, list) else part

        return fill(value)

    def _text(self, name: str) -> str:
        if name in self.usable:
            return self.usable[name]
        known = (", ".join(sorted(self.usable)) or "none")[:400]
        raise ModelMistake(
            "missing_block",
            f"the block {name[:80]!r} {self.broken.get(name, 'is not there')}; usable blocks: {known}",
        )


def blocks_of(fences: tuple[Fence, ...], skip: Fence | None) -> Blocks:
    """The blocks that these fences are; `skip` is the one that holds the JSON itself."""
    usable: dict[str, str] = {}
    broken: dict[str, str] = {}
    for fence in fences:
        if fence is skip or not fence.info:
            continue
        if fence.info in usable or fence.info in broken:
            usable.pop(fence.info, None)
            broken[fence.info] = "is in the reply twice"
        elif fence.closed:
            usable[fence.info] = fence.body
        else:
            broken[fence.info] = "is not closed"
    return Blocks(usable, broken)


def _reference(part: Json) -> str | None:
    if isinstance(part, dict) and len(part) == 1 and isinstance(name := part.get("$block"), str):
        return name
    return None
