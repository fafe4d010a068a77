"""The installed command on projects nobody here wrote: a branch whose tests pass by hand, and a proof that
one byte breaks.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from agentforge.testing import OpenAIServer
from tests.depth import telling
from tests.whole.checkouts import Person, differences, git, photograph
from tests.whole.distributions import ITSDANGEROUS, TOOLZ, Distribution
from tests.whole.plays import finished

UV = Path(sys.executable).with_name("uv")
pytestmark = [pytest.mark.wide, pytest.mark.network, pytest.mark.slow, pytest.mark.timeout(300)]

Way = Literal["a script", "the wire"]
WHOLE: list[tuple[Distribution, Way]] = [
    (TOOLZ, "the wire"),
    (ITSDANGEROUS, "a script"),
    (ITSDANGEROUS, "the wire"),
    (TOOLZ, "a script"),
]
"""A project, and how the model's words come: by either way the branch holds the tree that the distribution
names.
"""


@pytest.fixture
def person(
    released: Distribution, request: pytest.FixtureRequest, tmp_path: Path, agentforge_home: Path
) -> Person:
    assert request.config.cache is not None
    checkout = released.check_out(request.config.cache.mkdir("distributions"), tmp_path / "checkout")
    return Person(checkout, tmp_path / "script.yaml")


@pytest.mark.parametrize(("released", "way"), telling(WHOLE, 1), ids=lambda each: getattr(each, "name", each))
def test_a_released_project_gets_a_verified_branch_with_the_same_tree_by_whatever_way_the_words_came(
    released: Distribution, way: Way, person: Person, tmp_path: Path
) -> None:
    make_it_lived_in(person)
    before = photograph(person.checkout)
    data = by_script(released, person) if way == "a script" else by_wire(released, person)
    task, branch = data["task_id"], data["branch"]
    assert branch == f"agentforge/{task}"
    assert data["cost"]["calls"] == len(released.replies)
    assert person.git("rev-parse", f"{branch}^{{tree}}") == released.tree
    assert differences(before, photograph(person.checkout)) == []
    assert [test["green"] for test in data["requirements"][0]["tests"] if test["id"] == released.test] == [
        "passed"
    ]

    # Where nothing fails on the branch there is nothing to hold against the base.
    on_branch, *on_base = run_by_hand(
        released, person, (branch, data["base"])[: 2 if released.fails_on_base else 1], tmp_path / "by hand"
    )
    assert len(on_branch) == released.fails_on_base
    assert all(found == on_branch for found in on_base)

    for words in ((task,), (branch, "--rerun")):
        done = person.run("verify", *words)
        assert done.code == 0, done.said
        assert "the proof holds" in done.out
    flipped_bytes_are_named(person, task)


def start(released: Distribution) -> tuple[str, ...]:
    return "start", released.request, "--lane", released.lane, "--json", "--model"


def delivered(released: Distribution, person: Person, model: str) -> dict[str, Any]:
    """What the task ends in. A checker that the project uses and this machine cannot run is asked about before
    the first call, and left out on record.
    """
    done = person.run(*start(released), model)
    if done.code == 3:
        question = done.data["escalation"]["question"]
        assert (done.data["cost"]["calls"], question["options"][0]) == (0, "leave out types"), done.said
        done = person.run("resolve", "ESC-001", "--answer", "leave out types", "--json")
    return finished(done)


def by_script(released: Distribution, person: Person) -> dict[str, Any]:
    person.scripted(*released.replies)
    return delivered(released, person, f"scripted:{person.script}")


def by_wire(released: Distribution, person: Person) -> dict[str, Any]:
    with OpenAIServer([entry["reply"] for entry in released.replies]) as server:
        person.variables |= {"OPENAI_BASE_URL": server.base_url}
        data = delivered(released, person, "openai:any")
    for seen, entry in zip(server.requests, released.replies, strict=True):
        for pattern in entry.get("expects", ()):
            assert re.search(pattern, f"{seen.system}\n\n{seen.user}"), (entry["stage"], pattern)
    return data


def make_it_lived_in(person: Person) -> None:
    """Staged, edited, stashed and ignored things, a hook that fails and settings of one's own: none of it is
    the task's.
    """
    person.write({"stashed.py": "later = True\n"})
    person.git("stash", "push", "-q", "-u")
    person.write(
        {
            "staged.py": "now = True\n",
            "README.rst": "half a thought",
            ".git/hooks/pre-commit": "#!/bin/sh\nexit 1\n",
        }
    )
    (person.checkout / ".git/hooks/pre-commit").chmod(0o755)
    person.git("add", "staged.py")
    person.git("config", "commit.gpgSign", "true")


def run_by_hand(released: Distribution, person: Person, refs: tuple[str, ...], place: Path) -> list[set[str]]:
    """What a person would do: clone, install the project and its test requirements, run pytest on each
    commit. Returns what fails there.
    """
    git(person.checkout, "clone", "-q", "--no-local", str(person.checkout), str(place))
    environment = place.parent / f"{place.name} environment"
    python = str(environment / "bin/python")
    for words in (
        ("venv", "-q", str(environment)),
        ("pip", "install", "-q", "--python", python, "-e", ".", *released.needs),
    ):
        subprocess.run([UV, *words], cwd=place, check=True)
    failures = []
    for ref in refs:
        git(place, "fetch", "-q", "origin", ref)
        git(place, "checkout", "-q", "--detach", "FETCH_HEAD")
        done = subprocess.run(
            [python, "-m", "pytest", "-q", "-rA"], cwd=place, capture_output=True, text=True, check=False
        )
        if (place / released.test.partition("::")[0]).exists():
            assert f"PASSED {released.test}" in done.stdout, done.stdout[-2000:]
        failures.append(set(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)))
    return failures


def flipped_bytes_are_named(person: Person, task: str) -> None:
    evidence = person.checkout / f".agentforge/tasks/{task}/evidence.json"
    whole = evidence.read_bytes()
    for row, pattern in {
        "/red": rb'"gate":\s*"red".*?"output_hash":\s*"(.)',
        "/green": rb'"gate":\s*"green".*?"outcomes":\s*\{\s*"(.)',
        "requirement REQ-001": rb'"requirements":.*?"description":\s*"(.)',
        "evidence.json": rb'"request":\s*"(.)',
    }.items():
        found = re.search(pattern, whole, re.DOTALL)
        assert found is not None, pattern
        at = found.start(1)
        evidence.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        done = person.run("verify", task)
        assert done.code == 1, (row, done.said)
        assert re.search(rf"^WRONG  \S*{row}", done.out, re.MULTILINE), (row, done.out)
    evidence.write_bytes(whole)
