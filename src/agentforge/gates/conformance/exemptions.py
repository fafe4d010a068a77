"""Exemptions: leave of a person to let something stand for a while. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from agentforge.core.errors import UsageError
from agentforge.gates.conformance.findings import CodeFinding
from agentforge.system import strict_yaml
from agentforge.system.globs import glob

EXEMPTIONS_FILE = ".agentforge/config/exemptions.yaml"
_KEYS = frozenset({"violation", "check", "paths", "reason", "approved_by", "expires"})


@dataclass(frozen=True, slots=True)
class Exemption:
    """A person's permission to leave a violation as it is, until a date."""

    approved_by: str
    reason: str
    expires: date
    """The last day that it counts."""
    violation: str = ""
    check: str = ""
    paths: tuple[str, ...] = ()

    def covers(self, finding: CodeFinding) -> bool:
        """Whether a finding may stand."""
        return self.is_for(finding.identity, finding.check, finding.path)

    def is_for(self, violation: str, check: str, path: str) -> bool:
        """Whether it is for that violation, or for the check in that path."""
        if self.violation:
            return self.violation == violation
        return self.check == check and any(glob(each).matches(path) for each in self.paths)

    @property
    def scope(self) -> str:
        """The violation, or the check and the files, that the exemption covers."""
        return self.violation or f"{self.check} in {', '.join(self.paths)}"

    def to_json(self) -> dict[str, Any]:
        """As the file of exemptions has it."""
        scope = (
            {"violation": self.violation} if self.violation else {"check": self.check, "paths": [*self.paths]}
        )
        said = {"reason": self.reason, "approved_by": self.approved_by, "expires": self.expires.isoformat()}
        return {**scope, **said}


def read_exemptions(text: str) -> list[Exemption]:
    """Every exemption in the file of a project, expired ones too."""
    found = strict_yaml.load_settings(text, EXEMPTIONS_FILE) if text.strip() else None
    if found is None:
        return []
    rows = found.get("exemptions") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise _wrong("exemptions: is a list")
    return [_exemption(row, number) for number, row in enumerate(rows, 1)]


def open_on(exemptions: Sequence[Exemption], day: date) -> list[Exemption]:
    """Those that count on a day. One that has expired counts no more: its violation is open again."""
    return [each for each in exemptions if each.expires >= day]


def _exemption(row: object, number: int) -> Exemption:
    where = f"exemptions[{number}]"
    if not isinstance(row, dict):
        raise _wrong(f"{where}: is a mapping")
    if unknown := sorted(row.keys() - _KEYS):
        raise _wrong(f"{where}: unknown key `{unknown[0]}`")
    for key in ("reason", "approved_by", "expires"):
        if not str(row.get(key) or "").strip():
            raise _wrong(f"{where}: `{key}` is missing; an exemption has an approver, a reason and an end")
    if bool(row.get("violation")) == bool(row.get("check")):
        raise _wrong(f"{where}: names a violation, or a check with paths")
    try:
        expires = date.fromisoformat(str(row["expires"]))
    except ValueError as error:
        raise _wrong(f"{where}: expires: is not a date, such as 2027-01-31") from error
    paths = row.get("paths", [])
    if row.get("check") and not (isinstance(paths, list) and paths):
        raise _wrong(f"{where}: `paths` is missing")
    return Exemption(
        str(row["approved_by"]),
        str(row["reason"]),
        expires,
        str(row.get("violation") or ""),
        str(row.get("check") or ""),
        tuple(map(str, paths)) if isinstance(paths, list) else (),
    )


def _wrong(problem: str) -> UsageError:
    return UsageError(f"{EXEMPTIONS_FILE}: {problem}.", "Correct the file; nothing of it counts until then.")
