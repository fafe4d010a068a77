"""How the findings of checks look: a page for people, and the shapes that other programs read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from agentforge import __version__
from agentforge.core.reply import Json
from agentforge.surfaces.cli.pages.words import count
from agentforge.surfaces.cli.printing import table
from agentforge.system.visible import one_line

if TYPE_CHECKING:
    from agentforge.app.checks.checking import CheckOutcome, ListedCheck

MOST_SHOWN = 200
MOST_UNREAD = 5
"""Files that cannot be parsed and are named."""
_ENDS = {
    "not_configured": "not configured",
    "not_available": "not available",
    "not_run": "not run",
}
_LEVELS = {"critical": "error", "major": "error", "minor": "warning"}
_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def checked_page(done: "CheckOutcome", *, everything: bool) -> str:
    """What blocks, with what to do; advice by the number, unless all of it is asked for."""
    lines: list[str] = []
    for each in done.weighed.blocking[:MOST_SHOWN]:
        lines.append(f"{each.path}:{each.line}: {one_line(each.message)}")
        lines.append(f"  {each.check} ({each.severity}), {each.identity}. {each.fix_hint}")
    if (more := len(done.weighed.blocking) - MOST_SHOWN) > 0:
        lines.append(f"and {count(more, 'more violation')}; --format json prints all.")
    lines += _linted(done)
    if lines:
        lines.append("")
    lines += _advice(done, everything=everything)
    lines.append(_summary(done))
    return "\n".join(lines)


def _linted(done: "CheckOutcome") -> list[str]:
    """What the project's own linters say, by file and rule."""
    found = [each for result in done.linters for each in result.findings]
    lines = []
    for each in found[:MOST_SHOWN]:
        place, _, message = each.sample.partition(": ")
        at = f"{each.path}:{place}" if place.isdigit() else each.path
        often = f" ({each.count} times)" if each.count > 1 else ""
        lines.append(f"{at}: {one_line(message or each.sample)} [{each.code}]{often}")
    if (more := len(found) - MOST_SHOWN) > 0:
        lines.append(f"and {count(more, 'more finding')} of your own linters; --format json prints all.")
    return lines


def _advice(done: "CheckOutcome", *, everything: bool) -> list[str]:
    advice = done.weighed.advice
    if not advice:
        return []
    if everything:
        told = [f"{each.path}:{each.line}: {one_line(each.message)} ({each.check})" for each in advice]
        return ["Advice:", *(f"  {line}" for line in told), ""]
    by_check: dict[str, int] = {}
    for each in advice:
        by_check[each.check] = by_check.get(each.check, 0) + 1
    named = ", ".join(f"{number} {name}" for name, number in sorted(by_check.items()))
    return [f"Advice (--all shows it): {named}.", ""]


def _summary(done: "CheckOutcome") -> str:
    """The last words: what was looked at, what was found, and what did not run."""
    blocking, ran = len(done.weighed.blocking), [each for each in done.results if each.files]
    said = count(blocking, "violation") if blocking else "No violations" if ran else "Nothing was checked"
    where = f" since {done.compared_with[:12]}" if done.compared_with else ""
    parts = [f"{said}{where}: {count(done.files, 'file')}, {count(len(ran), 'check')} ran."]
    if done.weighed.exempt:
        parts.append(f"{count(len(done.weighed.exempt), 'violation')} exempt.")
    if done.weighed.known:
        parts.append(f"{len(done.weighed.known)} known from the baseline.")
    for status, words in _ENDS.items():
        names = [each.check.name for each in done.results if each.status == status]
        if names:
            parts.append(f"{words[:1].upper()}{words[1:]}: {', '.join(names)}.")
    if done.unread:
        more = len(done.unread) - MOST_UNREAD
        named = ", ".join(done.unread[:MOST_UNREAD]) + (f" and {more} more" if more > 0 else "")
        parts.append(f"Cannot be parsed, so only its text was looked at: {named}.")
    for linter in done.linters:
        ended = _ENDS.get(linter.status, linter.status)
        said = f"{ended}, {count(len(linter.findings), 'finding')}" if linter.findings else ended
        parts.append(
            f"Own linters ({linter.project}): {said}{f': {linter.reason}' if linter.reason else ''}."
        )
    return "\n".join(parts)


