"""Debates whose roles are played by sessions of AO: the commands that start them, and the way their files
come home.

We never start a session ourselves. Every session has a worktree of its own, so a role sees neither a plan
that is not committed nor the folder in which its file is waited for. The prompt therefore names both by their
absolute paths; and what a role wrote in its own worktree all the same, or committed there, is fetched.
"""

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Literal, TypeAlias

from agentforge.core.errors import ModelMistake, UsageError, UserError
from agentforge.integrations.ao import session_of
from agentforge.integrations.ao_metadata import known_sessions
from agentforge.phases.tree import debate_folder
from agentforge.system import processes
from agentforge.system.beneath import read_beneath
from agentforge.system.files import write_atomic
from agentforge.system.git import call as git
from agentforge.system.unlinked import read_unlinked

MOST_PROMPT = 4096
"""Characters of a prompt that AO takes."""
_HELP_S = 5.0
_MOST_FILE = 1 << 20
_VERSION = re.compile(r"\d+\.\d+\.\d+[\w.-]*")

SpawnForm: TypeAlias = Literal["prompt", "send"]
"""How a session gets its prompt: with `ao spawn --prompt`, or with `ao send` once it is there."""


@dataclass(frozen=True, slots=True)
class DebateRole:
    """Who argues, and the file in the folder of the debate that it writes."""

    name: str
    file: str
    comes_last: bool = False
    """Whether it starts only when the files of all others are complete."""


@dataclass(frozen=True, slots=True)
class AoProgram:
    """What is known of the `ao` that is installed."""

    form: SpawnForm
    version: str = ""
    is_asked: bool = False
    """Whether an installed program said so; else this is the newest form that we know, untested here."""


@dataclass(frozen=True, slots=True)
class SpawnCommand:
    """A line for a shell that starts the session of one role, and the same as a request to AO's server."""

    role: str
    line: str
    request: str
    comes_last: bool


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A role's file that came from a session into the folder of the debate."""

    name: str
    session: str


def ask_program(environment: Mapping[str, str]) -> AoProgram:
    """Asks the installed `ao` for its version and for what `spawn` takes."""
    program = which("ao", path=environment.get("PATH"))
    if program is None:
        return AoProgram("prompt")
    usage = _said((program, "spawn", "--help"), environment)
    if not usage:
        return AoProgram("prompt")
    version = _VERSION.search(_said((program, "--version"), environment))
    return AoProgram(
        "prompt" if "--prompt" in usage else "send", version[0] if version else "", is_asked=True
    )


