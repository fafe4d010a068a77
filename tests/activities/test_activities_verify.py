"""What `verify` sees of a finished task's files: every byte that means something, and twenty forgeries."""

import json
import os
import shutil
import struct
import zlib
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import agentforge
from agentforge.activities.findings import Finding
from agentforge.core.errors import UserError
from agentforge.store.layout import ProjectFiles
from agentforge.store.site import Site
from agentforge.store.task.journal import read_lines
from agentforge.store.task.pack import Pack
from agentforge.system import strict_yaml
from agentforge.system.canon import digest
from agentforge.system.git.repository import Git
from agentforge.system.processes import Completed
from tests.activities.forger import EVIDENCE, JOURNAL, PACK, Forger
from tests.depth import SOAK, telling
from tests.engines.crash_site import SMALL, Reference, Scene, reference

pytestmark = pytest.mark.slow

NOT_LOOKED_AT = {"lock"}
"""Who drove it last; nobody reads that once the task is over."""


@pytest.fixture
def site(
    tmp_path_factory: pytest.TempPathFactory, home: Path, network: None, monkeypatch: pytest.MonkeyPatch
) -> Reference:
    """The reference run of the crash tests, made once for all of them."""
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    mine = tmp_path_factory.getbasetemp()
    return reference(mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine, SMALL)


@pytest.fixture
def scene(site: Reference, tmp_path: Path) -> Scene:
    return site.copy(tmp_path / "scene", trees=False)


class Remembering(Git):
    """Real git, asked once for each question: for what changes files of the task and nothing of git's."""

    __slots__ = ()

    def run(self, *args: str, **more: Any) -> Completed:  # noqa: ANN401 - passed on
        key = (*args, *(str(item) for item in more.items()))
        return self.known.once(key, lambda: (Git.run(self, *args, **more), 1))


def wrong(scene: Scene, git: Git | None = None, *, signed: bool = False) -> list[Finding]:
    """The rows that do not hold; a record that cannot even be opened is one row."""
    opened = git or Git.open(scene.repo)
    try:
        task = agentforge.OpenTask.open(Site(opened, ProjectFiles(opened.top), scene.home), scene.files)
        return [finding for finding in agentforge.verify(task, require_signature=signed) if not finding.ok]
    except UserError as error:
        return [Finding("opening", ok=False, text=error.sentence)]


def rows(findings: list[Finding]) -> set[str]:
    return {finding.row for finding in findings}


# ------------------------------------------------------------------ bytes


def value_of(path: Path) -> object:
    """What the file says, whatever its spelling; a text about why it says nothing is a value too."""
    data = path.read_bytes()
    try:
        if path.name == EVIDENCE:
            return json.loads(data)
        if path.name == PACK:
            return blocks_of(path)
        return strict_yaml.load(data.decode(), "file") if path.suffix == ".yaml" else data
    except (ValueError, UserError) as error:
        return repr(error)


def blocks_of(path: Path) -> list[tuple[str, str]]:
    """The name and the content of every block: a bit that fills up the last byte of a compressed block can be
    any.
    """
    header = struct.Struct(">4s32sQL")
    found, data, at = [], path.read_bytes(), 0
    while at < len(data):
        name, length = header.unpack_from(data, at)[1:3]
        at += header.size + length
        found.append((name.hex(), sha256(zlib.decompress(data[at - length : at])).hexdigest()))
    return found


def unseen_flips(scene: Scene, git: Git, path: Path, places: list[int]) -> list[int]:
    """Places of bytes that can be changed without a word, though the file then says something else."""
    data, meant = path.read_bytes(), value_of(path)
    found = []
    for place in places:
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        if _broken(path):
            continue
        if not wrong(scene, git) and value_of(path) != meant:
            found.append(place)
    path.write_bytes(data)
    return found


def _broken(path: Path) -> bool:
    """Whether the file itself says so: far cheaper than a look at the whole task."""
    if path.name == PACK:
        with Pack(path) as pack:
            return bool(pack.problems())
    try:
        if path.name == JOURNAL:
            read_lines(path)
    except UserError:
        return True
    return False


@pytest.mark.timeout(7200 if SOAK else 300)
@pytest.mark.parametrize("kind", ["journal", "pack", "evidence", "others"])
def test_every_byte_of_a_finished_task_that_means_something_is_under_a_hash(scene: Scene, kind: str) -> None:
    root = scene.files.root
    chosen = {"journal": [root / JOURNAL], "pack": [root / PACK], "evidence": [root / EVIDENCE]}
    known = {path for paths in chosen.values() for path in paths}
    others = [path for path in sorted(root.rglob("*")) if path.is_file() and path not in known]
    git = Remembering.open(scene.repo)
    assert not wrong(scene, git)
    for path in chosen.get(kind, telling(others, 8)):
        if path.name in NOT_LOOKED_AT:
            continue
        places = telling(range(path.stat().st_size), 14 if path in known else 2)
        assert unseen_flips(scene, git, path, places) == [], path


