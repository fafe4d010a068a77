"""The options that several commands share: each reaches the parameter that its help speaks of."""

import click
import pytest

from agentforge.store.user.start_permissions import StartPermissions
from agentforge.surfaces.cli.flags import permissions_of
from agentforge.surfaces.cli.main import cli
from tests.rows import every

STARTS = (
    *("start", "design", "implement", "test", "review", "document", "debate", "research", "write", "analyse"),
    *("curate", "fix"),
)
READS_A_FILE = STARTS[:-1]
AREAS = ("files", "shell", "network", "web", "mcp")
OPTIONS = {
    "--lane": ("lane", "full"),
    "--mode": ("mode", "audit"),
    "--through": ("through", "spec"),
    "--exit-after": ("through", "spec"),
    "--skip-to": ("skip_to", "red"),
    "--spec": ("spec_file", "spec.yaml"),
    "--from-spec": ("spec_file", "spec.yaml"),
    "--from-tests": ("from_tests", "tests"),
    "--from-task": ("from_task", "task-1"),
    "--reworks": ("reworks", "task-1"),
    "--base": ("base", "main"),
    "--model": ("model", "openai:NAME"),
    "--sandbox": ("sandbox", "landlock"),
    "--budget": ("budget", "2.50"),
    "--engine": ("engine", "temporal"),
    "--deadline": ("deadline", "90m"),
}
FLAGS = {
    "--batch": "batch",
    "--detach": "detach",
    "--no-wait": "no_wait",
    "--json": "as_data",
    "--iterate": "iterate",
    "--no-iterate": "no_iterate",
    "--debate": "debate",
    "--no-debate": "no_debate",
}
SEVERAL = {"--iterate-at": ("iterate_at", "spec"), "--approve": ("approve", "design")}


def parsed(name: str, *words: str) -> dict[str, object]:
    """What a command would be called with."""
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return dict(command.make_context(name, list(words)).params)


def wishes(command: str, *words: str) -> StartPermissions:
    found = parsed(command, "x", *words)
    areas = found["areas"]
    assert isinstance(areas, tuple)
    strict, silent, yes = (found[name] is True for name in ("strict", "non_interactive", "yes"))
    return permissions_of(areas, strict=strict, non_interactive=silent, yes=yes)


@every("command", (*STARTS, "continue"))
def test_each_permission_flag_is_kept_as_what_it_says(command: str) -> None:
    assert wishes(command) == StartPermissions()
    words = ("--allow-files", "--allow-shell", "--allow-network", "--allow-web", "--allow-mcp")
    for area, word in zip(AREAS, words, strict=True):
        assert wishes(command, word) == StartPermissions(frozenset({area}))  # type: ignore[arg-type]  # one of them
    assert wishes(command, *words).allow == frozenset(AREAS)
    assert wishes(command, "--strict") == StartPermissions(strict=True)
    assert wishes(command, "--non-interactive") == StartPermissions(interactive=False)
    assert wishes(command, "--yes") == StartPermissions(yes=True)


@every("command", STARTS)
def test_every_way_to_start_takes_the_same_options(command: str) -> None:
    plain = parsed(command, "x")
    for word, (name, value) in OPTIONS.items():
        assert parsed(command, "x", word, value) == {**plain, name: value}
    for word in ("--supervised", "--interactive"):
        assert parsed(command, "x", word) == {**plain, "oversight": word.removeprefix("--")}
    for word, (name, value) in SEVERAL.items():
        assert parsed(command, "x", word, value, word, "deliver") == {**plain, name: (value, "deliver")}
    if command in READS_A_FILE:
        assert parsed(command, "x", "--file", "request.md") == {**plain, "file": "request.md"}
    for word, name in FLAGS.items():
        assert parsed(command, "x", word) == {**plain, name: True}


def test_the_demo_takes_a_lane_a_sandbox_and_prints_data() -> None:
    plain = {"place": None, "lane": "small", "sandbox": None, "as_data": False}
    assert parsed("demo") == plain
    assert parsed("demo", "--lane", "full", "--sandbox", "landlock", "--json") == {
        **plain,
        "lane": "full",
        "sandbox": "landlock",
        "as_data": True,
    }
    with pytest.raises(click.BadParameter):
        parsed("demo", "--lane", "hotfix")
