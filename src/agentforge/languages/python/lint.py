"""The project's own linter, ruff."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentforge.languages.python.environment import run_env
from agentforge.languages.values import CheckRun, Environment
from agentforge.sandbox.base import Confinement, Sandbox


def configured(tree: Path) -> bool:
    """Whether the project says that it uses ruff."""
    if (tree / "ruff.toml").is_file() or (tree / ".ruff.toml").is_file():
        return True
    try:
        return "ruff" in tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8")).get("tool", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False


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
    return _counted(rows, tree)


def _counted(rows: Sequence[Mapping[str, Any]], tree: Path) -> CheckRun:
    findings: dict[tuple[str, str], int] = {}
    samples: dict[tuple[str, str], str] = {}
    for row in rows:
        path = Path(row["filename"])
        name = path.relative_to(tree).as_posix() if path.is_relative_to(tree) else str(path)
        key = (name, row["code"] or "invalid-syntax")
        findings[key] = findings.get(key, 0) + 1
        samples.setdefault(key, f"{(row.get('location') or {}).get('row', 0)}: {row['message']}")
    return CheckRun("ran", findings=findings, samples=samples)
