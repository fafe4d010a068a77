"""Where packages of npm come from: what the user's variables and files say, else what npm says of itself."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from agentforge.sandbox.network.destinations import Destination, of_address
from agentforge.system.processes import run
from agentforge.system.programs import find_program

_REGISTRY = re.compile(r"(?:@[\w.~-]+:)?registry")
_LOGIN = re.compile(r"(//[^\s=]+):(?:_authToken|_auth|_password|username)")
_CERTIFICATES = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR")


def registry_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """What the user's own files and variables say of registries, and of who may use them; by npm's names."""
    found: dict[str, str] = {}
    home = environ.get("HOME", "/")
    for path in (Path("/etc/npmrc"), Path(environ.get("NPM_CONFIG_USERCONFIG") or Path(home, ".npmrc"))):
        with suppress(OSError, UnicodeError):
            found |= dict(_lines(path.read_text(encoding="utf-8")))
    for name, value in environ.items():
        key = name.lower().removeprefix("npm_config_")
        if name.lower().startswith("npm_config_") and _REGISTRY.fullmatch(key):
            found[key] = value
    return found


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, _, value = (part.strip() for part in line.partition("="))
        if _REGISTRY.fullmatch(name) or _LOGIN.fullmatch(name):
            yield name, value.strip("'\"")


def without_logins(settings: Mapping[str, str]) -> dict[str, str]:
    """The same places, as somebody without a login would name them."""
    return {
        name: re.sub(r"(?<=://)[^\s/@]+@", "", value)
        for name, value in settings.items()
        if not _LOGIN.fullmatch(name)
    }


def logins_in(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The places whose login the settings hold."""
    hosts = [found[1].strip("/") for name in settings if (found := _LOGIN.fullmatch(name)) is not None]
    hosts += [
        found[1] for value in settings.values() if (found := re.search(r"://[^\s/@]+@([^\s/]+)", value))
    ]
    return tuple(dict.fromkeys(hosts))


def registry_places(settings: Mapping[str, str]) -> tuple[Destination, ...]:
    """The registries that are named; where no first one is, npm's own as well."""
    addresses = [value for name, value in settings.items() if _REGISTRY.fullmatch(name)]
    if "registry" not in settings:
        addresses.append(_default())
    found = (of_address(address, private=True) for address in addresses)
    return tuple(dict.fromkeys(place for place in found if place is not None))


@cache
def _default() -> str:
    """What npm says of itself, in no directory of anybody's."""
    npm = find_program("npm")
    if npm is None:
        return ""
    variables = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"}
    done = run((npm, "config", "get", "registry"), cwd=Path("/"), env=variables, timeout_s=30)
    return done.out.decode("utf-8", "replace").strip()


def certificates(environ: Mapping[str, str]) -> dict[str, str]:
    """Whom to believe."""
    return {name: environ[name] for name in _CERTIFICATES if environ.get(name)}
