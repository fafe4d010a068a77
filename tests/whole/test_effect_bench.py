"""The harness of `make effect`, on a library of a few lines: recorded replies are replayed, measured and judged."""

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.effect import run
from bench.effect.cases import HERE, Case, Release, cache, read_cases
from bench.effect.play import stage_of
from bench.effect.reader import Recorded, context_hash, read_replies, write_replies
from tests.sharing import share_environments
from tests.surfaces.scene import CODE, NEW_TEST, PATCH, REVIEW, TEST


def release(version: str, files: Mapping[str, str]) -> Release:
    """A source distribution in the cache."""
    folder = cache() / "archives" / f"greeting-{version}"
    folder.mkdir(parents=True)
    place = folder / f"greeting-{version}.tar.gz"
    with tarfile.open(place, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"greeting-{version}/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return Release("greeting", version, hashlib.sha256(place.read_bytes()).hexdigest())


@pytest.fixture
def case(tmp_path: Path, environments: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setenv("AGENTFORGE_EFFECT_CACHE", str(tmp_path / "cache"))
    files = {"greeting.py": CODE, "tests/test_greeting.py": TEST}
    made = Case(
        name="greeting-world",
        request="Fix greet in greeting.py: an empty name should greet the world",
        base=release("1.0", files),
        after=release("1.1", {**files, "tests/test_of_the_next_release.py": NEW_TEST}),
        named=True,
        places=("greeting.py::greet",),
        hidden=("tests/test_of_the_next_release.py",),
        lane="hotfix",
    )
    home = stage_of(made).root.parent / "home"
    home.mkdir(parents=True)
    (home / "cache").symlink_to(environments)
    share_environments(home, stage_of(made).repository)
    return made


def recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *replies: tuple[str, Mapping[str, Any]]
) -> None:
    place = tmp_path / "replies.yaml"
    write_replies(place, [Recorded(stage, "", "of an older context", reply) for stage, reply in replies])
    monkeypatch.setattr(Case, "replies", property(lambda _: place))


@pytest.mark.slow
def test_recorded_replies_are_replayed_measured_and_judged_by_the_next_release(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(monkeypatch, tmp_path, ("patch", PATCH), ("review", REVIEW))
    found = run.play(case)
    assert (found.status, found.problem, found.refusals) == ("completed", "", ())
    assert (found.calls, found.lane, found.shown) == (2, "hotfix", True)
    assert (found.hidden_passed, found.hidden, found.older) == (1, 1, 2)
    assert found.reusable_tokens <= found.input_tokens
    assert run.meets(found)
    assert "1 of 1 requests within their goals" in run.page([found])


@pytest.mark.slow
def test_replies_that_do_not_fit_any_more_fail_loudly(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old: dict[str, Any] = {**PATCH, "actions": [{"name": "rewrite", "args": {"path": "greeting.py"}}]}
    recorded(monkeypatch, tmp_path, ("patch", old))
    found = run.play(case)
    assert "rewrite" in " ".join(found.refusals)
    assert "out of replies" in found.problem
    assert not run.meets(found)
    assert "DOES NOT FIT ANY MORE: greeting-world" in run.page([found])


def test_the_requests_are_sound_and_pinned() -> None:
    cases = read_cases()
    assert len(cases) >= 12
    assert len({case.base.package for case in cases}) >= 8
    for case in cases:
        assert len(case.base.sha256) == len(case.after.sha256) == 64, case.name
        assert case.places, case.name
        assert case.hidden, case.name
    names = {path.stem for path in (HERE / "replies").glob("*.yaml")}
    assert names <= {case.name for case in cases}
    for case in cases:
        for each in read_replies(case.replies):
            assert each.stage
            assert each.context


def test_a_context_has_the_same_hash_whatever_chance_put_into_it() -> None:
    one = [("task", "id: task-1"), ("facts", "<<<aaaa data\nran in 1.25 s\naaaa>>>")]
    two = [("task", "id: task-22"), ("facts", "<<<bbbb data\nran in 0.5 s\nbbbb>>>")]
    assert context_hash(one, "task-1", "aaaa") == context_hash(two, "task-22", "bbbb")
    assert context_hash(one, "task-1", "aaaa") != context_hash([*two, ("notes", "x")], "task-22", "bbbb")
