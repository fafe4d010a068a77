"""`config`: the user's own settings file: where it is, what it says, and how to change it."""

import click

from agentforge.surfaces.cli.printing import json_option, say

_EXAMPLES = """\b
Examples:
  agentforge config show
  agentforge config path
  agentforge config edit

A project's settings are in .agentforge/config/settings.yaml of its repository; `agentforge init` writes
them."""


@click.group(epilog=_EXAMPLES)
def config() -> None:
    """Show, find and edit your own settings."""


@config.command(epilog=_EXAMPLES)
@json_option
def path(*, as_data: bool) -> int:
    """Print the path of your settings file."""
    from agentforge.app.setup.own_config import own_config_path
    from agentforge.surfaces.cli.printing import print_json, print_text

    if as_data:
        print_json({"path": str(own_config_path())})
    else:
        print_text(str(own_config_path()))
    return 0


@config.command(epilog=_EXAMPLES)
@json_option
def show(*, as_data: bool) -> int:
    """Show your settings, and the defaults of what they leave out."""
    from agentforge.app.setup.own_config import read_own_config
    from agentforge.surfaces.cli.printing import print_json, print_text

    found = read_own_config()
    if as_data:
        print_json({"path": str(found.path), "exists": found.text is not None, "settings": found.settings})
    elif found.text is None:
        say(f"{found.path} does not exist yet, so every setting has its default.")
        say("`agentforge config edit` creates one.")
    else:
        say(f"# {found.path}")
        print_text(found.text.rstrip("\n"))
    return 0


@config.command(epilog=_EXAMPLES)
def edit() -> int:
    """Open your settings in $EDITOR; they are saved only if they are valid."""
    from agentforge.app.setup.own_config import read_own_config, template, write_own_config
    from agentforge.core.errors import UsageError
    from agentforge.surfaces.cli.editing import edited
    from agentforge.surfaces.cli.flags import at_terminal

    found = read_own_config(check=False)
    text = found.text if found.text is not None else template()
    while True:
        written = edited(text, ".yaml", f"or edit {found.path} yourself.")
        if written is None or written == found.text:
            say(f"{found.path} was not changed.")
            return 0
        try:
            write_own_config(written)
        except UsageError as error:
            say(f"{error.sentence}\n{error.next_step}".rstrip(), err=True)
            if not at_terminal() or not click.confirm("Edit it again?", default=True, err=True):
                say(f"{found.path} was not changed.")
                return 2
            text = written
            continue
        say(f"Written: {found.path}.")
        return 0
