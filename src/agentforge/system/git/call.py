"""How git is called: the same whatever the user, the machine or the repository configured, and with no way to
run their code.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentforge.core.errors import Unusable
from agentforge.system import processes
from agentforge.system.files import disk_trouble, full_disk
from agentforge.system.git.objects import GitObject, Known, Reader, ReaderCommand, ReaderLost, parse
from agentforge.system.processes import Completed
from agentforge.system.programs import search_path
from agentforge.system.visible import brief

_TIMEOUT_S = 900.0
_READ = ("cat-file", "--batch")
_OUTPUT_LIMIT = 1 << 30

_ALWAYS = (
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.quotePath=false",
    "protocol.ext.allow=never",
    # Beyond hooks and signing: settings that would change a tree, an exit code or a file outside of the
    # private index.
    "core.eol=lf",
    "core.safecrlf=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.filesRefLockTimeout=1000",
    "diff.suppressBlankEmpty=false",
    "i18n.commitEncoding=UTF-8",
    "submodule.recurse=false",
)
_PRIVATE_INDEX = (
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.sparseCheckout=false",
    "core.sparseCheckoutCone=false",
    "index.sparse=false",
)

# The caller's GIT_DIR, GIT_INDEX_FILE and their like never reach us. Kept: where configuration is.
_KEPT = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    }
)
_ENV = {
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # What a partial clone lacks, git would fetch by itself, through programs that the repository's settings
    # name. The second holds for every git, the first says it better where git knows it.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_AUTHOR_NAME": "AgentForge",
    "GIT_AUTHOR_EMAIL": "agentforge@localhost",
    "GIT_COMMITTER_NAME": "AgentForge",
    "GIT_COMMITTER_EMAIL": "agentforge@localhost",
    "LC_ALL": "C",
}


def invoke(  # noqa: PLR0913 - every one of them is the caller's business
    args: Sequence[str],
    *,
    cwd: Path,
    config: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    pass_fds: Sequence[int] = (),
    inherited: Mapping[str, str] | None = None,
) -> Completed:
    """One call of git, whatever its exit code; `inherited` are the variables of this process, if they are at
    hand.
    """
    completed = processes.run(
        _argv(args, config),
        cwd=cwd,
        env=_environment(inherited_variables() if inherited is None else inherited, env or {}, cwd),
        timeout_s=_TIMEOUT_S,
        input=stdin,
        pass_fds=pass_fds,
        output_limit=_OUTPUT_LIMIT,
        # A call may outlive a killed parent: it leaves no lock file behind, and where it inherited the task's
        # lock, the next driver waits for it.
        die_with_parent=False,
    )
    if completed.timed_out:
        raise Unusable(f"`git {args[0]}` did not end within {_TIMEOUT_S:.0f} seconds.")
    if completed.truncated:
        raise Unusable(f"`git {args[0]}` printed more than {_OUTPUT_LIMIT} bytes.")
    return completed


def _argv(args: Sequence[str], config: Sequence[str]) -> list[str]:
    return ["git", *(part for setting in (*_ALWAYS, *config) for part in ("-c", setting)), *args]


def inherited_variables() -> dict[str, str]:
    """What git may see of the variables of this process."""
    return {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _KEPT}


def _environment(inherited: Mapping[str, str], place: Mapping[str, str], cwd: Path) -> dict[str, str]:
    return {**inherited, **_ENV, "PATH": search_path(cwd), **place}


def failure(completed: Completed, args: Sequence[str], place: Path | None = None) -> Unusable:
    """What a failed call means to a person: a full disk (looked for at `place`), else what git said."""
    lines = [line for line in completed.err.decode(errors="replace").splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    for line in fatal or lines:
        if trouble := disk_trouble(line.partition(": ")[2] or line):
            return trouble
    said = (
        (fatal or lines or [f"it ended with code {completed.code}"])[0]
        .removeprefix("fatal: ")
        .removeprefix("error: ")
        .rstrip(".")
    )
    if said.endswith(":"):  # the paths that it is about are in the lines below
        said += " " + brief(", ".join(line.strip() for line in lines if line[0].isspace()))
    if any("promisor remote" in line for line in lines):
        return Unusable(
            "This is a partial clone, and AgentForge fetches nothing by itself: the repository's settings "
            "say which programs would do that.",
            "Fetch what is missing with `git fetch --refetch --no-filter`, and go on.",
        )
    # Of a lock file that it could not write, git does not say why.
    return (full_disk(place) if place else None) or Unusable(f"`git {args[0]}` failed: {said}.")


@dataclass(frozen=True, slots=True)
class GitCall:
    """Runs git in one repository."""

    top: Path
    """The root of the checkout."""
    git_dir: Path
    """The directory that all checkouts of the repository share."""
    own_dir: Path
    """This checkout's own directory: `git_dir`, or one below it for a linked worktree."""
    config: tuple[str, ...] = ()
    """Settings of the repository that have to be switched off."""
    pass_fds: tuple[int, ...] = ()
    """Files that every call inherits: a lock stays taken as long as a child of its holder runs."""
    reader: Reader = field(default_factory=Reader, compare=False, repr=False)
    known: Known = field(default_factory=Known, compare=False, repr=False)
    inherited: Mapping[str, str] = field(default_factory=inherited_variables, compare=False, repr=False)
    """As they were when the repository was opened."""

    def find(self, name: str) -> GitObject | None:
        """The object that a name or an expression means, read by the process that stays open; None if there
        is none.
        """
        if "\n" in name:
            named = self.run("rev-parse", "--verify", "--quiet", name, check=False)
            return self.find(named.out.decode().strip()) if named.code == 0 else None
        try:
            return self.reader.find(name, self._start_reader, _TIMEOUT_S)
        except ReaderLost:
            return parse(self.run(*_READ, input=os.fsencode(name) + b"\n").out)

    def _start_reader(self) -> ReaderCommand:
        place = {"GIT_DIR": str(self.own_dir), "GIT_WORK_TREE": str(self.top)}
        return ReaderCommand(
            _argv(_READ, self.config), self.top, _environment(self.inherited, place, self.top)
        )

    def run(
        self,
        *args: str,
        index: Path | None = None,
        work_tree: Path | None = None,
        input: bytes = b"",  # noqa: A002 - as in `processes.run`
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> Completed:
        """One call; with `check` a failed one raises `Unusable`. With `index`, that file stands in for the
        checkout's own index.
        """
        place = {"GIT_DIR": str(self.own_dir), "GIT_WORK_TREE": str(work_tree or self.top)}
        if index is not None:
            place["GIT_INDEX_FILE"] = str(index)
        completed = invoke(
            args,
            cwd=work_tree or self.top,
            config=(*self.config, *(_PRIVATE_INDEX if index else ())),
            env={**place, **(env or {})},
            stdin=input,
            pass_fds=self.pass_fds,
            inherited=self.inherited,
        )
        if check and completed.code != 0:
            raise failure(completed, args, self.git_dir)
        return completed

    def writing_objects_to(self, place: Path) -> dict[str, str]:
        """Variables with which a call reads the repository's objects and writes new ones below `place`. Git
        renames what it has written, and no rename crosses file systems.
        """
        ours = str(self.git_dir / "objects").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return {"GIT_OBJECT_DIRECTORY": str(place), "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{ours}"'}

    def text(
        self,
        *args: str,
        index: Path | None = None,
        work_tree: Path | None = None,
        input: bytes = b"",  # noqa: A002
    ) -> str:
        """The output of a call that succeeds, stripped."""
        return os.fsdecode(self.run(*args, index=index, work_tree=work_tree, input=input).out).strip()
