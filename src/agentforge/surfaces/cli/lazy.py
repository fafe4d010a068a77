"""A group of commands that imports a command when it runs, so that `--help` stays as fast as the
interpreter.
"""

import importlib
from collections.abc import Mapping
from typing import NamedTuple

import click

from agentforge.surfaces.cli.usage import near_command, refuse_empty_values

MEANT = {
    "answer": "resolve",
    "cancel": "abort",
    "configure": "setup",
    "list": "status",
    "login": "auth login",
    "ls": "status",
    "rm": "discard",
    "run": "start",
    "stop": "abort",
    "watch": "status --watch",
}
"""What other programs call a command of ours."""


class LazyCommand(NamedTuple):
    """A command that is not loaded yet."""

    target: str
    """`module:attribute`."""
    help: str
    """Its line in the list of commands; empty for an alias, which is not listed."""


class LazyGroup(click.Group):
    """Commands by name, each loaded at its first use, and listed under headings."""

    def __init__(self, sections: Mapping[str, Mapping[str, LazyCommand]], *, help: str, epilog: str) -> None:  # noqa: A002 - the name that click uses
        super().__init__(
            "agentforge", help=help, epilog=epilog, context_settings={"help_option_names": ["-h", "--help"]}
        )
        self._sections = sections
        self._entries = {name: entry for section in sections.values() for name, entry in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order in which a person meets them."""
        return [name for name, entry in self._entries.items() if entry.help]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Imports the module of a command and returns the command; None for an unknown name."""
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return refuse_empty_values(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The lists of commands, from what is known without loading any, all in the same columns."""
        for heading in self._sections:
            self._list(ctx, formatter, heading)

    def _list(self, ctx: click.Context, formatter: click.HelpFormatter, heading: str) -> None:
        widest = max(map(len, self.list_commands(ctx)))
        listed = [
            (name.ljust(widest), each.help) for name, each in self._sections[heading].items() if each.help
        ]
        with formatter.section(heading):
            formatter.write_dl(listed)

    def first_words(self, ctx: click.Context) -> str:
        """For somebody who typed the name alone: what this is, and the commands to begin with."""
        formatter = ctx.make_formatter()
        formatter.write_text(self.help or "")
        self._list(ctx, formatter, next(iter(self._sections)))
        return f"{formatter.getvalue().rstrip()}\n\n`agentforge --help` lists all commands."

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or a sentence that names the nearest one."""
        name = args[0]
        if name in self._entries or name.startswith("-"):
            return super().resolve_command(ctx, args)
        near = MEANT.get(name) or near_command(name, self._entries)
        raise click.UsageError(
            f"There is no command {name!r}." + (f" Did you mean {near!r}?" if near else ""), ctx=ctx
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The options before a command; of those that it takes, where they go."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise click.UsageError(
                f"No such option {error.option_name!r} here; what a command takes comes after its name.",
                ctx=ctx,
            ) from None
