"""Toolchains that people keep in their home: what a project asks for, and which of it is installed, so that a
run can see just that.

A version manager keeps every version of everything. A run gets one directory per tool that the project's own
files ask for, read-only; never a whole home, and nothing that holds credentials. Versions are found by
looking; no program is started.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentforge.languages.described import Read, decode, read_toml, table, words
from agentforge.sandbox.base import SYSTEM_ROOTS
from agentforge.system.bounded import files_below

# Files of a project, by name at any depth, that say which tool it takes to build or test it.
MARKERS = {
    "node": ("package.json", ".nvmrc", ".node-version"),
    "rust": ("Cargo.toml", "rust-toolchain", "rust-toolchain.toml"),
    "go": ("go.mod",),
    "java": ("pom.xml", "build.gradle", "build.gradle.kts"),
    "python": (".python-version",),
}
# The first that says a version is believed.
VERSION_FILES = {
    "node": (".nvmrc", ".node-version"),
    "rust": ("rust-toolchain.toml", "rust-toolchain"),
    "go": (),
    "java": (),
    "python": (".python-version",),
}
ALIASES = {"nodejs": "node", "golang": "go"}
_SAFE = re.compile(r"[A-Za-z0-9][\w.+-]{0,63}")
_NUMBERS = re.compile(r"\d+")
# Files that hold a password or a token, where tools keep them beside their programs; and directories that are
# never shown.
SECRET_FILES = words(
    "npmrc .npmrc .yarnrc.yml .netrc .pypirc pip.conf credentials credentials.toml .git-credentials "
    "settings.xml"
)
SECRET_DIRECTORIES = words(
    ".ssh .gnupg .aws .azure .kube .docker .config .password-store .agentforge keyrings"
)
_PACKAGES = frozenset({"node_modules", "site-packages", "target", "vendor"})
_DEPTH, _LONGEST = 3, 65536


@dataclass(frozen=True, slots=True)
class Need:
    """A tool that a project asks for."""

    tool: str
    version: str = ""
    """As the project writes it; empty for the one that its owner uses by default."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """One installed tool, as a run gets it."""

    tool: str
    root: Path
    """Where it lives."""
    read: tuple[Path, ...]
    """What of it a run may read; empty where it is among the system's programs, which every run sees."""
    programs: tuple[Path, ...]
    """Directories for PATH."""
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    root: Path
    variables: tuple[tuple[str, str], ...] = ()
    more: tuple[Path, ...] = ()
    """Directories of programs beside it."""
    settings: tuple[Path, ...] = ()
    """What it reads elsewhere on the machine."""


def needs_of(paths: Iterable[str], read: Read) -> tuple[Need, ...]:
    """What a project's files ask for: markers of a language near the top, and the files of asdf and mise."""
    near = {path for path in paths if path.count("/") < _DEPTH}
    names = {path.rpartition("/")[2] for path in near}
    found = {tool: "" for tool, markers in MARKERS.items() if names & set(markers)}
    found |= _managed(near, read)
    for tool in found:
        for name in VERSION_FILES.get(tool, ()):
            if name in near and (version := _version(name, decode(read(name)))):
                found[tool] = version
                break
    return tuple(Need(tool, version) for tool, version in sorted(found.items()))


def needs_here(top: Path) -> tuple[Need, ...]:
    """What the project in a directory asks for, as its files are now."""

    def read(name: str) -> bytes | None:
        path = top / name
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(_LONGEST)

    return needs_of(_near_files(top), read)


def _near_files(top: Path) -> list[str]:
    """Those near enough to the top to say what it takes, without those of packages that lie there."""

    def skip(folder: Path) -> bool:
        is_far = len(folder.relative_to(top).parts) >= _DEPTH
        return is_far or folder.name.startswith(".") or folder.name in _PACKAGES

    return [path.relative_to(top).as_posix() for path in files_below(top, skip, links=True)]


def _managed(near: set[str], read: Read) -> dict[str, str]:
    found = {}
    if ".tool-versions" in near:
        for line in decode(read(".tool-versions")).splitlines():
            words = line.partition("#")[0].split()
            if len(words) >= 2 and all(map(_SAFE.fullmatch, words[:2])):
                found[ALIASES.get(words[0], words[0])] = words[1]
    for name in ("mise.toml", ".mise.toml"):
        if name in near:
            for tool, version in table(read_toml(decode(read(name))), "tools").items():
                if isinstance(version, str) and _SAFE.fullmatch(tool) and _SAFE.fullmatch(version):
                    found[ALIASES.get(tool, tool)] = version
    return found


def _version(name: str, text: str) -> str:
    """The version in a version file; empty if it says none that could be the name of a directory."""
    if name.startswith("rust-toolchain") and (channel := table(read_toml(text), "toolchain").get("channel")):
        words = [str(channel)]
    else:
        words = [word for line in text.splitlines() if (word := line.partition("#")[0].strip())]
    return words[0].removeprefix("v") if words and _SAFE.fullmatch(words[0]) else ""


