"""Violations that checks have found in a repository: the record of each, the baseline of those that were
there, and the exemptions that persons have approved.

Records are what tasks left here (`.agentforge/violations/`). The baseline and the exemptions are the
project's own word, to be committed and read by others (`.agentforge/config/`); no role can write there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agentforge.app.people.messages import person
from agentforge.core.errors import UsageError
from agentforge.core.values import VIOLATION
from agentforge.gates.conformance.exemptions import EXEMPTIONS_FILE, Exemption, open_on, read_exemptions
from agentforge.gates.conformance.findings import CodeFinding
from agentforge.gates.conformance.weighing import Weighed
from agentforge.store.site import Site
from agentforge.store.task.times import stamp
from agentforge.system import strict_yaml
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from agentforge.system.files import write_atomic

BASELINE_FILE = ".agentforge/config/baseline.yaml"
MOST_RECORDED = 500
LONGEST_DAYS = 365


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation on record."""

    fields: Mapping[str, Any]
    status: str
    """Open, fixed or exempt."""
    exemption: Exemption | None = None


def check_violation(site: Site, name: str) -> Mapping[str, Any]:
    """The violation of that name, as it is on record; refuses one that is not."""
    if not VIOLATION.fullmatch(name):
        raise UsageError(
            f"{name[:80]} is not a violation.",
            "One is called V- and twelve hexadecimal digits: V-04b31cde217a.",
        )
    found = _read(site.project.violations / f"{name}.yaml")
    if found is None:
        raise UsageError(
            f"There is no violation {name} in {site.git.top}: no check has recorded one.",
            "`agentforge check` records what it finds; `agentforge violations list` shows it.",
        )
    return found


def list_violations(site: Site) -> list[Violation]:
    """Every violation on record, by file and line; those that are open first."""
    exemptions = open_exemptions(site, site.clock())
    found = []
    for path in sorted(site.project.violations.glob("V-*.yaml")):
        fields = _read(path)
        if fields is not None:
            found.append(_violation(fields, exemptions))
    return sorted(found, key=lambda each: (each.status != "open", each.fields["file"], each.fields["line"]))


def show_violation(site: Site, name: str) -> Violation:
    """One violation on record."""
    return _violation(check_violation(site, name), open_exemptions(site, site.clock()))


def _violation(fields: Mapping[str, Any], exemptions: Sequence[Exemption]) -> Violation:
    named = str(fields["id"]), str(fields["check_id"]), str(fields["file"])
    leave = next((each for each in exemptions if each.is_for(*named)), None)
    status = "exempt" if leave is not None and fields["status"] == "open" else str(fields["status"])
    return Violation(fields, status, leave)


def record(site: Site, found: Weighed, looked_at: Collection[str], findings: Sequence[CodeFinding]) -> None:
    """Keeps what blocks, a file each, and marks as fixed what is found no more in the files looked at."""
    folder, now = site.project.violations, stamp(site.clock())
    still = {each.identity for each in findings}
    for path in sorted(folder.glob("V-*.yaml")):
        fields = _read(path)
        gone = fields is not None and fields["id"] not in still and fields["file"] in looked_at
        if gone and fields is not None and fields["status"] == "open":
            _write(path, {**fields, "status": "fixed", "fixed_at": now})
    for each in (*found.blocking, *found.exempt)[:MOST_RECORDED]:
        path = folder / f"{each.identity}.yaml"
        before = _read(path)
        if before is not None and before["status"] == "open" and before["line"] == each.line:
            continue
        if before is None:
            site.git.exclude_locally("/.agentforge/violations/")
        fields = {key: value for key, value in each.to_json().items() if key != "blocking"}
        first = before["first_seen"] if before is not None else now
        _write(path, {**fields, "status": "open", "first_seen": first})


# ------------------------------------------------------------------ what persons said


def read_baseline(site: Site) -> frozenset[str] | None:
    """The violations that were there when the project took its checks up; None where it has no baseline."""
    found = _read(site.project.top / BASELINE_FILE)
    if found is None:
        return None
    listed = found.get("violations")
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise UsageError(
            f"{BASELINE_FILE}: violations: is a list of names.", "`agentforge violations baseline` writes it."
        )
    return frozenset(listed)


def write_baseline(site: Site, findings: Sequence[CodeFinding]) -> int:
    """Writes all that is found now as known; what is not in it blocks from now on."""
    names = sorted({each.identity for each in findings})
    _write(site.project.top / BASELINE_FILE, {"violations": names})
    return len(names)


def open_exemptions(site: Site, now: datetime) -> list[Exemption]:
    """The exemptions of the checkout that count today."""
    return open_on(_exemptions(site), now.astimezone(UTC).date())


def _exemptions(site: Site) -> list[Exemption]:
    try:
        data = read_bounded(site.project.top / EXEMPTIONS_FILE, SETTINGS_BYTES)
    except OSError:
        return []
    return read_exemptions(data.decode("utf-8", "replace"))


def exempt(
    site: Site, *, violation: str = "", check: str = "", paths: Sequence[str] = (), reason: str, days: int
) -> Exemption:
    """Records that this person lets something stand until a day."""
    if len(reason.split()) < 3:
        raise UsageError("An exemption needs a reason in words.", 'Say why: `--reason "…"`.')
    if not 1 <= days <= LONGEST_DAYS:
        raise UsageError(f"An exemption ends within {LONGEST_DAYS} days.", "Give fewer `--days`.")
    if violation:
        check_violation(site, violation)
    elif not (check and paths):
        raise UsageError("An exemption is for one violation, or for a check in some paths.", "Name it.")
    until = (site.clock().astimezone(UTC) + timedelta(days=days)).date()
    made = Exemption(person(), reason, until, violation, check, tuple(paths))
    rows = [each.to_json() for each in (*_exemptions(site), made)]
    _write(site.project.top / EXEMPTIONS_FILE, {"exemptions": rows})
    return made


def _read(path: Path) -> dict[str, Any] | None:
    found = strict_yaml.load_file(path)
    return found if isinstance(found, dict) else None


def _write(path: Path, value: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, strict_yaml.dump(dict(value)).encode(), durable=False)
