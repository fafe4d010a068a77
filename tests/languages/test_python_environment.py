"""Environments of real projects, built in the sandbox by the real `uv`, and their tests run in it."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.languages import set_up
from agentforge.languages.generated import lay_generated
from agentforge.languages.python import detect, environment, indexes
from agentforge.languages.python.interpreter import find_interpreter, find_uv
from agentforge.languages.values import Environment, Plan
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.walls import ladder
from agentforge.store.layout import Home
from agentforge.system.processes import Completed
from agentforge.system.programs import find_program, search_path
from tests.depth import SOAK
from tests.rows import every
from tests.sandbox.loopback import folder
from tests.sandbox.rungs import RUNGS, label, usable
from tests.whole.distributions import extract

# A build backend in one file: no package index is asked, so these projects build anywhere.
BACKEND = """
import os, pathlib, zipfile
def get_requires_for_build_editable(settings=None): return []
def build_editable(directory, settings=None, metadata=None):
    here = pathlib.Path.cwd()
    (here / "src/greet/_version.py").write_text(f"version = 'made by set-up of {os.environ.get('SETUPTOOLS_SCM_PRETEND_VERSION')}'\\n")
    (here / "src/greet/__pycache__").mkdir(exist_ok=True)
    (here / "src/greet/__pycache__/x.pyc").write_text("")
    info = "greet-1.0.dist-info/"
    with zipfile.ZipFile(pathlib.Path(directory) / "greet-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("greet.pth", str(here / "src"))
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: greet\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "greet.pth,,\\n" + info + "METADATA,,\\n" + info + "WHEEL,,\\n" + info + "RECORD,,\\n")
    return "greet-1.0-py3-none-any.whl"
