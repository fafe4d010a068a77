"""What commands print with `--json`, held to the schemas of `docs/json`."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import jsonschema_rs

from agentforge.surfaces.cli.main import cli

SCHEMAS = Path(__file__).parents[2] / "docs" / "json"


def conform(command: str, said: str) -> Any:  # noqa: ANN401 - whatever a command prints
    """What was printed, as data; it is one document, and as the schema of the command says."""
    found = json.loads(said)
    wrong = [
        f"{command}: {'/'.join(map(str, error.instance_path))}: {error.message[:300]}"
        for error in _validator(command).iter_errors(found)
    ]
    assert wrong == []
    assert [key for key in _keys(found) if " " in key] == []
    return found


@cache
def with_data() -> frozenset[str]:
    """Every command that has `--json`."""
    return frozenset(" ".join(words) for words, command in _commands(cli, ()) if _has_json(command))


def without_data() -> frozenset[str]:
    """Every command that has none."""
    return frozenset(" ".join(words) for words, command in _commands(cli, ()) if not _has_json(command))


def command_of(words: tuple[str, ...]) -> str:
    """The command that a command line names."""
    return max((name for name in with_data() if words[: len(name.split())] == (*name.split(),)), key=len)


@cache
def _validator(command: str) -> jsonschema_rs.Validator:
    name = f"{command.replace(' ', '-')}.schema.json"
    return jsonschema_rs.validator_for(json.loads((SCHEMAS / name).read_text(encoding="utf-8")))


def _keys(value: object) -> Iterator[str]:
    """Every key but the names of blocks, which are data."""
    if isinstance(value, dict):
        yield from value
        value = [inner for key, inner in value.items() if key != "context_sent"]
    for inner in value if isinstance(value, list) else ():
        yield from _keys(inner)


def _has_json(command: click.Command) -> bool:
    return any("--json" in parameter.opts for parameter in command.params)


def _commands(
    command: click.Command, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        yield words, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from _commands(below, (*words, name))


OF_A_FINISHED_TASK = (
    ("status", ("status",), 0),
    ("status", ("status", "@1"), 0),
    ("status", ("status", "--all"), 0),
    ("status", ("status", "@1", "--phase", "patch"), 0),
    ("status", ("status", "@1", "--step", "2"), 0),
    ("logs", ("logs", "@1"), 0),
    ("inbox", ("inbox", "--all"), 0),
    ("continue", ("continue",), 0),
    ("escalations list", ("escalations", "list", "--all"), 0),
    ("escalations show", ("escalations", "show", "ESC-001"), 0),
    ("artifacts list", ("artifacts", "list"), 0),
    ("artifacts show", ("artifacts", "show", "@1", "specification"), 0),
    ("artifacts export", ("artifacts", "export", "@1", "--to", "documents"), 0),
    ("diff", ("diff",), 0),
    ("diff", ("diff", "--stat"), 0),
    ("inspect", ("inspect",), 0),
    ("inspect", ("inspect", "--step", "2"), 0),
    ("inspect", ("inspect", "--step", "2", "--show", "context"), 0),
    ("inspect", ("inspect", "--step", "2", "--show", "reply"), 0),
    ("inspect", ("inspect", "--step", "2", "--show", "tools"), 0),
    ("inspect", ("inspect", "--step", "2", "--show", "diff"), 0),
    ("inspect", ("inspect", "--step", "2", "--show", "gate"), 0),
    ("inspect", ("inspect", "--step", "2", "--show", "state"), 0),
    ("context", ("context", "--step", "2", "--text"), 0),
    ("verify", ("verify", "@1"), 0),
    ("report", ("report",), 0),
    ("audit", ("audit", "--format", "html"), 0),
    ("compare", ("compare", "@1", "@1"), 0),
    ("metrics", ("metrics", "--by", "repo"), 0),
    ("defect", ("defect", "@1", "--note", "greets twice"), 0),
    ("verify", ("verify", "@1"), 0),
    ("audit", ("audit", "--format", "json"), 0),
    ("cost", ("cost",), 0),
    ("cost", ("cost", "@1", "--by", "model"), 0),
    ("pipelines list", ("pipelines", "list"), 0),
    ("pipelines show", ("pipelines", "show", "implement"), 0),
    ("permissions allow", ("permissions", "allow", "run_command", "--command", "make docs"), 0),
    ("permissions list", ("permissions", "list"), 0),
    ("permissions revoke", ("permissions", "revoke", "grant-"), 0),
    ("permissions explain", ("permissions", "explain", "git push --force | tee x"), 0),
    ("models list", ("models", "list"), 0),
    ("models explain", ("models", "explain", "reviewer"), 1),
    ("auth status", ("auth", "status"), 0),
    ("auth logout", ("auth", "logout", "openai"), 0),
    ("keys init", ("keys", "init"), 0),
    ("keys show", ("keys", "show"), 0),
    ("keys list", ("keys", "list"), 0),
    ("keys trust", ("keys", "trust", "ada", "KEY"), 0),
    ("config show", ("config", "show"), 0),
    ("config path", ("config", "path"), 0),
    ("init", ("init", "--with-catalog"), 0),
    ("pipelines validate", ("pipelines", "validate", ".agentforge/pipelines/implement.yaml"), 0),
    ("sandbox run", ("sandbox", "run"), 0),
    ("error", ("abort", "@1"), 2),
    ("error", ("diff", "@7"), 2),
    ("error", ("status", "--nonsense"), 2),
    ("error", ("nonsense",), 2),
    ("error", ("start", "  "), 2),
    ("error", ("verify", "@1", "--at", "HEAD"), 2),
)
"""Command, its words and its exit code, on a repository whose only task is completed and was asked once."""
ELSEWHERE = frozenset(
    {
        *(
            "start",
            "design",
            "implement",
            "test",
            "review",
            "document",
            *("research", "write", "analyse", "curate", "sources add", "sources list", "trace"),
            "debate",
            "trees clean",
            "fix",
            "resolve",
            "approve",
            "reject",
            "feedback",
            "abort",
            "merge",
            "discard",
        ),
        *(f"plugin {word}" for word in ("install", "uninstall")),
        *(
            f"phase {word}"
            for word in (
                *("start", "brainstorm", "research", "design", "plan", "test", "build", "validate", "review"),
                *("learn", "continue", "status", "save", "debate", "check", "log"),
            )
        ),
        *(
            "repo add",
            "repo list",
            "repo remove",
            "check",
            *(f"violations {word}" for word in ("list", "show", "exempt", "baseline")),
            "replay",
            "fork",
            "trees list",
            "clean",
            "models test",
            "auth login",
            "doctor",
            "demo",
            "setup",
        ),
    }
)
"""Held to their schemas by tests that run them anyway."""