def test_a_view_of_an_earlier_line_is_honest_and_one_that_was_edited_is_not(
    site: Reference, scene: Scene
) -> None:
    earlier = site.copy(scene.root.with_name("earlier"), moment="green/1/4/act", trees=False)
    shutil.copy(earlier.files.state, scene.files.state)
    shutil.copy(earlier.files.working_memory, scene.files.working_memory)
    assert wrong(scene) == []
    text = scene.files.state.read_text()
    scene.files.state.write_text(text.replace("status: running", "status: completed"))
    assert rows(wrong(scene)) == {"state.yaml"}
    scene.files.state.unlink()
    scene.files.working_memory.unlink()
    assert wrong(scene) == []


def loose(scene: Scene, oid: str) -> Path:
    return scene.repo / ".git/objects" / oid[:2] / oid[2:]


def test_every_object_of_the_delivered_tree_is_held_against_its_name(scene: Scene) -> None:
    tip = scene.git("rev-parse", f"agentforge/{scene.task_id}")
    listed = scene.git("rev-list", "--objects", "--no-object-names", tip).split()
    assert len(listed) > 8
    for oid in telling(listed, 3):
        place = loose(scene, oid)
        data = place.read_bytes()
        place.chmod(0o644)
        # Another content under the same name, well formed: git itself shows it without a word.
        head, _, body = zlib.decompress(data).partition(b"\0")
        place.write_bytes(zlib.compress(head + b"\0" + bytes([body[0] ^ 1]) + body[1:]))
        assert rows(wrong(scene)) & {"objects", "opening"}, oid  # without its first commit nothing opens
        place.write_bytes(data)
    assert wrong(scene) == []


# ------------------------------------------------------------------ forgeries


def cut_tail(forger: Forger) -> None:
    lines = (forger.root / JOURNAL).read_bytes().splitlines(keepends=True)
    (forger.root / JOURNAL).write_bytes(b"".join(lines[:-2]))


def tear_tail(forger: Forger) -> None:
    data = (forger.root / JOURNAL).read_bytes()
    (forger.root / JOURNAL).write_bytes(data.rstrip(b"\n"))


def rewrite_reason(forger: Forger) -> None:
    forger.rewrite(lambda body: body.update(why="all is well") if body["seq"] == 7 else None)


def other_task(forger: Forger) -> None:
    data = (forger.root / JOURNAL).read_bytes()
    (forger.root / JOURNAL).write_bytes(data.replace(forger.task_id.encode(), b"task-20260101-another"))
    forger.rewrite(lambda _: None)


def key_twice_in_evidence(forger: Forger) -> None:
    data = (forger.root / EVIDENCE).read_bytes()
    (forger.root / EVIDENCE).write_bytes(data.replace(b"{", b'{"same_author":true,', 1))


def key_twice_in_yaml(forger: Forger) -> None:
    path = forger.root / "artifacts/phases/review/review_final.yaml"
    path.write_text(f"verdict: block\n{path.read_text()}")


def key_twice_in_journal(forger: Forger) -> None:
    data = (forger.root / JOURNAL).read_bytes()
    head, _, rest = data.partition(b"\nactions:\n")
    header = head + b"\nactions:\n"
    prev, lines = digest(header), []
    for text in rest.splitlines():
        body = text.removeprefix(b"- ")[: -len(',"hash":""}') - 64]
        old = json.loads(text.removeprefix(b"- "))["prev"].encode()
        body = body.replace(b'"prev":"' + old, b'"prev":"' + prev.encode())
        if b'"seq":2,' in body:
            body = body.replace(b'"why":', b'"why":"nothing to see","why":', 1)
        prev = digest(prev.encode() + body + b"}")
        lines.append(b"- " + body + f',"hash":"{prev}"}}\n'.encode())
    (forger.root / JOURNAL).write_bytes(header + b"".join(lines))


def soften_request(forger: Forger) -> None:
    forger.document("artifacts/inputs/original_request.yaml", lambda value: value.update(request="Tidy up"))


def raise_limits(forger: Forger) -> None:
    forger.document("task.yaml", lambda value: value["limits"].update(calls=9999))


def kinder_review(forger: Forger) -> None:
    forger.document(
        "artifacts/phases/review/review_final.yaml", lambda value: value.update(summary="perfect")
    )


def kinder_draft(forger: Forger) -> None:
    forger.document("artifacts/phases/red/test_suite_v1.yaml", lambda value: value.update(test_files=[]))


def other_patch(forger: Forger) -> None:
    path = forger.root / "artifacts/snapshots/step_004.patch"
    path.write_bytes(path.read_bytes().replace(b"+", b"-", 1))


