"""The user's own `config.yaml`: what it alone can say, and what is wrong with one that cannot be used."""

from pathlib import Path

import pytest

from agentforge.app.settings import Own, check_settings, read_own_settings
from agentforge.core.errors import UsageError
from agentforge.sandbox.container import ContainerSpec
from agentforge.sandbox.destinations import Destination
from agentforge.tools.roots import Root
from tests.rows import every


def read(tmp_path: Path, text: str) -> Own:
    (tmp_path / "config.yaml").write_text(text)
    return read_own_settings(tmp_path / "config.yaml")[1]


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


@every("key", ["sandbox: none", "sandbox: container", "roots: []", "container: {}", "network: {}"])
def test_a_repository_cannot(key: str) -> None:
    name, _, value = key.partition(": ")
    with pytest.raises(UsageError, match=name):
        check_settings({name: {"[]": [], "{}": {}}.get(value, value)}, "settings.yaml")


@pytest.mark.parametrize(
    "text",
    ["container: podman\n", "container: {engine: vm, image: x}\n", "roots: /srv\n", "roots: [/srv]\n", "network: [host]\n",
     "network: {allow: host}\n", "network: {allow: ['a b']}\n", "sandbox: walls\n", "- sandbox\n", "more: 1\n"],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        read(tmp_path, text)


def test_a_file_that_cannot_be_read_is_one_sentence_and_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="UTF-8"):
        read_own_settings(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        read_own_settings(path)
