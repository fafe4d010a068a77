"""`sandbox run`: runs anything as an agent's command would run, so that a person can see what it can and cannot do."""

import sys
from pathlib import Path

import click

TIMED_OUT = 124
# What commands may never change beneath a writable directory: it would run later, outside, with the rights of a person or a server.
PROTECTED = (
    *(".git", ".agentforge", ".github", ".gitlab", ".gitlab-ci.yml", ".circleci", ".travis.yml", "azure-pipelines.yml", ".buildkite"),
    *("Jenkinsfile", "bitbucket-pipelines.yml", ".woodpecker", ".woodpecker.yml", ".drone.yml", ".husky", ".pre-commit-config.yaml"),
    *(".vscode", ".idea", ".devcontainer", ".envrc", ".gitmodules", ".gitattributes"),
)


@click.group(
    epilog="""\b
Examples:
  agentforge sandbox run -- python -m pytest -q
  agentforge sandbox run --write build -- make"""
)
def sandbox() -> None:
    """Run a command behind the walls that an agent's commands run behind."""


@sandbox.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  agentforge sandbox run -- ls -la ~
  agentforge sandbox run --write . -- python -m pytest -q
  agentforge sandbox run --network -- git ls-remote origin

The checkout is read-only unless --write names a directory; .git, .agentforge, hooks and CI files stay read-only even then.
Nothing of your environment is passed on. The exit code is the command's own; 124 if its time was up.""",
)
@click.option("--write", type=click.Path(path_type=Path), multiple=True, help="A directory that the command may change.")
@click.option("--network", is_flag=True, help="Let it reach the network. Never so for an agent's command.")
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0.1), default=600, show_default=True, help="Seconds until it is ended.")
@click.option("--sandbox", "wanted", type=click.Choice(["auto", "bubblewrap", "landlock"]), default="auto", help="The walls to stand in.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(*, write: tuple[Path, ...], network: bool, timeout_s: float, wanted: str, command: tuple[str, ...]) -> int:
    """Run COMMAND as an agent's command would run."""
    from agentforge.sandbox.base import Confinement
    from agentforge.sandbox.ladder import choose
    from agentforge.wiring import sandbox_name

    here = Path.cwd()
    places = tuple(_writable(path) for path in write)
    walls = choose(sandbox_name(wanted))
    confinement = Confinement(cwd=here, write=places, read=_read_only(_top(here), places), network=network, timeout_s=timeout_s)
    may = f"may change {', '.join(map(str, write))}" if write else "may change nothing"
    click.echo(f"sandbox: {walls.name}; {may}; {'with' if network else 'no'} network", err=True)
    done = walls.run(command, confinement)
    _pass_on(done.out, done.err)
    if done.timed_out:
        click.echo(f"sandbox: ended after {timeout_s:g} s", err=True)
        return TIMED_OUT
    return done.code if done.code >= 0 else 128 - done.code


def _writable(path: Path) -> Path:
    from agentforge.core.errors import UsageError

    real = path.resolve()
    if not real.is_dir():
        raise UsageError(f"{str(path)!r} is not a directory.", "Make it first, or name another.")
    if any(part in PROTECTED for part in real.parts):
        raise UsageError(f"{str(path)!r} is never writable to a command: what is there runs later, outside.")
    if real in (Path("/"), Path.home()) or real in Path.home().parents:
        raise UsageError(f"{str(path)!r} holds far more than a command should change.", "Name a directory of the project.")
    return real


def _top(here: Path) -> Path:
    """The checkout around `here`; `here` itself where there is none."""
    for place in (here, *here.parents):
        if (place / ".git").exists():
            return place
    return here


def _read_only(top: Path, places: tuple[Path, ...]) -> tuple[Path, ...]:
    """The checkout, unless it is writable as a whole; and in what is writable everything that must not change."""
    real = top.resolve()
    outer = () if any(real.is_relative_to(place) for place in places) else (real,)
    roots = (real, *places)
    inner = {root / name for root in roots for name in PROTECTED if (root / name).exists()}
    return (*outer, *sorted(path for path in inner if any(path.is_relative_to(place) for place in places)))


def _pass_on(out: bytes, err: bytes) -> None:
    """The command's own words: as they are into a pipe, without control codes on a terminal."""
    from agentforge.surfaces.cli.words import harmless

    for stream, data in ((sys.stdout, out), (sys.stderr, err)):
        if not data:
            continue
        stream.flush()
        if stream.isatty():
            stream.write(harmless(data.decode("utf-8", "replace")))
        else:
            stream.buffer.write(data)
        stream.flush()