def checked_fields(done: "CheckOutcome") -> dict[str, Json]:
    """The findings as `--json` prints them."""
    return {
        "clean": done.clean,
        "files": done.files,
        "unread": [*done.unread],
        "compared_with": done.compared_with or None,
        "baseline": done.baseline,
        "checks": [
            {
                "check_id": each.check.name,
                "contract": each.check.contract,
                "severity": each.check.severity,
                "enforcement": each.check.enforcement,
                "status": each.status,
                "reason": each.reason,
                "files": each.files,
                "found": each.found,
            }
            for each in done.results
        ],
        "violations": [each.to_json() for each in done.weighed.blocking],
        "advice": [{**each.to_json(), "blocking": False} for each in done.weighed.advice],
        "exempt": [
            {
                "id": each.identity,
                "approved_by": done.exemptions[each.identity].approved_by,
                "reason": done.exemptions[each.identity].reason,
                "expires": done.exemptions[each.identity].expires.isoformat(),
            }
            for each in done.weighed.exempt
        ],
        "known": [each.identity for each in done.weighed.known],
        "linters": [each.to_json() for each in done.linters],
    }


def github_lines(done: "CheckOutcome") -> list[str]:
    """Commands that GitHub shows beside the lines of a pull request."""
    lines = []
    for each in (*done.weighed.blocking, *done.weighed.advice):
        level = _LEVELS[each.severity] if each.blocks == "always" else "notice"
        title = f"{each.check} {each.identity}"
        place = f"file={_property(each.path)},line={each.line},title={_property(title)}"
        lines.append(f"::{level} {place}::{_data(f'{each.message}. {each.fix_hint}')}")
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def sarif(done: "CheckOutcome") -> dict[str, Any]:
    """SARIF 2.1.0: one run, a rule for each check that looked at something, a result for each finding."""
    from urllib.parse import quote

    rules = [each.check for each in done.results if each.status in ("passed", "failed")]
    index = {rule.name: number for number, rule in enumerate(rules)}
    found = [(each, _LEVELS[each.severity]) for each in done.weighed.blocking]
    found += [(each, "note") for each in done.weighed.advice]
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "agentforge",
                        "version": __version__,
                        "rules": [
                            {
                                "id": rule.name,
                                "shortDescription": {"text": rule.description},
                                "help": {"text": rule.fix_hint},
                                "defaultConfiguration": {"level": _LEVELS[rule.severity]},
                                "properties": {"contract": rule.contract, "enforcement": rule.enforcement},
                            }
                            for rule in rules
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    {
                        "ruleId": each.check,
                        "ruleIndex": index[each.check],
                        "level": level,
                        "message": {"text": each.message},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": quote(each.path)},
                                    "region": {"startLine": max(1, each.line)},
                                }
                            }
                        ],
                        "partialFingerprints": {"violation/v1": each.identity},
                    }
                    for each, level in found
                ],
            }
        ],
    }


def listed_page(listed: "Sequence[ListedCheck]") -> str:
    """The checks category by category, and below what reads each in each language."""
    lines: list[str] = []
    contract = ""
    for each in listed:
        check = each.result.check
        if check.contract != contract:
            contract = check.contract
            lines += ["", contract] if lines else [contract]
        limit = f", {check.limit} {check.unit}" if check.limit else ""
        state = f"; not configured: {each.result.reason}" if each.result.status == "not_configured" else ""
        lines.append(f"  {check.name}: {check.description}{limit} ({check.severity}, {_when(each)}{state})")
    header = ("check", *listed[0].by_language)
    rows = [
        (each.result.check.name, *(by or "not available" for by in each.by_language.values()))
        for each in listed
    ]
    return "\n".join((*lines, "", "Checked by:", table(header, rows)))


def _when(each: "ListedCheck") -> str:
    check = each.result.check
    when = "after every edit" if check.enforcement == "every_edit" else "at the end of a phase"
    blocks = {
        "always": "blocks",
        "when_new": "blocks what is new",
        "never": "advice",
        "when_declared": "advice",
    }[check.blocks]
    return f"{when}, {blocks}"


def listed_fields(listed: "Sequence[ListedCheck]") -> list[Json]:
    """The checks as `--json` prints them."""
    return [
        {
            "check_id": each.result.check.name,
            "contract": each.result.check.contract,
            "description": each.result.check.description,
            "severity": each.result.check.severity,
            "enforcement": each.result.check.enforcement,
            "blocks": each.result.check.blocks,
            "limit": each.result.check.limit,
            "fix_hint": each.result.check.fix_hint,
            "configured": each.result.status != "not_configured",
            "checked_by": {name: by or None for name, by in each.by_language.items()},
        }
        for each in listed
    ]
