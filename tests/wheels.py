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
PACKED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def packed(shared: Path) -> Path:
    """A directory of wheels, made by whoever comes first."""
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
            unfinished.rename(place)
    return place


def pack(installed: metadata.Distribution, into: Path) -> None:
    """One distribution that is installed here, as a wheel."""
    kept = [
        path
        for path in installed.files or ()
        if ".." not in path.parts and path.suffix != ".pyc" and path.name != "RECORD"
    ]
    record = next(path for path in installed.files or () if path.name == "RECORD")
    name = installed.name.replace("-", "_")
    with zipfile.ZipFile(into / f"{name}-{installed.version}-py3-none-any.whl", "w") as wheel:
        for path in kept:
            wheel.write(str(installed.locate_file(path)), str(path))
        wheel.writestr(str(record), "".join(f"{path},,\n" for path in (*kept, record)))
