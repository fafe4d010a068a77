"""What a change of documents takes away: words of pages, and rows of data, that nobody asked about."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentforge.core.values import Question
from agentforge.gates.change.kinds import ChangedFile
from agentforge.gates.change.shadows import is_named
from agentforge.gates.flags import Flag
from agentforge.languages.documents.shown import shown
from agentforge.system.git.repository import Git

ABOUT = "lost: "
TOO_MUCH = 0.5
"""The share of its words that a page may not lose unless the request names it."""
WORTH_A_LOOK = 0.2
FEWEST = 5
"""Words that make a page one that can be lost."""


@dataclass(frozen=True, slots=True)
class LostText:
    """A page that lost words."""

    path: str
    lost: int
    of: int

    @property
    def share(self) -> float:
        """How much of it is gone."""
        return self.lost / self.of

    @property
    def sentence(self) -> str:
        """What is said of it."""
        return f"`{self.path}` loses {self.lost} of its {self.of} words, and the request does not name it"


def lost_texts(
    git: Git, base: str, tree: str, files: Iterable[ChangedFile], request: str
) -> tuple[LostText, ...]:
    """Pages and data that lost words which no other file of the change has taken up, the most first. What
    moves from one file to another is not lost.
    """
    pages = {file.path: file.kind for file in files if file.kind in ("document", "data")}
    before = {path: _text(git.read_blob(base, path)) for path in pages}
    after = {path: _text(git.read_blob(tree, path)) for path in pages}
    found: list[LostText] = []
    for path, kind in pages.items():
        others = " ".join(_flat(after[other]) for other in pages if other != path)
        moved = [part for part in _parts(before[path]) if f" {_flat(part)} " in f" {others} "]
        count = _all_words if kind == "data" else _different_words
        total = count(before[path]).total()
        lost = (count(before[path]) - count(after[path]) - count(" ".join(moved))).total()
        if total >= FEWEST and lost / total > WORTH_A_LOOK and not _names(request, path):
            found.append(LostText(path, lost, total))
    return tuple(sorted(found, key=lambda each: (-each.share, each.path)))


def too_much(lost: Iterable[LostText]) -> list[LostText]:
    """Those that a person is asked about."""
    return [each for each in lost if each.share > TOO_MUCH]


def lost_text_reasons(lost: Iterable[LostText]) -> list[str]:
    """Why that does not do."""
    return [f"{each.sentence}; put that back" for each in lost]


def lost_text_question(lost: Sequence[LostText]) -> Question:
    """What a person is asked before pages go."""
    named = "; ".join(f"{each.path} {each.lost} of its {each.of} words" for each in lost[:5])
    told = f"A person wants these files to keep what they say: {', '.join(each.path for each in lost)}."
    text = (
        f"Files that the request does not name would lose most of what they say: {named}. "
        "Is that what you want?"
    )
    return Question(text, ("yes", "no", "abort"), "", about=lost_text_about(lost), if_no=told)


def lost_text_about(lost: Iterable[LostText]) -> tuple[str, ...]:
    """What that question is about, so that its answer is found again."""
    return tuple(f"{ABOUT}{each.path}" for each in lost)


def lost_text_flags(lost: Iterable[LostText]) -> list[Flag]:
    """One flag for each document that lost text: a reviewer must accept or reject it."""
    return [Flag(each.path, each.sentence, ruling=True) for each in lost]


def _text(data: bytes | None) -> str:
    """What a reader finds in a file; nothing in one that is no text."""
    return "" if data is None or b"\0" in data else shown(data.decode("utf-8", "replace"))


def _parts(text: str) -> list[str]:
    """Its sentences and rows: what moves, moves whole."""
    return [part for part in re.split(r"(?<=[.!?:;])\s+|\n", text) if _flat(part)]


def _flat(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _all_words(text: str) -> Counter[str]:
    return Counter(_flat(text).split())


def _different_words(text: str) -> Counter[str]:
    """Each once: a list that becomes a table says the same with fewer."""
    return Counter({*_flat(text).split()})


def _names(request: str, path: str) -> bool:
    """Whether the request speaks of the file, by its path, its name or the folder that it is in."""
    folders = path.split("/")[:-1]
    inside = ("/".join(folders[:count]) for count in range(1, len(folders) + 1))
    return is_named([path, path.rpartition("/")[2], *(f"{folder}/" for folder in inside)], request)
