"""`auth`: a person's keys for model providers, kept where only they can read them. No command prints one."""

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agentforge.core.reply import Json
    from agentforge.models.providers import Provider
    from agentforge.store.keys import KeyStore

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
    """Keep, forget and look over your keys for model providers."""


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
def login(*, provider: str, from_stdin: bool, in_file: bool) -> int:
    """Keep a key for PROVIDER."""
    found = _provider(provider)
    text = _given() if from_stdin else _typed(found)
    place = _keys().put(found.name, text, in_file=in_file)
    click.echo(f"The key for {found.name} is in {'your keychain' if place == 'keychain' else _file()}.")
    if found.key_env and os.environ.get(found.key_env):
        click.echo(f"{found.key_env} is set too, and comes first.")
    return 0


@auth.command(
    epilog="""\b
Examples:
  agentforge auth logout openai"""
)
@click.argument("provider")
def logout(*, provider: str) -> int:
    """Forget the key for PROVIDER. What is in the environment stays there."""
    found = _provider(provider)
    places = _keys().drop(found.name)
    if not places:
        click.echo(f"No key for {found.name} is kept here.")
    for place in places:
        click.echo(
            f"The key for {found.name} is gone from {'your keychain' if place == 'keychain' else _file()}."
        )
    if found.key_env and os.environ.get(found.key_env):
        click.echo(f"{found.key_env} is still set.")
    return 0


@auth.command(
    epilog="""\b
Examples:
  agentforge auth status
  agentforge auth status --json"""
)
@click.option("--json", "as_data", is_flag=True, help="Print as JSON.")
def status(*, as_data: bool) -> int:
    """Show for which providers there is a key, and where it is from."""
    from agentforge.surfaces.cli.printing import print_json, table

    keys = _keys()
    rows = [_row(provider, keys) for provider in _providers().values()]
    problems = list(dict.fromkeys(str(row["problem"]) for row in rows if row["problem"]))
    if as_data:
        print_json(rows)
    else:
        cells = [
            (
                str(row["provider"]),
                str(row["source"] or _absent(row)),
                str(row["key"] or ""),
                str(row["server"]),
            )
            for row in rows
        ]
        click.echo(table(("provider", "key from", "ends in", "server"), cells))
        for problem in problems:
            click.echo(problem, err=True)
    return 2 if problems else 0


def _row(provider: "Provider", keys: "KeyStore") -> "dict[str, Json]":
    from agentforge.core.errors import UsageError

    problem, key = "", None
    try:
        key = keys.find(provider.name, provider.key_env)
    except UsageError as error:
        problem = str(error)
    return {
        "provider": provider.name,
        "source": key.source if key else None,
        "key": key.hint if key else None,
        "variable": provider.key_env,
        "needed": provider.needs_key,
        "server": provider.host,
        "problem": problem or None,
    }


def _absent(row: "dict[str, Json]") -> str:
    return "-" if row["needed"] else "none needed"


def _provider(name: str) -> "Provider":
    from agentforge.core.errors import UsageError

    known = _providers()
    if name not in known:
        raise UsageError(
            f"{name[:80]!r} is not a provider.",
            f"Known: {', '.join(known)}; add others under `providers:` in config.yaml.",
        )
    return known[name]


def _providers() -> "dict[str, Provider]":
    from agentforge.app.models_config import models_config
    from agentforge.store.site import home_path

    return dict(models_config(home_path()).providers)


def _keys() -> "KeyStore":
    from agentforge.store.keys import KeyStore
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path

    return KeyStore.of(Home(home_path()), os.environ)


def _file() -> str:
    from agentforge.store.keys import keys_file
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path

    return str(keys_file(Home(home_path())))


def _given() -> str:
    return sys.stdin.read(_LONGEST)


def _typed(provider: "Provider") -> str:
    from agentforge.core.errors import UsageError

    if not sys.stdin.isatty():
        raise UsageError(
            "There is no terminal to ask for the key.",
            f"Send it in: `agentforge auth login {provider.name} --from-stdin`.",
        )
    return str(
        click.prompt(f"Key for {provider.name} (not shown)", hide_input=True, default="", show_default=False)
    )
