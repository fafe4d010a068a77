"""Adds the manager of packages that a project's lock is of, where the project names no version of it: one
archive, whose hash we know. It is installed before anything of the project runs, with none of its settings.
"""

import json
import re
from pathlib import Path

from agentforge.catalog.added import PinnedPackage, package_managers
from agentforge.languages.set_up import ADDITIONS, CommandFailed, NotAdded, Run, succeeded, text_of
from agentforge.languages.values import ADDED, Plan
from agentforge.system.files import write_atomic
from agentforge.system.secrets.redact import redact

_INSTALL = ("npm", "ci", "--prefix", "{env}", "--ignore-scripts", "--no-audit", "--no-fund")
_COPY = ("cp", "-r", "--no-target-directory")
_OTHER_FILE, _NOT_THERE = re.compile(r"\bEINTEGRITY\b"), re.compile(r"\b(?:ETARGET|E404)\b")


def add_manager(name: str, home: Path, run: Run) -> tuple[str, ...]:
    """Installs a manager that we pin, unless the environment has it. The answer is what is new."""
    return add_package(package_managers()[name], home, run)


def add_package(wanted: PinnedPackage, home: Path, run: Run) -> tuple[str, ...]:
    """Installs one archive below the environment, so that its programs come before all others."""
    if (home / "env/node_modules" / wanted.package).exists():
        return ()
    listed = home / ADDITIONS / "npm"
    listed.mkdir(exist_ok=True)
    write_atomic(listed / "package.json", json.dumps(_manifest_of(wanted)).encode())
    write_atomic(listed / "package-lock.json", lock_of(wanted).encode())
    for command in ((*_COPY, str(listed), "{env}"), _INSTALL):
        done = run(command)
        if not succeeded(done):
            _refuse(wanted, redact(text_of(done))[0])
            raise CommandFailed(command, done)
    return (f"{wanted.package} {wanted.version}",)


def additions_of(plan: Plan) -> tuple[str, ...]:
    """What decides which files a plan's additions are made of."""
    return tuple(package_managers()[words[1]].integrity for words in plan.setup if words[0] == ADDED)


def lock_of(wanted: PinnedPackage) -> str:
    """A lock that installs this archive alone. It names no address: any registry may have it."""
    entry = {
        "version": wanted.version,
        "integrity": wanted.integrity,
        "bin": dict(wanted.programs),
    }
    manifest = _manifest_of(wanted)
    packages = {"": manifest, f"node_modules/{wanted.package}": entry}
    return json.dumps({**manifest, "lockfileVersion": 3, "requires": True, "packages": packages})


def _manifest_of(wanted: PinnedPackage) -> dict[str, object]:
    """What a `package.json` that asks for it alone says."""
    return {"name": "added", "version": "0.0.0", "dependencies": {wanted.package: wanted.version}}


def _refuse(wanted: PinnedPackage, said: str) -> None:
    """Says in a sentence what npm said about our pin."""
    what = f"{wanted.package}@{wanted.version}"
    own = "name a version of your own (`packageManager` in package.json), commit it, and start again."
    if _OTHER_FILE.search(said):
        raise NotAdded(
            f"What the registry gives as {what} is not the file that AgentForge pins: its hash is another, "
            "and nothing of it was run.",
            f"Ask whoever runs the registry; or {own}",
        )
    if _NOT_THERE.search(said):
        raise NotAdded(
            f"The registry does not have {what}, which AgentForge adds because the project says no version.",
            f"Either {own}",
        )
