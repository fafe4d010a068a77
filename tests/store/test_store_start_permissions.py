"""What a person said, and each yes of theirs: kept in their own directory, and believed only if nobody else
could have written it.
"""

from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.user import approvals
from agentforge.store.user.approvals import Approved, approved_calls, read_approvals, record_approval
from agentforge.store.user.grants import Approval
from agentforge.store.user.start_permissions import (
    StartPermissions,
    StoredPermissions,
    permissions_file,
    read_permissions,
    write_permissions,
)

SAID = StartPermissions(
    frozenset({"shell", "files"}),
    strict=True,
    interactive=False,
    yes=True,
    sandbox="none",
    marker="0123456789abcdef",
)


def test_what_was_said_comes_back_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = permissions_file(Home(tmp_path), tmp_path / "pantry", "task-1")
    assert read_permissions(path) == StoredPermissions(StartPermissions())
    write_permissions(path, SAID)
    assert read_permissions(path) == StoredPermissions(SAID)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path != permissions_file(Home(tmp_path), tmp_path / "other", "task-1")


@pytest.mark.parametrize(
    "text",
    [
        "strict: maybe\n",
        "allow: [everything]\n",
        "allow: shell\n",
        "more: 1\n",
        "- strict\n",
        "sandbox: [none]\n",
        "strict: true",
        "\xff",
    ],
)
def test_a_damaged_file_allows_nothing_and_asks_about_all(tmp_path: Path, text: str) -> None:
    path = tmp_path / "task-1.yaml"
    path.write_text(text, encoding="latin-1")
    path.chmod(0o600 if text != "strict: true" else 0o622)
    found = read_permissions(path)
    assert found.permissions == StartPermissions(strict=True)
    assert str(path) in found.problem


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    write_permissions(tmp_path / "real.yaml", SAID)
    (tmp_path / "task-1.yaml").symlink_to("real.yaml")
    assert read_permissions(tmp_path / "task-1.yaml").permissions == StartPermissions(strict=True)


def approved(number: int, task: str = "task-1", project: str = "/projects/pantry") -> Approved:
    return Approved(
        Approval(project, "run_command", ("make", "docs"), risk="high"),
        task,
        f"{number:064x}",
        "2030-01-31T12:00:00.000Z",
    )


def test_each_yes_is_kept_by_task_and_project(tmp_path: Path) -> None:
    path = tmp_path / "approvals.jsonl"
    for each in (approved(1), approved(2, task="task-2"), approved(3, project="/projects/other")):
        record_approval(path, each)
    assert [item.call for item in read_approvals(path)] == [f"{number:064x}" for number in (1, 2, 3)]
    assert approved_calls(path, "/projects/pantry", "task-1") == {f"{1:064x}"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_torn_or_foreign_line_is_no_yes_and_the_next_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "approvals.jsonl"
    record_approval(path, approved(1))
    with path.open("ab") as file:
        file.write(b'{"risk":"critical"}\n[]\n{"at":')
    record_approval(path, approved(2))
    assert [item.call for item in read_approvals(path)] == [f"{number:064x}" for number in (1, 2)]


def test_a_file_that_others_can_write_holds_no_yes_and_takes_none(tmp_path: Path) -> None:
    path = tmp_path / "approvals.jsonl"
    record_approval(path, approved(1))
    path.chmod(0o666)
    assert read_approvals(path) == ()
    with pytest.raises(UsageError, match="others can write it"):
        record_approval(path, approved(2))


def test_the_oldest_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approvals, "MOST", 10)
    path = tmp_path / "approvals.jsonl"
    for number in range(23):
        record_approval(path, approved(number))
    kept = [int(item.call, 16) for item in read_approvals(path)]
    assert kept[-1] == 22
    assert kept == list(range(kept[0], 23))
    assert len(kept) <= 10
