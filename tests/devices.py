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

_MEMORY = Path("/dev/shm")


@contextmanager
def other_device(here: Path) -> Iterator[Path]:
    """An empty directory that is on another device than `here`."""
    if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and _device(_MEMORY) != _device(here):
        place = Path(tempfile.mkdtemp(prefix="agentforge-test-", dir=_MEMORY))
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
            "there is no second file system: /dev/shm is not another one, and none can be mounted here"
        )
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=False)


def _device(path: Path) -> int:
    return path.stat().st_dev
