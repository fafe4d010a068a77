"""A real browser and a real accessibility checker: what the machine has, else what Debian and npm provide."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.wide.toolkits import KEPT

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_AXE = "4.14.0"


def chromium() -> str:
    """The program; skips where it cannot be had."""
    if (found := shutil.which("chromium")) is None:
        for words in (("update", "-qq"), ("install", "-qq", "-y", "--no-install-recommends", "chromium")):
            subprocess.run(["apt-get", *words], capture_output=True, check=False)
        found = shutil.which("chromium")
    if found is None:
        pytest.skip("there is no Chromium, and Debian's cannot be installed")
    return found


def axe() -> str:
    """The script of axe-core, to be run in a page."""
    place = KEPT / f"axe-core-{_AXE}"
    script = place / "package" / "axe.min.js"
    if not script.exists():
        place.mkdir(parents=True, exist_ok=True)
        if shutil.which("npm") is None:
            pytest.skip("there is no npm")
        done = subprocess.run(
            ["npm", "pack", "--silent", f"axe-core@{_AXE}"],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            pytest.skip(f"axe-core cannot be had from npm: {done.stderr.strip()[-200:]}")
        subprocess.run(["tar", "-xzf", *map(str, place.glob("*.tgz"))], cwd=place, check=True)
    return Path(script).read_text(encoding="utf-8")
