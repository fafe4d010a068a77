"""Keys: found where a person put them, believed only where nobody else could read them, and never in any
text.
"""

import base64
import html
import json
import stat
from pathlib import Path
from urllib.parse import quote

import pytest

from agentforge.core.errors import UsageError
from agentforge.store.user.keychain import SystemKeychain, trusted_backend
from agentforge.store.user.keys import Key, KeyStore
from agentforge.system.secrets import known as known_secrets
from agentforge.system.secrets.redact import redact
from tests.rows import every

KEY = "weird key of 9 ~ letters".replace(" ", "/")


class Chain:
    """A keychain in memory."""

    def __init__(self, *, works: bool = True) -> None:
        self.kept: dict[str, str] = {}
        self.asked = 0
        self._works = works

    def get(self, name: str) -> str | None:
        self.asked += 1
        return self.kept.get(name)

    def put(self, name: str, text: str) -> bool:
        if self._works:
            self.kept[name] = text
        return self._works

    def drop(self, name: str) -> bool:
        return self.kept.pop(name, None) is not None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "keys.yaml"


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_secrets, "_spellings", ())


def test_the_environment_comes_before_the_file_and_the_file_before_the_keychain(path: Path) -> None:
    chain = Chain()
    assert KeyStore(path, {}, chain).put("openai", "in-the-chain-1") == "keychain"
    assert KeyStore(path, {}, chain).find("openai", "K") == Key("in-the-chain-1", "keychain")
    assert KeyStore(path, {}, chain).put("openai", "in-the-file-1", in_file=True) == "file"
    assert KeyStore(path, {}, chain).find("openai", "K") == Key("in-the-file-1", "file")
    assert KeyStore(path, {"K": " from-outside-1\n"}, chain).find("openai", "K") == Key(
        "from-outside-1", "environment"
    )
    assert KeyStore(path, {}, chain).put("openai", "again-in-the-chain-2") == "keychain"
    assert KeyStore(path, {}, chain).find("openai", "K") == Key("again-in-the-chain-2", "keychain")


def test_two_wires_of_one_account_share_their_key(path: Path) -> None:
    KeyStore(path, {}, None).put("openai", KEY)
    assert KeyStore(path, {}, None).find("openai-responses", None) == Key(KEY, "file")


def test_a_keychain_that_refuses_leaves_the_file(path: Path) -> None:
    assert KeyStore(path, {}, Chain(works=False)).put("openai", KEY) == "file"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_keychain_is_asked_only_for_what_was_put_there(path: Path) -> None:
    chain = Chain()
    keys = KeyStore(path, {}, chain)
    assert keys.find("openai", None) is None
    assert chain.asked == 0


def test_a_key_that_is_dropped_is_gone_from_everywhere(path: Path) -> None:
    chain = Chain()
    keys = KeyStore(path, {}, chain)
    keys.put("openai", KEY)
    keys.put("mistral", KEY, in_file=True)
    assert keys.drop("openai") == ("keychain",)
    assert keys.drop("mistral") == ("file",)
    assert keys.drop("mistral") == ()
    assert (keys.find("openai", None), keys.find("mistral", None), chain.kept) == (None, None, {})


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o602])
def test_a_file_that_others_can_read_or_write_is_not_used(path: Path, mode: int) -> None:
    KeyStore(path, {}, None).put("openai", KEY)
    path.chmod(mode)
    with pytest.raises(UsageError, match="chmod 600") as caught:
        KeyStore(path, {}, None).find("openai", None)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"keys: [{KEY}]",
        f"keys: {{a: {{b: {KEY}}}}}",
        f"other: {KEY}",
        f"keys: {{a: {KEY}, a: {KEY}}}",
        "\xff",
    ],
)
def test_a_file_that_is_wrong_is_said_without_a_word_of_it(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.touch(0o600)
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match="is not used") as caught:
        KeyStore(path, {}, None).find("openai", None)
    assert KEY not in str(caught.value)


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    KeyStore(tmp_path / "other.yaml", {}, None).put("openai", KEY)
    path.parent.mkdir()
    path.symlink_to(tmp_path / "other.yaml")
    with pytest.raises(UsageError, match="cannot be read"):
        KeyStore(path, {}, None).find("openai", None)


