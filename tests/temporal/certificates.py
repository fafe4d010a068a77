"""An authority for one test, and the certificates that it signs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, as files."""

    cert: Path
    key: Path


class Authority:
    """Signs what a test needs, into a directory."""

    def __init__(self, place: Path, name: str) -> None:
        self._place, self._name = place, _called(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.ca = place / f"{name}.pem"
        begun = _begun(self._name, self._name, self._key.public_key(), DAY)
        made = begun.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.ca.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def sign(self, name: str, *, lasts: timedelta = DAY) -> Pair:
        """For a server or a client of this name; over already, if it lasts less than nothing."""
        key = ec.generate_private_key(ec.SECP256R1())
        begun = _begun(_called(name), self._name, key.public_key(), lasts)
        made = begun.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False).sign(
            self._key, hashes.SHA256()
        )
        pair = Pair(self._place / f"{self.ca.stem}-{name}.pem", self._place / f"{self.ca.stem}-{name}.key")
        pair.cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair


def _called(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, lasts: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number())
        .not_valid_before(now - 3 * DAY)
        .not_valid_after(now + lasts)
    )
