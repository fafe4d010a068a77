"""A finding, and the name that stays its own when lines move. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from agentforge.catalog.checks import Blocks, CheckSeverity
from agentforge.core.reply import Json


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """One place where a check is not kept."""

    check: str
    contract: str
    severity: CheckSeverity
    path: str
    line: int
    symbol: str
    """The dotted name of the definition around it; empty at the top."""
    message: str
    fix_hint: str
    mark: str
    """What stands for the line: its name is made of it, and no secret can be read from it."""
    blocks: Blocks
    measure: int = 0
    """How much there is of it, where that is counted."""
    identity: str = ""

    def to_json(self) -> dict[str, Json]:
        """The shape that roles and programs are given."""
        return {
            "id": self.identity,
            "check_id": self.check,
            "contract": self.contract,
            "severity": self.severity,
            "file": self.path,
            "line": self.line,
            "symbol": self.symbol,
            "message": self.message,
            "fix_hint": self.fix_hint,
            "blocking": self.blocks == "always",
        }


def named(findings: Iterable[CodeFinding]) -> tuple[CodeFinding, ...]:
    """The findings in order, each with its id: of contract, check, path, symbol, line and how many alike
    stand before it. The number of the line is no part of it, so an edit above renames nothing.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    out: list[CodeFinding] = []
    for each in sorted(findings, key=lambda one: (one.path, one.line, one.check, one.message)):
        key = (each.contract, each.check, each.path, each.symbol, each.mark)
        digest = sha256("\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass")).hexdigest()
        seen[key] += 1
        out.append(replace(each, identity=f"V-{digest[:12]}"))
    return tuple(out)


def fresh(before: Sequence[CodeFinding], after: Sequence[CodeFinding]) -> list[CodeFinding]:
    """What is new or worse: nothing that was there, nothing that only moved, and nothing in whose place
    another of its kind went. What is about security is never excused by something else that went.
    """
    known = {each.identity: each for each in before}
    still = {each.identity for each in after}
    gone = [each for each in before if each.identity not in still]
    moved = Counter((each.check, each.symbol, each.mark) for each in gone)
    room: Counter[tuple[str, str]] = Counter((each.check, each.path) for each in gone if not each.measure)
    sizes: dict[str, list[int]] = {}
    for each in gone:
        if each.measure:
            sizes.setdefault(each.check, []).append(each.measure)
    found = []
    for each in after:
        old = known.get(each.identity)
        if old is not None:
            if each.measure > old.measure:
                found.append(each)
            continue
        if moved[each.check, each.symbol, each.mark] > 0:
            moved[each.check, each.symbol, each.mark] -= 1
            room[each.check, each.path] -= 1
            continue
        if each.measure:
            if larger := [size for size in sizes.get(each.check, ()) if size >= each.measure]:
                sizes[each.check].remove(min(larger))
                continue
        elif room[each.check, each.path] > 0 and each.contract != "security_contracts":
            room[each.check, each.path] -= 1
            continue
        found.append(each)
    return found
