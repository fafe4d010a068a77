"""Packages for the projects that tests set up: the files that we pin, as their index has them, and those that
run the tests, packed again. A fresh machine has no others at hand.
"""

import fcntl
import shutil
import sys
import zipfile
from importlib import metadata
from pathlib import Path

PINNED = Path(sys.prefix) / "wheels"
"""Where `make .venv/.ready` puts the files that we add to the environment of a project without pytest."""
NO_INDEX_HAS = "later"
_LATER = ".post1"
PACKED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def packed(shared: Path) -> Path:
    """A directory of wheels, made by whoever comes first; in `NO_INDEX_HAS` below it are those that no index has."""
    place = shared / "wheels"
    with (shared / "wheels.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            unfinished = shared / "wheels.unfinished"
            unfinished.mkdir(exist_ok=True)
            for wheel in PINNED.glob("*.whl"):
                shutil.copy(wheel, unfinished)
            for name in PACKED:
                installed = metadata.distribution(name)
                if not any(unfinished.glob(f"{name}-{installed.version}-*.whl")):
                    pack(installed, unfinished)
            (unfinished / NO_INDEX_HAS).mkdir(exist_ok=True)
            later = _pack_what_pytest_uses(metadata.distribution("pygments"), unfinished / NO_INDEX_HAS)
            shutil.copy(later, unfinished)
            unfinished.rename(place)
    return place


def version_at_hand(name: str) -> str:
    """The version that a project of a test names."""
    return metadata.version(name) + (_LATER if name == "pygments" else "")


def pack(installed: metadata.Distribution, into: Path) -> None:
    """One distribution that is installed here, as a wheel."""
    kept = _files(installed)
    record = next(path for path in installed.files or () if path.name == "RECORD")
    name = installed.name.replace("-", "_")
    with zipfile.ZipFile(into / f"{name}-{installed.version}-py3-none-any.whl", "w") as wheel:
        for path in kept:
            wheel.write(str(installed.locate_file(path)), str(path))
        wheel.writestr(str(record), "".join(f"{path},,\n" for path in (*kept, record)))


def _pack_what_pytest_uses(pygments: metadata.Distribution, into: Path) -> Path:
    """As a later version, without the languages and styles that are not ours: to compile them is half of what an
    environment costs.
    """
    used = ("__init__", "_mapping", "default", "diff", "python")
    later = f"pygments-{pygments.version}{_LATER}"
    texts = {
        str(path).replace(f"pygments-{pygments.version}", later): Path(
            str(pygments.locate_file(path))
        ).read_bytes()
        for path in _files(pygments)
        if path.parent.name not in ("lexers", "styles") or path.stem in used
    }
    described, recorded = (f"{later}.dist-info/{name}" for name in ("METADATA", "RECORD"))
    line = f"\nVersion: {pygments.version}".encode()
    texts[described] = texts[described].replace(line, line + _LATER.encode(), 1)
    texts[recorded] = "".join(f"{path},,\n" for path in (*texts, recorded)).encode()
    place = into / f"{later}-py3-none-any.whl"
    with zipfile.ZipFile(place, "w") as wheel:
        for path, content in texts.items():
            wheel.writestr(path, content)
    return place


def _files(installed: metadata.Distribution) -> list[metadata.PackagePath]:
    return [
        path
        for path in installed.files or ()
        if ".." not in path.parts and path.suffix != ".pyc" and path.name != "RECORD"
    ]
