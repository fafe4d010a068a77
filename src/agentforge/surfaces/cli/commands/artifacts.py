"""`artifacts`: the documents that a task made, version by version."""

from pathlib import Path

import click

from agentforge.surfaces.cli.printing import json_option, say
from agentforge.surfaces.cli.repo_option import here, repo_option
from agentforge.surfaces.cli.task_names import named_task_argument, task_argument

_CONTRACT = click.argument("contract", required=False)
_VERSION = click.option("--version", type=click.IntRange(min=1), help="This version; the final by default.")


@click.group(
    epilog="""\b
Examples:
  agentforge artifacts list task-20300131-design-fractions
  agentforge artifacts show task-20300131-design-fractions specification --version 1
  agentforge artifacts export task-20300131-design-fractions specification --to spec.yaml"""
)
def artifacts() -> None:
    """List, show and export the documents that a task made."""


@artifacts.command(
    "list",
    epilog="""\b
Examples:
  agentforge artifacts list
  agentforge artifacts list task-20300131-design-fractions --json

A version is a draft, pending_review while you decide about it, approved, final when its task is done, or
superseded by a later one.""",
)
@task_argument
@repo_option
@json_option
def list_them(*, task: str | None, as_data: bool) -> int:
    """List every version of every document of TASK."""
    from agentforge.app.record.open_tasks import open_task
    from agentforge.app.record.versions import list_versions
    from agentforge.surfaces.cli.printing import print_json

    rows = list_versions(open_task(here(), task))
    if as_data:
        print_json(
            [
                {
                    "contract": row.ref.contract,
                    "phase": row.ref.phase,
                    "version": row.ref.version,
                    "final": row.final,
                    "state": row.state,
                    "by": row.by,
                    "hash": row.ref.hash,
                    "file": row.file,
                }
                for row in rows
            ]
        )
        return 0
    for row in rows:
        name = f"{row.ref.contract} {'final' if row.final else f'v{row.ref.version}'}"
        say(f"{name:<28} {row.state:<15} {row.by:<22} {row.file}")
    if not rows:
        say("No documents yet.")
    return 0


@artifacts.command(
    epilog="""\b
Examples:
  agentforge artifacts show
  agentforge artifacts show task-20300131-design-fractions specification
  agentforge artifacts show task-20300131-design-fractions specification --version 2

Without CONTRACT, it prints what the task presents now, or its result."""
)
@task_argument
@_CONTRACT
@_VERSION
@repo_option
@json_option
def show(*, task: str | None, contract: str | None, version: int | None, as_data: bool) -> int:
    """Print one document of TASK as it is on record."""
    from agentforge.app.people.presented import document_of
    from agentforge.app.record.open_tasks import open_task
    from agentforge.app.record.rendering import readable_lines
    from agentforge.app.record.versions import find_version
    from agentforge.surfaces.cli.printing import print_json

    found = open_task(here(), task)
    row = find_version(found, contract, version)
    document = document_of(found, row.ref)
    if as_data:
        print_json({"contract": row.ref.contract, "state": row.state, "file": row.file, "document": document})
        return 0
    what = "final" if row.final else f"v{row.ref.version}"
    say(f"{row.ref.contract} {what}, {row.state}, by {row.by}")
    say("\n".join(f"  {line}" for line in readable_lines(document)))
    say(f"  file: {row.file}")
    return 0


@artifacts.command(
    epilog="""\b
Examples:
  agentforge artifacts export task-20300131-design-fractions --to ./design
  agentforge artifacts export task-20300131-design-fractions specification --to spec.yaml

With CONTRACT the file is what `--spec` and `--from-spec` take; without, all finals are written into a
directory. A file that exists is not replaced."""
)
@named_task_argument
@_CONTRACT
@_VERSION
@click.option("--to", "target", metavar="PATH", required=True, help="The file or directory to write.")
@repo_option
@json_option
def export(*, task: str, contract: str | None, version: int | None, target: str, as_data: bool) -> int:
    """Copy documents of TASK out of its record."""
    from agentforge.app.record.exporting import export_documents
    from agentforge.app.record.open_tasks import open_task
    from agentforge.surfaces.cli.printing import print_json

    written = export_documents(open_task(here(), task), contract, version, Path(target))
    if as_data:
        print_json({"written": [str(path) for path in written]})
        return 0
    for path in written:
        say(f"written: {path}")
    return 0