"""
FILES = {
    "pyproject.toml": '[project]\nname = "greet"\nversion = "1.0"\n'
    '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
    "backend.py": BACKEND,
    "src/greet/__init__.py": "from greet._version import version\n\ndef hello():\n    return 'hello'\n",
    "tests/test_greet.py": "import greet\n\ndef test_hello():\n    assert greet.hello() == 'hello'\n",
}


@pytest.fixture(scope="session")
def walls() -> Sandbox:
    return ladder.choose("auto")


def write(files: dict[str, str], into: Path) -> Path:
    for path, text in files.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_text(text)
    return into


def reader(top: Path) -> Callable[[str], bytes | None]:
    return lambda path: (top / path).read_bytes() if (top / path).is_file() else None


def plan_of(top: Path, settings: dict[str, object] | None = None) -> Plan:
    return detect.detect(
        reader(top),
        tuple(path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()),
        settings,
    )


def offline_plan(top: Path) -> Plan:
    """As settings correct it, without the seed packages, which would ask an index."""
    plan = plan_of(top)
    return Plan(
        setup=(detect.MAKE_ENVIRONMENT, ("{uv}", "pip", "install", "--no-index", "-e", ".")),
        tests=("{env}/bin/python", "-c", "import greet; print(greet.hello(), greet.version, greet.__file__)"),
        import_roots=plan.import_roots,
        test_paths=plan.test_paths,
        linters=(),
        reasons=(),
        lock_files=plan.lock_files,
        version_from_tags=True,
    )


def built(plan: Plan, top: Path, cache: Path, walls: Sandbox) -> Environment:
    def checkout(into: Path) -> None:
        shutil.copytree(top, into, dirs_exist_ok=True)

    return environment.build(
        plan, checkout, cache, walls, version="9.9", lock_text_hash=detect.lock_hash(plan, reader(top))
    )


def run_in(built_env: Environment, argv: tuple[str, ...], tree: Path, walls: Sandbox) -> Completed:
    command = set_up.fill(argv, {"env": str(built_env.path)})
    return walls.run(
        command,
        Confinement(
            cwd=tree, write=(tree,), read=built_env.readable, env=environment.run_env(built_env, tree)
        ),
    )


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, walls: Sandbox) -> tuple[Environment, Path, Path]:
    top = write(FILES, tmp_path_factory.mktemp("greet"))
    cache = tmp_path_factory.mktemp("cache with space")
    return built(offline_plan(top), top, cache, walls), top, cache


def test_the_judged_tree_is_imported_with_the_version_of_its_tags_and_not_the_checkout_that_was_installed(
    shared: tuple[Environment, Path, Path], tmp_path: Path, walls: Sandbox
) -> None:
    env, top, _ = shared
    tree = write(
        FILES | {"src/greet/__init__.py": FILES["src/greet/__init__.py"].replace("'hello'", "'changed'")},
        tmp_path,
    )
    lay_generated(env, tree)
    done = run_in(env, offline_plan(top).tests, tree, walls)
    assert done.out.decode().split() == [
        "changed",
        "made",
        "by",
        "set-up",
        "of",
        "9.9",
        f"{tree}/src/greet/__init__.py",
    ]


def test_what_set_up_generated_is_listed_without_caches(
    shared: tuple[Environment, Path, Path],
) -> None:
    assert shared[0].generated == ("src/greet/_version.py",)


def test_what_a_tree_has_itself_is_not_overlaid(
    shared: tuple[Environment, Path, Path], tmp_path: Path
) -> None:
    tree = write({"src/greet/_version.py": "mine"}, tmp_path)
    lay_generated(shared[0], tree)
    assert (tree / "src/greet/_version.py").read_text() == "mine"


def test_generated_files_are_not_laid_through_a_link_that_leads_out(
    shared: tuple[Environment, Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "outside/greet").mkdir(parents=True)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/src").symlink_to(tmp_path / "outside")
    lay_generated(shared[0], tmp_path / "tree")
    assert list((tmp_path / "outside/greet").iterdir()) == []


def test_the_environment_and_its_source_cannot_be_changed_by_a_run(
    shared: tuple[Environment, Path, Path], tmp_path: Path, walls: Sandbox
) -> None:
    env = shared[0]
    script = (
        f"echo x > {env.path}/forged; echo x >> '{env.source}/src/greet/__init__.py'; rm -rf '{env.path}/bin'"
    )
    assert run_in(env, ("/bin/sh", "-c", script), tmp_path, walls).code != 0
    assert env.program.exists()
    assert not (env.path / "forged").exists()


def test_a_second_build_is_answered_from_the_cache(
    shared: tuple[Environment, Path, Path], walls: Sandbox
) -> None:
    env, top, cache = shared

    def never(into: Path) -> None:
        raise AssertionError(into)

    plan = offline_plan(top)
    assert (
        environment.build(
            plan, never, cache, walls, version="9.9", lock_text_hash=detect.lock_hash(plan, reader(top))
        )
        == env
    )


def test_a_half_built_environment_is_built_again(tmp_path: Path, walls: Sandbox) -> None:
    top = write(FILES, tmp_path / "greet")
    plan = offline_plan(top)
    first = built(plan, top, tmp_path / "cache", walls)
    (first.path.parent / ".ready").unlink()
    (first.path / "rubble").write_text("")
    again = built(plan, top, tmp_path / "cache", walls)
    assert replace(again, log="") == replace(first, log="")
    assert not (first.path / "rubble").exists()


def test_another_lock_file_is_another_environment(
    shared: tuple[Environment, Path, Path], tmp_path: Path, walls: Sandbox
) -> None:
    env, _, cache = shared
    top = write(FILES | {"pyproject.toml": FILES["pyproject.toml"] + "# changed\n"}, tmp_path)
    assert built(offline_plan(top), top, cache, walls).key != env.key


def test_a_failing_set_up_says_which_command_its_last_words_and_what_to_correct(
    tmp_path: Path, walls: Sandbox
) -> None:
    top = write(FILES | {"backend.py": "raise SystemExit('the compiler is missing')\n"}, tmp_path / "greet")
    with pytest.raises(set_up.SetupFailed) as caught:
        built(offline_plan(top), top, tmp_path / "cache", walls)
    assert "uv} pip install" in caught.value.sentence
    assert "the compiler is missing" in caught.value.sentence
    assert "setup:" in caught.value.next_step
    assert caught.value.exit_code == 1
    assert not list((tmp_path / "cache").glob("*/.ready"))


@every(
    ("said", "again"),
    [
        ("error: Failed to fetch: https://x/simple/\n  cause: error sending request for url", True),
        ("Temporary failure in name resolution", True),
        (
            "error: Request failed after 3 retries in 9.6s\n  cause: Failed to fetch: x\n  cause: HTTP status server error (502 Bad Gateway)",
            True,
        ),
        ("npm error code ENOTFOUND", True),
        ("error: no version of greet satisfies greet==9", False),
    ],
)
def test_a_set_up_that_reaches_no_index_is_to_be_tried_again_and_nothing_is_to_be_corrected_first(
    said: str, again: bool
) -> None:
    done = Completed(("uv",), 2, b"", said.encode(), timed_out=False, seconds_ms=1, truncated=False)
    step = set_up.SetupFailed(("uv", "sync"), done).next_step
    assert step.startswith("Answer retry once this machine reaches the package index again.") == again


def test_set_up_sees_no_secret_of_the_caller_and_writes_nowhere_else(
    tmp_path: Path, walls: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY_OF_THE_CALLER", "sk-secret")
    top = write({"x.py": ""}, tmp_path / "p")
    plan = plan_of(top)
    spy = ("/bin/sh", "-c", f"env > seen; echo x > {tmp_path}/forged; true")
    env = built(
        Plan((spy,), plan.tests, (".",), (), linters=(), reasons=(), lock_files=()),
        top,
        tmp_path / "cache",
        walls,
    )
    assert env.generated == ("seen",)
    assert "sk-secret" not in (env.source / "seen").read_text()
    assert not (tmp_path / "forged").exists()


def test_where_packages_come_from_is_passed_on_in_the_words_of_both_tools() -> None:
    given = {
        "PIP_INDEX_URL": "https://index.invalid/simple",
        "UV_PYTHON": "3.9",
        "HOME": "/h",
        "https_proxy": "p",
        "SSL_CERT_FILE": "/c",
        "PIP_CERT": "/d",
        "UV_PUBLISH_TOKEN": "sk-secret",
    }
    assert indexes.index_variables(given) == {
        "PIP_INDEX_URL": "https://index.invalid/simple",
        "UV_DEFAULT_INDEX": "https://index.invalid/simple",
        "SSL_CERT_FILE": "/c",
        "PIP_CERT": "/d",
    }


def test_indexes_of_the_users_own_files_are_passed_on_where_no_variable_names_one(tmp_path: Path) -> None:
    write(
        {
            ".config/pip/pip.conf": (
                "[global]\nindex-url = https://a.invalid/s\nextra-index-url =\n  "
                "https://b.invalid/s\n  file:///c\n"
            )
        },
        tmp_path,
    )
    environ = {"HOME": str(tmp_path)}
    assert indexes.index_variables(environ) == {
        "UV_DEFAULT_INDEX": "https://a.invalid/s",
        "UV_INDEX": "https://b.invalid/s",
    }
    assert indexes.index_variables({**environ, "UV_INDEX_URL": "https://x.invalid"}) == {
        "UV_INDEX_URL": "https://x.invalid",
        "UV_INDEX": "https://b.invalid/s",
    }
    uv = (
        '[[index]]\nurl = "https://d.invalid/s"\ndefault = true\n[[index]]\nname = "e"\nurl = '
        '"https://e.invalid/s"\n'
    )
    write({".config/uv/uv.toml": uv}, tmp_path)
    assert indexes.index_variables(environ) == {
        "UV_DEFAULT_INDEX": "https://d.invalid/s",
        "UV_INDEX": "https://e.invalid/s",
    }
    for broken in ("[global", "= [", "\0"):
        write({".config/uv/uv.toml": broken, ".config/pip/pip.conf": broken}, tmp_path)
        assert indexes.index_variables(environ) == {}


def test_set_up_may_reach_the_hosts_of_every_index_that_the_caller_names() -> None:
    variables = {
        "UV_INDEX": "corp=https://u:p@a.invalid/s http://b.invalid:8080/s",
        "UV_FIND_LINKS": "/srv,https://c.invalid/x",
        "PIP_CERT": "/c",
        "UV_EXTRA_INDEX_URL": "file:///srv",
    }
    assert [str(place) for place in indexes.index_places(variables)] == [
        "a.invalid:443",
        "b.invalid:8080",
        "c.invalid:443",
    ]
    assert all(place.private for place in indexes.index_places(variables))


def test_the_installers_say_themselves_where_they_go() -> None:
    places = list(indexes.default_places(find_uv(), Path(sys.base_prefix)))
    hosts = {place.host for place in places}
    assert len(hosts) >= 2, "the index, and where its files lie"
    assert all(place.private and "." in place.host for place in places)


def test_set_up_takes_packages_from_an_index_on_this_machine_and_reaches_nothing_else(
    tmp_path: Path, walls: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index/simple/greet").mkdir(parents=True)
    namespace: dict[str, Callable[[Path], str]] = {}
    exec(BACKEND, namespace)
    write(FILES, tmp_path / "greet")
    with contextlib.chdir(tmp_path / "greet"):
        wheel = namespace["build_editable"](tmp_path / "index/simple/greet")
    (tmp_path / "index/simple/greet/index.html").write_text(f'<a href="{wheel}">{wheel}</a>')
    for name in ("UV_OFFLINE", "PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    plain = Plan((), ("true",), (".",), (), linters=(), reasons=(), lock_files=())
    ask = ("{python}", "-c", "import urllib.request; urllib.request.urlopen('http://elsewhere.invalid/')")
    with folder(tmp_path / "index") as port, socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
        monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
        direct = (
            "/bin/sh",
            "-c",
            (
                "! '{python}' -c 'import socket; socket.create_connection((\"127.0.0.1\", "
                f"{other.getsockname()[1]}), 2)'"
            ),
        )
        good = replace(plain, setup=(detect.MAKE_ENVIRONMENT, ("{uv}", "pip", "install", "greet"), direct))
        assert "greet==1.0" in built(good, write({"x.py": ""}, tmp_path / "p"), tmp_path / "cache", walls).log
        with pytest.raises(set_up.SetupFailed, match=r"wanted to reach elsewhere\.invalid,") as caught:
            built(replace(plain, setup=(ask,)), tmp_path / "p", tmp_path / "cache", walls)
    assert caught.value.refused == ("elsewhere.invalid:80",)
    assert "`network: {allow: [elsewhere.invalid]}`" in caught.value.next_step


def test_the_interpreter_is_the_base_of_the_running_one(walls: Sandbox) -> None:
    found = find_interpreter("", walls)
    assert found.prefix == Path(sys.base_prefix)
    assert found.version == ".".join(map(str, sys.version_info[:3]))
    assert find_interpreter(".".join(found.version.split(".")[:2]), walls) == found
    asked = find_interpreter(str(found.executable), walls)
    assert (asked.version, asked.prefix) == (found.version, found.prefix.resolve())


@every("wanted", ["./evil", "bin/python", "python3", "2.1", "/bin/true", "/nowhere", "/"])
def test_an_interpreter_that_cannot_be_used_is_refused_with_the_key_to_correct(
    wanted: str, walls: Sandbox
) -> None:
    with pytest.raises(UsageError, match="python"):
        find_interpreter(wanted, walls)


def planted(folder: Path, name: str, marker: Path, prefix: Path) -> Path:
    """A program that leaves a mark and answers as an interpreter of that prefix would."""
    folder.mkdir(parents=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\necho ran > '{marker}'\necho 9.9.0\necho '{prefix}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("by", ["path", "version"])
def test_an_interpreter_is_asked_inside_the_walls_alone(
    tmp_path: Path, walls: Sandbox, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    marker = tmp_path / "marker"
    program = planted(tmp_path / "py/bin", "python9.9", marker, tmp_path / "py")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    found = find_interpreter(str(program) if by == "path" else "9.9", walls)
    assert (found.version, found.prefix, marker.exists()) == ("9.9.0", tmp_path / "py", False)
    subprocess.run([program], check=True, capture_output=True)
    assert marker.exists(), "outside of the walls it would have left its mark"


def test_what_an_interpreter_says_makes_nothing_else_visible(tmp_path: Path, walls: Sandbox) -> None:
    program = planted(tmp_path / "py/bin", "python9.9", tmp_path / "marker", Path.home())
    with pytest.raises(UsageError, match="not a Python that can be used"):
        find_interpreter(str(program), walls)
    program = planted(Path.home() / "bin", "python9.9", tmp_path / "marker", Path.home())
    with pytest.raises(UsageError, match="not a Python that can be used"):
        find_interpreter(str(program), walls)


def test_a_relative_place_of_the_path_and_one_in_the_checkout_give_no_program_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / "checkout"
    for place in (top / "tools", tmp_path / "bin"):
        planted(place, "bwrap", tmp_path / "marker", tmp_path)
    (top / ".git").mkdir()
    monkeypatch.setenv("PATH", f"::.:tools:{top}/tools:{top}/../checkout/tools:{tmp_path}/bin")
    monkeypatch.chdir(top / "tools")
    assert search_path() == f"{tmp_path}/bin"
    assert find_program("bwrap") == f"{tmp_path}/bin/bwrap"
    monkeypatch.setenv("PATH", f"tools:{top}/tools")
    assert find_program("bwrap", top) is None


@pytest.mark.parametrize("rung", RUNGS[:2], ids=label)
def test_set_up_writes_to_a_cache_of_the_project_and_not_to_that_of_the_user(
    tmp_path: Path, rung: Sandbox, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    walls = usable(rung)
    for place in (tmp_path / "users", home / ".cache/uv"):
        place.mkdir(parents=True)
        (place / "wheel").write_text("good")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "users"))
    poison = (
        "/bin/sh",
        "-c",
        (
            'echo bad > "$UV_CACHE_DIR/poison"; echo "$UV_CACHE_DIR" > seen; '
            f"for place in '{tmp_path}/users' '{home}/.cache/uv' '{tmp_path}/b/packages'; do "
            "echo bad > $place/wheel; rm -rf $place; ls $place >> seen; done; true"
        ),
    )
    plan = Plan((poison,), ("true",), (".",), (), linters=(), reasons=(), lock_files=())
    (tmp_path / "b/packages").mkdir(parents=True)
    top = write({"x.py": ""}, tmp_path / "p")
    env = built(plan, top, tmp_path / "a", walls)
    assert (env.source / "seen").read_text().split() == [f"{tmp_path}/a/packages"]
    assert (tmp_path / "a/packages/poison").exists(), "it did run"
    assert list((tmp_path / "b/packages").iterdir()) == []
    for place in (tmp_path / "users", home / ".cache/uv"):
        assert [(path.name, path.read_text()) for path in place.iterdir()] == [("wheel", "good")]


def test_what_a_project_built_is_never_given_to_another_one_with_the_same_lock_files(
    tmp_path: Path, walls: Sandbox
) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other/mine"
    kept = Home(tmp_path / "home")
    write(FILES, mine)
    write(FILES | {"backend.py": BACKEND.replace("made by set-up", "poisoned by set-up")}, other)
    first = built(offline_plan(other), other, kept.environments(other), walls)
    second = built(offline_plan(mine), mine, kept.environments(mine), walls)
    assert first.key == second.key, "nothing that decides the key tells the two apart"
    assert "poisoned" in (first.source / "src/greet/_version.py").read_text()
    assert "poisoned" not in (second.source / "src/greet/_version.py").read_text()


@pytest.mark.parametrize("rung", RUNGS[:2], ids=label)
def test_no_file_of_an_environment_is_one_of_the_cache_and_no_run_sees_the_cache(
    tmp_path: Path, rung: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    walls = usable(rung)
    monkeypatch.setenv("UV_LINK_MODE", "hardlink")
    plan = Plan(
        (detect.MAKE_ENVIRONMENT, (*detect.INSTALL, "pytest")),
        ("true",),
        (".",),
        (),
        linters=(),
        reasons=(),
        lock_files=(),
    )
    env = built(plan, write({"x.py": ""}, tmp_path / "p"), tmp_path / "cache", walls)
    files = [path for path in env.path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) > 100
    assert {path.stat().st_nlink for path in files} == {1}
    cached = tmp_path / "cache/packages"
    assert any(cached.iterdir())
    (tmp_path / "tree").mkdir()
    spy = run_in(env, ("/bin/sh", "-c", f"ls {cached}; echo bad > {cached}/bad"), tmp_path / "tree", walls)
    assert (spy.code != 0, spy.out, (cached / "bad").exists()) == (True, b"", False)


def test_only_named_variables_reach_set_up_and_no_password() -> None:
    given = {
        "UV_INDEX": "corp=https://ada:pw-one@a.invalid/s https://b.invalid/s",
        "UV_INDEX_CORP_USERNAME": "ada",
        "UV_INDEX_CORP_PASSWORD": "pw-two",
        "PIP_EXTRA_INDEX_URL": "https://token-three@c.invalid/s",
        "UV_OFFLINE": "1",
    }
    tokens = (
        "UV_PUBLISH_TOKEN",
        "UV_HF_TOKEN",
        "UV_KEYRING_PROVIDER",
        "PIP_KEYRING_PROVIDER",
        "PIP_CLIENT_CERT",
    )
    others = ("UV_CACHE_DIR", "UV_LINK_MODE", "UV_ENV_FILE", "UV_GITHUB_FAST_PATH_URL", "PIP_CONFIG_FILE")
    found = indexes.index_variables(
        given | dict.fromkeys((*tokens, *others, "HF_TOKEN", "HOME"), "sk-secret")
    )
    assert set(found) == set(given)
    assert indexes.passwords_in(found) == (
        "UV_INDEX_CORP_USERNAME",
        "UV_INDEX_CORP_PASSWORD",
        "a.invalid",
        "c.invalid",
    )
    assert indexes.without_passwords(found) == {
        "UV_INDEX": "corp=https://a.invalid/s https://b.invalid/s",
        "PIP_EXTRA_INDEX_URL": "https://c.invalid/s",
        "UV_OFFLINE": "1",
    }


@pytest.mark.parametrize("passed", [False, True])
def test_set_up_is_told_the_password_of_an_index_only_on_the_users_word(
    tmp_path: Path, walls: Sandbox, monkeypatch: pytest.MonkeyPatch, passed: bool
) -> None:
    monkeypatch.setenv("UV_INDEX", "https://ada:pw-one@a.invalid/s")
    spy = ("/bin/sh", "-c", "env | grep -q pw-one")
    plan = Plan((spy,), ("true",), (".",), (), linters=(), reasons=(), lock_files=())

    def build() -> Environment:
        return environment.build(
            plan, lambda _: None, tmp_path / "cache", walls, lock_text_hash="x", index_passwords=passed
        )

    if passed:
        assert build().source.exists()
        return
    with pytest.raises(set_up.SetupFailed, match=r"not told the password of a\.invalid") as caught:
        build()
    assert "`network: {index_passwords: true}`" in caught.value.next_step


def test_only_known_names_in_braces_are_filled() -> None:
    assert set_up.fill(("{env}/x", "{a: 1}", "{}"), {"env": "/e"}) == ("/e/x", "{a: 1}", "{}")


@pytest.fixture(scope="session")
def sdists(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Source distributions from the package index the machine is set up for; skipped without one."""
    where = tmp_path_factory.mktemp("sdists")
    subprocess.run(
        (find_uv(), "venv", "--seed", "--python", sys.executable, where / "pip"),
        check=False,
        capture_output=True,
    )

    def fetch(name: str) -> Path:
        command = (
            where / "pip/bin/python",
            "-m",
            "pip",
            "download",
            "--no-binary",
            name,
            "--no-deps",
            "-d",
            where / name,
            name,
        )
        if (
            not (where / "pip/bin/python").exists()
            or subprocess.run(command, env=dict(os.environ), check=False, capture_output=True).returncode
        ):
            pytest.skip("no package index can be reached")
        with tarfile.open(next((where / name).glob("*.tar.gz"))) as archive:
            extract(archive, where / name / "tree")
        return next((where / name / "tree").iterdir())

    return fetch


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all, so that a package is fetched once."""
    return tmp_path_factory.mktemp("downloads")


@pytest.mark.network
@pytest.mark.skipif(not SOAK, reason="ten seconds; whole distributions are built and tested in tests/whole")
def test_the_suite_of_a_src_layout_package_with_its_version_from_tags_runs(
    sdists: Callable[[str], Path], downloads: Path, walls: Sandbox
) -> None:
    top = sdists("iniconfig")
    (top / "src/iniconfig/_version.py").unlink(missing_ok=True)
    plan = plan_of(top)
    assert (plan.import_roots, plan.test_paths, plan.version_from_tags) == (("src",), ("testing",), True)
    env = built(plan, top, downloads, walls)
    assert "src/iniconfig/_version.py" in env.generated
    assert "9.9" in (env.source / "src/iniconfig/_version.py").read_text()
    lay_generated(env, top)
    done = run_in(env, (*plan.tests, "-q", "-p", "no:cacheprovider", *plan.test_paths), top, walls)
    assert done.code == 0, done.out.decode()
    assert b" passed" in done.out
