"""`plugin`: our plugin for Claude Code, in a workspace or for all of them."""

from pathlib import Path

import click

from agentforge.surfaces.cli.printing import json_option, say

_workspace = click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The top of the project; by default the directory you are in.",
)


@click.group(
    epilog="""\b
Examples:
  agentforge plugin install
  agentforge plugin uninstall --workspace ~/code/shop
  claude plugin marketplace add "$(agentforge plugin path)"
  claude plugin install forge@agentforge

`install` is for one project, also without Claude Code at hand, such as a worktree of AO. The last two lines
install the same for all your projects."""
)
def plugin() -> None:
    """Use the ten-phase workflow in Claude Code: /forge:start, /forge:continue and the others."""


@plugin.command(
    "install",
    epilog="""\b
Examples:
  agentforge plugin install
  agentforge plugin install --workspace ~/code/shop --json

Writes only below .claude: commands, agents, a skill and a script, and adds three hooks to settings.json.
Whatever else is there stays as it is. Running it again changes nothing.""",
)
@_workspace
@json_option
def install(*, workspace: Path, as_data: bool) -> int:
    """Give a project the commands, agents, skill and hooks of the workflow."""
    from agentforge.app.workflow.plugin import install_plugin

    done = install_plugin(workspace.expanduser())
    _show(done, as_data=as_data)
    if as_data:
        return 0
    if not done.written:
        say(f"The plugin is installed already in {done.workspace}; nothing was changed.")
        return 0
    say(f"The plugin is installed in {done.workspace}: {len(done.written)} files below .claude.")
    say("Commit them, or list them in .gitignore. Then start Claude Code there and type /forge:start.")
    return 0


@plugin.command(
    "uninstall",
    epilog="""\b
Examples:
  agentforge plugin uninstall
  agentforge plugin uninstall --workspace ~/code/shop

Removes what `install` wrote. Files that you have changed stay, and so does the state of a workflow.""",
)
@_workspace
@json_option
def uninstall(*, workspace: Path, as_data: bool) -> int:
    """Take the plugin out of a project again."""
    from agentforge.app.workflow.plugin import uninstall_plugin

    done = uninstall_plugin(workspace.expanduser())
    _show(done, as_data=as_data)
    if as_data:
        return 0
    if not (done.written or done.removed):
        say(f"The plugin is not installed in {done.workspace}.")
        return 0
    changed = " and the hooks in .claude/settings.json" if ".claude/settings.json" in done.written else ""
    say(f"Removed from {done.workspace}: {len(done.removed)} files{changed}.")
    return 0


@plugin.command(
    "path",
    epilog="""\b
Examples:
  agentforge plugin path
  claude plugin marketplace add "$(agentforge plugin path)" """,
)
def path() -> int:
    """Print the folder of the marketplace that Claude Code can install the plugin from."""
    from agentforge.app.workflow.plugin import marketplace_path

    say(str(marketplace_path()))
    return 0


@plugin.command(
    "hook",
    epilog="""\b
Examples:
  agentforge plugin hook session-start
  agentforge plugin hook pre-compact --workspace ~/code/shop

session-start prints the phase, the locked decisions and what blocks; post-tool-use brings AO up to date;
pre-compact keeps a copy of the state. The exit code is always 0: no hook blocks Claude Code.""",
)
@click.argument("event", type=click.Choice(("session-start", "post-tool-use", "pre-compact")))
@_workspace
def hook(*, event: str, workspace: Path) -> int:
    """Answer a hook of Claude Code."""
    import os

    from agentforge.app.workflow.plugin_hooks import HOOK_EVENTS, run_hook

    (asked,) = (each for each in HOOK_EVENTS if each == event)
    if text := run_hook(asked, Path(os.path.realpath(workspace.expanduser())), os.environ):
        say(text)
    return 0


def _show(done: object, *, as_data: bool) -> None:
    from agentforge.app.workflow.plugin import PluginChange
    from agentforge.surfaces.cli.printing import print_json

    assert isinstance(done, PluginChange)
    if as_data:
        print_json(
            {
                "workspace": str(done.workspace),
                "written": list(done.written),
                "removed": list(done.removed),
                "kept": list(done.kept),
            }
        )
        return
    for each in done.kept:
        say(f"{each} was not changed: it is not as the plugin wrote it.")