def find_toolchains(needs: Iterable[Need], environ: Mapping[str, str], home: Path) -> tuple[Toolchain, ...]:
    """Of what is asked for, what is installed: the first manager that has it wins."""
    found = []
    for need in needs:
        candidates = (manager(need, environ, home) for manager in _MANAGERS.get(need.tool, _ANY))
        if chain := next(
            (chain for one in candidates if one and (chain := _visible(need.tool, one, home))), None
        ):
            found.append(chain)
    return tuple(found)


def with_toolchains(variables: Mapping[str, str], chains: Sequence[Toolchain]) -> dict[str, str]:
    """The variables of a run with those of its toolchains: their programs are found after the environment's
    and before the system's.
    """
    found = dict(variables)
    for chain in chains:
        found |= dict(chain.variables)
    words = variables["PATH"].split(":")
    at = next((at for at, word in enumerate(words) if word == "/usr/local/bin"), len(words))
    found["PATH"] = ":".join(
        (*words[:at], *(str(path) for chain in chains for path in chain.programs), *words[at:])
    )
    return found


def readable(chains: Iterable[Toolchain]) -> tuple[Path, ...]:
    """What a run with these toolchains must be able to read."""
    return tuple(dict.fromkeys(path for chain in chains for path in chain.read))


def all_needs() -> tuple[Need, ...]:
    """Every language that we know of, in the version that is used by default: for a person who asks what is
    here.
    """
    return tuple(Need(tool) for tool in sorted(MARKERS))


def _visible(tool: str, found: _Found, home: Path) -> Toolchain | None:
    """What a run may see of it; None if that would be a home, or a place of secrets."""
    real = found.root.resolve()
    if real in (home.resolve(), *home.resolve().parents) or SECRET_DIRECTORIES & set(real.parts):
        return None
    read = [
        path
        for root in (found.root, *found.more)
        if not _is_system(root.resolve())
        for path in without_secrets(root)
    ]
    programs = tuple(path for path in (found.root / "bin", *found.more) if path.is_dir())
    seen = (*read, *found.settings)
    return Toolchain(tool, found.root, seen, programs, found.variables) if programs else None


def without_secrets(root: Path) -> Iterator[Path]:
    """The directory as a whole; if a file of it holds credentials, what is beside that."""
    for suspect in ("", "etc"):
        if (root / suspect).is_dir() and any(
            path.name in SECRET_FILES for path in (root / suspect).iterdir()
        ):
            yield from sorted(
                path for path in root.iterdir() if path.name not in SECRET_FILES and path.name != suspect
            )
            return
    yield root


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(root) for root in SYSTEM_ROOTS)


def _place(environ: Mapping[str, str], variable: str, usual: Path) -> Path:
    """A directory that a variable may move; a relative one would be the repository's."""
    said = environ.get(variable, "")
    return Path(said) if said.startswith("/") else usual


def pick(versions: Path, wanted: str, prefixes: tuple[str, ...] = ("",)) -> Path | None:
    """The installed version that is wanted, or the newest of its line; with nothing wanted the newest of
    all.
    """
    if not versions.is_dir() or (wanted and not _SAFE.fullmatch(wanted)):
        return None
    known = [path for path in versions.iterdir() if path.is_dir()]
    for prefix in prefixes:
        exact = f"{prefix}{wanted}"
        line = [
            path
            for path in known
            if path.name == exact or path.name.startswith((f"{exact}.", f"{exact}-") if wanted else prefix)
        ]
        if line:
            return max(line, key=lambda path: (path.name == exact, _order(path.name)))
    return None


def _order(name: str) -> tuple[bool, tuple[int, ...]]:
    """By number; a name that starts with a letter after its prefix (a development version) comes first."""
    bare = name.removeprefix("cpython-").removeprefix("v")
    return bare[:1].isdigit(), tuple(map(int, _NUMBERS.findall(bare)[:3]))


def _pyenv(need: Need, environ: Mapping[str, str], home: Path) -> _Found | None:
    root = _place(environ, "PYENV_ROOT", home / ".pyenv")
    found = pick(root / "versions", need.version) if need.version else None
    return _Found(found) if found else None


def _uv(need: Need, environ: Mapping[str, str], home: Path) -> _Found | None:
    data = _place(environ, "XDG_DATA_HOME", home / ".local/share")
    root = _place(environ, "UV_PYTHON_INSTALL_DIR", data / "uv/python")
    found = pick(root, need.version, ("cpython-",)) if need.version else None
    return _Found(found) if found else None


