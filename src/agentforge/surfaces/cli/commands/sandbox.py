"""`sandbox run`: runs anything as an agent's command would run, so that a person can see what it can and
cannot do.
"""

import codecs
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import say

if TYPE_CHECKING:
    from agentforge.app.setup.confined import ConfinedRun


@click.group(
    epilog="""\b
Examples:
  agentforge sandbox run -- python -m pytest -q
  agentforge sandbox run --write build -- make"""
)
def sandbox() -> None:
    """Run a command in the sandbox that agents' commands run in."""


@sandbox.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\b
Examples:
  agentforge sandbox run -- ls -la ~
  agentforge sandbox run --write . -- python -m pytest -q
  agentforge sandbox run --network HOST -- curl -sI HOST

The checkout is read-only unless --write names a directory; .git, .agentforge, hooks and CI files stay
read-only even then.
Your environment variables are not passed on. The network is a proxy that reaches only the named hosts: HOST,
HOST:PORT or *.SUFFIX.
The exit code is the command's own, or 124 if it timed out.""",
)
@click.option(
    "--write",
    metavar="DIR",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A directory that the command may write to.",
)
@click.option(
    "--network",
    metavar="HOST",
    multiple=True,
    help="A host that the command may reach. An agent's commands reach none.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=600,
    show_default=True,
    help="Seconds until the command is stopped.",
)
@click.option(
    "--sandbox",
    "wanted",
    type=click.Choice(["auto", "bubblewrap", "landlock", "container"]),
    default="auto",
    show_default=True,
    help="The sandbox to use.",
)
@click.option("--json", "as_data", is_flag=True, help="Print the result as JSON at the end.")
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
    from agentforge.app.setup.confined import ConfinedCommand, run_confined
    from agentforge.surfaces.cli.printing import print_json

    asked = ConfinedCommand(command, write, network, timeout_s, wanted)
    if as_data:
        print_json(_fields(found := run_confined(asked)))
        return found.code

    def begins(walls: str) -> None:
        may = f"may change {', '.join(map(str, write))}" if write else "may change nothing"
        reach = "network: " + ", ".join(network) if network else "no network"
        say(f"sandbox: {walls}; {may}; {reach}", err=True)

    shown = _Shown()
    found = run_confined(asked, begins, shown)
    shown.end()
    for place in dict.fromkeys(found.refused):
        say(
            f"sandbox: a connection to {place} was blocked; `--network {place}` would allow it",
            err=True,
        )
    for name in found.mended:
        say(f"sandbox: {name} was removed: it would run later, outside the sandbox", err=True)
    if found.done.timed_out:
        say(f"sandbox: timed out after {timeout_s:g} s", err=True)
    if found.done.beyond:
        say(f"sandbox: stopped, over its limits: {found.done.beyond}", err=True)
    return found.code


def _fields(found: "ConfinedRun") -> dict[str, object]:
    done = found.done
    return {
        "sandbox": found.sandbox,
        "timed_out": done.timed_out,
        "seconds_ms": done.seconds_ms,
        "truncated": done.truncated,
        "beyond": done.beyond,
        "out": done.out.decode("utf-8", "replace"),
        "err": done.err.decode("utf-8", "replace"),
        "code": found.code,
        "refused": sorted(set(found.refused)),
        "mended": list(found.mended),
    }


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
