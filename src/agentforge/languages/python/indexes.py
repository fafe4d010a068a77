"""Where packages come from: what the user's own variables and files say, else what the installers say of
themselves.
"""

import ast
import configparser
import importlib.util
import re
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentforge.sandbox.network.destinations import Destination, destinations, of_address
from agentforge.system.processes import run

# What set-up may know of the caller: where packages come from, how they are chosen, and whom to believe.
# Every build of a project and of what it requires can read these, so nothing else is passed. Test runs get
# none.
NAMES = frozenset(
    {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
    | {
        f"PIP_{name}"
        for name in (
            *("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "CERT", "TRUSTED_HOST"),
            *("TIMEOUT", "DEFAULT_TIMEOUT", "RETRIES", "CONSTRAINT", "BUILD_CONSTRAINT", "REQUIRE_HASHES"),
            *("NO_BINARY", "ONLY_BINARY", "PREFER_BINARY", "PRE", "DISABLE_PIP_VERSION_CHECK"),
        )
    }
    | {
        f"UV_{name}"
        for name in (
            *("DEFAULT_INDEX", "INDEX", "INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX", "OFFLINE"),
            *("INDEX_STRATEGY", "INSECURE_HOST", "NATIVE_TLS", "SYSTEM_CERTS", "TORCH_BACKEND"),
            *("HTTP_TIMEOUT", "HTTP_CONNECT_TIMEOUT", "HTTP_RETRIES", "CONCURRENT_DOWNLOADS"),
            *("CONCURRENT_BUILDS", "CONCURRENT_INSTALLS", "CONSTRAINT", "BUILD_CONSTRAINT", "OVERRIDE"),
            *("EXCLUDE_NEWER", "PRERELEASE", "RESOLUTION", "REQUIRE_HASHES", "NO_BINARY", "NO_BUILD"),
            *("NO_BINARY_PACKAGE", "NO_BUILD_PACKAGE"),
        )
    }
)
# Passed only if the user said so: `UV_INDEX_CORP_PASSWORD` belongs to the index that is called `corp`.
_LOGIN = re.compile(r"UV_INDEX_\w+_(?:USERNAME|PASSWORD)")
_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@]+@")
# uv does not read pip's variables, and people have set them.
PIP_TO_UV = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
FIRST_INDEX = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
_SAYS_DEFAULT = re.compile(r"by\s+default:\s+<(\S+)>")
_CONSTANTS = "pip/_internal/models/index.py"


def index_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The caller's variables that say where packages come from, pip's also in uv's words; where they say
    nothing, the caller's files.
    """
    found = {name: value for name, value in environ.items() if name in NAMES or _LOGIN.fullmatch(name)}
    for pip, uv in PIP_TO_UV.items():
        if pip in found:
            found.setdefault(uv, found[pip])
    named_first = any(name in found for name in FIRST_INDEX)
    for name, value in _from_files(environ).items():
        if name not in found and not (named_first and name in FIRST_INDEX):
            found[name] = value
    return found


def passwords_in(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Whose passwords the variables hold: hosts, and names of variables."""
    found = [name for name in variables if _LOGIN.fullmatch(name)]
    for value in variables.values():
        for word in re.split(r"[\s,]+", value):
            place = of_address(_bare(word)) if _IN_ADDRESS.search(word) else None
            found += [place.host] if place is not None else []
    return tuple(dict.fromkeys(found))


def without_passwords(variables: Mapping[str, str]) -> dict[str, str]:
    """The same places, as somebody without a login would name them."""
    return {
        name: _IN_ADDRESS.sub("", value) for name, value in variables.items() if not _LOGIN.fullmatch(name)
    }


def _bare(word: str) -> str:
    """An address without the name that uv lets an index have: `corp=https://...`."""
    return re.sub(r"^[A-Za-z0-9_.-]+=(?=https?://)", "", word)


def index_places(variables: Mapping[str, str]) -> Iterator[Destination]:
    """The places that set-up's variables name. They are the caller's own, so they may be on this machine or
    its network.
    """
    for value in variables.values():
        for word in re.split(r"[\s,]+", value):
            place = of_address(_bare(word), private=True)
            if place is not None:
                yield place


def default_places(uv: Path, prefix: Path) -> Iterator[Destination]:
    """Where the installers go by themselves, if nobody names an index: uv says it, and pip knows both its
    index and where files lie.
    """
    said = run((str(uv), "pip", "install", "--help"), cwd=Path("/"), env={"NO_COLOR": "1"}, timeout_s=30)
    for address in _SAYS_DEFAULT.findall(said.out.decode(errors="replace")):
        if (place := of_address(address, private=True)) is not None:
            yield place
    text = next(_pip_constants(prefix), "")
    yield from destinations(_hosts_of_pip(text), private=True)


def named_paths(variables: Mapping[str, str]) -> Iterator[Path]:
    """Files and directories that the passed variables point to: certificates, local packages."""
    for value in variables.values():
        for word in value.replace(",", " ").split():
            path = word.removeprefix("file://")
            if path.startswith("/") and path != "/" and Path(path).exists():
                yield Path(path)


def _from_files(environ: Mapping[str, str]) -> dict[str, str]:
    """What `pip.conf` and `uv.toml` of the user and the machine say, as uv's variables. Only indexes on the
    network: no file is shown.
    """
    config = Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/"), ".config"))
    merged: dict[str, list[str]] = {}
    for path in (
        Path("/etc/pip.conf"),
        Path(environ.get("HOME", "/"), ".pip/pip.conf"),
        config / "pip/pip.conf",
    ):
        merged |= {name: found for name, found in _pip_file(path).items() if found}
    for path in (Path("/etc/uv/uv.toml"), config / "uv/uv.toml"):
        merged |= {name: found for name, found in _uv_file(path).items() if found}
    return {name: " ".join(addresses) for name, addresses in merged.items()}


def _pip_file(path: Path) -> dict[str, list[str]]:
    parser = configparser.RawConfigParser()
    with suppress(OSError, configparser.Error, UnicodeError):
        parser.read(path, encoding="utf-8")
    first, more = "", ""
    for section in ("global", "install"):
        first = parser.get(section, "index-url", fallback=first)
        more = parser.get(section, "extra-index-url", fallback=more)
    return {"UV_DEFAULT_INDEX": _on_network(first.split()[:1]), "UV_INDEX": _on_network(more.split())}


def _uv_file(path: Path) -> dict[str, list[str]]:
    table: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    first, more = [table.get("index-url")], [*_list(table.get("extra-index-url"))]
    for index in _list(table.get("index")):
        if isinstance(index, dict):
            (first if index.get("default") else more).append(index.get("url"))
    return {"UV_DEFAULT_INDEX": _on_network(first)[-1:], "UV_INDEX": _on_network(more)}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _on_network(words: Iterable[object]) -> list[str]:
    return [word for word in words if isinstance(word, str) and of_address(word) is not None]


def _pip_constants(prefix: Path) -> Iterator[str]:
    """The text of pip's own constants: of an installed pip, or of the one that comes with an interpreter."""
    spec = importlib.util.find_spec("pip")
    if spec is not None and spec.origin is not None:
        with suppress(OSError):
            yield Path(spec.origin).parents[1].joinpath(_CONSTANTS).read_text(encoding="utf-8")
    folders = (sysconfig.get_path("stdlib"), *map(str, prefix.glob("lib/python3*")))
    places = [Path(folder, "ensurepip/_bundled") for folder in folders] + [
        Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or "/nowhere")
    ]
    for wheel in (wheel for place in places for wheel in sorted(place.glob("pip-*.whl"))):
        with suppress(OSError, KeyError, zipfile.BadZipFile), zipfile.ZipFile(wheel) as archive:
            yield archive.read(_CONSTANTS).decode()


def _hosts_of_pip(text: str) -> Iterator[str]:
    """The hosts that the call that makes `PyPI` names: read, not run."""
    with suppress(SyntaxError):
        for node in ast.parse(text).body:
            match node:
                case ast.Assign(targets=[ast.Name(id="PyPI")], value=ast.Call(args=given, keywords=named)):
                    for value in (*given, *(keyword.value for keyword in named)):
                        if isinstance(value, ast.Constant) and isinstance(value.value, str):
                            place = of_address(value.value)
                            yield value.value if place is None else place.host
                case _:
                    pass
