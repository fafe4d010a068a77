"""Calls test functions without pytest: what holds only while a test runner is there is seen."""

import hashlib
import hmac
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

from agentforge.languages.outcomes import TestResult, TestRun
from agentforge.languages.python.environment import run_env
from agentforge.languages.python.testreport import last_line
from agentforge.languages.values import Environment
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.system.canon import digest
from agentforge.system.processes import Completed

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
    tree = tree.resolve()
    settings = {"path": str(tree / path), "names": list(names)}
    done, rows = run_script(
        (SCRIPT,), settings, sandbox, env, tree, like=like, scratch=scratch, timeout_s=timeout_s
    )
    argv = ("python", path, *names)
    printed = done.out + (b"\n" if done.out and done.err else b"") + done.err
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


def run_script(  # noqa: PLR0913 - the facts of one run
    parts: Sequence[str],
    settings: Mapping[str, Any],
    sandbox: Sandbox,
    env: Environment,
    tree: Path,
    *,
    like: TestRun,
    scratch: Path,
    timeout_s: float,
    inside: bool = True,
) -> tuple[Completed, Any]:
    """Run the first of these scripts of ours in a plain interpreter, the others beside it, and what its
    report says; None for a report that is not its own. Where it starts is the tree, if `inside`.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix="call-", dir=scratch)).resolve()
    try:
        script, out = place / "script", place / "out"
        script.mkdir()
        (out / "tmp").mkdir(parents=True)
        for part in parts:
            source = resources.files("agentforge.languages.python").joinpath(part)
            (script / part).write_bytes(source.read_bytes())
        key, report = secrets.token_bytes(32), out / "report"
        variables = run_env(env, tree)
        own = [entry for entry in variables.pop("PYTHONPATH", "").split(os.pathsep) if entry]
        roots = list(dict.fromkeys((*roots_of(like, tree), *own)))
        told = {**settings, "key": key.hex(), "report": str(report), "roots": roots}
        done = sandbox.run(
            (str(env.program), str(script / parts[0])),
            Confinement(
                cwd=tree if inside else out / "tmp",
                write=(out,),
                read=(script, tree, *env.readable),
                env={**variables, "TMPDIR": str(out / "tmp")},
                timeout_s=timeout_s,
                input=json.dumps(told).encode(),
            ),
        )
        # What was called could write here: what is no plain file any more is not opened.
        data = report.read_bytes() if report.is_file() and not report.is_symlink() else b""
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return done, _rows(data, key)


def roots_of(run: TestRun, tree: Path) -> list[str]:
    """The folders of the tree from which a run imported modules, as their names and files show."""
    found: dict[str, None] = {}
    for name, file in sorted(run.modules.items()):
        path, parts = PurePosixPath(file), name.split(".")
        steps = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
        if steps[-len(parts) :] == tuple(parts) and path.is_relative_to(PurePosixPath(tree)):
            found[str(PurePosixPath(*steps[: -len(parts)]))] = None
    return [*found]


def _rows(data: bytes, key: bytes) -> Any:  # noqa: ANN401 - what our script wrote
    mac, _, body = data.partition(b"\n")
    if not hmac.compare_digest(mac, hmac.new(key, body, hashlib.sha256).hexdigest().encode()):
        return None
    return json.loads(body)


def _result(path: str, row: dict[str, Any]) -> TestResult:
    return TestResult(
        f"{path}::{row['name']}",
        row["outcome"],
        exception=row["exception"],
        message=row["message"],
        file=path,
        line=row["line"],
    )
