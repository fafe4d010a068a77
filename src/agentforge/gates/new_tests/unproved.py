"""Requirements that no test proves: those verified in another way, and those whose tests passed before the
change too.
"""

from collections.abc import Mapping

from agentforge.core.reply import Json
from agentforge.gates.change.documents import objects
from agentforge.gates.flags import Flag

GUARDED = "only guarded: its tests passed before the change, too"
KEY = "not_proved_by_test"
"""Where the record of the red proof names them."""


def unproved(
    specification: Mapping[str, Json], proof: Mapping[str, Json], *, owes_failing: bool = True
) -> dict[str, str]:
    """By requirement: why no test proves it. Where no failing test is owed, passing is what tests are for."""
    entries = [entry for entry in proof.values() if isinstance(entry, dict)]
    red = {entry["requirement"] for entry in entries if not entry["guard"]}
    guarded = {entry["requirement"] for entry in entries} - red
    found: dict[str, str] = {}
    for item in objects(specification, "requirements"):
        name, method = str(item.get("id", "")), str(item.get("verification_method") or "test")
        if item.get("priority") == "wont":
            continue
        if method != "test":
            found[name] = f"verified by {method}"
        elif name in guarded and owes_failing:
            found[name] = GUARDED
    return found


def unproved_flags(specification: Mapping[str, Json], found: Mapping[str, str]) -> list[Flag]:
    """One flag for each, with the words of the requirement. The reviewer rules on what no test looks at."""
    words = _words(specification)
    return [
        Flag(name, f"not proved by a test, {why}: {words[name]}", ruling=why != GUARDED)
        for name, why in found.items()
    ]


def only_guarded(
    specification: Mapping[str, Json], suite: Mapping[str, Json], found: Mapping[str, str]
) -> list[str]:
    """Requirements whose tests all passed before the change, a reason each: a guard alone proves none. One
    that holds already is amended to say so, which the reviewer rules on.
    """
    amended = {str(item.get("requirement_ref")) for item in objects(suite, "amends")}
    words = _words(specification)
    return [
        f"{name} ({words[name]}) has guards alone, and a guard proves no requirement; write a test of it "
        "that fails now, or, if it holds already, say so under amends"
        for name, why in found.items()
        if why == GUARDED and name not in amended
    ]


def _words(specification: Mapping[str, Json]) -> dict[str, str]:
    return {
        str(item.get("id", "")): str(item.get("description", ""))
        for item in objects(specification, "requirements")
    }


def unproved_lines(record: Mapping[str, Json]) -> list[str]:
    """What the record of the red proof says, a line for each requirement."""
    rows = record.get(KEY)
    return [f"{name} ({why})" for name, why in rows.items()] if isinstance(rows, dict) else []
