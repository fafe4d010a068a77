"""The token of a task: by it a worker knows that what a Temporal server hands it came from its own user.

A server of one machine listens to everybody on that machine. So who hands a task over, or speaks to one, says
so with a code that only the user's own key can make (HMAC-SHA256). The key stays in the user's directory: it
is on no server, in no journal and in no sandbox.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from agentforge.core.errors import UsageError
from agentforge.core.reply import Json
from agentforge.store.layout import Home
from agentforge.store.user.own_files import locked, read_own, replace_own
from agentforge.system.canon import digest_value
from agentforge.system.secrets.known import remember

PROOF = "proof"
"""The field of a message that holds its code."""
_DIGITS = 64


def token_file(home: Home) -> Path:
    """Where the key is that the tokens of all tasks are made from."""
    return home.path / "task_key"


def hand_over_proof(home: Home, repository: str, task_id: str) -> str:
    """The code of a task that is handed over."""
    return _code(_token(home, repository, task_id), ["hand over"])


def is_handed_over(home: Home, repository: str, task_id: str, proof: str) -> bool:
    """Whether the code was made by this user for this very task."""
    return hmac.compare_digest(hand_over_proof(home, repository, task_id).encode(), proof.encode())


def signed_message(home: Home, repository: str, task_id: str, said: Mapping[str, str]) -> dict[str, str]:
    """A message to a task, with its code. Whoever changes a word of it, or sends it to another task, has
    none.
    """
    words = {key: value for key, value in said.items() if key != PROOF}
    return {**words, PROOF: _code(_token(home, repository, task_id), ["message", dict(words)])}


def is_own_message(home: Home, repository: str, task_id: str, said: Mapping[str, str]) -> bool:
    """Whether this user said it to this very task."""
    expected = signed_message(home, repository, task_id, said)[PROOF]
    return hmac.compare_digest(expected.encode(), said.get(PROOF, "").encode())


def _token(home: Home, repository: str, task_id: str) -> bytes:
    return bytes.fromhex(_hmac(_key(home), digest_value(["task", os.path.realpath(repository), task_id])))


def _code(token: bytes, said: Json) -> str:
    return _hmac(token, digest_value(said))


def _hmac(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _key(home: Home) -> bytes:
    place = token_file(home)
    text = _read(place)
    if text is None:
        with locked(place):
            text = _read(place)
            if text is None:
                text = secrets.token_hex(_DIGITS // 2)
                replace_own(place, f"{text}\n".encode())
    remember(text)
    return bytes.fromhex(text)


def _read(place: Path) -> str | None:
    try:
        data = read_own(place)
        if data is None:
            return None
        shared = place.lstat().st_mode & 0o077
    except OSError as error:
        raise _refusal(place, f"it cannot be read ({error.strerror})") from None
    except UsageError as error:
        raise _refusal(place, error.sentence) from None
    if shared:
        raise _refusal(place, "others on this machine can read it")
    text = data.decode("ascii", "replace").strip()
    if len(text) != _DIGITS or text.strip("0123456789abcdef"):
        raise _refusal(place, "it holds no key")
    return text


def _refusal(place: Path, why: str) -> UsageError:
    return UsageError(
        f"{place} is not used: {why}.", "Remove it, and start the workers again: a new one is made."
    )
