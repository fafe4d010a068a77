"""The file of grants: what was written comes back, and a file that is damaged or not ours alone grants
nothing.
"""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.task.times import stamp
from agentforge.store.user.grants import (
    Approval,
    Grant,
    add_grant,
    grants_file,
    moment,
    proposals,
    read_grants,
    revoke_grant,
)
from tests.fuzzing import tries

NOW = datetime(2030, 1, 31, 12, tzinfo=UTC)
LATER = stamp(NOW + timedelta(days=7))
PUSH = Grant("/projects/pantry", "run_command", LATER, ("git", "push"), risk="high")
DOCS = Grant("/projects/pantry", "create_file", LATER, path="docs/**/*")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return grants_file(Home(tmp_path / "home"))


def test_no_file_is_no_grants_and_no_problem(file: Path) -> None:
    assert read_grants(file) == ((), "")


def test_what_was_added_comes_back_and_is_for_its_owner_alone(file: Path) -> None:
    made = [add_grant(file, grant, NOW) for grant in (PUSH, DOCS)]
    assert read_grants(file).grants == tuple(made)
    assert [replace(grant, id="", created="") for grant in made] == [PUSH, DOCS]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert made[0].id != made[1].id
    assert made[0].created == stamp(NOW)


def test_a_grant_is_revoked_by_the_beginning_of_its_id(file: Path) -> None:
    first, second = (add_grant(file, grant, NOW) for grant in (PUSH, DOCS))
    assert revoke_grant(file, first.id[:-1]) == first
    assert read_grants(file).grants == (second,)
    with pytest.raises(UsageError, match="There is no grant"):
        revoke_grant(file, first.id)
    with pytest.raises(UsageError, match="There is no grant"):
        revoke_grant(file, "")


def test_an_ambiguous_beginning_revokes_nothing(file: Path) -> None:
    for grant in (PUSH, DOCS):
        add_grant(file, grant, NOW)
    with pytest.raises(UsageError, match="2 grants"):
        revoke_grant(file, "grant-")
    assert len(read_grants(file).grants) == 2


def test_a_grant_needs_an_end_that_is_still_to_come(file: Path) -> None:
    for expires in ("", "tomorrow", "2030-02-01", "2030-02-01T00:00:00", "2030-99-01T00:00:00Z", stamp(NOW)):
        with pytest.raises(UsageError):
            add_grant(file, replace(PUSH, expires=expires), NOW)
    assert not file.exists()


ENTRY = f"  - {{id: grant-1, project: /p, tool: run_command, command: [git], expires: '{LATER}'}}\n"


@pytest.mark.parametrize(
    "text",
    [
        "grants: [",
        "grants: 1\n",
        "[]\n",
        "grants: []\nmore: 1\n",
        f"grants:\n{ENTRY}  - 1\n",
        f"grants:\n{ENTRY}{ENTRY}",
        f"grants:\n{ENTRY.replace('tool', 'tols')}",
        f"grants:\n{ENTRY.replace('[git]', 'git')}",
        f"grants:\n{ENTRY.replace('[git]', '[1]')}",
        f"grants:\n{ENTRY.replace(LATER, 'never')}",
        f"grants:\n{ENTRY.replace('}', ', risk: critical}')}",
        f"grants:\n{ENTRY.replace('project: /p, ', '')}",
        f"grants:\n{ENTRY.replace('grant-1', '7')}",
        "\0",
        "grants: &a [*a]\n",
    ],
)
def test_a_damaged_file_grants_nothing_and_is_left_as_it_is(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    read = read_grants(file)
    assert read.grants == ()
    assert "no grant counts" in read.problem
    assert read.problem.count("\n") == 0
    with pytest.raises(UsageError):
        add_grant(file, PUSH, NOW)
    with pytest.raises(UsageError):
        revoke_grant(file, "grant-1")
    assert file.read_text(encoding="utf-8") == text


def test_a_file_that_others_may_write_grants_nothing(file: Path) -> None:
    add_grant(file, PUSH, NOW)
    file.chmod(0o666)
    assert read_grants(file).grants == ()
    file.chmod(0o644)
    assert len(read_grants(file).grants) == 1


def test_what_is_no_ordinary_file_grants_nothing(file: Path, tmp_path: Path) -> None:
    add_grant(file, PUSH, NOW)
    file.rename(tmp_path / "other")
    file.symlink_to(tmp_path / "other")
    assert read_grants(file).grants == ()
    file.unlink()
    os.mkfifo(file, 0o600)
    assert read_grants(file).grants == ()
    file.unlink()
    file.mkdir()
    assert read_grants(file).grants == ()
    assert read_grants(file).problem


def test_bytes_that_are_no_text_grant_nothing(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"grants: [\xff]\n")
    file.chmod(0o600)
    assert "UTF-8" in read_grants(file).problem


@tries(60)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_without_a_crash(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "grants.yaml"
    file.write_bytes(data)
    file.chmod(0o600)
    read = read_grants(file)
    assert not (read.grants and read.problem)


def test_grants_that_are_added_at_once_are_all_kept(file: Path) -> None:
    grants = [replace(PUSH, command=("git", str(number))) for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda grant: add_grant(file, grant, NOW), grants))
    assert {grant.command for grant in read_grants(file).grants} == {grant.command for grant in grants}


PUSHED = Approval("/projects/pantry", "run_command", ("git", "push"), risk="high")


def test_three_equal_approvals_propose_just_that_call_and_add_nothing(file: Path) -> None:
    assert proposals([PUSHED] * 2, (), NOW) == ()
    (proposed,) = proposals([PUSHED, replace(PUSHED, command=("git", "pull")), PUSHED, PUSHED], (), NOW)
    assert (proposed.project, proposed.tool, proposed.command, proposed.risk) == (
        PUSHED.project,
        PUSHED.tool,
        PUSHED.command,
        "high",
    )
    assert moment(proposed.expires) == NOW + timedelta(days=30)
    assert not file.exists()


def test_nothing_is_proposed_that_is_granted_or_has_no_bounds() -> None:
    assert proposals([PUSHED] * 3, [PUSH], NOW) == ()
    assert proposals([PUSHED] * 3, [replace(PUSH, expires=stamp(NOW))], NOW) != ()
    assert proposals([replace(PUSHED, command=())] * 5, (), NOW) == ()
    assert proposals([replace(PUSHED, project="/other")] + [PUSHED] * 2, (), NOW) == ()
