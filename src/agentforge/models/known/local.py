"""What a model server on this machine has installed, and which of it stands in for a model that is missing.

A server that does not list its models is asked for the wanted one as it is; only where nothing answers, it is
down. Asked with the standard library alone, in a thread with a hard end, never through a proxy and never
beyond the loopback.
"""

import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from typing import IO, Final
from urllib.parse import urlsplit

from agentforge.core.pipeline import Tier
from agentforge.core.reply import Json
from agentforge.models.known.families import best, installed_as
from agentforge.models.known.providers import Provider, is_loopback
from agentforge.models.wrap.clock import REAL, Clock

LOOK_S: Final = 1.5
"""A server on this machine that takes longer to list its models is asked without knowing them."""
_NOT_OF_ONES_OWN: Final = frozenset({"anthropic", "openai", "openai-responses", "mistral", "google"})
_MAX_BODY: Final = 4 << 20
_MOST: Final = 1000
_KNOWN_FOR_S: Final = 60.0
_DOWN_FOR_S: Final = 5.0

Keys = Callable[[Provider], str | None]


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """One model that a server has."""

    name: str
    window: int | None = None
    """How many tokens the server lets it read, if it says so."""


@dataclass(frozen=True, slots=True)
class InstalledModels:
    """The models that a server listed, or why it listed none."""

    provider: str
    models: tuple[InstalledModel, ...] = ()
    trouble: str = ""
    """Why nothing is known; empty if it answered."""
    down: bool = False
    """Whether nothing answers there at all."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(found.name for found in self.models)


@dataclass(frozen=True, slots=True)
class LocalChoice:
    """What to ask for when a model is wanted of a local server."""

    model: str | None
    """None: there is nothing to ask."""
    why: str = ""
    window: int | None = None
    down: bool = False


def lists(provider: Provider) -> bool:
    """Whether it is a server of one's own whose list of models means something. A gateway to a hosted
    provider has no such list.
    """
    return provider.local and provider.wire == "openai" and provider.name not in _NOT_OF_ONES_OWN


def astray(provider: Provider) -> bool:
    """Whether a server of this machine is looked for elsewhere: its name means this machine, and what
    resolves names says otherwise.
    """
    host = urlsplit(provider.base_url).hostname
    if not provider.local or host is None:
        return False
    return not all(
        is_loopback(str(address[0]))
        for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    )


def installed(provider: Provider, key: str | None = None, timeout_s: float = LOOK_S) -> InstalledModels:
    """Asks one server for its models."""
    return installed_all([provider], lambda _: key, timeout_s)[provider.name]


def unlisted(provider: Provider, key: str | None = None, timeout_s: float = LOOK_S) -> InstalledModels:  # noqa: ARG001 - as `installed`
    """In place of `installed` where no server is to be asked: whatever is wanted is assumed to be there."""
    return InstalledModels(provider.name, trouble="not asked")


def installed_all(
    providers: Iterable[Provider], keys: Keys = lambda _: None, timeout_s: float = LOOK_S
) -> dict[str, InstalledModels]:
    """What each of the servers has; all are asked at once, and a slow one is given up."""
    wanted = list(providers)
    found: dict[str, InstalledModels] = {}
    threads = []
    for provider in wanted:
        if not provider.local:
            found[provider.name] = InstalledModels(
                provider.name, trouble=f"{provider.host} is not this machine"
            )
            continue
        threads.append(
            threading.Thread(target=_put, args=(found, provider, keys(provider), timeout_s), daemon=True)
        )
        threads[-1].start()
    until = REAL.now() + timeout_s
    for thread in threads:
        thread.join(max(0.0, until - REAL.now()))
    return {
        item.name: found.get(item.name)
        or InstalledModels(item.name, trouble=f"{item.host} {_late(timeout_s)}")
        for item in wanted
    }


class LocalModels:
    """The servers of this machine as one process knows them: asked now and then, and a substitution is said
    once.
    """

    def __init__(
        self,
        say: Callable[[str], None] = lambda _: None,
        keys: Keys = lambda _: None,
        clock: Clock = REAL,
        timeout_s: float = LOOK_S,
        ask: Callable[[Provider, str | None, float], InstalledModels] = installed,
    ) -> None:
        self._ask = ask
        self._say = say
        self._keys = keys
        self._clock = clock
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, InstalledModels]] = {}
        self._said: set[str] = set()

    def look(self, provider: Provider) -> InstalledModels:
        """The models that a server has, from memory if that is fresh."""
        with self._lock:
            until, known = self._known.get(provider.name, (0.0, None))
            if known is not None and self._clock.now() < until:
                return known
        seen = self._ask(provider, self._keys(provider), self._timeout_s)
        with self._lock:
            self._known[provider.name] = (
                self._clock.now() + (_DOWN_FOR_S if seen.down else _KNOWN_FOR_S),
                seen,
            )
        return seen

    def forget(self, provider: Provider) -> None:
        """It has just failed: what was known may be old."""
        with self._lock:
            self._known.pop(provider.name, None)

    def choice(self, provider: Provider, wanted: str, tier: Tier) -> LocalChoice:
        """The wanted model, or the installed one that comes nearest."""
        choice = choose(provider, self.look(provider), wanted, tier)
        if choice.model is not None and choice.why:
            self._once(choice.why)
        return choice

    def _once(self, sentence: str) -> None:
        with self._lock:
            if sentence in self._said:
                return
            self._said.add(sentence)
        self._say(sentence)


def choose(provider: Provider, seen: InstalledModels, wanted: str, tier: Tier) -> LocalChoice:
    """Which of the installed models to ask for."""
    if seen.down:
        return LocalChoice(None, seen.trouble, down=True)
    if seen.trouble:
        return LocalChoice(wanted)
    windows = {found.name: found.window for found in seen.models}
    there = installed_as(windows, wanted)
    if there is None and provider.name == "llamacpp" and len(windows) == 1:
        return LocalChoice(
            wanted, "", next(iter(windows.values()))
        )  # it has one model, whatever name it is asked for
    if there is not None:
        return LocalChoice(there, "", windows[there])
    other = best(windows, wanted, tier)
    if other is None:
        what = "no chat model" if not windows else "no chat model that we know"
        pull = f"; `ollama pull {wanted}` gets it" if provider.name == "ollama" else ""
        return LocalChoice(None, f"{provider.name} has {what} installed, and not {wanted}{pull}")
    return LocalChoice(
        other, f"{provider.name} does not have {wanted}; using {other} instead.", windows[other]
    )


def propose(providers: Iterable[Provider]) -> str:
    """A sentence on a model of this machine that could be asked; empty if none is there. Takes a moment."""
    for name, seen in installed_all([provider for provider in providers if lists(provider)]).items():
        model = best(seen.names, "", "generation")
        if model is not None:
            return f"{name} runs on this machine: try `--model {name}:{model}`."
    return ""


def _late(timeout_s: float) -> str:
    return f"did not list its models within {timeout_s:g} s"


def _put(found: dict[str, InstalledModels], provider: Provider, key: str | None, timeout_s: float) -> None:
    found[provider.name] = _ask(provider, key, timeout_s)


def _ask(provider: Provider, key: str | None, timeout_s: float) -> InstalledModels:
    parts = urlsplit(provider.base_url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    root = f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}"
    base = parts.path.rstrip("/")
    paths = [f"{base.removesuffix('/v1')}/api/tags"] if provider.name == "ollama" else []
    trouble = ""
    for path in (*paths, f"{base}/models"):
        try:
            if astray(provider):
                return InstalledModels(
                    provider.name, trouble=f"{provider.host} is not on this machine", down=True
                )
            models = _listed(_get(root + path, key, timeout_s))
        except urllib.error.HTTPError as error:
            trouble = f"{provider.host} answers {error.code} when asked for its models"
            error.close()
        except (HTTPException, ValueError, RecursionError):
            trouble = f"what answers at {provider.host} is no model server"
        except OSError as error:
            if not isinstance(getattr(error, "reason", error), TimeoutError):
                return InstalledModels(
                    provider.name, trouble=f"nothing answers at {provider.host}", down=True
                )
            trouble = f"{provider.host} {_late(timeout_s)}"
        else:
            return InstalledModels(provider.name, models)
    return InstalledModels(provider.name, trouble=trouble)


def _get(url: str, key: str | None, timeout_s: float) -> Json:
    request = urllib.request.Request(url, headers={"accept": "application/json"})  # noqa: S310 - providers have http addresses only
    if key:
        request.add_header("authorization", f"Bearer {key}")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect())
    with opener.open(request, timeout=timeout_s) as response:
        body = response.read(_MAX_BODY + 1)
    if len(body) > _MAX_BODY:
        raise ValueError("too long")
    value: Json = json.loads(body)
    return value


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key goes to the server that it is for, and to no other: no answer sends us elsewhere."""

    def redirect_request(
        self,
        req: urllib.request.Request,  # noqa: ARG002 - the names of the base class
        fp: IO[bytes],  # noqa: ARG002
        code: int,  # noqa: ARG002
        msg: str,  # noqa: ARG002
        headers: HTTPMessage,  # noqa: ARG002
        newurl: str,  # noqa: ARG002
    ) -> None:
        """None: the redirect itself is the answer, an error."""
        return


def _listed(value: Json) -> tuple[InstalledModel, ...]:
    """Ollama says `models`, the others `data`. Names are data of a stranger."""
    rows = (value.get("models") or value.get("data") or []) if isinstance(value, Mapping) else None
    if not isinstance(rows, list):
        raise ValueError("no list of models")  # noqa: TRY004 - what came is no model server's answer
    found = {}
    for row in rows[:_MOST]:
        name = (row.get("name") or row.get("id")) if isinstance(row, Mapping) else None
        if (
            isinstance(row, Mapping)
            and isinstance(name, str)
            and 0 < len(name) <= 300
            and name.isprintable()
            and not _embeds(row)
        ):
            window = row.get("max_model_len")
            found[name] = InstalledModel(name, window if isinstance(window, int) and window > 0 else None)
    return tuple(found.values())


def _embeds(row: Mapping[str, Json]) -> bool:
    """Whether the server itself says that it is no chat model."""
    details = row.get("details")
    family = details.get("family") if isinstance(details, Mapping) else None
    return (isinstance(family, str) and "bert" in family) or row.get("type") in (
        "embeddings",
        "embedding",
        "reranker",
    )
