"""The demo: a bundled repository, a request, and a script in the place of a model."""

import os
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import agentforge.catalog
from agentforge.app.intake.starting import StartOptions, start
from agentforge.app.record.open_tasks import OpenTask
from agentforge.core.errors import Unusable, UsageError
from agentforge.store.site import Site
from agentforge.system.installation import STARTED_BY, STARTED_FOR, own_command
from agentforge.system.processes import run

REQUEST = 'Let parse understand fractions: "1/2 cup" is half a cup and "1 1/2 cups" is one and a half.'
_SCRIPTS = {"small": "script.yaml", "full": "full.yaml"}
_AUTHOR = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "Demo"), ("EMAIL", "demo@example.invalid"), ("DATE", "2030-01-01T00:00:00Z"))
}


@dataclass(frozen=True, slots=True)
class Demo:
    """A task on a fresh copy of the sample."""

    root: Path
    """Holds the repository, and the user's directory if no other is configured."""
    repository: Path
    task: OpenTask


def start_demo(place: Path | None, lane: str, sandbox: str | None, *, at_terminal: bool) -> Demo:
    """Copies the sample into `place`, a new or empty directory, and records its task."""
    root = _make_root(place)
    os.environ.setdefault("AGENTFORGE_HOME", str(root / "home"))
    repository = root / "pantry"
    os.environ |= {STARTED_BY: _write_starter(root, repository), STARTED_FOR: str(repository)}
    script = _lay_out(repository, _SCRIPTS[lane])
    model = f"scripted:{script}"
    options = StartOptions(
        REQUEST, lane=lane, model=model, sandbox=sandbox, at_terminal=at_terminal, own_code=True
    )
    return Demo(root, repository, start(Site.open(repository), options))


def _make_root(place: Path | None) -> Path:
    if place is None:
        return Path(tempfile.mkdtemp(prefix="agentforge-demo-"))
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{place} is not empty.", "Name a new directory with --keep.")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{place} cannot be made: {(error.strerror or str(error)).lower()}.",
            "Name another directory with --keep.",
        ) from None
    return place.resolve()


def _write_starter(root: Path, repository: Path) -> str:
    """A program that starts this copy from any directory on the demo's repository, with the demo's home: what
    is typed to start it, also where nothing that lies in this directory may be executed.
    """
    starter = root / "agentforge"
    started_by = shlex.join(["sh", str(starter)])
    variables = {
        "AGENTFORGE_HOME": os.environ["AGENTFORGE_HOME"],
        STARTED_BY: started_by,
        STARTED_FOR: str(repository),
    }
    lines = [
        "#!/bin/sh",
        "# Starts AgentForge on the repository of the demo, with the home of the demo.",
        f"cd {shlex.quote(str(repository))} || exit",
        f"export {' '.join(f'{name}={shlex.quote(value)}' for name, value in variables.items())}",
        f'exec {shlex.join(own_command())} "$@"',
    ]
    starter.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return started_by


def _lay_out(repository: Path, script: str) -> Path:
    """Copies the sample, makes it a repository, and says where the script is."""
    bundled = Path(agentforge.catalog.__file__).parent / "demo"
    ignored = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    shutil.copytree(bundled / "sample", repository, ignore=ignored)
    shutil.copy(bundled / script, repository.parent)
    path = os.environ.get("PATH", os.defpath)
    environ = {"PATH": path, "HOME": str(repository), "GIT_CONFIG_NOSYSTEM": "1", **_AUTHOR}
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "A pantry"),
    ):
        done = run(("git", *words), cwd=repository, env=environ, timeout_s=60)
        if done.code != 0:
            said = done.err.decode(errors="replace").strip()
            raise Unusable(f"git {words[0]} failed in {repository}: {said}")
    return repository.parent / script
