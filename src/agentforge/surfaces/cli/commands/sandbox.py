"""`sandbox run`: runs anything as an agent's command would run, so that a person can see what it can and
cannot do.
"""

import codecs
import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.sandbox.base import Confinement, Sandbox
    from agentforge.sandbox.guarded import Guard
    from agentforge.system.processes import Completed

TIMED_OUT = 124
# What was shown as it came need not be kept.
KEPT_WHEN_SHOWN = 10_000
_SYSTEM = tuple(
    map(Path, ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"))
)


@click.group(
    epilog="""\b
Examples:
  agentforge sandbox run -- python -m pytest -q
  agentforge sandbox run --write build -- make"""
)
def sandbox() -> None:
    """Run a command behind the walls that an agent's commands run behind."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person said."""

    write: tuple[Path, ...]
    network: tuple[str, ...]
    timeout_s: float
    wanted: str
    command: tuple[str, ...]


@sandbox.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  agentforge sandbox run -- ls -la ~
  agentforge sandbox run --write . -- python -m pytest -q
  agentforge sandbox run --network HOST -- curl -sI HOST

The checkout is read-only unless --write names a directory; .git, .agentforge, hooks and CI files stay
read-only even then.
Nothing of your environment is passed on. The network is a proxy that knows the named hosts alone: HOST,
HOST:PORT or *.SUFFIX.
Output is shown as it comes. The exit code is the command's own; 124 if its time was up.""",
)
@click.option(
    "--write",
    metavar="DIR",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A directory that the command may change.",
)
@click.option(
    "--network",
    metavar="HOST",
    multiple=True,
    help="A host that it may reach. An agent's command may reach none by itself.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=600,
    show_default=True,
    help="Seconds until it is ended.",
)
@click.option(
    "--sandbox",
    "wanted",
    type=click.Choice(["auto", "bubblewrap", "landlock", "container"]),
    default="auto",
    show_default=True,
    help="The walls to stand in.",
)
@click.option("--json", "as_data", is_flag=True, help="Print what became of it as JSON, at its end.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(
    *,
    write: tuple[Path, ...],
    network: tuple[str, ...],
    timeout_s: float,
    wanted: str,
    as_data: bool,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND as an agent's command would run."""
    asked = Asked(write, network, timeout_s, wanted, command)
    walls = _walls(wanted)
    places = tuple(_writable(path) for path in write)
    guards = _guards(places)
    refused: list[str] = []
    confinement = _confinement(asked, places, guards, refused)
    if not as_data:
        may = f"may change {', '.join(map(str, write))}" if write else "may change nothing"
        click.echo(
            f"sandbox: {walls.name}; {may}; {'network: ' + ', '.join(network) if network else 'no network'}",
            err=True,
        )
    done = _run(walls, asked, confinement, live=not as_data)
    mended = [str(guard.root / name) for guard in guards for name in guard.mend()]
    code = TIMED_OUT if done.timed_out else done.code if done.code >= 0 else 128 - done.code
    if as_data:
        _print(walls, done, {"code": code, "refused": sorted(set(refused)), "mended": mended})
        return code
    for place in dict.fromkeys(refused):
        click.echo(
            f"sandbox: {place} was asked for and is not on the list; `--network {place}` would allow it",
            err=True,
        )
    for name in mended:
        click.echo(f"sandbox: {name} was taken away again: what is there runs later, outside", err=True)
    if done.timed_out:
        click.echo(f"sandbox: ended after {timeout_s:g} s", err=True)
    return code


def _walls(wanted: str) -> "Sandbox":
    from agentforge.activities.said import sandbox_name
    from agentforge.app.settings import read_own_settings
    from agentforge.sandbox.ladder import choose
    from agentforge.store.site import home_path

    _, own = read_own_settings(home_path() / "config.yaml")
    return choose(sandbox_name(wanted), own.container)


def _confinement(
    asked: Asked, places: tuple[Path, ...], guards: "tuple[Guard, ...]", refused: list[str]
) -> "Confinement":
    from agentforge.sandbox.base import Confinement
    from agentforge.sandbox.destinations import destinations
    from agentforge.sandbox.toolchains import find_toolchains, needs_here, readable, with_toolchains

    here = Path.cwd()
    top = _top(here).resolve()
    chains = find_toolchains(needs_here(top), os.environ, Path.home())
    outer = () if any(top.is_relative_to(place) for place in places) else (top,)
    return Confinement(
        cwd=here,
        write=places,
        read=(*outer, *readable(chains), *(path for guard in guards for path in guard.read_only())),
        env=with_toolchains({"PATH": "/usr/local/bin:/usr/bin:/bin"}, chains),
        network=destinations(asked.network, private=True),
        on_refusal=refused.append,
        timeout_s=asked.timeout_s,
    )


def _run(walls: "Sandbox", asked: Asked, confinement: "Confinement", *, live: bool) -> "Completed":
    if not live:
        return walls.run(asked.command, confinement)
    shown = _Shown()
    done = walls.run(asked.command, replace(confinement, tee=shown, output_limit=KEPT_WHEN_SHOWN))
    shown.end()
    return done


def _print(walls: "Sandbox", done: "Completed", more: dict[str, object]) -> None:
    from agentforge.surfaces.cli.printing import print_json

    told = {
        "sandbox": walls.name,
        "timed_out": done.timed_out,
        "seconds_ms": done.seconds_ms,
        "truncated": done.truncated,
        "out": done.out.decode("utf-8", "replace"),
        "err": done.err.decode("utf-8", "replace"),
    }
    print_json({**told, **more})


def _writable(path: Path) -> Path:
    from agentforge.core.errors import UsageError
    from agentforge.sandbox.guarded import is_guarded
    from agentforge.tools.paths import closed_to_all

    real = path.resolve()
    if not real.is_dir():
        raise UsageError(f"{str(path)!r} is not a directory.", "Make it first, or name another.")
    if any(map(is_guarded, real.parts)):
        raise UsageError(f"{str(path)!r} is never writable to a command: what is there runs later, outside.")
    if (closed := closed_to_all(str(real))) is not None:
        raise UsageError(f"{closed[:1].upper()}{closed[1:]}: no command may change it.")
    if (
        real in (Path("/"), Path.home())
        or real in Path.home().parents
        or any(real.is_relative_to(top) for top in _SYSTEM)
    ):
        raise UsageError(
            f"{str(path)!r} holds far more than a command should change.", "Name a directory of the project."
        )
    return real


def _guards(places: tuple[Path, ...]) -> "tuple[Guard, ...]":
    """Over each writable directory, and over the checkout if it lies in one."""
    from agentforge.sandbox.guarded import Guard

    top = _top(Path.cwd()).resolve()
    inner = (top,) if any(top.is_relative_to(place) for place in places) else ()
    return tuple(Guard.over(root) for root in dict.fromkeys((*inner, *places)))


def _top(here: Path) -> Path:
    """The checkout around `here`; `here` itself where there is none."""
    for place in (here, *here.parents):
        if (place / ".git").exists():
            return place
    return here


def _decoder() -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder("utf-8")("replace")


@dataclass(slots=True)
class _Shown:
    """Passes on the command's own words as they come: as they are into a pipe, without control codes on a
    terminal.
    """

    decoders: dict[int, codecs.IncrementalDecoder] = field(
        default_factory=lambda: {1: _decoder(), 2: _decoder()}
    )

    def __call__(self, stream: int, data: bytes, *, final: bool = False) -> None:
        from agentforge.system.visible import harmless

        out = sys.stdout if stream == 1 else sys.stderr
        if out.isatty():
            out.write(harmless(self.decoders[stream].decode(data, final)))
        else:
            out.flush()
            out.buffer.write(data)
        out.flush()

    def end(self) -> None:
        """What is left of a character that was cut off."""
        for stream in self.decoders:
            self(stream, b"", final=True)
