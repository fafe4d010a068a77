"""What is known about programs: how much harm each can do, by its name, its verb and its flags.

The rows are data (`catalog/policies/commands.yaml`). A program without a row is unknown, and unknown is
medium. Every row is a hint for asking: the walls are the operating system's.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from agentforge.catalog.policies import (
    check_keys,
    each_name,
    each_once,
    read_policy,
    refusal,
    section,
    words,
    words_by_name,
)

Risk = Literal["low", "medium", "high", "critical"]
RISKS: tuple[Risk, ...] = get_args(Risk)


class RiskRow(NamedTuple):
    """How much harm a program, a verb or a flag can do, and which."""

    risk: Risk
    reason: str


RiskRows: TypeAlias = Mapping[str, RiskRow]
Names: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True)
class Traits:
    """What programs do that only shows together with other words or other programs."""

    prints_words: Names
    first_is_text: Names
    """Their words are not files."""
    downloads: Names
    decodes: Names
    lists_files: Names
    writes_last: Names
    """The last operand is written."""
    writes_all: Names
    """Every operand is written."""
    sets_variables: Names


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to find the program that another one runs."""

    valued: Names
    """Options whose value is the next word."""
    text: Names
    """Options whose value is a text of shell."""
    operands: int = 0
    """Words of its own before the program."""
    assigns: bool = False
    """`NAME=value` may stand before the program."""
    fed: bool = False
    """More words come from a stream."""
    joined: bool = False
    """What it runs goes through a shell, as one text."""
    looks: Names = frozenset()
    """Options with which it only says what it would run."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Everything that is known. The fields are the keys of the file, which says what each is for."""

    programs: RiskRows
    beginnings: RiskRows
    """Of `programs`, those that stand for every name that begins so."""
    verbs: Mapping[str, RiskRows]
    flags: Mapping[str, RiskRows]
    git_flags: Mapping[str, Names]
    whole_flags: Names
    patterns: Mapping[str, Sequence[tuple[re.Pattern[str], RiskRow]]]
    traits: Traits
    writes_after: Mapping[str, Names]
    runs_after: Mapping[str, Names]
    network: Names
    git_network: Names
    variables: Names
    shells: Names
    interpreters: Mapping[str, Names]
    code_words: Names
    code_modules: Names
    code_valued: Names
    about_itself: Names
    reads_no_stream: Mapping[str, Names]
    wrappers: Mapping[str, Wrapper]
    run_verbs: Mapping[str, Names]

    def row(self, name: str) -> RiskRow | None:
        """The row of the policy for a program, whatever its arguments are."""
        begins = (row for start, row in self.beginnings.items() if name.startswith(start))
        return self.programs.get(name) or next(begins, None)

    def changes_programs(self, variable: str) -> bool:
        """Whether a variable changes what programs do; a row with `*` is every name that begins so."""
        begins = (row[:-1] for row in self.variables if row[-1] == "*")
        return variable in self.variables or variable.startswith(tuple(begins))


@cache
def known() -> Programs:
    """The policy of commands, read when first asked for."""
    return programs_from(read_policy("commands"))


def programs_from(document: Mapping[str, Any]) -> Programs:
    """The rows of a document. A key that means nothing and a row that contradicts another are refused."""
    check_keys("commands.yaml", document, {item.name for item in fields(Programs)} - {"beginnings"})

    def listed(key: str) -> Names:
        return words(f"commands.yaml: {key}", document[key])

    def by_name(key: str) -> dict[str, Names]:
        return words_by_name(f"commands.yaml: {key}", document[key])

    rows = _rows("commands.yaml: programs", document["programs"], {})
    wrappers = each_once("commands.yaml: wrappers", each_name(document["wrappers"]))
    found = Programs(
        programs={name: row for name, row in rows.items() if name[-1] != "*"},
        beginnings={name[:-1]: row for name, row in rows.items() if name[-1] == "*"},
        verbs=_rows_by_name("verbs", document),
        flags=_rows_by_name("flags", document),
        git_flags=by_name("git_flags"),
        whole_flags=listed("whole_flags"),
        patterns=_patterns(document["patterns"]),
        traits=section(Traits, "commands.yaml: traits", document["traits"]),
        writes_after=by_name("writes_after"),
        runs_after=by_name("runs_after"),
        network=_network(document["network"], rows),
        git_network=listed("git_network"),
        variables=listed("variables"),
        shells=listed("shells"),
        interpreters=by_name("interpreters"),
        code_words=listed("code_words"),
        code_modules=listed("code_modules"),
        code_valued=listed("code_valued"),
        about_itself=listed("about_itself"),
        reads_no_stream=by_name("reads_no_stream"),
        wrappers={name: _wrapper(name, row) for name, row in wrappers},
        run_verbs=by_name("run_verbs"),
    )
    _check_reachable(found)
    return found


