"""What a gate found and does not decide: told to the reviewer and to the user, by name.

A gate writes its flags into its record under `flags`; everybody reads them from there with `flags_of`. Old
tests that were given up are ruled on in the same way (`ruled_flags`). A ruling names a flag by what it is
about.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects

RULE = "[rule on it] "
"""What a line begins with if the reviewer must rule on it."""


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

    @property
    def line(self) -> str:
        """The flag in one line."""
        return f"{self.about}: {self.text}"


def flags_of(records: Iterable[Mapping[str, Json]]) -> list[Flag]:
    """The flags of these records, each once; what is said alike of several cases of one test, once of it."""
    found = (
        Flag(str(item.get("about", "")), str(item.get("text", "")), item.get("ruling") is True)
        for record in records
        for item in objects(record, "flags")
    )
    return _of_tests(dict.fromkeys(found))


def _of_tests(flags: Iterable[Flag]) -> list[Flag]:
    """These flags; those that differ in nothing but the parameters of one test are one flag of that test."""
    alike: dict[tuple[str, str, bool], list[Flag]] = {}
    for flag in flags:
        test, bracket, _ = flag.about.partition("[")
        is_case = bracket and "::" in test and flag.about.endswith("]")
        alike.setdefault((test if is_case else flag.about, flag.text, flag.ruling), []).append(flag)
    return [
        rows[0] if len(rows) == 1 else Flag(about, f"{text} ({len(rows)} of its cases)", ruling)
        for (about, text, ruling), rows in alike.items()
    ]


def shown_flags(records: Mapping[str, Mapping[str, Json]]) -> list[Flag]:
    """What a reviewer is told: first what must be ruled on, old tests that were given up among it."""
    given_up = [
        Flag(
            str(row.get("id", "")),
            f"an old test that is dropped ({row.get('after')}), for {row.get('requirement')}: "
            f"{row.get('reason')}",
            ruling=not row.get("renamed_to"),
        )
        for row in objects(records.get("green", {}), "superseded")
    ]
    return sorted([*given_up, *flags_of(records.values())], key=lambda flag: not flag.ruling)


def flags_text(flags: Iterable[Flag]) -> str:
    """The flags as a reviewer is shown them, a line each."""
    return "\n".join(f"- {RULE if flag.ruling else ''}{flag.line}" for flag in flags)


def unruled(flags: Iterable[Flag], reviews: Sequence[Mapping[str, Json]]) -> list[str]:
    """What no ruling of these reviews names, of what must be ruled on."""
    named = {str(item.get("about", "")).strip() for review in reviews for item in objects(review, "rulings")}
    return list(dict.fromkeys(flag.about for flag in flags if flag.ruling and flag.about not in named))


def rejected(review: Mapping[str, Json]) -> list[str]:
    """What a review does not accept, a line each."""
    return [
        f"{item.get('about')}: not accepted: {item.get('reason') or 'no reason given'}"
        for item in objects(review, "rulings")
        if item.get("verdict") == "reject"
    ]


def with_rulings(flags: Iterable[Flag], rulings: Sequence[Mapping[str, Json]]) -> list[Json]:
    """The flags as data, each with what was ruled on it."""
    said = {str(item.get("about", "")).strip(): item for item in rulings}
    rows: list[Json] = []
    for flag in flags:
        ruled = said.get(flag.about)
        more: dict[str, Json] = (
            {"verdict": ruled.get("verdict"), "reason": ruled.get("reason")} if ruled else {}
        )
        rows.append({**flag.to_json(), **more})
    return rows
