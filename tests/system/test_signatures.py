"""Envelopes and keys: as the specification of DSSE and as ssh write them."""

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.system.signatures import (
    BadEnvelope,
    Envelope,
    PublicKey,
    SigningKey,
    _signed,
    armour,
    unarmour,
)
from tests.rows import every

KEY = SigningKey(bytes(range(32)))
STATEMENT: dict[str, Json] = {"_type": "t", "predicate": {"text": "ä"}}
with_ssh = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="there is no ssh-keygen here")


def test_what_is_signed_is_the_pre_authentication_encoding_of_dsse() -> None:
    assert _signed("ä".encode()) == b"DSSEv1 28 application/vnd.in-toto+json 2 \xc3\xa4"


@with_ssh
def test_a_key_is_what_ssh_takes_for_it(tmp_path: Path) -> None:
    place = tmp_path / "key"
    place.write_bytes(KEY.spell())
    place.chmod(0o600)
    assert SigningKey.parse(place.read_bytes(), "key") == KEY
    assert "seed" not in repr(KEY)
    assert PublicKey.parse(f"{KEY.public.line} a comment") == KEY.public
    shown = subprocess.run(
        ["ssh-keygen", "-y", "-f", str(place)], capture_output=True, text=True, check=False
    )
    assert shown.stdout.strip() == KEY.public.line
    place.write_text(KEY.public.line)
    printed = subprocess.run(
        ["ssh-keygen", "-l", "-f", str(place)], capture_output=True, text=True, check=True
    )
    assert KEY.public.fingerprint in printed.stdout


def test_an_envelope_reads_back_and_one_changed_bit_is_not_what_was_signed() -> None:
    envelope = Envelope.seal(STATEMENT, KEY)
    data = envelope.spell(KEY.public)
    assert unarmour(f"Seal\n\n{armour(data)}\n\nTrailer: x\n") == data
    again = Envelope.parse(data)
    assert (again, again.statement()) == (envelope, STATEMENT)
    assert again.is_signed_by(KEY.public)
    assert not again.is_signed_by(SigningKey.new().public)
    for place in range(len(again.payload)):
        changed = bytearray(again.payload)
        changed[place] ^= 1
        assert not Envelope(bytes(changed), again.signatures).is_signed_by(KEY.public)
    assert not Envelope.seal(STATEMENT, None).signatures


@every(
    ("data", "why"),
    [
        (b"", "cannot be read as JSON"),
        (b"[]", "no object"),
        (b"{}", "no envelope"),
        (b'{"payload":"","payload":"","payloadType":"x","signatures":[]}', "given twice"),
        (b'{"payload":"%","payloadType":"application/vnd.in-toto+json","signatures":[]}', "not base64"),
    ],
)
def test_what_is_no_envelope_says_why(data: bytes, why: str) -> None:
    with pytest.raises(BadEnvelope, match=why):
        Envelope.parse(data)


def test_two_envelopes_in_one_message_are_none() -> None:
    one = armour(Envelope.seal(STATEMENT, None).spell())
    assert unarmour(f"{one}\n{one}") is None
    assert unarmour("nothing") is None


def test_a_statement_with_a_key_given_twice_is_refused() -> None:
    payload = base64.b64encode(b'{"a":1,"a":2}').decode()
    text = json.dumps({"payload": payload, "payloadType": "application/vnd.in-toto+json", "signatures": []})
    with pytest.raises(BadEnvelope, match="'a' is given twice"):
        Envelope.parse(text.encode()).statement()


@with_ssh
def test_a_key_of_another_kind_or_with_a_passphrase_is_refused_in_one_sentence(tmp_path: Path) -> None:
    for kind, phrase, why in (("ecdsa", "", "no ed25519 key"), ("ed25519", "secret", "a passphrase")):
        place = tmp_path / kind
        made = ["ssh-keygen", "-q", "-t", kind, "-N", phrase, "-f", str(place)]
        subprocess.run(made, check=True)
        with pytest.raises(UsageError, match=why):
            SigningKey.parse(place.read_bytes(), "the key")
    with pytest.raises(UsageError, match="no private key"):
        SigningKey.parse(b"hello", "the key")
