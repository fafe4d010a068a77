"""`repo`: repositories by name, for `--repo` of every other command."""

from pathlib import Path

import click

from agentforge.surfaces.cli.printing import json_option, say


@click.group(
    epilog="""\b
Examples:
  agentforge repo add ~/code/backend --name backend-service
  agentforge repo list
  agentforge start "Add authentication" --repo backend-service
  agentforge repo remove backend-service

The names are in repos.yaml in your own directory, which you can also edit."""
)
def repo() -> None:
    """Name repositories, so that commands work on them from any directory."""


@repo.command(
    "add",
    epilog="""\b
Examples:
  agentforge repo add .
  agentforge repo add ~/code/data --name data-layer --default-branch develop
  agentforge repo add ~/code/backend --contracts-path contracts/

Tasks that name the repository start from its default branch, whatever is checked out. Adding it again
changes its entry. If a repository has moved, its name can be given to the new place.""",
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="Its name; by default that of its directory.")
@click.option(
    "--default-branch", metavar="BRANCH", help="Where its tasks start; by default the remote's, or main."
)
@click.option(
    "--contracts-path", metavar="FOLDER", help="A folder of the repository that holds contracts of its own."
)
@json_option
def add(
    *, path: Path, name: str | None, default_branch: str | None, contracts_path: str | None, as_data: bool
) -> int:
    """Register the repository at PATH, or change its entry."""
    from agentforge.app.setup.repositories import add_repository
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.surfaces.cli.printing import print_json

    made, change = add_repository(Home(home_path()), path.expanduser(), name, default_branch, contracts_path)
    if as_data:
        print_json({**_fields(made), "change": change})
        return 0
    said = {"added": "is registered", "changed": "is changed", "unchanged": "is registered already"}[change]
    say(f"{made.name} {said}: {made.path}, branch {made.default_branch}.")
    return 0


@repo.command(
    "list",
    epilog="""\b
Examples:
  agentforge repo list
  agentforge repo list --json

A project may propose repositories in .agentforge/config/repos.yaml. They are listed, and count once you
register them.""",
)
@json_option
def list_(*, as_data: bool) -> int:
    """List the registered repositories, and what the project here proposes."""
    from agentforge.app.record.listed import list_all_tasks
    from agentforge.app.setup.repositories import list_repositories
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.surfaces.cli.printing import print_json, table

    home = Home(home_path())
    rows = list_all_tasks(home, lambda text: say(text, err=True))
    found = list_repositories(home, rows, Path.cwd())
    if as_data:
        print_json(
            [
                {
                    **_fields(each.repository),
                    "state": each.standing,
                    "tasks": each.tasks,
                    "open_tasks": each.open_tasks,
                    "next": each.problem or None,
                }
                for each in found
            ]
        )
        return 0
    if not found:
        say("No repository is registered. `agentforge repo add PATH` registers one.")
        return 0
    words = {"ready": "ready", "missing": "missing", "no_branch": "no such branch", "proposed": "proposed"}
    lines = [
        (
            each.repository.name,
            each.repository.default_branch,
            words[each.standing],
            f"{each.open_tasks}/{each.tasks}",
            each.repository.path,
        )
        for each in found
    ]
    say(table(("name", "branch", "state", "open/all tasks", "path"), lines, right=frozenset()))
    for each in found:
        if each.problem:
            say(f"{each.repository.name}: {each.problem}")
    return 0


@repo.command(
    "remove",
    epilog="""\b
Examples:
  agentforge repo remove backend-service

Only the name is forgotten: the repository, its tasks and their branches stay as they are.""",
)
@click.argument("name")
@json_option
def remove(*, name: str, as_data: bool) -> int:
    """Forget the name of a repository."""
    from agentforge.app.setup.repositories import remove_repository
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.surfaces.cli.printing import print_json

    gone = remove_repository(Home(home_path()), name)
    if as_data:
        print_json(_fields(gone))
    else:
        say(f"{gone.name} is no longer registered; nothing at {gone.path} was touched.")
    return 0


def _fields(repository: object) -> dict[str, str | None]:
    from agentforge.store.user.repositories import Repository

    assert isinstance(repository, Repository)
    return {key: value or None for key, value in repository._asdict().items()}
