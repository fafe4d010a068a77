"""Files of checks: what they say, what is wrong with them, and whether a check can fail at all."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentforge.catalog.contracts import problems, schema_fault
from agentforge.catalog.faults import placed
from agentforge.catalog.load import Catalog
from agentforge.core.errors import UsageError
from agentforge.languages.documents.demands import DEMANDS, Check, faults_of
from agentforge.languages.documents.library import Library, ListedShelf
from agentforge.languages.documents.tables import SUFFIXES
from agentforge.languages.outcomes import TestResult
from agentforge.languages.values import Liveness
from agentforge.system import strict_yaml

SUFFIX = ".checks.yaml"
MOST_TOLD = 3
_FILLER = 8
"""Words of a sentence that says nothing."""
_IMPOSSIBLE = "this is said nowhere, so that the check fails"


def read_checks(text: str, path: str) -> dict[str, Check]:
    """The checks of a file by name; a `UsageError` with the line for one that is none."""
    try:
        return _read(text, path)
    except UsageError as error:
        raise placed(error, {path: text}) from None


def _read(text: str, path: str) -> dict[str, Check]:
    value: Any = strict_yaml.load(text, path, floats=True)
    wrong = problems(Catalog.packaged().contract("document_checks"), value, final=True)
    if wrong or not isinstance(value, dict):
        raise UsageError(f"{path}: {wrong[0] if wrong else 'is no mapping'}.")
    found: dict[str, Check] = {}
    for at, check in enumerate(value["checks"]):
        where = f"{path}: checks[{at}]"
        if check["name"] in found:
            raise UsageError(f"{where}.name: `{check['name']}` is there twice.")
        if not DEMANDS.keys() & check.keys():
            raise UsageError(f"{where}: demands nothing; it may demand {', '.join(DEMANDS)}.")
        for key in ("row", "schema"):
            if key in check and (fault := _unfit(check[key])):
                raise UsageError(f"{where}.{key}: {fault}.")
        found[check["name"]] = check
    return found


def _unfit(schema: Mapping[str, Any]) -> str:
    """Why a schema cannot be used: it is none, or reaches for something outside of it."""
    far = [name for name in _references(schema) if not name.startswith("#")]
    return f"reaches for {far[0]!r}, which is not in it" if far else schema_fault(schema)


def _references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        yield from (str(node[key]) for key in ("$ref", "$dynamicRef", "$schema", "$id") if key in node)
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def problem(text: str, path: str) -> tuple[int, str] | None:
    """The line and the sentence of what is wrong with a file of checks."""
    try:
        read_checks(text, path)
    except UsageError as error:
        line, _, said = error.sentence.removeprefix(f"{path}:").partition(":")
        return (int(line), said.strip()) if line.isdigit() else (1, error.sentence)
    return None


@lru_cache(maxsize=64)
def _known(text: str) -> Mapping[str, Check]:
    try:
        return read_checks(text, SUFFIX)
    except UsageError:
        return {}


def names(text: str) -> list[str]:
    """The checks of a file; none of one that cannot be read."""
    return [*_known(text)]


def source(text: str, name: str) -> str | None:
    """One check as normalised text."""
    check = _known(text).get(name)
    return None if check is None else json.dumps(check, sort_keys=True)


def inputs(text: str) -> tuple[str, ...]:
    """The files that checks compare with: what they say must not change afterwards."""
    rows = [
        row for check in _known(text).values() for row in (*check.get("numbers", ()), check.get("covers", {}))
    ]
    return tuple(dict.fromkeys(str(row["from"]) for row in rows if "from" in row))


def judged(identity: str, check: Check, library: Library) -> TestResult:
    """What a check says of a tree."""
    faults = faults_of(check, library)
    file = identity.partition("::")[0]
    if not faults:
        return TestResult(identity, "passed", file=file)
    more = f"; and {len(faults) - MOST_TOLD} more" if len(faults) > MOST_TOLD else ""
    return TestResult(identity, "failed", message="; ".join(faults[:MOST_TOLD]) + more, file=file)


def made_to_fail(text: str, wanted: Collection[str]) -> tuple[str, frozenset[str]]:
    """The file in which these checks ask for something that is nowhere said, and which of them it has."""
    checks = _known(text)
    chosen = frozenset(wanted) & checks.keys()
    impossible = {"rows": {"min": 1, "max": 0}, "says": [_IMPOSSIBLE]}
    made = [
        {**check, **({"rows": impossible["rows"]} if _is_data(check) else {"says": impossible["says"]})}
        if name in chosen
        else dict(check)
        for name, check in checks.items()
    ]
    return json.dumps({"checks": made}), chosen  # JSON is YAML


def liveness(text: str, name: str) -> Liveness:
    """A check that accepts words that say nothing, or rows that hold nothing, cannot fail for a wrong one."""
    check = _known(text).get(name)
    if check is None:
        return Liveness(refused="it is not in the file")
    file = str(check["file"])
    for filler in _fillers(check):
        if not faults_of(check, Library(ListedShelf({file: filler.encode()}))):
            what = "rows that hold nothing" if _is_data(check) else "words that say nothing"
            return Liveness(refused=f"it accepts {what}; demand in it what must be there")
    return Liveness()


def _is_data(check: Check) -> bool:
    return str(check["file"]).endswith(SUFFIXES)


def _fillers(check: Check) -> Sequence[str]:
    """Texts of the wanted size that say nothing."""
    if _is_data(check):
        limits = check.get("rows", {})
        counts = {max(limits.get("min", 1), 1), max(limits.get("max", 3), 1)}
        return [_rows(str(check["file"]), min(count, 1000)) for count in sorted(counts)]
    limits = check.get("words", {})
    least, most = limits.get("min", _FILLER), limits.get("max", 0)
    counts = {-(-least // _FILLER), (most or 4000) // _FILLER, 1}
    sentence = "Filler words stand here in place number {}."
    under = f"# {check['within']}\n\n" if "within" in check else ""
    return [
        under + " ".join(sentence.format(n) for n in range(min(count, 10_000))) for count in sorted(counts)
    ]


def _rows(path: str, count: int) -> str:
    if path.endswith((".csv", ".tsv")):
        return "filler\n" + "".join(f"nothing {n}\n" for n in range(count))
    if path.endswith((".jsonl", ".ndjson")):
        return '{"filler": "nothing"}\n' * count
    return "[" + ", ".join(['{"filler": "nothing"}'] * count) + "]"
