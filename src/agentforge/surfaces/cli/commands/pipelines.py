"""`pipelines`: which ways from a request to its end there are, how they look, and whether a file about them
is right.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say, say_bold
from agentforge.surfaces.cli.repo_option import here, repo_option

if TYPE_CHECKING:
    from agentforge.app.setup.catalogues import PipelineRow, ProjectCatalogue
    from agentforge.core.pipeline import Pipeline


@click.group(
    epilog="""\b
Examples:
  agentforge pipelines list
  agentforge pipelines show implement --lane small
  agentforge pipelines validate .agentforge/agents/software_developer.yaml

A project's own files are read from its last commit, as a task reads them; `validate` reads a file from
disk."""
)
def pipelines() -> None:
    """List, draw and check pipelines and their files."""


@pipelines.command("list")
@repo_option
@json_option
def list_(*, as_data: bool) -> int:
    """List the pipelines that a task can run here."""
    from agentforge.app.setup.catalogues import list_pipelines
    from agentforge.surfaces.cli.printing import print_json, table
    from agentforge.system.visible import brief

    found = list_pipelines(_catalogue_here())
    if as_data:
        print_json([_fields(row) for row in found])
    else:
        rows = [
            (
                row.name,
                row.goal or "-",
                ", ".join(row.lanes) or "-",
                row.origin,
                brief(row.wrong or row.description),
            )
            for row in found
        ]
        say(table(("pipeline", "goal", "lanes", "from", "what it does"), rows))
    return 2 if any(row.wrong for row in found) else 0


def _fields(row: "PipelineRow") -> dict[str, object]:
    return {
        "name": row.name,
        "goal_type": row.goal,
        "from": row.origin,
        "lanes": row.lanes,
        "description": row.description,
        "wrong": row.wrong,
    }


@pipelines.command("show", short_help="Draw the stages of pipeline NAME.")
@click.argument("name")
@click.option("--lane", help="Only this lane; all lanes by default.")
@repo_option
@json_option
def show(*, name: str, lane: str | None, as_data: bool) -> int:
    """Draw the stages of pipeline NAME: the role, what it must produce, the gates, and the ways back."""
    from agentforge.app.setup.catalogues import draw_pipeline
    from agentforge.surfaces.cli.printing import print_json

    found = draw_pipeline(_catalogue_here(), name, lane)
    if as_data:
        print_json(
            {
                "name": name,
                "description": found.description,
                "goal_type": found.goal,
                "from": found.origin,
                "lanes": [each.value["pipeline"] for each in found.resolved],
            }
        )
        return 0
    say_bold(name, f": {found.description} ({found.origin})")
    if found.files:
        say(f"files of the project: {', '.join(found.files)}")
    for each in found.resolved:
        pipeline = each.pipeline()
        purpose = found.purposes.get(pipeline.lane, "")
        if found.purposes:
            say_bold(f"\nlane {pipeline.lane}", f": {purpose}" if purpose else "")
        say()
        _draw(pipeline)
    return 0


@pipelines.command("validate", short_help="Check FILE: a role, stage, pipeline, contract or tool.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@repo_option
@json_option
def validate(*, file: Path, as_data: bool) -> int:
    """Check FILE: a role, stage, pipeline, contract, tool, stage configuration, feedback or repos.yaml.

    The file is checked as it is on disk: on its own, and in every lane that uses it, together with the
    other files of its repository. Others that are broken are named separately. Its folder, or else its
    contents, tells what kind of file it is.
    """
    from agentforge.app.setup.catalogues import check_file
    from agentforge.surfaces.cli.printing import print_json, print_text

    found = check_file(file, here())
    if as_data:
        told = {
            "wrong": list(found.wrong),
            "warnings": list(found.warnings),
            "kept": list(found.kept),
            "elsewhere": list(found.elsewhere),
        }
        print_json({"file": str(file), "as": found.place, "valid": not found.wrong, **told})
    elif found.wrong:
        for fault in found.wrong:
            print_text(fault)
    else:
        valid = f"valid as {found.place}"
        said = "empty so far: every line is a comment" if found.says_nothing else valid
        print_text(f"{file}: {said}.")
        if found.kept:
            print_text(f"As in the packaged file, because this one does not say it: {'; '.join(found.kept)}.")
        for warning in found.warnings:
            print_text(f"warning: {warning}")
    if not as_data:
        for fault in found.elsewhere:
            print_text(f"another file: {fault}")
    return 2 if found.wrong else 0


def _catalogue_here() -> "ProjectCatalogue":
    from agentforge.app.setup.catalogues import project_catalogue

    found = project_catalogue(here())
    if found.uncommitted:
        say(f"not committed, so not used: {', '.join(found.uncommitted)}", err=True)
    return found


def _draw(pipeline: "Pipeline") -> None:
    from agentforge.surfaces.cli.pages.screen import Live, Plain, Screen
    from agentforge.surfaces.cli.pages.stage_graph import draw

    bright = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    screen: Screen = Live(sys.stdout) if bright else Plain(sys.stdout)
    for row in draw(pipeline):
        screen.line(row.text.rstrip(), row.tone)
