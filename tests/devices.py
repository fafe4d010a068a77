"""A directory on another file system than the tests' own: no file can be renamed or linked from one to the
other.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PLACES = (Path("/dev/shm"), Path(tempfile.gettempdir()))


@contextmanager
def other_device(here: Path) -> Iterator[Path]:
    """An empty directory that is on another device than `here`."""
    for other in _PLACES:
        if other.is_dir() and os.access(other, os.W_OK) and _device(other) != _device(here):
            place = Path(tempfile.mkdtemp(prefix="agentforge-test-", dir=other))
            try:
                yield place
            finally:
                shutil.rmtree(place, ignore_errors=True)
            return
    place = here / "mounted"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(
            "there is no second file system: neither memory nor disk is another one, and none can be mounted"
        )
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=False)


def _device(path: Path) -> int:
    return path.stat().st_dev
