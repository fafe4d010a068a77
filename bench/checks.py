"""What checks cost on a large tree: Django, as the package index has it, beside ruff alone on the same files.

Time on a processor, children included: what a busy machine cannot stretch.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agentforge.app.checks.checking import CheckRequest, check
from agentforge.store.layout import Home, ProjectFiles
from agentforge.store.site import Site
from agentforge.system.git.repository import Git
from bench.report import Row

PACKAGE, ONE = "django", "django/db/models/query.py"
ONE_MS, COLD, WARM = 200.0, 3.0, 1.2
_RULES = "N,D1,I,E501,T20,C901,PLR0915,S,E722,BLE"


def measure_checks(place: Path) -> Iterator[Row]:
    """One file warm, the whole tree cold and warm, and how often ruff could have looked meanwhile."""
    top = place / PACKAGE
    install = [
        *(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--target", str(top)),
        PACKAGE,
    ]
    if subprocess.run(install, capture_output=True, check=False).returncode:
        return
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "all of it")):
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.invalid")
        subprocess.run(["git", *identity, *words], cwd=top, check=True, capture_output=True)
    git = Git.open(top)
    site = Site(git, ProjectFiles(git.top.resolve()), Home(place / "home"))
    ruff = _seconds(lambda: _ruff(top))
    cold = _seconds(lambda: check(site, CheckRequest(linters=False)))
    warm = min(_seconds(lambda: check(site, CheckRequest(linters=False))) for _ in range(3))
    one = min(_seconds(lambda: check(site, CheckRequest((top / ONE,), linters=False))) for _ in range(3))
    yield Row(PACKAGE, "ruff alone", ruff, "s")
    yield Row(PACKAGE, "one file, warm", one * 1000, "ms", ONE_MS)
    yield Row(PACKAGE, "cold", cold, "s")
    yield Row(PACKAGE, "cold / ruff", cold / ruff, "x", COLD)
    yield Row(PACKAGE, "warm", warm, "s")
    yield Row(PACKAGE, "warm / ruff", warm / ruff, "x", WARM)


def _ruff(top: Path) -> None:
    words = ["check", "--isolated", "--no-cache", "--quiet", "--exit-zero", "--select", _RULES, "."]
    subprocess.run([Path(sys.executable).with_name("ruff"), *words], cwd=top, capture_output=True, check=True)


def _seconds(work: Callable[[], object]) -> float:
    before, began = os.times(), time.process_time()
    work()
    after = os.times()
    children = after.children_user + after.children_system - before.children_user - before.children_system
    return time.process_time() - began + children
