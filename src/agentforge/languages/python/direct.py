"""Calls test functions without pytest: what holds only while a test runner is there is seen."""

import hashlib
import hmac
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.languages.outcomes import TestResult, TestRun
from agentforge.languages.python.environment import run_env
from agentforge.languages.python.testreport import last_line
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.canon import digest

SCRIPT = "direct_calls.py"
OUTPUT_LIMIT = 20_000


def call_tests(  # noqa: PLR0913 - the facts of one run
    sandbox: Sandbox,
    env: Environment,
    tree: Path,
    path: str,
    names: Sequence[str],
    *,
    like: TestRun,
    scratch: Path,
    timeout_s: float = 600,
) -> TestRun:
    """Call these functions of a file in a plain interpreter, one after the other."""
    scratch.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="call-", dir=scratch)).resolve()
    argv = ("python", path, *names)
    try:
        script, out = place / "script", place / "out"
        script.mkdir()
        (out / "tmp").mkdir(parents=True)
        source = resources.files("agentforge.languages.python").joinpath(SCRIPT)
        (script / SCRIPT).write_bytes(source.read_bytes())
        tree, key, report = tree.resolve(), secrets.token_bytes(32), out / "report"
        variables = run_env(env, tree)
        own = [entry for entry in variables.pop("PYTHONPATH", "").split(os.pathsep) if entry]
        settings = {
            "key": key.hex(),
            "report": str(report),
            "path": str(tree / path),
            "names": list(names),
            "roots": list(dict.fromkeys((*roots_of(like, tree), *own))),
        }
        done = sandbox.run(
            (str(env.program), str(script / SCRIPT)),
            Confinement(
                cwd=tree,
                write=(out,),
                read=(script, tree, *env.readable),
                env={**variables, "TMPDIR": str(out / "tmp")},
                timeout_s=timeout_s,
                input=json.dumps(settings).encode(),
            ),
        )
        # The functions could write here: what is no plain file any more is not opened.
        data = report.read_bytes() if report.is_file() and not report.is_symlink() else b""
    finally:
        shutil.rmtree(place, ignore_errors=True)
    printed = done.out + (b"\n" if done.out and done.err else b"") + done.err
    rows = _rows(data, key)
    reason = ""
    if done.timed_out:
        reason = f"the calls did not end within {int(timeout_s)} s"
    elif rows is None:
        said = last_line(printed.decode("utf-8", "replace")).strip()[:300]
        reason = f"the process ended before it could report (exit code {done.code})" + (
            f": {said}" if said else ""
        )
    return TestRun(
        argv,
        "not_run" if reason else "ran",
        reason,
        tuple(names),
        results={} if reason else {f"{path}::{row['name']}": _result(path, row) for row in rows or ()},
        output=printed.decode("utf-8", "replace")[-OUTPUT_LIMIT:],
        output_hash=digest(printed),
        duration_ms=done.seconds_ms,
        sandbox=sandbox.name,
    )


def roots_of(run: TestRun, tree: Path) -> list[str]:
    """The folders of the tree from which a run imported modules, as their names and files show."""
    found: dict[str, None] = {}
    for name, file in sorted(run.modules.items()):
        path, parts = PurePosixPath(file), name.split(".")
        steps = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
        if steps[-len(parts) :] == tuple(parts) and path.is_relative_to(PurePosixPath(tree)):
            found[str(PurePosixPath(*steps[: -len(parts)]))] = None
    return [*found]


def _rows(data: bytes, key: bytes) -> list[dict[str, Any]] | None:
    mac, _, body = data.partition(b"\n")
    if not hmac.compare_digest(mac, hmac.new(key, body, hashlib.sha256).hexdigest().encode()):
        return None
    rows: list[dict[str, Any]] = json.loads(body)
    return rows


def _result(path: str, row: dict[str, Any]) -> TestResult:
    return TestResult(
        f"{path}::{row['name']}",
        row["outcome"],
        exception=row["exception"],
        message=row["message"],
        file=path,
        line=row["line"],
    )
