"""Calls test functions of a file as plain functions, with no test runner in the process.

It runs in the project's own environment, as a script that is copied beside the run, so it imports nothing of
ours and works with Python from 3.8. Settings and key come by standard input, which is read to its end and
closed before anything of the judged tree can be imported. What became of each function goes into one report,
with a keyed hash: who ends the process early, or writes a report of their own, has shown nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import json
import os
import sys
import traceback
from typing import Any


def one_line(error: BaseException) -> str:
    """What an exception says, in one line."""
    return " ".join(str(error).split())[:500]


def row_of(name: str, error: BaseException | None, path: str) -> dict[str, Any]:
    """What became of one function."""
    if error is None:
        return {"name": name, "outcome": "passed", "exception": "", "message": "", "line": 0}
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return {
        "name": name,
        "outcome": "failed",
        "exception": type(error).__name__,
        "message": one_line(error),
        "line": lines[-1] if lines else 0,
    }


def called(settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Load the file and call its functions, in order."""
    path = settings["path"]
    spec = importlib.util.spec_from_file_location("held_out", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what is told
        return [row_of(name, error, path) for name in settings["names"]]
    rows = []
    for name in settings["names"]:
        try:
            getattr(module, name)()
        except BaseException as error:  # noqa: BLE001 - as above
            rows.append(row_of(name, error, path))
        else:
            rows.append(row_of(name, None, path))
    return rows


def main() -> None:
    """Read the settings, let the tree join the path, call, and report."""
    settings = json.loads(sys.stdin.buffer.read())
    sys.stdin.close()
    key, report = bytes.fromhex(settings.pop("key")), settings.pop("report")
    dumps, new, sha, write = json.dumps, hmac.new, hashlib.sha256, open
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - nothing of the tree's may be loaded
    sys.path[:] = [
        *settings["roots"],
        *(entry for entry in sys.path if os.path.abspath(entry or ".") != here),  # noqa: PTH100
    ]
    body = dumps(called(settings)).encode()
    mac = new(key, body, sha).hexdigest()
    with write(report, "wb") as file:
        file.write(mac.encode() + b"\n" + body)


if __name__ == "__main__":
    main()
