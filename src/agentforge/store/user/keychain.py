"""The system's keychain, where there is one: of macOS, Windows, GNOME or KDE. No other: some backends keep
secrets in a readable file.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "agentforge"
"""The name under which it keeps our keys."""
_TRUSTED = tuple(
    f"keyring.backends.{name}" for name in ("macOS", "Windows", "SecretService", "libsecret", "kwallet")
)


class SystemKeychain:
    """Whatever is wrong with it, from no service to a locked one, it has no key. Loading it takes a second:
    made when first asked.
    """

    def get(self, name: str) -> str | None:
        """The key of that name; None if there is none."""
        from keyring.errors import KeyringError  # noqa: PLC0415 - as the class says

        backend = trusted_backend()
        try:
            return backend.get_password(SERVICE, name) if backend else None
        except (KeyringError, OSError, RuntimeError):
            return None

    def put(self, name: str, text: str) -> bool:
        """Keep it; False if there is no keychain that would."""
        from keyring.errors import KeyringError  # noqa: PLC0415 - as above

        backend = trusted_backend()
        if backend is None:
            return False
        try:
            backend.set_password(SERVICE, name, text)
        except (KeyringError, OSError, RuntimeError):
            return False
        return True

    def drop(self, name: str) -> bool:
        """Forget it; whether there was one."""
        from keyring.errors import KeyringError  # noqa: PLC0415 - as above

        backend = trusted_backend()
        if backend is None:
            return False
        try:
            backend.delete_password(SERVICE, name)
        except (KeyringError, OSError, RuntimeError):
            return False
        return True


def system_keychain() -> SystemKeychain | None:
    """The keychain, if the extra for it is installed."""
    return SystemKeychain() if find_spec("keyring") is not None else None


def trusted_backend() -> "KeyringBackend | None":
    """The backend that this machine prefers, if it is one that encrypts; of several in a row, the first
    such.
    """
    import keyring  # noqa: PLC0415 - as above

    chosen = keyring.get_keyring()
    several = getattr(chosen, "backends", None)
    return next((each for each in several or [chosen] if type(each).__module__.startswith(_TRUSTED)), None)