def without_artifact(forger: Forger) -> None:
    (forger.root / "artifacts/phases/spec/specification_final.yaml").unlink()


def delete_branch(forger: Forger) -> None:
    forger.git("update-ref", "-d", f"refs/heads/agentforge/{forger.task_id}")


def move_branch(forger: Forger) -> None:
    forger.git("update-ref", f"refs/heads/agentforge/{forger.task_id}", "main")


def move_base(forger: Forger) -> None:
    forger.git("update-ref", f"refs/agentforge/{forger.task_id}/base", f"agentforge/{forger.task_id}")


def move_steps(forger: Forger) -> None:
    forger.git("update-ref", f"refs/agentforge/{forger.task_id}/steps", "main")


def delete_copy(forger: Forger) -> None:
    forger.git("update-ref", "-d", f"refs/agentforge/{forger.task_id}/state")


def replace_commit(forger: Forger) -> None:
    tip = f"agentforge/{forger.task_id}"
    forger.git("replace", f"{tip}^{{commit}}", "main")


def graft(forger: Forger) -> None:
    tip = forger.git("rev-parse", f"agentforge/{forger.task_id}")
    place = forger.repo / ".git/info/grafts"
    place.write_text(f"{tip}\n")


def other_seal(forger: Forger) -> None:
    """A seal that states nothing, put on top of the same commit and into the journal."""
    branch = f"agentforge/{forger.task_id}"
    made = forger.git("commit-tree", f"{branch}^{{tree}}", "-p", f"{branch}^", "-m", "Seal: trust me")
    forger.git("update-ref", f"refs/heads/{branch}", made)
    forger.events("task_delivered", lambda event: event.update(seal=made))


def forget_failing_test(forger: Forger) -> None:
    """A record in which a test that passed on the base is not there at the end, hashed through and through."""

    def forget(record: dict[str, Any]) -> None:
        for run in record["runs"]:
            run["outcomes"].pop("tests/test_shout.py::test_letters_are_large", None)

    for gate in ("green", "delivery"):
        forger.records(gate, forget)


def unlock(forger: Forger) -> None:
    forger.records("red", lambda record: record.update(locked={}))


def swap_lines(forger: Forger) -> None:
    """Two lines of the journal in the other order, each whole."""
    lines = (forger.root / JOURNAL).read_bytes().splitlines(keepends=True)
    lines[-3], lines[-4] = lines[-4], lines[-3]
    (forger.root / JOURNAL).write_bytes(b"".join(lines))


def last_line_twice(forger: Forger) -> None:
    data = (forger.root / JOURNAL).read_bytes()
    (forger.root / JOURNAL).write_bytes(data + data.splitlines(keepends=True)[-1])


def other_ends_of_lines(forger: Forger) -> None:
    data = (forger.root / JOURNAL).read_bytes()
    (forger.root / JOURNAL).write_bytes(data.replace(b"\n", b"\r\n"))


def journal_elsewhere(forger: Forger) -> None:
    """The journal is a link to a file that anybody may write."""
    place = forger.repo.with_name("elsewhere.yaml")
    shutil.move(forger.root / JOURNAL, place)
    (forger.root / JOURNAL).symlink_to(place)
    place.write_bytes(place.read_bytes()[:-1])


def evidence_says_it_twice(forger: Forger) -> None:
    """A key that is spelled otherwise and means the same."""
    data = (forger.root / EVIDENCE).read_bytes()
    (forger.root / EVIDENCE).write_bytes(data.replace(b"{", b'{"same_\\u0061uthor":true,', 1))


def artifact_is_a_folder(forger: Forger) -> None:
    path = forger.root / "artifacts/phases/review/review_final.yaml"
    path.unlink()
    path.mkdir()


def object_from_elsewhere(forger: Forger) -> None:
    """A file of the delivered tree with another content, in a store that git is pointed to."""
    branch = f"agentforge/{forger.task_id}"
    oid = forger.git(
        "rev-parse", f"{branch}:" + forger.git("ls-tree", "-r", "--name-only", branch).split()[0]
    )
    there = forger.repo.with_name("store") / oid[:2]
    there.mkdir(parents=True)
    mine = forger.repo / ".git/objects" / oid[:2] / oid[2:]
    head, _, body = zlib.decompress(mine.read_bytes()).partition(b"\0")
    (there / oid[2:]).write_bytes(zlib.compress(head + b"\0" + bytes([body[0] ^ 1]) + body[1:]))
    mine.unlink()
    (forger.repo / ".git/objects/info/alternates").write_text(f"{there.parent}\n")


def branch_of_another_name(forger: Forger) -> None:
    """The branch leads to whatever another name leads to."""
    forger.git("symbolic-ref", f"refs/heads/agentforge/{forger.task_id}", "refs/heads/main")


