"""`completion`: the script that lets a shell complete commands, options and task names."""

import click

_USE = {
    "bash": 'eval "$(agentforge completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(agentforge completion zsh)"  # in ~/.zshrc, after compinit',
    "fish": "agentforge completion fish > ~/.config/fish/completions/agentforge.fish",
}


@click.command(
    epilog="""\b
Examples:
"""
    + "\n".join(f"  {line}" for line in _USE.values())
)
@click.argument("shell", type=click.Choice(sorted(_USE)))
def completion(*, shell: str) -> int:
    """Print the completion script for SHELL, for `agentforge` and for `forge`."""
    from click.shell_completion import get_completion_class

    from agentforge.surfaces.cli.main import cli
    from agentforge.surfaces.cli.printing import print_text

    found = get_completion_class(shell)
    assert found is not None
    for name in ("agentforge", "forge"):
        script = found(cli, {}, name, "_AGENTFORGE_COMPLETE")
        print_text(script.source_template % script.source_vars())
    return 0
