"""`--repo NAME`: which repository a command works on, from any directory."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from agentforge.store.user.repositories import Repository
    from agentforge.system.git.repository import Git

F = TypeVar("F", bound=Callable[..., int])

_META = "agentforge.repo"


def repo_option(command: F) -> F:
    """`--repo`, for every command that works on a repository; `here` is where that is."""
    return click.option(
        "--repo",
        metavar="NAME",
        expose_value=False,
        callback=_remember,
        shell_complete=_names,
        help="A registered repository, by its name; else the one you are in.",
    )(command)


def here() -> Path:
    """Where the command works: the repository that was named, or the directory it runs in."""
    from agentforge.store.user.repositories import place

    found = named_repository()
    if found is None:
        return Path.cwd()
    from agentforge.surfaces.cli.pasting import reads_elsewhere

    reads_elsewhere(found.name, place(found))
    return place(found)


def named_repository() -> "Repository | None":
    """The repository that was named with `--repo`, if one was."""
    context = click.get_current_context(silent=True)
    name = None if context is None else context.meta.get(_META)
    if name is None:
        return None
    from agentforge.app.setup.repositories import find_repository
    from agentforge.store.layout import Home
    from agentforge.store.site import home_path

    return find_repository(Home(home_path()), name, Path.cwd())


def default_base(git: "Git") -> str | None:
    """Where a task starts if nobody says: a repository that was named has a branch for that."""
    from agentforge.app.setup.repositories import base_of

    named = named_repository()
    return None if named is None else base_of(git, named)


def inside(path: str) -> str:
    """A path that the person gave, read from where the command works."""
    return path if named_repository() is None else str(here() / path)


def _remember(context: click.Context, _param: click.Parameter, name: str | None) -> None:
    if name is not None:
        context.meta[_META] = name


def _names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """The names of the file. A shell that asks is never told of an error."""
    from click.shell_completion import CompletionItem

    from agentforge.store.layout import Home
    from agentforge.store.site import home_path
    from agentforge.store.user.repositories import names_by_path

    names = sorted(names_by_path(Home(home_path())).values())
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
