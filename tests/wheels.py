"""Packages for the projects that tests set up, packed from those that run the tests: a fresh machine has no
others at hand.
"""

import fcntl
import zipfile
from importlib import metadata
from pathlib import Path

PACKED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def packed(shared: Path) -> Path:
    """A directory of wheels, made by whoever comes first."""
    place = shared / "wheels"
    with (shared / "wheels.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            unfinished = shared / "wheels.unfinished"
            unfinished.mkdir(exist_ok=True)
            for name in PACKED:
                pack(metadata.distribution(name), unfinished)
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