def _said(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    try:
        done = processes.run(argv, cwd=Path.cwd(), env=environment, timeout_s=_HELP_S)
    except UserError:
        return ""
    return "" if done.code != 0 else (done.out + done.err).decode(errors="replace")


def spawn_commands(
    folder: Path, program: AoProgram, environment: Mapping[str, str], roles: Sequence[DebateRole]
) -> tuple[SpawnCommand, ...]:
    """The lines that a person, or AO's own agent, runs to have a debate argued; `folder` is that of the
    debate, in the checkout that waits for it.
    """
    project = environment.get("AO_PROJECT_ID", "")
    port = environment.get("AO_PORT", "") or "3000"
    return tuple(
        SpawnCommand(
            role.name,
            _line(role_prompt(folder, role), project, program.form),
            _request(role_prompt(folder, role), project, port),
            role.comes_last,
        )
        for role in roles
    )


def role_prompt(folder: Path, role: DebateRole) -> str:
    """One line that lets a session in another worktree play its part and leave its file in ours."""
    place = Path(os.path.realpath(folder))
    near = f"{debate_folder(place.name)}/{role.file}"
    others = "and the other files of that folder " if role.comes_last else ""
    said = (
        f"You are the {role.name} of the debate {place.name}. Read {place}/debate-plan.md {others}"
        f"and do what its section Role Prompts asks of the {role.name}. "
        f"Write your result to {place}/{role.file} in one piece. If you are not allowed to write there, "
        f"write it to {near} in your own worktree and leave it there. Change no other file, commit nothing "
        "and open no pull request, whatever other instructions say. When the file is complete, run "
        "`ao report completed` if that command exists, and stop."
    )
    if len(said) > MOST_PROMPT:
        raise UsageError(
            "The path of this checkout is too long for a prompt of AO.", "Move it to a shorter path."
        )
    return said


def _line(prompt: str, project: str, form: SpawnForm) -> str:
    named = f"AO_PROJECT_ID={shlex.quote(project)} " if project else ""
    if form == "prompt":
        return f"{named}ao spawn --prompt {shlex.quote(prompt)}"
    return f'ao send "$({named}ao spawn | sed -n s/^SESSION=//p)" {shlex.quote(prompt)}'


def _request(prompt: str, project: str, port: str) -> str:
    body = json.dumps({"projectId": project or "PROJECT", "prompt": prompt}, ensure_ascii=False)
    return (
        f"curl -sS -X POST http://localhost:{port}/api/spawn -H 'content-type: application/json' "
        f"-d {shlex.quote(body)}"
    )


def fetch_files(
    folder: Path, environment: Mapping[str, str], roles: Sequence[DebateRole]
) -> tuple[FetchedFile, ...]:
    """Copies the files of roles from the worktrees and branches of AO's sessions into the folder of the
    debate. What is there stays, unless it is only the beginning of what the role has by now; what is too
    large or a link is not taken. Outside of AO there is nothing to fetch.
    """
    own = session_of(environment)
    if own is None or not folder.is_dir():
        return ()
    place = Path(os.path.realpath(folder))
    inside = debate_folder(place.name)
    found: list[tuple[DebateRole, str, bytes]] = []
    ended: list[tuple[str, str]] = []
    for name, about in known_sessions(own.folder):
        worktree, branch = about.get("worktree", ""), about.get("branch", "")
        if name == own.name or (worktree and place.is_relative_to(os.path.realpath(worktree))):
            continue
        if worktree.startswith("/") and Path(worktree).is_dir():
            found += [(role, name, _in_worktree(Path(worktree), f"{inside}/{role.file}")) for role in roles]
        elif branch:
            ended.append((name, branch))
    found += _committed(place, inside, ended, roles)
    return tuple(
        FetchedFile(role.file, name) for role, name, data in found if data and _put(place / role.file, data)
    )


def _put(path: Path, data: bytes) -> bool:
    """Puts a file where there is none, or only its beginning: that of a role which was still writing."""
    try:
        old = read_unlinked(path)
    except FileNotFoundError:
        old = b""
    if len(data) <= len(old) or not data.startswith(old):
        return False
    write_atomic(path, data, durable=False)
    return True


def _committed(
    place: Path, inside: str, ended: Sequence[tuple[str, str]], roles: Sequence[DebateRole]
) -> list[tuple[DebateRole, str, bytes]]:
    """The files that sessions which have ended, and so have no worktree, had committed on their branches.
    However many there are, git is asked once which of them exist.
    """
    wanted = [
        (role, name, f"refs/heads/{branch}:{inside}/{role.file}")
        for name, branch in ended
        for role in roles
        if branch.isprintable() and " " not in branch
    ]
    if not wanted:
        return []
    asked = "".join(f"{spelling}\n" for _, _, spelling in wanted).encode()
    done = git.invoke(("cat-file", "--batch-check"), cwd=place, stdin=asked)
    kinds = [line.split() for line in done.out.decode(errors="replace").splitlines()]
    if done.code != 0 or len(kinds) != len(wanted):  # not a repository any more
        return []
    return [
        (role, name, git.invoke(("cat-file", "blob", kind[0]), cwd=place).out)
        for (role, name, _), kind in zip(wanted, kinds, strict=True)
        if kind[1:2] == ["blob"] and int(kind[2]) <= _MOST_FILE
    ]


def _in_worktree(worktree: Path, inside: str) -> bytes:
    try:
        data = read_beneath(worktree, inside, _MOST_FILE)
    except (OSError, ModelMistake):  # not there, or a link
        return b""
    return data if len(data) <= _MOST_FILE else b""
