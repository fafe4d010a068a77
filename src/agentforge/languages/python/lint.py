"""The project's own linter, ruff."""

import json
from collections.abc import Sequence
from pathlib import Path

from agentforge.languages.python.environment import run_env
from agentforge.languages.python.typecheck import relative, tools_of
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.base import Confinement, Sandbox


def configured(tree: Path) -> bool:
    """Whether the project says that it uses ruff."""
    return (tree / "ruff.toml").is_file() or (tree / ".ruff.toml").is_file() or "ruff" in tools_of(tree)


def lint(
    sandbox: Sandbox, env: Environment, tree: Path, paths: Sequence[str], timeout_s: float = 120
) -> CheckRun:
    """Check those of `paths` that exist, with the project's configuration and the environment's ruff."""
    if not configured(tree):
        return CheckRun("not_configured", "the project does not configure ruff")
    ruff = env.program.parent / "ruff"
    if not ruff.exists():
        return CheckRun("not_run", "the project configures ruff, but its environment has none")
    present = [path for path in paths if path.endswith((".py", ".pyi")) and (tree / path).is_file()]
    if not present:
        return CheckRun("ran", "no Python file to check")
    argv = (
        str(ruff),
        "check",
        "--output-format=json",
        "--no-cache",
        "--force-exclude",
        "--exit-zero",
        "--",
        *present,
    )
    tree = tree.resolve()
    done = sandbox.run(
        argv, Confinement(cwd=tree, read=(tree, *env.readable), env=run_env(env, tree), timeout_s=timeout_s)
    )
    if done.timed_out:
        return CheckRun("not_run", f"ruff did not end within {int(timeout_s)} s")
    try:
        rows = json.loads(done.out)
    except ValueError:
        rows = None
    if done.code != 0 or not isinstance(rows, list):
        said = done.err.decode("utf-8", "replace").strip().splitlines()
        return CheckRun("not_run", f"ruff failed: {said[0][:300] if said else f'exit code {done.code}'}")
    return CheckRun.of(
        (
            relative(row["filename"], tree),
            row["code"] or "invalid-syntax",
            f"{(row.get('location') or {}).get('row', 0)}: {row['message']}",
        )
        for row in rows
    )
