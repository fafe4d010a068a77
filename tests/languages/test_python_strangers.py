"""What a build leaves in an environment beside the packages: found by what the packages say of themselves."""

import base64
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.gates.green import _left_there, _planted
from agentforge.languages.python.environment import run_env
from agentforge.languages.python.strangers import strangers
from agentforge.languages.values import Environment, Stranger
from tests.gates.bench_of_judges import Site, make_site
from tests.rows import every

MODULE = b"x = 1\n"


def made(place: Path) -> Environment:
    """An environment with one package, as an installer leaves it."""
    site = place / "lib/python3.11/site-packages"
    info = site / "shop-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "shop").mkdir()
    rows = [_row("shop/__init__.py", MODULE), _row("shop.pth", b"/src\n"), "shop-1.0.dist-info/RECORD,,"]
    (site / "shop/__init__.py").write_bytes(MODULE)
    (site / "shop.pth").write_bytes(b"/src\n")
    (site / "_virtualenv.pth").write_bytes(b"import _virtualenv\n")
    (info / "RECORD").write_text("\n".join(rows) + "\n")
    (info / "uv_cache.json").write_text("{}")
    (site / "shop/__pycache__").mkdir()
    (site / "shop/__pycache__/x.pyc").write_bytes(b"1")
    return Environment(place, place / "bin/python", place, (".",), (), "test", "", place)


def _row(path: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}"


def test_an_environment_as_an_installer_leaves_it_has_none(tmp_path: Path) -> None:
    assert strangers(made(tmp_path)) == ()


@every(
    ("path", "text", "record", "found"),
    [
        ("evil.pth", "import os\n", False, ("is in no package", False)),
        ("sitecustomize.py", "x = 1\n", False, ("is in no package", False)),
        ("_pytest/runner.py", "x = 1\n", False, ("is in no package", False)),
        ("shop/__init__.py", "x = 2\n", False, ("is not what its package holds", False)),
        ("more.pth", "import os\n", True, ("runs before any program", True)),
        ("sitecustomize.py", "x = 1\n", True, ("runs before any program", True)),
        ("more.pth", "/src\n", True, None),
    ],
)
def test_what_a_build_left_there_is_found(
    tmp_path_factory: pytest.TempPathFactory,
    path: str,
    text: str,
    *,
    record: bool,
    found: tuple[str, bool] | None,
) -> None:
    environment = made(tmp_path_factory.mktemp("env"))
    place = environment.path / "lib/python3.11/site-packages"
    (place / path).parent.mkdir(exist_ok=True)
    (place / path).write_text(text)
    if record:
        with (place / "shop-1.0.dist-info/RECORD").open("a") as rows:
            rows.write(_row(path, text.encode()) + "\n")
    assert strangers(environment) == (() if found is None else (Stranger(path, *found),))


def test_a_link_is_no_file_of_a_package(tmp_path: Path) -> None:
    environment = made(tmp_path)
    module = tmp_path / "lib/python3.11/site-packages/shop/__init__.py"
    module.unlink()
    module.symlink_to("/etc/hostname")
    assert [found.name for found in strangers(environment)] == ["shop/__init__.py"]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "site").mkdir()
    return make_site(tmp_path / "site", {"shop.py": "x = 1\n"})


def test_only_what_the_base_does_not_have_counts_and_only_in_another_environment(
    site: Site, tmp_path: Path
) -> None:
    base, changed = made(tmp_path / "base"), made(tmp_path / "changed")
    runner = replace(site.runner, env=base, env_for=lambda *_: base)
    for env in (base, changed):
        (env.path / "lib/python3.11/site-packages/old.pth").write_text("import os\n")
    (base.path / "lib/python3.11/site-packages/odd.py").write_text("x = 1\n")
    assert _planted(runner, site.base) == [], "it is the base's own"
    (changed.path / "lib/python3.11/site-packages/evil.pth").write_text("import os\n")
    found = _planted(replace(runner, env_for=lambda *_: changed), site.base)
    assert [each.name for each in found] == ["evil.pth"]
    assert "holds `evil.pth`, which is in no package" in _left_there(found[0])


def test_compiled_code_of_such_an_environment_is_not_taken(tmp_path: Path) -> None:
    environment = made(tmp_path)
    assert "PYTHONPYCACHEPREFIX" not in run_env(environment, tmp_path)
    prefix = run_env(replace(environment, own_bytecode=False), tmp_path)["PYTHONPYCACHEPREFIX"]
    assert not Path(prefix).exists()
