"""Artifacts on disk."""

from collections.abc import Callable
from datetime import datetime

import pytest

from agentforge.core.errors import Unusable
from agentforge.core.inputs import Create
from agentforge.core.reply import Json
from agentforge.store.layout import TaskFiles
from agentforge.store.task.artifacts import read, write_final, write_inputs, write_patch, write_version
from agentforge.store.task.times import stamp
from agentforge.system import strict_yaml
from agentforge.system.canon import digest_value

VALUE: dict[str, Json] = {
    "title": "no",
    "requirements": [{"id": "REQ-001", "text": "two\nlines\n", "n": 3, "odd": "\x85\u2028"}],
    "empty": [],
}


def test_a_version_reads_back_equal_under_the_hash_of_its_value(files: TaskFiles) -> None:
    ref = write_version(files, "specification", "spec", 1, VALUE)
    assert ref.hash == digest_value(VALUE)
    assert read(files, ref) == VALUE
    assert (files.artifacts / "phases" / "spec" / "specification_v1.yaml").exists()


def test_the_final_has_a_name_of_its_own_and_the_same_hash(files: TaskFiles) -> None:
    ref = write_version(files, "specification", "spec", 2, VALUE)
    assert write_final(files, "specification", "spec", 2, VALUE) == ref
    assert (files.artifacts / "phases" / "spec" / "specification_final.yaml").exists()
    files.version("spec", "specification", 2).unlink()
    assert read(files, ref) == VALUE


def test_writing_the_same_again_leaves_the_file_alone(files: TaskFiles) -> None:
    write_version(files, "specification", "spec", 1, VALUE)
    before = files.version("spec", "specification", 1).stat().st_ino
    write_version(files, "specification", "spec", 1, VALUE)
    assert files.version("spec", "specification", 1).stat().st_ino == before


@pytest.mark.parametrize("change", ["title: yes it was\n", "- a\n", "a: [\n", None])
def test_an_artifact_that_was_changed_or_lost_is_refused(change: str | None, files: TaskFiles) -> None:
    ref = write_version(files, "specification", "spec", 1, VALUE)
    path = files.version("spec", "specification", 1)
    path.unlink() if change is None else path.write_text(change, encoding="utf-8")
    with pytest.raises(Unusable, match=r"specification_v1\.yaml (was changed|is missing)"):
        read(files, ref)


def test_half_a_surrogate_pair_does_not_break_the_hash(files: TaskFiles) -> None:
    ref = write_version(files, "specification", "spec", 1, {"title": "half \ud83d"})
    assert read(files, ref) == {"title": "half \ufffd"}


def test_a_patch_is_kept_by_step(files: TaskFiles) -> None:
    assert write_patch(files, 7, b"diff --git\n").name == "step_007.patch"
    assert write_patch(files, 1234, b"").name == "step_1234.patch"


def test_the_inputs_are_written_once(files: TaskFiles, create: Create, clock: Callable[[], datetime]) -> None:
    started = stamp(clock())
    write_inputs(files, create.spec, started, "local")
    before = files.task.read_bytes()
    write_inputs(files, create.spec, stamp(clock()), "temporal")
    assert files.task.read_bytes() == before
    task = strict_yaml.load(before.decode(), "task.yaml")
    assert isinstance(task, dict)
    assert (task["request"], task["engine"], task["tree_hash"]) == (
        create.spec.request,
        "local",
        create.spec.base_tree,
    )
    request = strict_yaml.load(files.original_request.read_text(encoding="utf-8"), "original_request.yaml")
    assert request == {"task_id": create.spec.task_id, "received_at": started, "request": create.spec.request}