def _rows(where: str, table: Mapping[str, Any], found: dict[str, RiskRow]) -> dict[str, RiskRow]:
    """Adds a table from risk to reason to words."""
    check_keys(where, table, RISKS)
    for risk in RISKS:
        reasons = table.get(risk, {})
        for reason, text in {"": reasons}.items() if isinstance(reasons, str) else reasons.items():
            for word in text.split():
                if word in found:
                    raise refusal(where, f"`{word}` is {found[word].risk} and {risk}; leave it in one row")
                found[word] = RiskRow(risk, reason)
    return found


def _rows_by_name(key: str, document: Mapping[str, Any]) -> dict[str, RiskRows]:
    """Tables by program; those of one program add up."""
    found: dict[str, dict[str, RiskRow]] = {}
    for name, table in each_name(document[key]):
        _rows(f"commands.yaml: {key}.{name}", table, found.setdefault(name, {}))
    return {**found}


def _patterns(table: Mapping[str, Any]) -> dict[str, list[tuple[re.Pattern[str], RiskRow]]]:
    """Regular expressions by program; those of one program add up."""
    found: dict[str, list[tuple[re.Pattern[str], RiskRow]]] = {}
    for name, rows in each_name(table):
        found.setdefault(name, []).extend(_compiled(f"commands.yaml: patterns.{name}", rows))
    return found


def _compiled(where: str, rows: Mapping[str, Any]) -> Iterator[tuple[re.Pattern[str], RiskRow]]:
    check_keys(where, rows, RISKS)
    for risk in RISKS:
        for reason, text in rows.get(risk, {}).items():
            yield re.compile(text), RiskRow(risk, reason)


def _network(said: Mapping[str, Any], rows: RiskRows) -> Names:
    where = "commands.yaml: network"
    check_keys(where, said, ("reasons", "more", "fewer"))
    if strange := sorted(set(said["reasons"]) - {row.reason for row in rows.values()}):
        raise refusal(where, f"no program has the reason `{strange[0]}`")
    by_reason = {name for name, row in rows.items() if row.reason in said["reasons"]}
    more, fewer = words(where, said["more"]), words(where, said["fewer"])
    if needless := sorted((more & by_reason) | (fewer - by_reason)):
        raise refusal(where, f"`{needless[0]}` changes nothing")
    return frozenset(by_reason - fewer | more)


def _wrapper(name: str, row: Mapping[str, Any]) -> Wrapper:
    where = f"commands.yaml: wrappers.{name}"
    check_keys(where, row, [item.name for item in fields(Wrapper)])
    named = {key: words(where, row.get(key, "")) for key in ("valued", "text", "looks")}
    if both := sorted(named["valued"] & named["text"]):
        raise refusal(where, f"`{both[0]}` is in `valued` and in `text`; leave it in one")
    return Wrapper(**{**row, **named})


def _check_reachable(found: Programs) -> None:
    """Refuses rows that are never read, because another one decides first."""
    for name in found.verbs:
        row = found.row(name)
        if row is not None and row.risk == "critical":
            raise refusal("commands.yaml: verbs", f"`{name}` is critical itself, so its verbs are not read")
    for verb in found.git_flags:
        row = found.verbs["git"].get(verb)
        if row is not None and row.risk == "high":
            raise refusal("commands.yaml: git_flags", f"`{verb}` is high itself, so its flags are not read")