def _nvm(need: Need, environ: Mapping[str, str], home: Path) -> _Found | None:
    root = _place(environ, "NVM_DIR", home / ".nvm")
    alias = root / "alias/default"
    usual = (
        alias.read_text(encoding="utf-8", errors="replace").strip().removeprefix("v")
        if alias.is_file()
        else ""
    )
    found = pick(root / "versions/node", need.version, ("v", "")) if need.version else None
    found = (
        found
        or (pick(root / "versions/node", usual, ("v",)) if _SAFE.fullmatch(usual) else None)
        or pick(root / "versions/node", "", ("v",))
    )
    return _Found(found) if found else None


def _rustup(need: Need, environ: Mapping[str, str], home: Path) -> _Found | None:
    """The toolchain itself, not rustup's stand-ins, which want to write. Of cargo's home only the programs:
    beside them lie tokens.
    """
    root = _place(environ, "RUSTUP_HOME", home / ".rustup")
    settings = root / "settings.toml"
    usual = (
        table(read_toml(settings.read_text(encoding="utf-8", errors="replace"))).get("default_toolchain")
        if settings.is_file()
        else ""
    )
    found = pick(root / "toolchains", need.version or str(usual or "stable")) or pick(
        root / "toolchains", "stable"
    )
    if found is None:
        return None
    programs = _place(environ, "CARGO_HOME", home / ".cargo") / "bin"
    variables = (("RUSTUP_HOME", str(root)), ("RUSTUP_TOOLCHAIN", found.name))
    return _Found(found, variables, (programs,) if programs.is_dir() else ())


def _on_path(program: str, environ: Mapping[str, str]) -> Path | None:
    """Where the program lives that a person would start by this name: the folder above its own."""
    found = shutil.which(program, path=environ.get("PATH", ""))
    real = Path(found).resolve() if found else None
    return real.parent.parent if real is not None and real.parent.name == "bin" else None


def _goroot(need: Need, environ: Mapping[str, str], home: Path) -> _Found | None:
    said = environ.get("GOROOT", "")
    found = Path(said) if said.startswith("/") else pick(home / "sdk", need.version, ("go",))
    return _go_at(found)


def _system_go(_: Need, environ: Mapping[str, str], __: Path) -> _Found | None:
    """The machine's own, of whatever version."""
    usual = (_on_path("go", environ), Path("/usr/local/go"), Path("/usr/lib/go"))
    return _go_at(next((path for path in usual if path is not None and (path / "pkg/tool").is_dir()), None))


def _go_at(root: Path | None) -> _Found | None:
    # Without a network another version cannot be fetched, and the attempt would hide the real failure.
    return _Found(root, (("GOROOT", str(root)), ("GOTOOLCHAIN", "local"))) if root else None


def _java_home(need: Need, environ: Mapping[str, str], home: Path) -> _Found | None:
    said = environ.get("JAVA_HOME", "")
    versions = _place(environ, "SDKMAN_DIR", home / ".sdkman") / "candidates/java"
    current = versions / "current"
    found = (
        Path(said) if said.startswith("/") else current if current.is_dir() else pick(versions, need.version)
    )
    found = found or _on_path("javac", environ) or _on_path("java", environ)
    if found is None:
        return None
    # Debian keeps what Java and its builders read beside the other settings of the machine.
    settings = (*sorted(Path("/etc").glob("java-*-openjdk")), *sorted(Path("/etc/maven").glob("*")))
    more = (
        _place(environ, "MAVEN_HOME", Path("/opt/maven")) / "bin",
        _place(environ, "GRADLE_HOME", Path("/opt/gradle")) / "bin",
    )
    return _Found(
        found.resolve(),
        (("JAVA_HOME", str(found.resolve())),),
        tuple(path for path in more if path.is_dir()),
        tuple(path for path in settings if path.name not in SECRET_FILES),
    )


def _asdf(need: Need, environ: Mapping[str, str], home: Path) -> _Found | None:
    names = {"node": "nodejs", "go": "golang"}
    return _installed(
        _place(environ, "ASDF_DATA_DIR", home / ".asdf"), names.get(need.tool, need.tool), need.version
    )


def _mise(need: Need, environ: Mapping[str, str], home: Path) -> _Found | None:
    data = _place(environ, "XDG_DATA_HOME", home / ".local/share")
    return _installed(_place(environ, "MISE_DATA_DIR", data / "mise"), need.tool, need.version)


def _installed(root: Path, tool: str, version: str) -> _Found | None:
    """A tool where asdf and mise both put it: `installs/TOOL/VERSION`."""
    found = pick(root / "installs" / tool, version) if version else None
    return _Found(found) if found else None


_Manager = Callable[[Need, Mapping[str, str], Path], _Found | None]
_ANY: tuple[_Manager, ...] = (_mise, _asdf)
_MANAGERS: dict[str, tuple[_Manager, ...]] = {
    "python": (_pyenv, _uv, *_ANY),
    "node": (_nvm, *_ANY),
    "rust": (_rustup, *_ANY),
    "go": (_goroot, *_ANY, _system_go),
    "java": (_java_home, *_ANY),
}
