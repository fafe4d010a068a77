"""The tool that looks for security trouble in source. It reads and runs nothing; the engine may add what a
scanner of the project says.
"""

from collections.abc import Mapping, Sequence

from agentforge.core.reply import Json
from agentforge.languages.described import words
from agentforge.languages.security import SecurityFinding, scan
from agentforge.languages.table import is_source
from agentforge.languages.tests import looks_like_test
from agentforge.languages.values import SEVERITIES
from agentforge.tools.base import Tool, ToolResult, ToolSpec, Workbench, bounded, object_schema
from agentforge.tools.look.source import present, read_source, walk
from agentforge.tools.run.checking import PATHS, real_paths

MAX_SCANNED = 800
MAX_SHOWN = 40
_MAY_HOLD_SECRETS = tuple(words(".cfg .conf .env .ini .json .pem .key .toml .txt .yaml .yml .sh .md .rst"))


def run_security_scan(args: Mapping[str, Json], bench: Workbench) -> ToolResult:
    """Findings by file, line and rule; of given files, else of the changed ones, else of all."""
    files, what = _files(args, bench)
    findings = [each for path in files[:MAX_SCANNED] for each in _scan(path, bench)]
    findings.sort(key=lambda each: (SEVERITIES.index(each.severity), each.path, each.line))
    rows = [_row(each) for each in findings[:MAX_SHOWN]]
    if len(findings) > MAX_SHOWN:
        rows.append(f"[{len(findings) - MAX_SHOWN} more; give `paths` to see fewer files at a time]")
    counts = ", ".join(
        f"{sum(each.severity == severity for each in findings)} {severity}" for severity in SEVERITIES
    )
    head = f"{len(findings)} findings ({counts}) in {min(len(files), MAX_SCANNED)} files: {what}."
    if len(files) > MAX_SCANNED:
        head += f" {len(files) - MAX_SCANNED} further files were not read."
    added = _added(args, bench)
    # Both get their share of the answer: the one must not be cut away by the other.
    return ToolResult(
        ok=True,
        text="\n".join([bounded("\n".join([head, *rows]), 4500), *added])
        if added
        else "\n".join([head, *rows]),
    )


def _added(args: Mapping[str, Json], bench: Workbench) -> list[str]:
    run = bench.runs.get("run_security_scan")
    return [] if run is None else ["The project's own scanner:", bounded(run(args).text, 1400)]


def _files(args: Mapping[str, Json], bench: Workbench) -> tuple[list[str], str]:
    if given := real_paths(args, bench):
        found = [each for path in given for each in _below(path, bench)]
        return list(dict.fromkeys(found)), "those given"
    if changed := [path for path in present(bench) if _is_scanned(path)]:
        return changed, "those this change touches"
    return [path for path in walk(bench.root, bench.root) if _is_scanned(path)], "the whole repository"


def _below(path: str, bench: Workbench) -> Sequence[str]:
    place = bench.root / path
    return [each for each in walk(bench.root, place) if _is_scanned(each)] if place.is_dir() else [path]


def _is_scanned(path: str) -> bool:
    return is_source(path) or path.endswith(_MAY_HOLD_SECRETS) or path.rpartition("/")[2].startswith(".env")


def _scan(path: str, bench: Workbench) -> Sequence[SecurityFinding]:
    return scan(read_source(bench.root, path).text, path, is_test=looks_like_test(path))


def _row(finding: SecurityFinding) -> str:
    return (
        f"{finding.path}:{finding.line}: {finding.severity} {finding.rule}: {finding.message}; "
        f"{finding.advice}"
    )


SCANNING: tuple[Tool, ...] = (
    Tool(
        ToolSpec(
            "run_security_scan",
            "Look for dangerous code and secrets, with line, rule and advice; without `paths`, in what "
            "this change touches. Runs nothing.",
            object_schema({}, {"paths": PATHS}),
            "read",
        ),
        run_security_scan,
    ),
)
