"""The user's own `config.yaml`: what it alone can say, and what is wrong with one that cannot be used."""

import os
import stat
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import pytest

from agentforge.app.setup.settings import (
    SETTINGS_FILE,
    USER_KEYS,
    Own,
    check_settings,
    read_own_settings,
    read_settings,
    user_contract,
)
from agentforge.core.errors import UsageError
from agentforge.engines.temporal.config import Tls
from agentforge.models.known.providers import Provider, ReplyFormat, Wire
from agentforge.sandbox.network.destinations import Destination
from agentforge.sandbox.walls.container import ContainerSpec, Engine
from agentforge.sandbox.walls.ladder import WantedSandbox
from agentforge.system import strict_yaml
from agentforge.system.files import make_own_directory
from agentforge.system.git.repository import Git
from agentforge.tools.roots import Root
from tests.rows import every
from tests.whole.checkouts import make_repository


def read(tmp_path: Path, text: str) -> Own:
    (tmp_path / "config.yaml").write_text(text)
    return read_own_settings(tmp_path / "config.yaml")[1]


def test_settings_that_others_can_write_are_refused_with_the_way_to_mend_it(tmp_path: Path) -> None:
    assert read(tmp_path, "sandbox: none\n") == Own("none")
    for mode in (0o664, 0o646):
        (tmp_path / "config.yaml").chmod(mode)
        with pytest.raises(UsageError, match="chmod 600"):
            read_own_settings(tmp_path / "config.yaml")


def test_a_directory_of_the_user_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_own_directory(tmp_path / "home" / "below")
    finally:
        os.umask(before)
    assert {stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "home", tmp_path / "home/below")} == {
        0o700
    }


@every(
    ("project", "own", "asks"),
    [
        ("", "", True),
        ("language_server: auto\n", "language_server: auto\n", True),
        ("language_server: off\n", "language_server: auto\n", False),
        ("language_server: auto\n", "language_server: off\n", False),
    ],
)
def test_either_file_can_say_that_no_language_server_is_asked(
    project: str, own: str, asks: bool, tmp_path: Path
) -> None:
    place = tmp_path / f"{project}{own}".replace("\n", "").replace(" ", "")
    top = make_repository(place / "top", {"a.py": "", SETTINGS_FILE: project})
    (place / "config.yaml").write_text(own)
    environ = {"AGENTFORGE_HOME": str(place)}
    found = read_settings(
        Git.open(top), Git.open(top).head(), model=None, sandbox=None, budget_usd=None, environ=environ
    ).asks_servers
    assert found == asks


def test_a_user_says_what_no_repository_can(tmp_path: Path) -> None:
    assert read_own_settings(tmp_path / "config.yaml") == ({}, Own())
    assert read(tmp_path, "sandbox: none\n") == Own("none")
    assert read(tmp_path, "sandbox: landlock\nmodel: openai:x\n") == Own("landlock")
    (tmp_path / "shared").mkdir()
    roots = f"roots: [{{path: {tmp_path}/shared, write: true}}]\n"
    own = read(
        tmp_path, f"container: {{engine: podman, image: work}}\n{roots}network: {{allow: ['mirror:8080']}}\n"
    )
    assert own.container == ContainerSpec("podman", "work")
    assert own.roots == (Root(tmp_path.resolve() / "shared", write=True, name=own.roots[0].name),)
    assert own.network == (Destination("mirror", 8080, private=True),)


def test_a_user_names_an_interpreter_by_its_version_or_its_path(tmp_path: Path) -> None:
    assert read(tmp_path, 'python: "3.12"\n') == Own(python="3.12")
    assert read(tmp_path, "python: /opt/python/bin/python3\n").python == "/opt/python/bin/python3"
    assert read(tmp_path, "network: {index_passwords: true}\n") == Own(index_passwords=True)


@every(
    "key",
    [
        "python: /usr/bin/python3",
        "python: python3",
        "sandbox: none",
        "sandbox: container",
        "roots: []",
        "container: {}",
        "network: {}",
    ],
)
def test_a_repository_cannot(key: str) -> None:
    name, _, value = key.partition(": ")
    with pytest.raises(UsageError, match=name):
        check_settings({name: {"[]": [], "{}": {}}.get(value, value)}, "settings.yaml")


