"""`verify`: the proof of a task, checked offline; on a clone that has only the branch, what that carries."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import target_argument

if TYPE_CHECKING:
    from agentforge.app.evidence.proof import Finding


@click.command(
    epilog="""\b
Examples:
  agentforge verify task-20300131-add-a-version-flag
  agentforge verify agentforge/task-20300131-add-a-version-flag --rerun
  agentforge verify origin/agentforge/task-20300131-add-a-version-flag --require-signature
  agentforge verify envelope.json --at main

Checks the hash chain of the journal and every hash that it names; with --rerun, everything is also judged
again. On a clone that has only the branch, or for an envelope that was kept as a file, it checks what those
contain: the commits, their trees, and who signed."""
)
@target_argument
@click.option("--rerun", is_flag=True, help="Judge everything again in the sandbox, and compare.")
@click.option("--at", help="With FILE: the commit to check it against. Default: HEAD.")
@click.option("--require-signature", "signed", is_flag=True, help="Fail unless someone you trust has signed.")
@repo_option
@json_option
def verify(*, target: str | None, rerun: bool, at: str | None, signed: bool, as_data: bool) -> int:
    """Check the proof of TASK, of BRANCH, or of an envelope in FILE. By default, the newest task."""
    from agentforge.app.evidence import proof
    from agentforge.app.record.open_tasks import known_task
    from agentforge.core.errors import UsageError

    top = here()
    if target is not None and Path(target).is_file():
        if rerun:
            raise UsageError(
                "An envelope alone cannot be run again.", "Run `agentforge verify` where the task was run."
            )
        found = proof.verify_file(top, Path(target), at=at or "HEAD", require_signature=signed)
        return _show(found.task, found.findings, as_data=as_data)
    if at is not None:
        raise UsageError(
            "--at is for an envelope that was kept as a file.",
            "Name that file, as in `agentforge verify envelope.json --at main`, or leave --at out.",
        )
    if target is not None and not known_task(top, target):
        cloned = proof.verify_branch(top, target, require_signature=signed)
        if cloned is not None:
            if rerun:
                raise UsageError(
                    "This clone has only the branch: there is no record to run again.",
                    "Run `agentforge verify` where the task was run.",
                )
            return _show(cloned.task, cloned.findings, as_data=as_data)
    return _verify_task(top, target, rerun=rerun, signed=signed, as_data=as_data)


def _verify_task(top: Path, target: str | None, *, rerun: bool, signed: bool, as_data: bool) -> int:
    from dataclasses import asdict

    from agentforge.app.evidence import proof
    from agentforge.app.record.deliverable import changes_files
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.pages.report import nothing_changed
    from agentforge.surfaces.cli.pages.screen import open_screen
    from agentforge.surfaces.cli.printing import print_json

    task = open_task_or_branch(top, target)
    with open_screen(json=as_data) as screen:
        findings = proof.verify(
            task,
            rerun=rerun,
            require_signature=signed,
            progress=lambda text: screen.line(f"  {text}", "quiet"),
        )
    state = task.state
    branched = changes_files(state.pipeline)
    wrong = _wrong(findings)
    if as_data:
        print_json(
            {
                "task_id": task.task_id,
                "ok": not wrong,
                "rerun": rerun,
                "changes_nothing": not branched,
                "findings": [asdict(finding) for finding in findings],
            }
        )
        return 1 if wrong else 0
    _print_rows(findings)
    if wrong == ["delivery"]:
        asked = state.open_escalation
        say(
            f"{task.task_id} has no proof yet: it has delivered nothing. "
            + (
                f"It waits for you: `agentforge escalations show {asked.id} --task {task.task_id}`."
                if asked
                else f"Go on with `agentforge continue {task.task_id}`."
            )
        )
    elif not branched:
        say(nothing_changed(state))
        say(
            f"Its record does not match: {', '.join(wrong)}"
            if wrong
            else "What it wrote matches the record; there is nothing to run."
        )
    elif wrong:
        say(f"{task.task_id}: the proof does not hold: {', '.join(wrong)}")
    else:
        rest = "." if rerun else "; --rerun also judges everything again."
        say(f"{task.task_id}: the proof holds ({_signed(findings)}){rest}")
    return 1 if wrong else 0


def _show(task: str, findings: "list[Finding]", *, as_data: bool) -> int:
    """What a clone alone can tell."""
    from dataclasses import asdict

    from agentforge.surfaces.cli.printing import print_json
    from agentforge.system.visible import brief

    wrong = _wrong(findings)
    if as_data:
        rows = [asdict(finding) for finding in findings]
        print_json({"task_id": task, "ok": not wrong, "rerun": False, "findings": rows})
        return 1 if wrong else 0
    _print_rows(findings)
    name = brief(task, 100)
    if wrong:
        say(f"{name}: the proof does not hold: {', '.join(wrong)}")
    else:
        say(f"{name}: what the branch says of itself holds ({_signed(findings)}). Nothing was run here.")
    return 1 if wrong else 0


def _print_rows(findings: "list[Finding]") -> None:
    """One row for each finding; those of one kind that are as they should be have one together."""
    from collections import Counter

    from agentforge.system.visible import brief

    together = Counter(_kind(finding) for finding in findings)
    for finding in findings:
        if (kind := _kind(finding)) is None:
            say(f"{'ok   ' if finding.ok else 'WRONG'}  {finding.row}: {brief(finding.text, 300)}".rstrip())
        elif number := together.pop(kind, 0):
            say(f"ok     {kind}: {number}, each as it was recorded")


def _kind(finding: "Finding") -> str | None:
    """Which of many alike it is; None where it is to be read for itself."""
    if not finding.ok:
        return None
    first, _, rest = finding.row.partition(" ")
    if "/" in first:
        return f"gates {rest}".rstrip()
    return f"{first}s" if first in ("artifact", "requirement") and rest else None


def _wrong(findings: "list[Finding]") -> list[str]:
    return list(dict.fromkeys(finding.row for finding in findings if not finding.ok))


def _signed(findings: "list[Finding]") -> str:
    return next((item.text for item in findings if item.row == "signature"), "integrity only, not signed")
