"""The user's key for signing what is delivered, and whose signatures they trust. Never from a repository,
never in a sandbox.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.user.own_files import locked, read_own, replace_own
from agentforge.system.git.repository import Git
from agentforge.system.secrets.known import remember
from agentforge.system.signatures import PublicKey, SigningKey

VARIABLE, FILE_VARIABLE = "AGENTFORGE_SIGNING_KEY", "AGENTFORGE_SIGNING_KEY_FILE"
NAMESPACES = ("agentforge", "git", "*")
"""What a line of git's file may limit a key to, and still hold for what is said of a commit."""
_NAME = re.compile(r"[^\s\"#,*?!]{1,100}")
_OPTION = re.compile(r'([a-z-]+)(?:="([^"]*)")?', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Trusted:
    """A key whose signatures the user believes, and the name that they know it by."""

    name: str
    key: PublicKey
    source: str
    """The file that says so."""


def key_file(home: Home) -> Path:
    """Where the user's own key is."""
    return home.path / "signing_key"


def trust_file(home: Home) -> Path:
    """Whose keys the user trusts, in the format of git's `allowed_signers`."""
    return home.path / "allowed_signers"


def signing_key(home: Home, environ: Mapping[str, str] = os.environ) -> SigningKey | None:
    """The key that deliveries are signed with: of the environment, as in a CI, else of the user's file."""
    if text := environ.get(VARIABLE, "").strip():
        _hide_in_output(text)
        return SigningKey.parse(text.encode(), VARIABLE)
    if place := environ.get(FILE_VARIABLE, "").strip():
        return _from_file(Path(place).expanduser(), needed=True)
    return _from_file(key_file(home), needed=False)


def make_key(home: Home, name: str) -> PublicKey:
    """A new key of the user's, and its line in the list of those they trust. One that is there stays."""
    place = key_file(home)
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name[:80]!r} cannot be the name of a key.", "Use one word, such as ada.")
    with locked(place):
        if read_own(place) is not None:
            raise UsageError(
                f"There is a key already: {place}.",
                "`agentforge keys show` prints its public key; move the file away to create another.",
            )
        key = SigningKey.new()
        replace_own(place, key.spell())
    trust(home, name, key.public)
    return key.public


def trust(home: Home, name: str, key: PublicKey) -> bool:
    """Adds a key to those that the user trusts; False if it is there under that name."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name[:80]!r} cannot be the name of a key.", "Use one word, such as ada.")
    place = trust_file(home)
    with locked(place):
        before = _read(place) or b""
        if any(known.name == name and known.key == key for known in _parsed(before, place)):
            return False
        head = before if not before or before.endswith(b"\n") else before + b"\n"
        replace_own(place, head + f"{name} {key.line}\n".encode())
    return True


def trusted_keys(home: Home, git: Git | None = None) -> list[Trusted]:
    """The keys that the user trusts: of their own list, and of the file that their git settings name."""
    found = []
    for place in (trust_file(home), *([allowed] if git and (allowed := _allowed_signers(git)) else ())):
        found += _parsed(_read(place) or b"", place)
    return found


def _allowed_signers(git: Git) -> Path | None:
    """The file of `gpg.ssh.allowedSignersFile`, as the user or the machine sets it: what a repository says of
    itself is no reason to trust anybody.
    """
    asked = ("config", "--show-scope", "--type=path", "--get-all", "gpg.ssh.allowedSignersFile")
    listed = os.fsdecode(git.run(*asked, check=False).out).splitlines()
    places = [
        place
        for scope, _, place in (line.partition("\t") for line in listed)
        if scope in ("global", "system")
    ]
    return Path(places[-1]) if places and Path(places[-1]).is_absolute() else None


def _from_file(place: Path, *, needed: bool) -> SigningKey | None:
    data = _read(place)
    if data is None:
        if needed:
            raise UsageError(f"{place}, which {FILE_VARIABLE} names, is not there.")
        return None
    if stat.S_IMODE(place.lstat().st_mode) & 0o077:
        raise UsageError(
            f"{place} is not used: others on this machine can read it.",
            f"Run `chmod 600 {place}`, and treat the key as known to others.",
        )
    _hide_in_output(data.decode("utf-8", "replace"))
    return SigningKey.parse(data, str(place))


def _read(place: Path) -> bytes | None:
    try:
        return read_own(place)
    except UsageError as error:
        raise UsageError(f"{place} is not used: {error.sentence}.") from None
    except OSError as error:
        raise UsageError(f"{place} cannot be read: {error.strerror}.") from None


def _parsed(data: bytes, place: Path) -> list[Trusted]:
    lines = data.decode("utf-8", "replace").splitlines()
    return [found for line in lines if (found := _parse_line(line.strip(), str(place))) is not None]


def _parse_line(line: str, source: str) -> Trusted | None:
    """`principals [options] ssh-ed25519 AAAA… [comment]`; any other kind of line is passed over."""
    if not line or line.startswith("#") or " ssh-ed25519 " not in line:
        return None
    head, _, rest = line.partition(" ssh-ed25519 ")
    key = PublicKey.parse(f"ssh-ed25519 {rest}")
    name, _, options = head.strip().partition(" ")
    if key is None or not _is_allowed(options):
        return None
    return Trusted(name.strip('"'), key, source)


def _is_allowed(options: str) -> bool:
    now = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
    for name, value in _OPTION.findall(options):
        match name.lower():
            case "namespaces":
                if not set(value.split(",")) & set(NAMESPACES):
                    return False
            case "valid-after" | "valid-before":
                edge = re.sub(r"\D", "", value).ljust(len(now), "0")
                if (now < edge) == (name.lower() == "valid-after"):
                    return False
            case _:  # an authority for certificates, or something newer: not what we can judge
                return False
    return True


def _hide_in_output(text: str) -> None:
    """Redaction learns the key, line by line as it is written down."""
    for line in text.splitlines()[1:-1]:
        remember(line.strip())
