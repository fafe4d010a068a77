"""A person's keys for model providers: from the environment, a file of their own, or the system's keychain.
Never from a repository.

Every key that is found is told to the redactor, so that no text we write can hold it.
"""

import re
import stat
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, Self

from agentforge.core.errors import UsageError
from agentforge.store.layout import Home
from agentforge.store.user.keychain import system_keychain
from agentforge.store.user.own_files import locked, read_own, replace_own
from agentforge.system.secrets.known import remember

KeySource = Literal["environment", "file", "keychain"]
_SAME = MappingProxyType({"openai-responses": "openai"})
"""Two wires of one account have one key."""
_SHOWN, _LONG_ENOUGH = 4, 16
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PAT|CREDENTIALS?|(?:API|ACCESS|SECRET|PRIVATE|AUTH|MASTER|SIGNING)_?KEY|APIKEY)"
    r"(?:_[0-9A-Z]{1,8})?$",
    re.IGNORECASE,
)
_LIKE_A_KEY = re.compile(r"(?=[^/~$])(?=\D*[0-9])[\x21-\x7e]{12,4096}")
"""No path, no reference, no word."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, and where it is from."""

    text: str = field(repr=False)
    source: KeySource

    @property
    def hint(self) -> str:
        """Its last characters, so that a person knows which one it is; nothing of a short one."""
        return f"…{self.text[-_SHOWN:]}" if len(self.text) >= _LONG_ENOUGH else "…"


class Keychain(Protocol):
    """The system's own store of secrets."""

    def get(self, name: str) -> str | None:
        """The key of that name; None if there is none."""
        ...

    def put(self, name: str, text: str) -> bool:
        """Stores a key; False if the keychain refuses."""
        ...

    def drop(self, name: str) -> bool:
        """Removes a key; False if there was none."""
        ...


class _KeysFile(NamedTuple):
    """The content of `keys.yaml`."""

    keys: Mapping[str, str] = MappingProxyType({})
    keychain: tuple[str, ...] = ()
    """Whose keys the keychain holds: it is slow to open, and asked for nothing else."""


def keys_file(home: Home) -> Path:
    """Where a user's keys are, if they are in a file."""
    return home.path / "keys.yaml"


