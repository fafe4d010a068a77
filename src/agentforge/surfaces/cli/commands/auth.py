"""`auth`: a person's keys for model providers, kept where only they can read them. No command prints one."""

import os
import sys
from typing import TYPE_CHECKING

import click

from agentforge.surfaces.cli.printing import json_option, say

if TYPE_CHECKING:
    from agentforge.app.provider_keys import KeyState
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

A key in the environment comes first. A repository that is worked on can give none."""
)
def auth() -> None:
    """Store, remove and list your keys for model providers."""


@auth.command(
    epilog="""\b
Examples:
  agentforge auth login anthropic
  agentforge auth login openai --from-stdin < key.txt
  agentforge auth login mistral --file

The key goes to the system's keychain if there is one, else to keys.yaml in your own directory, readable by
you alone."""
)
@click.argument("provider")
@click.option("--from-stdin", is_flag=True, help="Read the key from the input instead of asking for it.")
@click.option("--file", "in_file", is_flag=True, help="Keep it in the file even if there is a keychain.")
@json_option
def login(*, provider: str, from_stdin: bool, in_file: bool, as_data: bool) -> int:
    """Store a key for PROVIDER."""
    from agentforge.app.provider_keys import find_provider, keep_key
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
        say(f"{found.key_env} is set too, and comes first.")
    return 0


@auth.command(
    epilog="""\b
Examples:
  agentforge auth logout openai"""
)
@click.argument("provider")
@json_option
def logout(*, provider: str, as_data: bool) -> int:
    """Forget the key for PROVIDER. What is in the environment stays there."""
    from agentforge.app.provider_keys import find_provider, forget_key
    from agentforge.surfaces.cli.printing import print_json

    found = find_provider(provider)
    places = forget_key(found)
    if as_data:
        still = bool(found.key_env and os.environ.get(found.key_env))
        print_json({"provider": found.name, "gone_from": [*places], "still_in_environment": still})
        return 0
    if not places:
        say(f"No key for {found.name} is kept here.")
    for place in places:
        say(f"The key for {found.name} is gone from {place}.")
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
    """Show for which providers there is a key, and where it is from."""
    from agentforge.app.provider_keys import key_states
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
            "There is no terminal to ask for the key.",
            f"Send it in: `agentforge auth login {provider.name} --from-stdin`.",
        )
    return str(
        click.prompt(f"Key for {provider.name} (not shown)", hide_input=True, default="", show_default=False)
    )
