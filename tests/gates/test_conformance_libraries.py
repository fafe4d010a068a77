"""The checks on the newest releases of well-kept libraries, as they are: nothing blocks that a maintainer would
call wrong. What would block if it were new is listed here, read and judged.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from agentforge.gates.conformance.declared import declared
from agentforge.gates.conformance.engine import CheckScope, examine
from agentforge.gates.conformance.weighing import weighed
from agentforge.languages.conformance import read_file
from agentforge.languages.tests import looks_like_test
from tests.wide.toolkits import npm_packed

pytestmark = [pytest.mark.wide, pytest.mark.network]

LIBRARIES = (
    *("requests", "click", "flask", "attrs", "rich", "httpx", "jinja2", "packaging", "pluggy", "starlette"),
    *("tomli-w", "pydantic-settings", "django"),
    # The sources of these were read in full, with their tests, examples and scripts: one place blocked, a made-up header
    # in a docstring of fastapi, and is advice now.
    *(
        "urllib3",
        "werkzeug",
        "fastapi",
        "typer",
        "tqdm",
        "aiohttp",
        "trio",
        "sqlalchemy",
        "pytest",
        "networkx",
    ),
    "marshmallow",
)
PACKAGES = ("express", "commander", "zod", "lodash")
RATCHETS = {
    *("max-complexity", "max-file-length", "max-function-length", "no-circular-imports", "no-duplicate-code"),
    # Read one by one: attrs and jinja2 make code at run time, flask and django run files of configuration, rich and
    # jinja2 unpickle what they wrote themselves, django formats names of tables into queries that it quotes. Each is
    # such a place, and right where it is: old ones are advice, and a new one has to be looked at.
    *("input-validation", "sql-injection"),
    # click, rich and jinja2 let any error of a stream, of a repr or of an older Python vanish, on purpose.
    "error-handling",
    # Passwords in addresses that documentation shows (httpx).
    "no-secrets-in-code",
}
"""What is found in old code of these libraries, and would block where it is new."""


@pytest.mark.parametrize("name", LIBRARIES)
def test_nothing_blocks_in_a_well_kept_library(tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "uv",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--target",
                str(tmp_path),
            ),
            name,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"{name} cannot be had: {done.stderr.strip().splitlines()[-1][:120]}")
    nothing_blocks_in(tmp_path, ".py")


@pytest.mark.parametrize("name", PACKAGES)
def test_nothing_blocks_in_a_well_kept_package_of_npm(name: str) -> None:
    nothing_blocks_in(npm_packed(f"checked-{name}", name) / "package", ".js", ".ts", ".mjs", ".cjs")


def nothing_blocks_in(top: Path, *suffixes: str) -> None:
    texts = {
        path.relative_to(top).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(top.rglob("*"))
        if path.name.endswith(suffixes)
    }
    assert texts
    readings = {path: read_file(text, path) for path, text in texts.items()}
    report = examine(readings, declared({}), CheckScope(frozenset(readings), is_test=looks_like_test))
    assert [(each.check, each.path, each.line) for each in weighed(report).blocking] == []
    assert {each.check for each in weighed(report, before=()).blocking} <= RATCHETS