class KeyStore:
    """The keys of a person. Looks once per provider and process; usable from every thread."""

    def __init__(self, path: Path, environ: Mapping[str, str], keychain: Keychain | None) -> None:
        self._path = path
        self._environ = environ
        self._keychain = keychain
        self._lock = threading.RLock()
        self._found: dict[str, Key | None] = {}

    @classmethod
    def of(cls, home: Home, environ: Mapping[str, str]) -> Self:
        """The keys of the user whose directory this is."""
        return cls(keys_file(home), environ, system_keychain())

    def find(self, provider: str, variable: str | None) -> Key | None:
        """The key for a provider: of the variable in the environment, else of the file, else of the
        keychain.
        """
        given = (self._environ.get(variable) or "").strip() if variable else ""
        if given:
            return _hidden_in_output(Key(given, "environment"))
        name = _SAME.get(provider, provider)
        with self._lock:
            if name not in self._found:
                self._found[name] = self._stored(name)
            return self._found[name]

    def source(self, provider: str, variable: str | None) -> KeySource | None:
        """Where the key for a provider would be from; the keychain, which is slow, is not opened for that."""
        if variable and (self._environ.get(variable) or "").strip():
            return "environment"
        name, file = _SAME.get(provider, provider), self._read()
        if name in file.keys:
            return "file"
        return "keychain" if name in file.keychain and self._keychain is not None else None

    def remember_all(self, *, keychain: bool = False) -> None:
        """Tells the redactor of every key there is, whoever is asked: those of the environment and the file,
        and, if so wished, those of the keychain, which is slow to open.
        """
        for name, text in self._environ.items():
            if _SECRET_NAME.search(name) and _LIKE_A_KEY.fullmatch(text.strip()):
                remember(text.strip())
        try:
            file = self._read()
        except UsageError:
            return  # it is not used, and whoever needs it says why
        for text in file.keys.values():
            remember(text)
        for name in file.keychain if keychain and self._keychain is not None else ():
            self.find(name, None)

    def put(self, provider: str, text: str, *, in_file: bool = False) -> KeySource:
        """Keep a key: in the keychain if there is one, else, or if so wished, in the file."""
        name, text = _SAME.get(provider, provider), checked(text)
        remember(text)
        with self._lock, locked(self._path):
            self._found.pop(name, None)
            file = self._read()
            others = {other: key for other, key in file.keys.items() if other != name}
            if not in_file and self._keychain is not None and self._keychain.put(name, text):
                self._write(_KeysFile(others, (*(each for each in file.keychain if each != name), name)))
                return "keychain"
            self._write(_KeysFile({**others, name: text}, file.keychain))
            return "file"

    def drop(self, provider: str) -> tuple[KeySource, ...]:
        """Forget a key; the places where there was one."""
        name = _SAME.get(provider, provider)
        found: list[KeySource] = []
        with self._lock, locked(self._path):
            self._found.pop(name, None)
            file = self._read()
            if name in file.keys:
                found.append("file")
            if name in file.keychain and self._keychain is not None and self._keychain.drop(name):
                found.append("keychain")
            if name in file.keys or name in file.keychain:
                left = {other: key for other, key in file.keys.items() if other != name}
                self._write(_KeysFile(left, tuple(each for each in file.keychain if each != name)))
        return tuple(found)

    def _stored(self, name: str) -> Key | None:
        file = self._read()
        if text := file.keys.get(name):
            return _hidden_in_output(Key(text, "file"))
        if name in file.keychain and self._keychain is not None and (text := self._keychain.get(name)):
            return _hidden_in_output(Key(text, "keychain"))
        return None

    def _read(self) -> _KeysFile:
        """The file, if it is the user's alone. Its values reach no message."""
        advice = f"Run `chmod 600 {self._path}`"
        try:
            data = read_own(self._path)
        except UsageError as error:
            raise UsageError(f"{self._path} is not used: {error.sentence}.", f"{advice}.") from None
        except OSError as error:
            raise UsageError(f"{self._path} cannot be read: {error.strerror}.") from None
        if data is None:
            return _KeysFile()
        if stat.S_IMODE(self._path.lstat().st_mode) & 0o077:
            raise UsageError(
                f"{self._path} is not used: others on this machine can read it.",
                f"{advice}, and renew the keys in it.",
            )
        return _parsed(data, self._path)

    def _write(self, file: _KeysFile) -> None:
        from agentforge.system import strict_yaml  # noqa: PLC0415 - longer to load than most files of keys to read

        document = {"keys": dict(sorted(file.keys.items())), "keychain": sorted(file.keychain)}
        replace_own(
            self._path, strict_yaml.dump({name: value for name, value in document.items() if value}).encode()
        )


def checked(text: str) -> str:
    """The key as it was meant, or a sentence that does not hold it."""
    text = text.strip()
    if not text:
        raise UsageError("There is no key in what was given.")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError(
            "What was given holds a character that no key has.", "Copy the key whole, and nothing else."
        )
    return text


def _parsed(data: bytes, path: Path) -> _KeysFile:
    """Strict, and silent about the content: what is wrong may be a key in the wrong place."""
    from agentforge.system import strict_yaml  # noqa: PLC0415 - as above

    try:
        document = strict_yaml.load(data.decode("utf-8"), path.name)
    except (UsageError, UnicodeDecodeError):
        document = ""
    document = {} if document is None else document
    if isinstance(document, dict) and set(document) <= {"keys", "keychain"}:
        keys, keychain = document.get("keys", {}), document.get("keychain", [])
        if (
            isinstance(keys, dict)
            and isinstance(keychain, list)
            and all(isinstance(text, str) for text in keys.values())
        ):
            return _KeysFile(
                {name: checked(str(text)) for name, text in keys.items()}, tuple(map(str, keychain))
            )
    raise UsageError(f"{path} is not used: it is no mapping such as `keys: {{openai: …}}`.")


def _hidden_in_output(key: Key) -> Key:
    """The key itself, after redaction has learned it."""
    remember(key.text)
    return key
