"""`demo`: one request on a bundled repository becomes a verified branch. The model's words are scripted; the
rest is real.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.surfaces.cli.pages.screen import Screen

REQUEST = 'Let parse understand fractions: "1/2 cup" is half a cup and "1 1/2 cups" is one and a half.'
HONESTLY = (
    "The model's words are scripted. Everything else is real: git, the sandbox, the environment, "
    "pytest, the gates."
)
WATCH = {
    "small": (
        "Watch for three mistakes of the model, each caught and fed back: a gate, an edit that does "
        "not fit, a locked test."
    ),
    "full": (
        "Watch for a specification sent back, a locked test, an undone refactoring, and two "
        "reviewers who disagree."
    ),
}
AUTHOR = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "Demo"), ("EMAIL", "demo@example.invalid"), ("DATE", "2030-01-01T00:00:00Z"))
}


@click.command(
    epilog="""\b
Examples:
  agentforge demo
  agentforge demo --lane full
  agentforge demo --keep ./demo

No key is needed. The directory is kept, so that you can look at everything afterwards."""
)
@click.option(
    "--keep",
    "place",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where to put it; a new or empty directory.",
)
@click.option(
    "--lane",
    type=click.Choice([*WATCH]),
    default="small",
    show_default=True,
    help="Five stages, or all eight.",
)
@click.option(
    "--sandbox",
    type=click.Choice(["auto", "bubblewrap", "landlock", "container", "none"]),
    help="The walls around what runs.",
)
@click.option(
    "--json", "as_data", is_flag=True, help="Print the result as JSON; progress goes to the error stream."
)
def demo(*, place: Path | None, lane: str, sandbox: str | None, as_data: bool) -> int:
    """Watch one request become a verified branch: no key, packages from the index alone."""
    from agentforge.app.driver import StartOptions, start
    from agentforge.app.steps import caught, collect
    from agentforge.store.journal import read_lines
    from agentforge.store.site import Site
    from agentforge.surfaces.cli.driving import drive, tell
    from agentforge.surfaces.cli.flags import at_terminal
    from agentforge.surfaces.cli.pages.screen import open_screen

    root = _room(place)
    os.environ.setdefault("AGENTFORGE_HOME", str(root / "home"))
    repository = root / "pantry"
    script = _lay_out(repository, "full.yaml" if lane == "full" else "script.yaml")
    site = Site.open(repository)
    files = start(
        site,
        StartOptions(
            REQUEST, lane=lane, model=f"scripted:{script}", sandbox=sandbox, at_terminal=at_terminal()
        ),
    )
    with open_screen(json=as_data) as screen:
        _announce(screen, repository, site.read(files).state.sandbox, WATCH[lane])
        state = drive(site, files, screen)
        screen.line("\nCaught on the way, and fed back to the model:", "heading")
        for mistake in caught(collect(read_lines(files.journal))):
            screen.line(f"  {mistake}", "caught")
        screen.line(f"\n{HONESTLY}", "heading")
    code = tell(site, files, state, as_data=as_data)
    if not as_data:
        click.echo(
            f"\nEverything is kept in {root}. Look at it first:\n  cd {repository}\n  git log --stat "
            f"agentforge/{files.task_id}"
        )
    return code


def _room(place: Path | None) -> Path:
    from agentforge.core.errors import UsageError

    if place is None:
        return Path(tempfile.mkdtemp(prefix="agentforge-demo-"))
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{place} is not empty.", "Name a new directory with --keep.")
    place.mkdir(parents=True, exist_ok=True)
    return place.resolve()


def _lay_out(repository: Path, script: str) -> Path:
    """Copies the sample, makes it a repository, and says where the script is."""
    import agentforge.catalog
    from agentforge.core.errors import Unusable
    from agentforge.system.processes import run

    bundled = Path(agentforge.catalog.__file__).parent / "demo"
    shutil.copytree(
        bundled / "sample", repository, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache")
    )
    shutil.copy(bundled / script, repository.parent)
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(repository),
        "GIT_CONFIG_NOSYSTEM": "1",
        **AUTHOR,
    }
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "A pantry"),
    ):
        done = run(("git", *words), cwd=repository, env=environ, timeout_s=60)
        if done.code != 0:
            raise Unusable(
                f"git {words[0]} failed in {repository}: {done.err.decode(errors='replace').strip()}"
            )
    return repository.parent / script


def _announce(screen: "Screen", repository: Path, sandbox: str, watch: str) -> None:
    screen.line(HONESTLY, "heading")
    screen.line(watch)
    if sandbox == "bubblewrap":
        screen.line("Code runs inside bubblewrap.")
    elif shutil.which("bwrap") is None:
        screen.line(
            f"bubblewrap is not installed here, so the walls around what runs are weaker: {sandbox}.",
            "caught",
        )
    else:
        screen.line(f"The walls around what runs are {sandbox}, not bubblewrap.", "caught")
    screen.line(f"Repository: {repository}")
    screen.line(f"Request:    {REQUEST}\n")
