"""The user's signing key, and the list of whom they trust."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.user.signing import (
    FILE_VARIABLE,
    VARIABLE,
    key_file,
    make_key,
    signing_key,
    trust,
    trust_file,
    trusted_keys,
)
from agentforge.surfaces.cli.main import cli
from agentforge.system.secrets.redact import redact
from agentforge.system.signatures import SigningKey
from tests.rows import every

KEY = SigningKey(bytes(range(32)))
LINE = KEY.public.line


@pytest.fixture
def own(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def test_a_key_is_made_once_and_only_its_public_half_is_shown(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(cli, ["keys", "init", "--name", "ada"])
    shown = CliRunner().invoke(cli, ["keys", "show", "--json"])
    found = json.loads(shown.output)
    assert found["key"] in made.output
    own = Home(home / ".agentforge")
    assert key_file(own).stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="There is a key already"):
        make_key(own, "ada")
    assert [item.name for item in trusted_keys(own)] == ["ada"]
    private = key_file(own).read_text()
    assert not any(line in made.output + shown.output for line in private.splitlines()[1:-1])
    assert private.splitlines()[3] not in redact(f"here: {private}")[0], "no text we write can hold it"


def test_a_ci_brings_its_key_in_the_environment_or_in_a_file(own: Home, tmp_path: Path) -> None:
    text = KEY.spell().decode()
    assert signing_key(own, {}) is None
    assert signing_key(own, {VARIABLE: text}) == KEY
    place = tmp_path / "ci.key"
    with pytest.raises(UsageError, match="is not there"):
        signing_key(own, {FILE_VARIABLE: str(place)})
    place.write_text(text)
    place.chmod(0o644)
    with pytest.raises(UsageError, match="others on this machine can read it"):
        signing_key(own, {FILE_VARIABLE: str(place)})
    place.chmod(0o600)
    assert signing_key(own, {FILE_VARIABLE: str(place)}) == KEY


@every(
    ("line", "name"),
    [
        (f"ada@example.invalid {LINE}", "ada@example.invalid"),
        (f'ada namespaces="git" {LINE} comment', "ada"),
        (f'ada namespaces="file" {LINE}', None),
        (f"*@example.invalid cert-authority {LINE}", None),
        (f'ada valid-before="20200101" {LINE}', None),
        (f'ada valid-after="20200101" {LINE}', "ada"),
        (f"# ada {LINE}", None),
        ("ada ssh-ed25519 AAAA", None),
        ("ada ssh-rsa AAAAB3NzaC1yc2E=", None),
    ],
)
def test_a_line_of_allowed_signers_is_trusted_as_far_as_it_says(
    tmp_path: Path, line: str, name: str | None
) -> None:
    own = Home(tmp_path / "home" / str(abs(hash(line))))
    own.path.mkdir(parents=True)
    trust_file(own).write_text(f"{line}\n")
    trust_file(own).chmod(0o600)
    assert [item.name for item in trusted_keys(own)] == ([name] if name else [])


def test_a_list_that_others_can_write_is_believed_by_nobody(own: Home) -> None:
    assert trust(own, "ada", KEY.public)
    assert not trust(own, "ada", KEY.public)
    assert trust(own, "bob", KEY.public)
    assert [item.name for item in trusted_keys(own)] == ["ada", "bob"]
    trust_file(own).chmod(0o666)
    with pytest.raises(UsageError, match="others can write it"):
        trusted_keys(own)
    with pytest.raises(UsageError, match="cannot be the name of a key"):
        trust(own, "ada lovelace", KEY.public)
