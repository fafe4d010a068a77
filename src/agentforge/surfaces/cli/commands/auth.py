"""`auth`: a person's keys for model providers, kept where only they can read them. No command prints one."""

import os
import sys
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say

if TYPE_CHECKING:
    from agentforge.app.models.keys import KeyState
    from agentforge.core.reply import Json
    from agentforge.models.known.providers import Provider

_LONGEST = 10_000


@click.group(
    epilog="""\b
Examples:
  agentforge auth login anthropic
  pass show openai | agentforge auth login openai --from-stdin
  agentforge auth status
  agentforge auth logout openai

A key in the environment takes precedence. A repository can never supply a key."""
)
def auth() -> None:
    """Store, remove and list your keys for model providers."""


@auth.command(
    epilog="""\b
Examples:
  agentforge auth login anthropic
  agentforge auth login openai --from-stdin < key.txt
  agentforge auth login mistral --file

The key goes into the system's keychain if there is one, otherwise into keys.yaml in your AgentForge
directory, which only you can read."""
)
@click.argument("provider")
@click.option("--from-stdin", is_flag=True, help="Read the key from standard input instead of asking for it.")
@click.option("--file", "in_file", is_flag=True, help="Use the file even if there is a keychain.")
@json_option
def login(*, provider: str, from_stdin: bool, in_file: bool, as_data: bool) -> int:
    """Store a key for PROVIDER."""
    from agentforge.app.models.keys import find_provider, keep_key
    from agentforge.surfaces.cli.printing import print_json

    found = find_provider(provider)
    text = _key_from_stdin() if from_stdin else _key_from_prompt(found)
    place = keep_key(found, text, in_file=in_file)
    if as_data:
        first = bool(found.key_env and os.environ.get(found.key_env))
        print_json({"provider": found.name, "kept_in": place, "environment_first": first})
        return 0
    say(f"The key for {found.name} is in {place}.")
    if found.key_env and os.environ.get(found.key_env):
        say(f"{found.key_env} is set too, and takes precedence.")
    return 0


@auth.command(
    epilog="""\b
Examples:
  agentforge auth logout openai"""
)
@click.argument("provider")
@json_option
def logout(*, provider: str, as_data: bool) -> int:
    """Remove the stored key for PROVIDER. The environment is not changed."""
    from agentforge.app.models.keys import find_provider, forget_key
    from agentforge.surfaces.cli.printing import print_json

    found = find_provider(provider)
    places = forget_key(found)
    if as_data:
        still = bool(found.key_env and os.environ.get(found.key_env))
        print_json({"provider": found.name, "gone_from": [*places], "still_in_environment": still})
        return 0
    if not places:
        say(f"No key for {found.name} is stored.")
    for place in places:
        say(f"Removed the key for {found.name} from {place}.")
    if found.key_env and os.environ.get(found.key_env):
        say(f"{found.key_env} is still set.")
    return 0


@auth.command(
    epilog="""\b
Examples:
  agentforge auth status
  agentforge auth status --json"""
)
@json_option
def status(*, as_data: bool) -> int:
    """Show which providers have a key, and where it comes from."""
    from agentforge.app.models.keys import key_states
    from agentforge.surfaces.cli.printing import print_json, table

    found = key_states()
    problems = list(dict.fromkeys(each.problem for each in found if each.problem))
    if as_data:
        print_json([_fields(each) for each in found])
    else:
        header = ("provider", "key from", "ends in", "server")
        say(table(header, [_cells(each) for each in found]))
        for problem in problems:
            say(problem, err=True)
    return 2 if problems else 0


def _fields(found: "KeyState") -> "dict[str, Json]":
    return {
        "provider": found.provider.name,
        "source": found.source,
        "key": found.hint,
        "variable": found.provider.key_env,
        "needed": found.provider.needs_key,
        "server": found.provider.host,
        "problem": found.problem or None,
    }


def _cells(found: "KeyState") -> tuple[str, ...]:
    absent = "-" if found.provider.needs_key else "none needed"
    return found.provider.name, found.source or absent, found.hint or "", found.provider.host


def _key_from_stdin() -> str:
    return sys.stdin.read(_LONGEST)


def _key_from_prompt(provider: "Provider") -> str:
    from agentforge.core.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(
            "The key cannot be asked for: this is not a terminal.",
            f"Pipe it in: `agentforge auth login {provider.name} --from-stdin`.",
        )
    return str(
        click.prompt(f"Key for {provider.name} (not shown)", hide_input=True, default="", show_default=False)
    )
