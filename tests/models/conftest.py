"""What the tests of the wires stand on: one certificate authority, for a client of one library reads all that
it is given each time.
"""

from pathlib import Path

import certifi
import pytest

_END = "-----END CERTIFICATE-----\n"


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("authority") / "one.pem"
    place.write_text(
        Path(certifi.where()).read_text(encoding="utf-8").partition(_END)[0] + _END, encoding="utf-8"
    )
    return place


@pytest.fixture(autouse=True)
def one_authority(authority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here speaks TLS: every server is on the loopback."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
