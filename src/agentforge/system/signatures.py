"""Signed statements: a DSSE envelope, ed25519 keys, and the way both are written down. The one module that
knows the library for it.

    envelope  {"payload": base64, "payloadType": …, "signatures": [{"keyid": …, "sig": base64}]}
    signed    "DSSEv1" LENGTH(type) type LENGTH(payload) payload
    key       one line as ssh writes it: `ssh-ed25519 AAAA…`
"""

import base64
import binascii
import hashlib
import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.system.canon import canonical

PAYLOAD_TYPE = "application/vnd.in-toto+json"
KEY_TYPE = "ssh-ed25519"
_KEY_BYTES = 32
_LONGEST = 1_000_000
_ARMOUR = "AGENTFORGE ENVELOPE"
_ARMOURED = re.compile(
    rf"^-----BEGIN {_ARMOUR}-----\n([A-Za-z0-9+/=\n]+)-----END {_ARMOUR}-----$", re.MULTILINE
)
_WIDTH = 76


class BadEnvelope(ValueError):
    """What was read is no envelope of a statement: one sentence."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An ed25519 key that signatures are checked with."""

    raw: bytes

    @classmethod
    def parse(cls, text: str) -> "PublicKey | None":
        """The key of a line as ssh writes it, a comment after it or not; None if it is none."""
        words = text.split()
        if len(words) < 2 or words[0] != KEY_TYPE:
            return None
        try:
            blob = base64.b64decode(words[1], validate=True)
        except (binascii.Error, ValueError):
            return None
        head = _string(KEY_TYPE.encode()) + struct.pack(">L", _KEY_BYTES)
        return cls(blob[len(head) :]) if blob[:-_KEY_BYTES] == head else None

    @property
    def line(self) -> str:
        """The key as ssh writes it."""
        return f"{KEY_TYPE} {base64.b64encode(self._blob()).decode()}"

    @property
    def fingerprint(self) -> str:
        """A short name of the key, the same that `ssh-keygen -l` shows."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self._blob()).digest()).decode().rstrip("=")

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether this key signed the message."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only where something is signed
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True

    def _blob(self) -> bytes:
        return _string(KEY_TYPE.encode()) + _string(self.raw)


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """An ed25519 key that statements are signed with. It is never shown."""

    seed: bytes

    @classmethod
    def new(cls) -> "SigningKey":
        """A key that nobody had before."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        return cls(Ed25519PrivateKey.generate().private_bytes_raw())

    @classmethod
    def parse(cls, data: bytes, where: str) -> "SigningKey":
        """The key of a file as ssh or openssl writes it, without a passphrase. No message holds any of it."""
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        text = data.strip() + b"\n"
        is_ssh = b"OPENSSH PRIVATE KEY" in text
        load = serialization.load_ssh_private_key if is_ssh else serialization.load_pem_private_key
        try:
            found = load(text, None)
        except TypeError:
            raise UsageError(
                f"{where} is locked with a passphrase, and there is no terminal to type it.",
                "`agentforge keys init` makes a key of its own.",
            ) from None
        except (ValueError, UnsupportedAlgorithm):
            raise UsageError(f"{where} is no private key.", "`agentforge keys init` makes one.") from None
        if not isinstance(found, Ed25519PrivateKey):
            raise UsageError(f"{where} is no ed25519 key.", "`agentforge keys init` makes one.")
        return cls(found.private_bytes_raw())

    def spell(self) -> bytes:
        """The key as ssh writes it to a file."""
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415

        form = serialization.PrivateFormat.OpenSSH
        spelled: bytes = self._key().private_bytes(
            serialization.Encoding.PEM, form, serialization.NoEncryption()
        )
        return spelled

    @property
    def public(self) -> PublicKey:
        """What others check its signatures with."""
        return PublicKey(self._key().public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        """The signature: the same key and message make the same one."""
        signature: bytes = self._key().sign(message)
        return signature

    def _key(self) -> Any:  # noqa: ANN401 - a class of a library that only this module loads
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

        return Ed25519PrivateKey.from_private_bytes(self.seed)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A statement as it was signed, and the signatures on it."""

    payload: bytes
    signatures: tuple[bytes, ...] = ()

    @classmethod
    def seal(cls, statement: Mapping[str, Json], key: SigningKey | None) -> "Envelope":
        """The statement in an envelope, signed if there is a key."""
        payload = canonical(dict(statement))
        return cls(payload, (key.sign(_signed(payload)),) if key else ())

    @classmethod
    def parse(cls, data: bytes) -> "Envelope":
        """An envelope from its JSON."""
        value = _object(data, "the envelope")
        payload, signatures = value.get("payload"), value.get("signatures")
        if value.get("payloadType") != PAYLOAD_TYPE or not isinstance(signatures, list):
            raise BadEnvelope("it is no envelope of an in-toto statement")
        return cls(
            _decode(payload), tuple(_decode(each.get("sig")) for each in signatures if isinstance(each, dict))
        )

    def spell(self, key: PublicKey | None = None) -> bytes:
        """The envelope as JSON."""
        name = {"keyid": key.fingerprint} if key else {}
        signatures: list[Json] = [
            {**name, "sig": base64.b64encode(each).decode()} for each in self.signatures
        ]
        return canonical(
            {
                "payload": base64.b64encode(self.payload).decode(),
                "payloadType": PAYLOAD_TYPE,
                "signatures": signatures,
            }
        )

    def statement(self) -> dict[str, Any]:
        """What the envelope states."""
        return _object(self.payload, "the statement")

    def is_signed_by(self, key: PublicKey) -> bool:
        """Whether one of the signatures is this key's."""
        return any(key.verifies(each, _signed(self.payload)) for each in self.signatures)


def armour(data: bytes) -> str:
    """An envelope as lines of text that survive wherever a commit message does."""
    text = base64.b64encode(data).decode()
    lines = [text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH)]
    return "\n".join([f"-----BEGIN {_ARMOUR}-----", *lines, f"-----END {_ARMOUR}-----"])


def unarmour(text: str) -> bytes | None:
    """The envelope in a text; None if there is none. Two of them are no envelope either."""
    found = _ARMOURED.findall(text)
    return _decode(found[0].replace("\n", "")) if len(found) == 1 else None


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `json.loads`: an object whose keys are each given once."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:80]!r} is given twice")
    return found


def _object(data: bytes, what: str) -> dict[str, Any]:
    if len(data) > _LONGEST:
        raise BadEnvelope(f"{what} is too long")
    try:
        value = json.loads(data, object_pairs_hook=without_repeats)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise BadEnvelope(f"{what} cannot be read as JSON") from None
    except ValueError as error:  # what `without_repeats` says
        raise BadEnvelope(f"{what}: {error}") from None
    if not isinstance(value, dict):
        raise BadEnvelope(f"{what} is no object")
    return value


def _decode(text: object) -> bytes:
    try:
        return base64.b64decode(str(text).encode(), validate=True)
    except (binascii.Error, ValueError):
        raise BadEnvelope("a part of it is not base64") from None


def _signed(payload: bytes) -> bytes:
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def _string(data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + data
