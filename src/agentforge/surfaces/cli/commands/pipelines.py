"""`pipelines`: which ways from a request to its end there are, how they look, and whether a file about them
is right.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.catalog.load import Catalog
    from agentforge.core.pipeline import Pipeline


@click.group(
    epilog="""\b
Examples:
  agentforge pipelines list
  agentforge pipelines show implement --lane small
  agentforge pipelines validate .agentforge/agents/software_developer.yaml

A project's own files are read from its last commit, as a task reads them; `validate` reads a file as it
is."""
)
def pipelines() -> None:
    """List, draw and check pipelines and the files they are made of."""


@pipelines.command("list")
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def list_(*, as_data: bool) -> int:
    """List the pipelines that a task can run here."""
    from agentforge.catalog.check import lanes_of
    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.printing import print_json, table
    from agentforge.system.visible import one_line

    catalog = _committed()
    found: list[dict[str, object]] = []
    for name in sorted(catalog.names("pipelines")):
        known: dict[str, object] = {
            "name": name,
            "from": _origin(catalog, name),
            "lanes": [],
            "description": "",
            "wrong": None,
        }
        try:
            template = catalog.document("pipelines", name)["pipeline"]
            known |= {
                "lanes": [lane for lane in lanes_of(catalog, name) if lane],
                "description": template["description"],
            }
        except UsageError as error:
            known["wrong"] = str(error)
        found.append(known)
    if as_data:
        print_json(found)
    else:
        rows = [
            (
                str(item["name"]),
                _words(item["lanes"]),
                str(item["from"]),
                one_line(str(item["wrong"] or item["description"])),
            )
            for item in found
        ]
        click.echo(table(("pipeline", "lanes", "from", "what it does"), rows))
    return 2 if any(item["wrong"] for item in found) else 0


@pipelines.command("show")
@click.argument("name")
@click.option("--lane", help="One lane alone; else all of them.")
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def show(*, name: str, lane: str | None, as_data: bool) -> int:
    """Draw the stages of the pipeline NAME: who works, what is owed, what judges it, and the ways back."""
    from agentforge.catalog.check import lanes_of
    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.printing import print_json

    catalog = _committed()
    if name not in catalog.names("pipelines"):
        raise UsageError(
            f"There is no pipeline {name}; there are {', '.join(sorted(catalog.names('pipelines')))}."
        )
    lanes = [lane] if lane else lanes_of(catalog, name)
    resolved = [catalog.resolve(name, each) for each in lanes]
    template = catalog.document("pipelines", name)["pipeline"]
    if as_data:
        drawn = [each.value["pipeline"] for each in resolved]
        print_json(
            {
                "name": name,
                "description": template["description"],
                "from": _origin(catalog, name),
                "lanes": drawn,
            }
        )
        return 0
    used = {("stages", stage.name) for each in resolved for stage in each.pipeline().stages}
    used |= {
        (kind, part)
        for each in resolved
        for kind in ("agents", "contracts")
        for part in each.value["roles" if kind == "agents" else kind]
    }
    own = sorted(
        f".agentforge/{kind}/{part}.yaml"
        for kind, part in catalog.overrides
        if (kind, part) in {*used, ("pipelines", name)}
    )
    own += [catalog.orchestration.source] if catalog.orchestration.source else []
    click.echo(f"{click.style(name, bold=True)}: {template['description']} ({_origin(catalog, name)})")
    if own:
        click.echo(f"files of the project: {', '.join(own)}")
    for each in resolved:
        pipeline = each.pipeline()
        purpose = template.get("lanes", {}).get(pipeline.lane, {}).get("for", "")
        if template.get("lanes"):
            click.echo(f"\nlane {click.style(pipeline.lane, bold=True)}{f': {purpose}' if purpose else ''}")
        click.echo()
        _draw(pipeline)
    return 0


@pipelines.command("validate")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def validate(*, file: Path, as_data: bool) -> int:
    """Check FILE as a project's own role, stage, pipeline, contract or stage configuration.

    It is checked as it is now, beside the other files of its repository: alone, and in every lane that uses
    it. What kind of file
    it is, is told by its folder, or else by what it says.
    """
    from agentforge.catalog.check import file_faults, place_of
    from agentforge.catalog.load import says_nothing
    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.printing import print_json, print_text

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise UsageError(f"{file} cannot be read: {reason}.") from None
    place = place_of(file, text)
    others = {path: text for path, text in _uncommitted(_top(file)).items() if path != place}
    wrong = [fault.replace(place, str(file)) for fault in file_faults(others, place, text)]
    if as_data:
        print_json({"file": str(file), "as": place, "valid": not wrong, "wrong": wrong})
    elif wrong:
        for fault in wrong:
            print_text(fault)
    else:
        said = "says nothing yet: every line is a comment" if says_nothing(text) else f"valid as {place}"
        print_text(f"{file}: {said}.")
    return 2 if wrong else 0


def _committed() -> "Catalog":
    """The catalogue as a task would see it from here; the packaged one outside of a repository."""
    from agentforge.app.settings import read_overrides
    from agentforge.catalog.load import Catalog, says_nothing
    from agentforge.core.errors import UsageError
    from agentforge.store.site import Site

    catalog = Catalog.packaged()
    try:
        git = Site.open(Path.cwd()).git
        head = git.head()
    except UsageError:  # no repository, or no commit in it: there is nothing of a project
        return catalog
    committed = read_overrides(git, head)
    here = _uncommitted(git.top)
    changed = sorted(
        path
        for path in {*committed, *here}
        if committed.get(path) != here.get(path) and not says_nothing(here.get(path, ""))
    )
    if changed:
        click.echo(f"not committed, so not counted: {', '.join(changed)}", err=True)
    return catalog.with_overrides(committed)


def _uncommitted(top: Path | None) -> dict[str, str]:
    """The catalogue files of a checkout as they are now."""
    from agentforge.app.settings import OVERRIDES

    if top is None:
        return {}
    files = [path for folder in OVERRIDES for path in sorted((top / folder).rglob("*")) if path.is_file()]
    return {path.relative_to(top).as_posix(): path.read_bytes().decode("utf-8", "replace") for path in files}


def _top(file: Path) -> Path | None:
    """The repository that a file is meant for: the one whose `.agentforge` it is in, else the one we are
    in.
    """
    from agentforge.core.errors import UsageError
    from agentforge.store.site import Site

    whole = file.absolute()
    if whole.parent.parent.name == ".agentforge":
        return whole.parents[2]
    try:
        return Site.open(Path.cwd()).git.top
    except UsageError:
        return None


def _origin(catalog: "Catalog", name: str) -> str:
    return "project" if ("pipelines", name) in catalog.overrides else "packaged"


def _words(lanes: object) -> str:
    return ", ".join(str(lane) for lane in lanes) if isinstance(lanes, list) and lanes else "-"


def _draw(pipeline: "Pipeline") -> None:
    from agentforge.surfaces.cli.pages.screen import Live, Plain, Screen
    from agentforge.surfaces.cli.pages.stage_graph import draw

    bright = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    screen: Screen = Live(sys.stdout) if bright else Plain(sys.stdout)
    for row in draw(pipeline):
        screen.line(row.text.rstrip(), row.tone)
