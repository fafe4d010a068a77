"""Toolchains of a throw-away home: a run sees the ones that its project asks for, and nothing else of that
home.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.languages.python import detect, environment
from agentforge.languages.toolchains import (
    Need,
    all_needs,
    find_toolchains,
    needs_here,
    needs_of,
    pick,
    readable,
    with_toolchains,
)
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.walls import ladder
from tests.rows import every
from tests.sandbox.rungs import RUNGS, label, usable

TOKEN = "tok-7f3a"


def tool(root: Path, *names: str, says: str = "") -> Path:
    """A little toolchain: programs that say where they come from."""
    (root / "bin").mkdir(parents=True)
    for name in names:
        (root / "bin" / name).write_text(f"#!/bin/sh\necho {says or root.name}\n")
        (root / "bin" / name).chmod(0o755)
    return root


@pytest.fixture
def person(tmp_path: Path) -> Path:
    home = tmp_path / "person"
    for version in ("3.9.18", "3.11.2", "3.11.10", "3.12.0", "3.13-dev"):
        tool(home / ".pyenv/versions" / version, "python3")
    for version in ("v18.20.1", "v20.9.0", "v20.11.1"):
        tool(home / ".nvm/versions/node" / version, "node", "npm")
    (home / ".nvm/alias").mkdir()
    (home / ".nvm/alias/default").write_text("18\n")
    for name in ("stable-x86_64-unknown-linux-gnu", "1.75.0-x86_64-unknown-linux-gnu"):
        tool(home / ".rustup/toolchains" / name, "cargo", "rustc")
    (home / ".rustup/settings.toml").write_text('default_toolchain = "stable-x86_64-unknown-linux-gnu"\n')
    tool(home / ".cargo", "cargo-nextest", says="nextest")
    (home / ".cargo/credentials.toml").write_text(TOKEN)
    tool(home / ".local/share/uv/python/cpython-3.10.4-linux-x86_64-gnu", "python3.10")
    tool(home / ".asdf/installs/golang/1.22.1", "go")
    tool(home / ".local/share/mise/installs/ruby/3.3.0", "ruby")
    tool(home / "jdk", "java")
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text(TOKEN)
    return home


def found(person: Path, files: Mapping[str, str], **environ: str) -> dict[str, str]:
    """Where each tool was found, relative to the home."""
    needs = needs_of(files, lambda path: files[path].encode())
    return {
        chain.tool: str(chain.root.relative_to(person)) for chain in find_toolchains(needs, environ, person)
    }


@every(
    ("files", "wanted"),
    [
        ({"README.md": "", "src/a.py": ""}, {}),
        ({".python-version": "3.11\n"}, {"python": ".pyenv/versions/3.11.10"}),
        ({".python-version": "# pinned\n3.11.2 # here\n"}, {"python": ".pyenv/versions/3.11.2"}),
        ({".python-version": "3.1\n"}, {}),
        ({".python-version": "3.10.4"}, {"python": ".local/share/uv/python/cpython-3.10.4-linux-x86_64-gnu"}),
        ({".python-version": "../../.ssh"}, {}),
        ({".python-version": ".."}, {}),
        ({"package.json": "{}"}, {"node": ".nvm/versions/node/v18.20.1"}),
        ({"web/package.json": "{}", ".nvmrc": "v20"}, {"node": ".nvm/versions/node/v20.11.1"}),
        ({"package.json": "{}", ".nvmrc": "lts/*"}, {"node": ".nvm/versions/node/v18.20.1"}),
        ({"a/b/c/d/package.json": "{}"}, {}),
        ({"Cargo.toml": ""}, {"rust": ".rustup/toolchains/stable-x86_64-unknown-linux-gnu"}),
        (
            {"rust-toolchain.toml": '[toolchain]\nchannel = "1.75.0"'},
            {"rust": ".rustup/toolchains/1.75.0-x86_64-unknown-linux-gnu"},
        ),
        ({"rust-toolchain": "1.75.0\n"}, {"rust": ".rustup/toolchains/1.75.0-x86_64-unknown-linux-gnu"}),
        (
            {"rust-toolchain.toml": "not [ toml"},
            {"rust": ".rustup/toolchains/stable-x86_64-unknown-linux-gnu"},
        ),
        (
            {".tool-versions": "golang 1.22.1\nruby 9.9\n# none\nnodejs 20.9.0"},
            {"go": ".asdf/installs/golang/1.22.1", "node": ".nvm/versions/node/v20.9.0"},
        ),
        (
            {"mise.toml": '[tools]\nruby = "3.3"\n"../x" = "1"'},
            {"ruby": ".local/share/mise/installs/ruby/3.3.0"},
        ),
        ({".tool-versions": "../../.ssh id\nruby ../../../../.ssh"}, {}),
    ],
)
def test_just_what_the_files_ask_for_is_found(
    person: Path, files: dict[str, str], wanted: dict[str, str]
) -> None:
    assert found(person, files) == wanted


def test_variables_of_the_person_say_where_else_it_is_and_relative_ones_say_nothing(
    person: Path, tmp_path: Path
) -> None:
    other = tool(tmp_path / "other/versions/node/v22.0.0", "node")
    needs = (Need("node"),)
    assert find_toolchains(needs, {"NVM_DIR": str(tmp_path / "other")}, person)[0].root == other
    assert find_toolchains(needs, {"NVM_DIR": "other"}, person)[0].root.is_relative_to(person / ".nvm")
    assert find_toolchains((Need("java"),), {}, person) == ()
    java = find_toolchains((Need("java"),), {"JAVA_HOME": str(person / "jdk")}, person)[0]
    assert (java.programs, java.variables) == ((person / "jdk/bin",), (("JAVA_HOME", str(person / "jdk")),))


@pytest.mark.parametrize("place", ["", "..", "/", ".ssh", ".ssh/keys"])
def test_a_home_or_a_place_of_secrets_is_never_a_toolchain(person: Path, place: str) -> None:
    for name in ("bin", ".ssh/bin", ".ssh/keys/bin"):
        (person / name).mkdir(parents=True, exist_ok=True)
    (person.parent / "bin").mkdir()
    said = {"JAVA_HOME": str(person / place), "GOROOT": str(person / place)}
    found = find_toolchains((Need("java"), Need("go")), said, person)
    own = [chain for chain in found if not chain.root.is_relative_to("/usr")]
    assert own == [], "at the most the machine's own Go"
    link = person / ".nvm/versions/node/v99.0.0"
    link.symlink_to(person)
    assert all(person not in chain.read for chain in find_toolchains((Need("node", "99"),), {}, person))


def test_a_file_with_a_token_beside_the_programs_is_left_out(person: Path) -> None:
    node = person / ".nvm/versions/node/v18.20.1"
    (node / "etc").mkdir()
    (node / "lib").mkdir()
    (node / "etc/npmrc").write_text(TOKEN)
    assert find_toolchains((Need("node"),), {}, person)[0].read == (node / "bin", node / "lib")
    python = person / ".pyenv/versions/3.12.0"
    (python / "pip.conf").write_text(TOKEN)
    assert find_toolchains((Need("python", "3.12"),), {}, person)[0].read == (python / "bin",)


def test_a_toolchain_of_the_system_needs_no_door() -> None:
    chains = find_toolchains((Need("go"),), {"GOROOT": "/usr"}, Path("/home/nobody"))
    assert chains[0].read == ()
    assert chains[0].programs == (Path("/usr/bin"),)


def test_its_programs_come_after_the_environment_and_before_the_system(person: Path) -> None:
    chains = find_toolchains((Need("rust"),), {}, person)
    words = with_toolchains({"PATH": "/a/usr/env/bin:/usr/local/bin:/usr/bin:/bin", "X": "1"}, chains)
    names = [word.removeprefix(str(person)) for word in words["PATH"].split(":")]
    rust = "/.rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin"
    assert names == ["/a/usr/env/bin", rust, "/.cargo/bin", "/usr/local/bin", "/usr/bin", "/bin"]
    assert words["RUSTUP_TOOLCHAIN"] == "stable-x86_64-unknown-linux-gnu"
    assert person / ".cargo" not in readable(chains)


def test_the_plan_of_a_project_names_them() -> None:
    files = {"pyproject.toml": b"", "package.json": b"{}", ".python-version": b"3.12"}
    assert detect.detect(files.get, list(files)).toolchains == (Need("node"), Need("python", "3.12"))


@pytest.mark.parametrize("sandbox", RUNGS, ids=label)
def test_a_run_can_start_them_and_can_neither_change_them_nor_see_the_rest(
    sandbox: Sandbox, person: Path, tmp_path: Path
) -> None:
    walls = usable(sandbox)
    room = tmp_path / "room"
    room.mkdir()
    chains = find_toolchains((Need("node", "20"), Need("rust")), {}, person)
    env = with_toolchains({"PATH": "/usr/local/bin:/usr/bin:/bin"}, chains)
    script = (
        f"node; cargo; cargo-nextest; node() {{ :; }}; "
        f"cat {person}/.cargo/credentials.toml {person}/.ssh/id; echo evil > "
        f"{person}/.nvm/versions/node/v20.11.1/bin/node; "
        f"ls {person}/.nvm/versions/node/v18.20.1/bin; rm -r {person}/.cargo/bin; echo end"
    )
    done = walls.run(
        ("/bin/sh", "-c", script), Confinement(cwd=room, write=(room,), read=readable(chains), env=env)
    )
    assert done.out.decode().split() == ["v20.11.1", "stable-x86_64-unknown-linux-gnu", "nextest", "end"]
    assert "v20.11.1" in (person / ".nvm/versions/node/v20.11.1/bin/node").read_text()
    assert (person / ".cargo/bin/cargo-nextest").exists()


def test_every_language_can_be_asked_for_at_once(person: Path) -> None:
    found = find_toolchains(all_needs(), {"JAVA_HOME": str(person / "jdk")}, person)
    own = [chain.tool for chain in found if chain.root.is_relative_to(person)]
    assert own == ["java", "node", "rust"], "beside them the machine's own Go, where there is one"
    assert pick(person / "missing", "") is None


def test_set_up_and_every_run_of_an_environment_get_them(
    person: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.delenv("NVM_DIR", raising=False)
    files = {"package.json": b"{}", ".nvmrc": b"20"}
    plan = replace(
        detect.detect(files.get, list(files)),
        setup=(("/bin/sh", "-c", "mkdir -p {env}/bin; node > {env}/bin/python"),),
    )
    walls = ladder.choose("auto")

    def build() -> Environment:
        return environment.build(plan, lambda place: None, tmp_path / "cache", walls, lock_text_hash="x")

    built = build()
    assert built.program.read_text() == "v20.11.1\n"
    room = tmp_path / "room"
    room.mkdir()
    confinement = Confinement(
        cwd=room, write=(room,), read=built.readable, env=environment.run_env(built, room)
    )
    assert walls.run(("node",), confinement).out == b"v20.11.1\n"
    assert build() == built
    # Another version of a tool is another environment: what was built with the old one may not fit.
    tool(person / ".nvm/versions/node/v20.12.0", "node")
    assert build().key != built.key


def test_a_directory_says_the_same_as_its_files_and_packages_in_it_say_nothing(tmp_path: Path) -> None:
    for name in ("web/package.json", "node_modules/x/Cargo.toml", ".cache/go.mod", "a/b/c/pom.xml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".nvmrc").write_text("20")
    os.mkfifo(tmp_path / ".python-version")  # nobody ever writes to it
    assert needs_here(tmp_path) == (Need("node", "20"),)
