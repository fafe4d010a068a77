"""`keys`: the key that a person's deliveries are signed with, and whose signatures they trust. No command
prints a private one.
"""

from pathlib import Path

import click

from agentforge.surfaces.cli.printing import json_option, say


@click.group(
    epilog="""\b
Examples:
  agentforge keys init
  agentforge keys show
  agentforge keys trust ada "ssh-ed25519 AAAA…"
  agentforge keys list

In CI, AGENTFORGE_SIGNING_KEY holds the private key, or AGENTFORGE_SIGNING_KEY_FILE names its file."""
)
def keys() -> None:
    """Create the key that signs your deliveries, and choose whose signatures to trust."""


@keys.command(
    epilog="""\b
Examples:
  agentforge keys init
  agentforge keys init --name ada

The private key stays in your AgentForge directory, and only you can read it. Your own signatures are trusted
from then on."""
)
@click.option("--name", help="A name for the key. Default: the email address in your git settings.")
@json_option
def init(*, name: str | None, as_data: bool) -> int:
    """Create your key; everything you deliver from then on is signed."""
    from agentforge.app.evidence.signing_keys import init_key
    from agentforge.surfaces.cli.printing import print_json

    made = init_key(name, Path.cwd())
    if as_data:
        print_json({"key": made.line, "fingerprint": made.fingerprint, "source": made.source})
        return 0
    say(f"Your key is {made.source}. Others check your signatures with the public key:\n{made.line}")
    return 0


@keys.command(
    epilog="""\b
Examples:
  agentforge keys show
  agentforge keys show --json"""
)
@json_option
def show(*, as_data: bool) -> int:
    """Print your public key, for others to trust."""
    from agentforge.app.evidence.signing_keys import own_key
    from agentforge.surfaces.cli.printing import print_json

    found = own_key()
    if as_data:
        print_json({"key": found.line, "fingerprint": found.fingerprint, "source": found.source})
    else:
        say(found.line)
    return 0


@keys.command(
    epilog="""\b
Examples:
  agentforge keys trust ada "ssh-ed25519 AAAA…"
  agentforge keys trust ci ci.pub

Keys in git's own list (gpg.ssh.allowedSignersFile in your git settings) are trusted already."""
)
@click.argument("name")
@click.argument("key", metavar="KEY|FILE")
@json_option
def trust(*, name: str, key: str, as_data: bool) -> int:
    """Trust signatures made with KEY, under NAME."""
    from agentforge.app.evidence.signing_keys import trust_key
    from agentforge.surfaces.cli.printing import print_json

    found, new = trust_key(name, key)
    if as_data:
        print_json({"name": name, "fingerprint": found.fingerprint, "new": new})
        return 0
    say(f"{name} is trusted{'' if new else ' already'}: {found.fingerprint}")
    return 0


@keys.command(
    name="list",
    epilog="""\b
Examples:
  agentforge keys list
  agentforge keys list --json""",
)
@json_option
def list_keys(*, as_data: bool) -> int:
    """List the keys you trust, and where each one comes from."""
    from dataclasses import asdict

    from agentforge.app.evidence.signing_keys import trusted
    from agentforge.surfaces.cli.printing import print_json, table

    found = trusted(Path.cwd())
    if as_data:
        print_json([asdict(each) for each in found])
    elif not found:
        say("There are no trusted keys yet; `agentforge keys trust NAME KEY` adds one.")
    else:
        rows = [(each.name, each.fingerprint, each.source) for each in found]
        say(table(("name", "fingerprint", "said in"), rows))
    return 0