@pytest.mark.parametrize("text", ["", "  \n", "two words", "schlüssel-geheim", "tab\there1"])
def test_what_is_no_key_is_not_kept(path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        KeyStore(path, {}, None).put("openai", text)
    assert not path.exists()


def test_no_representation_holds_the_key(path: Path) -> None:
    keys = KeyStore(path, {"K": KEY}, None)
    key = keys.find("openai", "K")
    assert key is not None
    assert KEY not in repr(key)
    assert key.hint == f"…{KEY[-4:]}"
    assert Key("short-1", "file").hint == "…"


@pytest.mark.parametrize("source", ["environment", "file", "keychain"])
def test_a_key_that_was_found_is_redacted_whatever_it_looks_like(path: Path, source: str) -> None:
    if source != "environment":
        chain = Chain()
        KeyStore(path, {}, chain).put("openai", KEY, in_file=source == "file")
        known_secrets._spellings = ()
        assert redact(f"bad {KEY}!") == (f"bad {KEY}!", 0)
        found = KeyStore(path, {}, chain).find("openai", None)
    else:
        found = KeyStore(path, {"K": KEY}, None).find("openai", "K")
    assert found == Key(KEY, source)  # type: ignore[arg-type]  # one of the three
    assert redact(f"bad {KEY}!") == ("bad [REDACTED:key]!", 1)
    assert redact('{"k": "' + KEY.replace("/", "%2F") + '"}')[1] == 1


def test_a_key_is_known_in_the_spellings_of_pages_headers_and_nested_texts() -> None:
    key = 'odd"key<9>/of&parts=='
    known_secrets.remember(key)
    spellings = [
        key,
        json.dumps(key),
        json.dumps(json.dumps({"k": key})),
        html.escape(key),
        quote(key, safe=""),
        key.encode().hex(),
        *(
            base64.b64encode(f"{before}{key}:x".encode()).decode()
            for before in ("", "u:", "user:", "Bearer ")
        ),
        base64.urlsafe_b64encode(f"me:{key}".encode()).decode(),
    ]
    for spelling in spellings:
        text, count = redact(f"bad {spelling} here")
        assert (count, "[REDACTED:key]" in text) == (1, True), text
    assert redact("bm90aGluZyB0byBoaWRlIGhlcmU=, 6e6f7468696e67")[1] == 0


def test_a_known_key_inside_a_private_key_does_not_hide_the_rest_of_it() -> None:
    body = [base64.b64encode(bytes([n] * 48)).decode() for n in range(1, 8)]
    known_secrets.remember(body[3])
    block = "\n".join(["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"])
    text, _ = redact(f"see {block} there, and {body[3]}")
    assert text == "see [REDACTED:private_key] there, and [REDACTED:key]"


@every("word", ["ollama", "lm-studio", "EMPTY", "sk-no-key-required", "token-abc123"])
def test_a_placeholder_is_no_secret(word: str) -> None:
    known_secrets.remember(word)
    assert redact(f"export KEY={word}")[1] == 0


def test_a_backend_that_could_be_a_readable_file_is_no_keychain(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = pytest.importorskip("keyring")
    backend = pytest.importorskip("keyring.backend")

    class Plain(backend.KeyringBackend):  # type: ignore[misc, name-defined]  # what an optional library gives
        priority = 1

        def get_password(self, service: str, username: str) -> str:
            return "from a file"

        def set_password(self, service: str, username: str, password: str) -> None:
            raise AssertionError("nothing may be kept here")

    before = keyring.get_keyring()
    try:
        keyring.set_keyring(Plain())
        assert trusted_backend() is None
        chain = SystemKeychain()
        assert (chain.get("openai"), chain.put("openai", KEY), chain.drop("openai")) == (None, False, False)
    finally:
        keyring.set_keyring(before)
