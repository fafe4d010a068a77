"""`audit`: a task for a reviewer who was not there, as a file; and whether such a file is still what the
journal says.
"""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import task_argument

_LARGEST = 200_000_000

if TYPE_CHECKING:
    from agentforge.app.record.open_tasks import OpenTask


@click.command(
    epilog="""\b
Examples:
  agentforge audit task-20300131-add-a-version-flag
  agentforge audit task-20300131 --format html
  agentforge audit task-20300131 --format pdf
  agentforge audit task-20300131 --format json --output - | jq .questions
  agentforge audit task-20300131 --verify .agentforge/audit/task-20300131-add-a-version-flag.md

Reports go to .agentforge/audit, which git does not see. The same journal gives the same report, byte for
byte: --verify makes it again and names the first line that differs (exit code 1)."""
)
@task_argument
@click.option(
    "--format",
    "kind",
    type=click.Choice(["md", "html", "pdf", "json"]),
    default="md",
    show_default=True,
    help="The format of the report.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write to this file; `-` is standard output.",
)
@click.option(
    "--verify",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Check a report against the journal instead of writing one.",
)
@repo_option
@json_option
def audit(*, task: str | None, kind: str, output: Path | None, verify: Path | None, as_data: bool) -> int:
    """Write down who decided what in TASK, and why, with every input and output by its hash.

    Without TASK, the newest task is taken.
    """
    from agentforge.app.record.open_tasks import open_task_or_branch
    from agentforge.surfaces.cli.printing import print_bytes, print_json

    opened = open_task_or_branch(here(), task)
    if verify is not None:
        return _verify(opened, verify, as_data=as_data)
    from agentforge.app.evidence.audits import audit_task, keep_audit
    from agentforge.surfaces.cli.pages.audit import spell_audit

    made = audit_task(opened)
    if kind == "pdf":
        data = _printed(opened, spell_audit(made, "html"), output)
    else:
        data = spell_audit(made, kind).encode()
    if output == Path("-"):
        print_bytes(data)
        return 0
    place = keep_audit(opened, data, kind, output)
    if as_data:
        print_json(
            {
                "task_id": made.task_id,
                "format": kind,
                "path": str(place),
                "journal": {"lines": made.lines, "head": made.head},
            }
        )
    else:
        say(f"The audit of {made.task_id} is in {place}.")
        if kind != "pdf":
            say(f"Check it later with `agentforge audit {made.task_id} --verify {shlex.quote(str(place))}`.")
    return 0


def _printed(task: "OpenTask", html: str, output: Path | None) -> bytes:
    """The report as PDF. Where that cannot be made, its HTML is written instead, and that is said."""
    from agentforge.app.evidence.audits import keep_audit
    from agentforge.app.evidence.printed import print_report
    from agentforge.core.errors import Unusable

    try:
        return print_report(html)
    except Unusable as error:
        beside = output.with_suffix(".html") if output and output != Path("-") else None
        place = keep_audit(task, html.encode(), "html", beside)
        raise Unusable(f"{error.sentence} The same report is in {place}.", error.next_step) from None


def _verify(task: "OpenTask", path: Path, *, as_data: bool) -> int:
    from agentforge.app.evidence.audits import audit_task
    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.pages.audit import read_mark, spell_audit
    from agentforge.surfaces.cli.printing import print_json
    from agentforge.system.bounded import read_bounded

    try:
        data = read_bounded(path, _LARGEST)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}.", "Name a report that is there."
        ) from None
    if data.startswith(b"%PDF"):
        raise UsageError(
            f"{path} is a PDF, which is not compared.",
            f"`agentforge audit {task.task_id} --format html` writes the same report in a form that can be.",
        )
    text = data.decode("utf-8", "replace")
    mark = read_mark(text, path, task.task_id)
    again = spell_audit(audit_task(task, mark.lines), mark.format)
    line = first_difference(text, again)
    if as_data:
        print_json({"task_id": task.task_id, "path": str(path), "holds": line is None, "line": line})
    elif line is None:
        say(f"{path} is what the journal of {task.task_id} says, in {mark.lines} lines.")
        if later := task.journal.length - mark.lines:
            say(f"The journal has gone on since: {later} more, which are not in the report.")
    else:
        say(f"{path} differs from what the journal of {task.task_id} says, first in its line {line}.")
    return 0 if line is None else 1


def first_difference(one: str, other: str) -> int | None:
    """The number of the first line that differs; None if there is none."""
    if one == other:
        return None
    ours, theirs = one.split("\n"), other.split("\n")
    for number, (left, right) in enumerate(zip(ours, theirs, strict=False), 1):
        if left != right:
            return number
    return min(len(ours), len(theirs)) + 1