@pytest.mark.parametrize(
    "text",
    ["container: podman\n", "container: {engine: vm, image: x}\n", "roots: /srv\n", "roots: [/srv]\n", "network: [host]\n",
     "network: {allow: host}\n", "network: {allow: ['a b']}\n", "python: bin/python\n", "python: 3\n",
     "network: {index_passwords: maybe}\n", "network: {}\n", "sandbox: walls\n", "- sandbox\n", "more: 1\n"],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model: openai:x\nnetwrk: {allow: []}\n", "config.yaml:2: netwrk: unknown key; did you mean `network`?"),
        ("batch:\n  window: 2\n", "config.yaml:2: batch.window: unknown key; did you mean `window_s`?"),
        ("temporal: {adress: a:1}\n", "config.yaml:1: temporal.adress: unknown key; did you mean `address`?"),
        ("providers:\n  lab:\n    base-url: x\n", "providers.lab.base-url: unknown key; did you mean `base_url`?"),
        ("limits: {call: 2}\n", "config.yaml:1: limits.call: unknown key; did you mean `calls`?"),
        ("container: podman\n", "Write it such as `container: {engine: podman, image: NAME}`."),
        ("day_cap: {usd: much}\n", "config.yaml:1: day_cap.usd: "),
        ("batch: {window_s: true}\n", "config.yaml:1: batch.window_s: "),
        ("temporal: {queue: 3}\n", "config.yaml:1: temporal.queue: "),
        ("temporal: {host_silence_s: true}\n", "config.yaml:1: temporal.host_silence_s: "),
        ("temporal: {tls: sure}\n", "config.yaml:1: temporal.tls: "),
        ("roots: [{path: 1}]\n", "config.yaml:1: roots[0].path: "),
        ("roots: [{path: /srv, write: sure}]\n", "config.yaml:1: roots[0].write: "),
        ("roots: [{path: /srv, more: 1}]\n", "config.yaml:1: roots[0].more: unknown key"),
        ("providers: {lab: {base_url: 3}}\n", "config.yaml:1: providers.lab.base_url: "),
        ("providers: {lab: {key: sk-1}}\n", "config.yaml:1: providers.lab.key: unknown key"),
        ("providers: {lab: {key_env: sk-1}}\n", "config.yaml:1: providers.lab.key_env: "),
        ("providers: {lab: {wire: grpc}}\n", "config.yaml:1: providers.lab.wire: "),
        ("providers: {lab: {reply: tools}}\n", "config.yaml:1: providers.lab.reply: "),
        ("providers: {lab: {timeout_s: 0}}\n", "config.yaml:1: providers.lab.timeout_s: "),
        ("tiers: {thinking: ['openai:x']}\n", "config.yaml:1: tiers.thinking: unknown key"),
        ("tiers: {reasoning: []}\n", "config.yaml:1: tiers.reasoning: "),
        ("tiers: {reasoning: [1]}\n", "config.yaml:1: tiers.reasoning[0]: "),
        ("delivery: soon\n", "config.yaml:1: delivery: "),
        ("delivery: {thinking: live}\n", "config.yaml:1: delivery"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_file_line_key_and_the_nearest_known_one(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)


def test_a_key_whose_lines_are_all_comments_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "providers:\n  # lab: {}\nnetwork:\nday_cap:\n") == Own()


def test_a_mistake_of_the_project_is_named_with_its_line() -> None:
    text = "sandbox: auto\nlimits:\n  tokns: 3\n"
    with pytest.raises(
        UsageError, match=r"settings.yaml:3: limits.tokns: unknown key; did you mean `tokens`"
    ):
        check_settings(strict_yaml.load(text, "settings.yaml"), "settings.yaml", text)


def test_the_contract_of_the_user_file_knows_what_the_parts_know() -> None:
    schema: Any = user_contract().document["schema"]
    assert set(schema["container"]["properties"]["engine"]["enum"]) == set(get_args(Engine))
    word, mapping = schema["sandbox"]["any_of"]
    assert set(word["enum"]) == set(mapping["properties"]["use"]["enum"]) == set(get_args(WantedSandbox))
    provider = schema["providers"]["additionalProperties"]["properties"]
    assert set(provider) <= {each.name for each in fields(Provider)}
    assert set(provider["wire"]["enum"]) == set(get_args(Wire))
    assert set(provider["reply"]["enum"]) == set(get_args(ReplyFormat))
    assert set(schema["temporal"]["properties"]["tls"]["any_of"][1]["properties"]) == {
        each.name for each in fields(Tls)
    }
    assert set(USER_KEYS) <= set(schema)


def test_a_file_that_cannot_be_read_is_one_sentence_and_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        read_own_settings(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        read_own_settings(path)


def test_a_key_that_only_a_project_can_say_is_refused_in_the_users_file_with_the_place_for_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("model: openai:gpt\nsetup: [make]\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"config\.yaml:2: setup: has no effect here") as refused:
        read_own_settings(path)
    assert refused.value.next_step == (
        "Write it into a project's .agentforge/config/settings.yaml and commit that file."
    )
    path.write_text("model: openai:gpt\nlimits: {calls: 3}\n", encoding="utf-8")
    assert read_own_settings(path)[0] == {"model": "openai:gpt", "limits": {"calls": 3}}


def test_the_users_own_file_can_allow_weak_walls_and_a_project_cannot(tmp_path: Path) -> None:
    assert read(tmp_path, "sandbox: {use: landlock, weak: allow}\n") == Own("landlock", weak=True)
    assert read(tmp_path, "sandbox: {weak: ask}\n") == Own()
    with pytest.raises(UsageError):
        read(tmp_path, "sandbox: {weak: perhaps}\n")
