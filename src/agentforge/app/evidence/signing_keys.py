"""The key that a user's deliveries are signed with, and whose signatures they trust."""

import os
from dataclasses import dataclass
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.store.user import signing
from agentforge.store.user.signing import FILE_VARIABLE, VARIABLE
from agentforge.system.git.repository import Git
from agentforge.system.signatures import PublicKey

_LARGEST = 20_000


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A public key for people: the line as ssh writes it, and its short name."""

    name: str
    line: str
    fingerprint: str
    source: str


def init_key(name: str | None, where: Path) -> KeyLine:
    """Makes the user's key. Without a name it gets the one of their git settings."""
    home = Home(home_path())
    key = signing.make_key(home, name or _own_name(where))
    return _line("", key, str(signing.key_file(home)))


def own_key() -> KeyLine:
    """The public half of the key that deliveries are signed with."""
    home = Home(home_path())
    key = signing.signing_key(home)
    if key is None:
        raise UsageError("You have no signing key.", "`agentforge keys init` creates one.")
    named = next((name for name in (VARIABLE, FILE_VARIABLE) if os.environ.get(name)), "")
    return _line("", key.public, named or str(signing.key_file(home)))


def trust_key(name: str, given: str) -> tuple[KeyLine, bool]:
    """Trusts a key, given as its line or as a file that holds it; False if it was trusted already."""
    place = Path(given)
    text = given
    if "ssh-ed25519" not in given and place.is_file():
        text = place.read_bytes()[:_LARGEST].decode("utf-8", "replace").strip()
    key = PublicKey.parse(text)
    if key is None:
        raise UsageError(
            "This is not a public ed25519 key.",
            "`agentforge keys show` prints one; it begins with ssh-ed25519.",
        )
    home = Home(home_path())
    return _line(name, key, str(signing.trust_file(home))), signing.trust(home, name, key)


def trusted(where: Path) -> list[KeyLine]:
    """The keys that the user trusts: of their own list, and of the file that their git settings name."""
    found = signing.trusted_keys(Home(home_path()), _git(where))
    return [_line(item.name, item.key, item.source) for item in found]


def _line(name: str, key: PublicKey, source: str) -> KeyLine:
    return KeyLine(name, key.line, key.fingerprint, source)


def _own_name(where: Path) -> str:
    git = _git(where)
    found = git.run("config", "user.email", check=False).out.decode("utf-8", "replace").strip() if git else ""
    return found or "me"


def _git(where: Path) -> Git | None:
    try:
        return Git.open(where)
    except UsageError:
        return None
