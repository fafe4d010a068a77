"""Tests of ours that join every file of tests for one run: each says something wrong with one assertion, and
must be told as failed; the first says nothing wrong, and must be told as passed.

They stand behind the file's own tests, so that a file in which none of them ran has ended early.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agentforge.languages.node.manifest import Runner
from agentforge.languages.node.scan import masked
from agentforge.languages.node.test_files import CODE, is_run

CANARY = "agentforge canary"
_TESTS = re.compile(r"\b(?:test|it|describe|suite|specify)\s*(?:\.\s*\w+\s*)*\(")
_IS_MODULE = re.compile(r"(?m)^\s*(?:import|export)\b")
_WITH_ASSERT = (
    "__afA.strictEqual(1, 2, T)",
    "__afA.deepStrictEqual([1], [2], T)",
    "__afA.ok(0, T)",
    "__afA.throws(() => 1, undefined, T)",
)
_WITH_EXPECT = ("__afE(T + 1).toBe(T)", "__afE([T]).toEqual([T, 1])", "__afE(T).toMatch(T + 1)")
_ASSERT = "import * as __afN from 'node:assert'; const __afA = Reflect.get(__afN, 'default') ?? __afN;"
_NODE = "__afC = process.getBuiltinModule('node:test').test, __afA = process.getBuiltinModule('node:assert')"
_UNCHECKED = "// @ts-ignore"
"""Where a compiler checks types before tests run, as ts-jest and ts-node do, ours have to pass, too: it looks
away from the next line, and ours are one.
"""
_IT = "__afC = Reflect.get(globalThis, 'it') ?? Reflect.get(globalThis, 'test')"
_BEGIN: dict[Runner, tuple[str, str, str]] = {
    # In a module, in a script, and where the text does not say which of them it is.
    "node": (
        f"import {{ test as __afC }} from 'node:test'; {_ASSERT}",
        "const __afC = require('node:test').test, __afA = require('node:assert');",
        f"const {_NODE};",
    ),
    "mocha": (
        f"{_ASSERT} const {_IT};",
        f"const {_IT}, __afA = require('node:assert');",
        f"const {_IT}, __afA = process.getBuiltinModule('node:assert');",
    ),
    "vitest": ("import { test as __afC, expect as __afE } from 'vitest';",) * 3,
    "jest": ("const __afC = Reflect.get(globalThis, 'test'), __afE = Reflect.get(globalThis, 'expect');",)
    * 3,
}


def canaries(runner: Runner, token: str) -> dict[str, str]:
    """Our tests by title, with what each says."""
    wrong = _WITH_ASSERT if runner in ("node", "mocha") else _WITH_EXPECT
    said = ("", *(each.replace("T", json.dumps(token)) for each in wrong))
    return {f"{CANARY} {number}": body for number, body in enumerate(said)}


def with_canaries(text: str, runner: Runner, token: str) -> str:
    """The file with our tests behind its own."""
    code = masked(text)
    tests = "".join(
        f" __afC({json.dumps(title)}, () => {{ {body} }});" for title, body in canaries(runner, token).items()
    )
    module, script, either = _BEGIN[runner]
    is_script = re.search(r"\brequire\s*\(", code) is not None
    begin = module if _IS_MODULE.search(code) else script if is_script else either
    return f"{text}\n{_UNCHECKED}\n;{begin}{tests}\n"


@contextmanager
def laid_canaries(
    folder: Path,
    listed: Sequence[str],
    runner: Runner,
    token: str,
    hooked: Callable[[str, str], str] = lambda text, _: text,
) -> Iterator[frozenset[str]]:
    """Our tests in every file of tests below a folder, for as long as the run takes; the files that have
    them. `hooked` is given each text and its path, and may add to it.
    """
    kept: dict[str, bytes] = {}
    try:
        for path in listed:
            place = folder / path
            if not path.endswith(CODE) or not is_run(path) or place.is_symlink():
                continue
            data = place.read_bytes()
            text = data.decode("utf-8", "replace")
            if text.encode() == data and _TESTS.search(text):
                kept[path] = data
                place.write_text(hooked(with_canaries(text, runner, token), path), encoding="utf-8")
        yield frozenset(kept)
    finally:
        for path, data in kept.items():
            (folder / path).write_bytes(data)