def branch_is_a_note(forger: Forger) -> None:
    """A tag with a text of its own stands where the commit was."""
    branch = f"agentforge/{forger.task_id}"
    forger.git("-c", "user.name=m", "-c", "user.email=m@m", "tag", "-a", "-m", "proved", "t", branch)
    (forger.repo / ".git/refs/heads" / branch).write_text(forger.git("rev-parse", "refs/tags/t") + "\n")


def later_seal(forger: Forger) -> None:
    """The same seal, of another day."""
    branch = f"agentforge/{forger.task_id}"
    message = forger.git("log", "-1", "--format=%B", branch)
    made = forger.git(
        "-c",
        "user.name=m",
        "-c",
        "user.email=m@m",
        "commit-tree",
        f"{branch}^{{tree}}",
        "-p",
        f"{branch}^",
        "-m",
        message,
    )
    forger.git("update-ref", f"refs/heads/{branch}", made)


def one_more_commit(forger: Forger) -> None:
    branch = f"agentforge/{forger.task_id}"
    made = forger.git(
        "-c",
        "user.name=m",
        "-c",
        "user.email=m@m",
        "commit-tree",
        f"{branch}^{{tree}}",
        "-p",
        branch,
        "-m",
        "nothing",
    )
    forger.git("update-ref", f"refs/heads/{branch}", made)


def fewer_runs(forger: Forger) -> None:
    """The evidence says that less was run, and its hash stands in the journal."""
    evidence = forger.evidence()
    evidence["rows"] = evidence["rows"][:1]
    forger.write_evidence(evidence)


def quieter_evidence(forger: Forger) -> None:
    """The evidence forgets what was named and what was ruled on it, and its hash stands in the journal."""
    forger.write_evidence({**forger.evidence(), "requirements": [], "rulings": [], "not_checked": []})


def older_time(forger: Forger) -> None:
    forger.rewrite(lambda body: body.update(timestamp="2020-01-01T00:00:00.000Z"))


FORGERIES: Mapping[Callable[[Forger], None], set[str]] = {
    cut_tail: {"anchor", "delivery"},
    tear_tail: {"anchor", "delivery"},
    rewrite_reason: {"anchor", "statement"},
    other_task: {"journal", "anchor", "task.yaml", "original_request.yaml", "branch", "refs"},
    key_twice_in_evidence: {"evidence.json"},
    key_twice_in_yaml: {"artifact review_final"},
    key_twice_in_journal: {"journal", "anchor"},
    soften_request: {"original_request.yaml"},
    raise_limits: {"task.yaml"},
    kinder_review: {"artifact review_final"},
    kinder_draft: {"artifact test_suite_v1"},
    other_patch: {"patches"},
    without_artifact: {"artifact specification_final"},
    delete_branch: {"branch"},
    move_branch: {"branch"},
    move_base: {"refs"},
    move_steps: {"refs"},
    delete_copy: {"anchor"},
    replace_commit: {"objects", "history"},
    graft: {"objects", "history"},
    other_seal: {"seal", "anchor"},
    forget_failing_test: {"verdict", "anchor", "statement"},
    unlock: {"evidence", "anchor", "statement"},
    swap_lines: {"opening"},
    last_line_twice: {"opening"},
    other_ends_of_lines: {"opening"},
    journal_elsewhere: {"opening"},
    evidence_says_it_twice: {"evidence.json"},
    artifact_is_a_folder: {"opening"},
    object_from_elsewhere: {"objects", "history", "patches"},
    branch_of_another_name: {"branch"},
    branch_is_a_note: {"branch"},
    later_seal: {"branch"},
    one_more_commit: {"branch"},
    fewer_runs: {"anchor", "statement"},
    quieter_evidence: {"evidence", "anchor", "statement"},
    older_time: {"anchor", "statement", "task.yaml", "original_request.yaml"},
}


@pytest.mark.parametrize("forgery", telling([*FORGERIES], 12), ids=lambda forgery: str(forgery.__name__))
def test_each_forgery_is_named_where_it_is(scene: Scene, forgery: Callable[[Forger], None]) -> None:
    forgery(Forger(scene.repo, scene.task_id))
    found = wrong(scene)
    assert FORGERIES[forgery] <= rows(found), found
    # These hold the head of the journal that was.
    others = {"state.yaml", "working_memory.yaml", EVIDENCE, "evidence", "anchor", "statement"}
    assert rows(found) <= FORGERIES[forgery] | others, found


def test_who_rewrites_everything_is_betrayed_by_the_missing_signature_alone(scene: Scene) -> None:
    """What cannot be seen without a signature, said as a test: a whole other story, all fitting together."""
    forger = Forger(scene.repo, scene.task_id)
    forger.rewrite_everything(lambda body: body.update(why="all is well") if body["seq"] == 7 else None)
    assert wrong(scene) == []
    assert rows(wrong(scene, signed=True)) == {"signature"}
