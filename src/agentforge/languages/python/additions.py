"""Adds to an environment what the project does not bring: from wheels whose hashes we know, and nothing else.

What the project brought stays as it is: of the packages that a tool needs, only those that are not there
are added. A tool that does not go with them is refused, in a sentence that says how to choose another.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentforge.catalog.added import Pinned, hash_of, pinned
from agentforge.languages.python.requirements import normal
from agentforge.languages.set_up import ADDITIONS, CommandFailed, NotAdded, Run, succeeded, text_of
from agentforge.languages.values import ADDED, SETTINGS_FILE, Plan
from agentforge.system.files import write_atomic
from agentforge.system.processes import Completed
from agentforge.system.secrets.redact import redact

_UV = ("{uv}", "pip")
_INTO = ("--python", "{env}/bin/python")
# Only wheels: building one would fetch what nobody pinned. The project's settings of uv are for its own.
_INSTALL = (*_UV, "install", *_INTO, "--no-config", "--require-hashes", "--no-deps", "--only-binary", ":all:")
_CHECK = (*_UV, "check", *_INTO, "--no-config")
_OTHER_FILE = re.compile(r"hash mismatch for `?([\w.-]+==[\w.!+]+)", re.IGNORECASE)
_NOT_THERE = re.compile(
    r"there is no version of ([\w.-]+==[\w.!+]+)"
    r"|(?:Because|and) ([\w.-]+) was not found in the (?:package registry|provided package locations|cache)"
    r"|([\w.-]+==[\w.!+]+) has no (?:usable )?wheels",
)
_CONFLICT = re.compile(r"The package `([\w.-]+)` (requires .+?)\.?(?= The package |$)")


def add_pinned(name: str, home: Path, run: Run) -> tuple[str, ...]:
    """Installs a tool that we pin, unless the environment has one. The answer is what is new."""
    there = _installed(home / "env")
    if name in there:
        return ()
    wanted = [each for each in pinned(name) if each.name not in there]
    listed = home / ADDITIONS / f"{name}.txt"
    write_atomic(listed, "".join(each.text for each in wanted).encode())
    command = (*_INSTALL, "-r", str(listed))
    done = run(command)
    if not succeeded(done):
        _refuse(name, wanted, _words(done))
        raise CommandFailed(command, done)
    new = {each: version for each, version in _installed(home / "env").items() if each not in there}
    _refuse_conflict(name, new, _words(run(_CHECK)))
    return tuple(f"{each} {version}" for each, version in sorted(new.items(), key=lambda row: row[0] != name))


def additions_of(plan: Plan) -> tuple[str, ...]:
    """The lists that say what we add to the project's environment, each with its hash."""
    commands = (*plan.setup, *plan.checkers)
    return tuple(f"{words[1]} {hash_of(words[1])}" for words in commands if words[0] == ADDED)


def _installed(env: Path) -> dict[str, str]:
    """The distributions of an environment, by name, with their versions."""
    found = {}
    for place in sorted(env.glob("lib/python*/site-packages/*.dist-info")):
        name, _, version = place.name.removesuffix(".dist-info").rpartition("-")
        found[normal(name)] = version
    return found


def _words(done: Completed) -> str:
    """What an installer said, in one line, however it was broken."""
    return " ".join(redact(text_of(done))[0].split())


def _refuse(name: str, wanted: Sequence[Pinned], said: str) -> None:
    """Says in a sentence what an installer said about our pins."""
    if other := _OTHER_FILE.search(said):
        raise NotAdded(
            f"What the package index gives as {other[1]} is not the file that AgentForge pins: its hash is "
            "another, and nothing of it was installed.",
            f"Ask whoever runs the index; or {_own(name)}",
        )
    if missing := _NOT_THERE.search(said):
        asked = next(filter(None, missing.groups()))
        version = next((f"{each.name}=={each.version}" for each in wanted if each.name == asked), asked)
        raise NotAdded(
            f"The package index does not have {version}, which AgentForge adds because the project brings no "
            f"{name}.",
            f"Either {_own(name)}",
        )


def _refuse_conflict(name: str, new: Mapping[str, str], said: str) -> None:
    """Where what we added wants something else than the project brought; its own quarrels are its own."""
    for package, wants in _CONFLICT.findall(said):
        if normal(package) in new:
            raise NotAdded(
                f"The {name} that AgentForge adds does not go with what the project has: {package} {wants}.",
                f"Either {_own(name)}",
            )


def _own(name: str) -> str:
    """How a person brings a version of their own choice."""
    if name == "pip":
        return f"leave `setup:` out of `{SETTINGS_FILE}`, commit it, and start again."
    return (
        f"name a version of {name} in the project's own requirements (`[dependency-groups] test = "
        f'["{name}"]` in pyproject.toml), commit it, and start again.'
    )
