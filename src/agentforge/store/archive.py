"""A task saved inside of git: neither `git clean` nor `git gc` can lose what a ref holds.

refs/agentforge/<task>/state ─▶ commit ─▶ task/…   the task's files
                                   │      trees/…  every tree that the journal names
                                   └─▶ parents     every commit that it names
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from agentforge.core.errors import Unusable
from agentforge.store.layout import TaskFiles, plain_name
from agentforge.store.lines import complete
from agentforge.system.files import create_exclusive, disk_errors, write_atomic
from agentforge.system.git import Git

REFS = "refs/agentforge/"
TRAILER = "AgentForge-Journal"
_AUTHOR = ("AgentForge", "agentforge@localhost")
_FILES = "task"
_TREES = "trees"


def save(git: Git, task_id: str, files: TaskFiles, keep: Mapping[str, str]) -> str:
    """Save a task's files, and the trees and commits in `keep`, under the task's ref; the same task makes the same commit."""
    with disk_errors():
        # The journal is read first: what it names is on disk before it, so the rest can only hold more.
        journal = complete(files.journal.read_bytes())
        others = list(_others(files))
    last = json.loads(journal[journal.rfind(b"\n- ") + 3 :])
    blobs = {files.journal.name: git.hash_blob(journal)}
    blobs |= {path.relative_to(files.root).as_posix(): oid for path, oid in zip(others, _hash_files(git, others), strict=True)}
    kinds = _kinds(git, keep.values())
    trees = {plain_name(name): oid for name, oid in keep.items() if kinds[oid] == "tree"}
    saved = git.overlay_tree(_directory(git, {}), {path: ("100644", oid) for path, oid in blobs.items()})
    root = _directory(git, {_FILES: saved, _TREES: _directory(git, trees)})
    parents = [oid for oid in dict.fromkeys(keep.values()) if kinds[oid] == "commit"]
    message = f"{task_id}: the task so far\n\n{TRAILER}: {last['hash']}\n"
    commit = git.commit_tree(root, parents, message, last["timestamp"], _AUTHOR)
    git.update_ref(_ref(task_id), commit)
    return commit


def restore(git: Git, task_id: str, files: TaskFiles) -> bool:
    """Put the saved files of a task back whose journal is gone; False if there is nothing to do or nothing saved."""
    if files.journal.exists():
        return False
    commit = git.read_ref(_ref(task_id))
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


def archived_tasks(git: Git) -> list[str]:
    """The tasks that are saved in this repository."""
    names = (ref.removeprefix(REFS).split("/") for ref in git.refs(REFS))
    return sorted(parts[0] for parts in names if parts[1:] == ["state"])


def _ref(task_id: str) -> str:
    return f"{REFS}{plain_name(task_id)}/state"


def _others(files: TaskFiles) -> Iterator[Path]:
    """What is worth saving beside the journal: not the lock, the views or messages, nothing half written."""
    left_out = {files.journal, files.lock, files.state, files.working_memory}
    for path in sorted(files.root.rglob("*")):
        ours = not path.name.startswith(".") and path not in left_out and files.inbox not in path.parents
        if ours and path.is_file() and not path.is_symlink():
            yield path


def _holds(path: Path, data: bytes) -> bool:
    """Whether a file begins with `data`: a pack that only grew since stays as it is."""
    with disk_errors():
        return path.is_file() and path.read_bytes().startswith(data)


def _hash_files(git: Git, paths: list[Path]) -> list[str]:
    """All of them in one call: a long task has a patch per step."""
    if not paths:
        return []
    quoted = "".join('"' + str(path.absolute()).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"\n' for path in paths)
    given = quoted.encode(errors="surrogateescape")
    return git.text("hash-object", "-w", "--no-filters", "--stdin-paths", input=given).split()


def _kinds(git: Git, oids: Iterable[str]) -> dict[str, str]:
    wanted = list(dict.fromkeys(oids))
    if not wanted:
        return {}
    said = git.text("cat-file", "--batch-check=%(objecttype)", input="\n".join(wanted).encode() + b"\n").splitlines()
    kinds = dict(zip(wanted, said, strict=True))
    for oid, kind in kinds.items():
        if kind not in ("tree", "commit"):
            raise Unusable(f"{oid} is neither a tree nor a commit of the repository at {git.top}.")
    return kinds


def _directory(git: Git, trees: Mapping[str, str]) -> str:
    """A tree whose entries are trees."""
    lines = [f"040000 tree {oid}\t{name}\0" for name, oid in trees.items()]
    return git.text("mktree", "-z", input="".join(lines).encode())
