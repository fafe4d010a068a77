"""A task saved inside of git: neither `git clean` nor `git gc` can lose what a ref holds.

refs/agentforge/<task>/state ─▶ commit ─▶ task/…   the task's files
                                   │      trees/…  every tree that the journal names
                                   └─▶ parents     every commit that it names
"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from agentforge.core.errors import Unusable
from agentforge.store.layout import TaskFiles, plain_name
from agentforge.system.bounded import files_below
from agentforge.system.files import create_exclusive, disk_errors, write_atomic
from agentforge.system.git.repository import Git
from agentforge.system.unlinked import read_unlinked

REFS = "refs/agentforge/"
TRAILER = "AgentForge-Journal"
_AUTHOR = ("AgentForge", "agentforge@localhost")
_FILES = "task"
_TREES = "trees"


def save(git: Git, task_id: str, files: TaskFiles, keep: Mapping[str, str]) -> str:
    """Save a task's files, and the trees and commits in `keep`, under the task's ref; the same task makes the
    same commit.
    """
    from agentforge.store.task.lines import complete  # noqa: PLC0415 - all events: who only lists needs none

    with disk_errors():
        # The journal is read first: what it names is on disk before it, so the rest can only hold more.
        journal = complete(read_unlinked(files.journal))
        others = list(_others(files))
    last = json.loads(journal[journal.rfind(b"\n- ") + 3 :])
    blobs = _hash_files(
        git, {path.relative_to(files.root).as_posix(): path for path in others}, {files.journal.name: journal}
    )
    kinds = {oid: _kind(git, oid) for oid in dict.fromkeys(keep.values())}
    trees = {
        f"{_TREES}/{plain_name(name)}": ("40000", oid) for name, oid in keep.items() if kinds[oid] == "tree"
    }
    root = git.make_tree({**{f"{_FILES}/{path}": ("100644", oid) for path, oid in blobs.items()}, **trees})
    parents = [oid for oid in dict.fromkeys(keep.values()) if kinds[oid] == "commit"]
    message = f"{task_id}: the task so far\n\n{TRAILER}: {last['hash']}\n"
    commit = git.commit_tree(root, parents, message, last["timestamp"], _AUTHOR)
    git.update_ref(ref_of(task_id), commit)
    return commit


def restore(git: Git, task_id: str, files: TaskFiles) -> bool:
    """Put the saved files of a task back whose journal is gone, or the pack alone if only that is; False if
    there is nothing to do or nothing saved.
    """
    if is_whole(files):
        return False
    commit = git.read_ref(ref_of(task_id))
    if commit is not None and files.journal.exists():
        pack = git.read_blob(commit, f"{_FILES}/{files.pack.name}")
        return pack is not None and create_exclusive(files.pack, pack)
    if commit is None:
        return False
    journal = b""
    for entry in git.ls_tree(commit):
        place, _, name = entry.path.partition("/")
        if place != _FILES:
            continue
        data = git.read_blob(commit, entry.path)
        if data is None:
            raise Unusable(f"{entry.path} of the saved task {task_id} cannot be read.")
        if name == files.journal.name:
            journal = data
        elif not _holds(files.root / name, data):
            write_atomic(files.root / name, data)
    # The journal comes last: until it stands, a restore that was killed starts again.
    create_exclusive(files.journal, journal)
    return True


def is_whole(files: TaskFiles) -> bool:
    """Whether the two files are there that cannot be made again: the journal, and the pack that it names
    blocks of.
    """
    return files.journal.exists() and files.pack.exists()


def saved_journal(git: Git, files: TaskFiles) -> bytes | None:
    """The journal as git has it; None if nothing is saved. No more than a copy of an earlier day: a journal
    that does not begin with it was cut or rewritten.
    """
    commit = git.read_ref(ref_of(files.task_id))
    return None if commit is None else git.read_blob(commit, f"{_FILES}/{files.journal.name}")


def archived_tasks(git: Git) -> list[str]:
    """The tasks that are saved in this repository."""
    names = (ref.removeprefix(REFS).split("/") for ref in git.refs(REFS))
    return sorted(parts[0] for parts in names if parts[1:] == ["state"])


def ref_of(task_id: str) -> str:
    """The ref that a task is saved under."""
    return f"{REFS}{plain_name(task_id)}/state"


def _others(files: TaskFiles) -> Iterator[Path]:
    """What is worth saving beside the journal: not the lock, the views or messages, no long outputs, nothing
    half written.
    """
    left_out = {files.journal, files.lock, files.merging, files.state, files.working_memory}
    folders = {files.inbox, files.root / "outputs"}
    for path in sorted(files_below(files.root, skip=folders.__contains__)):
        if not path.name.startswith(".") and path not in left_out:
            yield path


def _holds(path: Path, data: bytes) -> bool:
    """Whether a file begins with `data`: a pack that only grew since stays as it is."""
    with disk_errors():
        return path.is_file() and read_unlinked(path).startswith(data)


def _hash_files(git: Git, paths: Mapping[str, Path], texts: Mapping[str, bytes]) -> dict[str, str]:
    """Files and texts by name, all in one call: a long task has a patch per step."""
    with tempfile.TemporaryDirectory(prefix="agentforge-") as scratch:
        for number, text in enumerate(texts.values()):
            Path(scratch, str(number)).write_bytes(text)
        places = [*(Path(scratch, str(number)) for number in range(len(texts))), *paths.values()]
        quoted = "".join(f'"{_escaped(path)}"\n' for path in places)
        given = quoted.encode(errors="surrogateescape")
        oids = git.text("hash-object", "-w", "--no-filters", "--stdin-paths", input=given).split()
    return dict(zip((*texts, *paths), oids, strict=True))


def _escaped(path: Path) -> str:
    return str(path.absolute()).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _kind(git: Git, oid: str) -> str:
    found = git.find(oid)
    if found is None or found.kind not in ("tree", "commit"):
        raise Unusable(f"{oid} is neither a tree nor a commit of the repository at {git.top}.")
    return found.kind
