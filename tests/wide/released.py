"""Released projects of different shapes, as the package index has them, and a small request that fits any of
them: one new function in a new module, with its test where the project keeps its tests.
"""

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.whole.distributions import extract

SOURCE = 'from __future__ import annotations\n\n\ndef half(number: float) -> float:\n    """Half of a number."""\n    return number / 2\n'


@dataclass(frozen=True, slots=True)
class Released:
    """A source distribution, and where its code and its tests are."""

    name: str
    version: str
    shape: str
    """What is different about it."""
    code: str
    """The folder of its modules; empty: the top."""
    package: str
    """What its modules are imported from; empty: they stand alone."""
    tests: str
    """The file of the new test."""
    functions: bool = False
    """Whether its tests must be functions: its fixtures refuse classes of unittest."""

    @property
    def module(self) -> str:
        return f"{self.code}/first_hour.py".lstrip("/")

    @property
    def request(self) -> str:
        return f"Add a function half(number) to a new module {self.module}: it returns half of the number"

    def files(self, cache: Path) -> dict[str, bytes]:
        """What was released."""
        return dict(unpacked(self.name, self.version, cache))

    def replies(self) -> list[dict[str, Any]]:
        """What a model says about the request, call by call."""
        imported = f"{self.package}.first_hour" if self.package else "first_hour"
        test = (
            "from __future__ import annotations\n\n\ndef test_half_of_four() -> None:\n"
            f"    from {imported} import half\n\n    assert half(4) == 2\n"
            if self.functions
            else "from __future__ import annotations\n\nimport unittest\n\n\n"
            "class TestHalf(unittest.TestCase):\n    def test_half_of_four(self) -> None:\n"
            f"        from {imported} import half\n\n        self.assertEqual(half(4), 2)\n"
        )
        name = "test_half_of_four" if self.functions else "TestHalf::test_half_of_four"
        papers: dict[str, Any] = {
            "intake_record": {"extracted_intent": {"action": "create", "target": "half", "scope": "file"}},
            "specification": {
                "title": "half",
                "description": "half(number) returns half of its argument",
                "requirements": [
                    {
                        "id": "REQ-001",
                        "description": "half of a number",
                        "acceptance_criteria": ["half(4) is 2"],
                    }
                ],
                "files_to_create": [self.module],
                "files_to_modify": [],
            },
            "test_suite": {
                "test_files": [
                    {
                        "path": self.tests,
                        "tests": [{"name": name, "requirement_ref": "REQ-001"}],
                    }
                ]
            },
            "implementation": {"summary": "half divides by two"},
        }
        actions = [
            {"name": "create_file", "args": {"path": path, "content": content}}
            for path, content in ((self.tests, test), (self.module, SOURCE))
        ]
        approval = {"review": {"verdict": "approve", "summary": "as asked", "findings": []}}
        return [
            {"actions": actions, "artifacts": papers, "signal": "success", "summary": "half is there"},
            {"artifacts": approval, "signal": "success", "summary": "approved"},
        ]


def unpacked(name: str, version: str, cache: Path) -> Mapping[str, bytes]:
    cache.mkdir(parents=True, exist_ok=True)
    wanted = f"{name}=={version}"
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        words = ("pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", scratch, wanted)
        subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
        (archive,) = Path(scratch).glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            extract(opened, Path(scratch))
        (top,) = (path for path in Path(scratch).iterdir() if path.is_dir())
        return {
            path.relative_to(top).as_posix(): path.read_bytes()
            for path in sorted(top.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }


PROJECTS = (  # what computes least comes first
    Released("docopt", "0.6.2", "one module, no tests", "", "", "test_first_hour.py"),
    Released("mdurl", "0.1.2", "src, no tests", "src/mdurl", "mdurl", "tests/test_first_hour.py"),
    Released("sortedcontainers", "2.4.0", "setup.py, flat, no tests in the release", "sortedcontainers", "sortedcontainers", "tests/test_first_hour.py"),
    Released("zope.event", "6.2", "a namespace package in src, tox, no tests in the release", "src/zope/event", "zope.event", "src/zope/event/test_first_hour.py"),
    Released("inflection", "0.5.1", "setup.py alone, its test file at the top", "inflection", "inflection", "test_first_hour.py"),
    Released("jaraco.functools", "4.6.0", "a namespace package, doctests, tox", "jaraco/functools", "jaraco.functools", "test_first_hour.py"),
    Released("polib", "1.2.0", "one module, unittest in tests/tests.py", "", "", "tests/test_first_hour.py"),
    Released("markupsafe", "3.0.4", "a compiled extension, src", "src/markupsafe", "markupsafe", "tests/test_first_hour.py", functions=True),
    Released("toolz", "1.2.0", "flat, tests inside the package", "toolz", "toolz", "toolz/tests/test_first_hour.py"),
    Released("cachetools", "8.0.0", "src, tox, unittest classes, AGENTS.md", "src/cachetools", "cachetools", "tests/test_first_hour.py"),
    Released("iniconfig", "2.3.1", "src, tests in testing/, uv.lock", "src/iniconfig", "iniconfig", "testing/test_first_hour.py"),
    Released("pluggy", "1.7.0", "src, its version from tags that an archive lacks", "src/pluggy", "pluggy", "testing/test_first_hour.py"),
    Released("itsdangerous", "2.2.0", "src, tests in folders, tox", "src/itsdangerous", "itsdangerous", "tests/test_itsdangerous/test_first_hour.py"),
    Released("charset-normalizer", "3.5.2", "src, nox, built with an optional compiler", "src/charset_normalizer", "charset_normalizer", "tests/test_first_hour.py"),
    Released("tomlkit", "0.15.2", "flat, poetry", "tomlkit", "tomlkit", "tests/test_first_hour.py"),
    Released("typing_extensions", "4.16.0", "one module in src, tests beside it, flit", "src", "", "src/test_first_hour.py"),
    Released("platformdirs", "4.14.5", "src, hatch with a version from tags", "src/platformdirs", "platformdirs", "tests/test_first_hour.py", functions=True),
    Released("more-itertools", "11.2.1", "flat, unittest, Makefile and tox", "more_itertools", "more_itertools", "tests/test_first_hour.py"),
)  # fmt: skip
MEMBERS = ("iniconfig", "cachetools")
"""Of these a workspace of uv is made: one project beside the other, one lock for both."""
