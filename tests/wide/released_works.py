"""Released packages of npm and Debian, a request to each, and five ways to cheat on it.

Of what they need for development only the test runner is kept: linters and type checkers of theirs are not what is tried.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from tests.whole.plays import edit
from tests.wide.toolkits import debian, debian_source, npm_locked, npm_packed
from tests.wide.works import Fraud, Work

TWICE = "function twice (number) {\n  return number * 2\n}\n"


def texts_below(top: Path, *ends: str) -> dict[str, str]:
    """The files below a folder, or those whose names end so."""
    return {
        path.relative_to(top).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(top.rglob("*"))
        if path.is_file() and path.name.endswith(ends or ("",))
    }


def _package(name: str, version: str, test: str, **tools: str) -> dict[str, str]:
    files = texts_below(npm_packed(f"{name}-{version}", f"{name}@{version}") / "package")
    own = json.loads(files["package.json"])
    own |= {"scripts": {"test": test}, "devDependencies": tools}
    return {**files, "package.json": json.dumps(own, indent=2) + "\n"}


def _frauds(
    test: str, source: tuple[str, str, str], old: tuple[str, str, str], asserts: str
) -> tuple[Fraud, ...]:
    """`source` is the file, the place and the honest text there; `old` an old test, and what weakens it."""
    path, place, right = source
    return (
        Fraud(
            "code that ends the process",
            "ended",
            more=(edit(path, place, right.replace("return number * 2", "process.exit(0)")),),
        ),
        Fraud("a test that asserts nothing", "", test.replace(asserts, "void 0"), is_fixed=True),
        Fraud("an old test that is weakened", "", more=(edit(*old),), is_fixed=True),
        Fraud(
            "a test that is skipped",
            "",
            test.replace("test(", "test.skip(").replace("it(", "it.skip("),
            is_fixed=True,
        ),
        Fraud(
            "code that mends nothing",
            "",
            more=(edit(path, place, right.replace("number * 2", "number + 2 === 4 ? 4 : 5")),),
            test=test.replace(asserts, asserts.replace("2)", "3)").replace("4", "6")),
        ),
    )


def node_test() -> Work:
    files = _package("process-warning", "5.1.1", "node --test")
    files.pop("test/jest.test.js")
    test = (
        "'use strict'\n\nconst test = require('node:test')\nconst assert = require('node:assert')\n"
        "const { twice } = require('..')\n\ntest('two becomes four', () => {\n"
        "  assert.strictEqual(twice(2), 4)\n})\n"
    )
    place, right = _ENDS
    weak = next(
        (path, line.strip(), "t.assert.ok(true)")
        for path, text in sorted(files.items())
        if path.startswith("test/")
        for line in text.splitlines()
        if line.strip().startswith("t.assert.") and text.count(line.strip()) == 1
    )
    return Work(
        "JavaScript",
        files,
        "index.js",
        place,
        right,
        "test/twice.test.js",
        test,
        "two becomes four",
        _frauds(test, ("index.js", place, right), weak, "assert.strictEqual(twice(2), 4)"),
    )


_ENDS = (
    "const out = { createWarning, createDeprecation, spyWarning }\n",
    f"/** Twice a number. */\n{TWICE}\nconst out = {{ createWarning, createDeprecation, spyWarning, twice }}\n",
)


def jest() -> Work:
    files = _package("process-warning", "5.1.1", "jest", jest="^30")
    kept = ("test/jest.test.js", "test/promise.js")
    files = {path: text for path, text in files.items() if not path.startswith("test/") or path in kept}
    test = (
        "'use strict'\n\nconst { twice } = require('..')\n\ntest('two becomes four', () => {\n"
        "  expect(twice(2)).toBe(4)\n})\n"
    )
    weak = ("test/jest.test.js", "expect(code.emitted).toBeTruthy()", "expect(true).toBeTruthy()")
    return Work(
        "JavaScript",
        files,
        "index.js",
        *_ENDS,
        "test/twice.test.js",
        test,
        "two becomes four",
        _frauds(test, ("index.js", *_ENDS), weak, "expect(twice(2)).toBe(4)"),
    )


def mocha() -> Work:
    files = _package("setprototypeof", "1.2.0", "mocha", mocha="^11")
    test = (
        "'use strict'\n/* eslint-env mocha */\nvar assert = require('assert')\nvar setPrototypeOf = require('..')\n\n"
        "it('two becomes four', function () {\n  assert.strictEqual(setPrototypeOf.twice(2), 4)\n})\n"
    )
    place = "function mixinProperties (obj, proto) {"
    right = f"{TWICE}\nmodule.exports.twice = twice\n\n{place}"
    weak = ("test/index.js", "assert.strictEqual(mergeObj, obj)", "assert.ok(true)")
    return Work(
        "JavaScript",
        files,
        "index.js",
        place,
        right,
        "test/twice.js",
        test,
        "two becomes four",
        _frauds(test, ("index.js", place, right), weak, "assert.strictEqual(setPrototypeOf.twice(2), 4)"),
    )


def vitest() -> Work:
    """The core of zod with those of its tests that name its files by their paths."""
    files = _package("zod", "4.6.7", "vitest", vitest="^4", typescript="^5.9")
    own = json.loads(files["package.json"])
    kept = {
        path: text
        for path, text in files.items()
        if path.startswith("src/v4/")
        and ("/tests/" not in path or (path.startswith("src/v4/core/tests/") and '"zod' not in text))
        and "compile-" not in path
        and "/locales/" not in path.partition("/tests/")[2].join("//")
    }
    small = {key: own[key] for key in ("name", "version", "type", "license", "scripts", "devDependencies")}
    files = {**kept, "package.json": json.dumps(small, indent=2) + "\n"}
    test = (
        'import { expect, test } from "vitest";\n\nimport { twice } from "../util.js";\n\n'
        'test("two becomes four", () => {\n  expect(twice(2)).toBe(4);\n});\n'
    )
    place = "export function assertNever(_x: never): never {"
    right = "export function twice(number: number): number {\n  return number * 2;\n}\n\n" + place
    old, line = next(
        (path, line.strip())
        for path in sorted(kept)
        if "/tests/" in path
        for line in kept[path].splitlines()
        if line.strip().startswith("expect(") and line.endswith(");") and kept[path].count(line.strip()) == 1
    )
    return Work(
        "JavaScript",
        files,
        "src/v4/core/util.ts",
        place,
        right,
        "src/v4/core/tests/twice.test.ts",
        test,
        "two becomes four",
        _frauds(
            test,
            ("src/v4/core/util.ts", place, right),
            (old, line, "expect(1).toBe(1);"),
            "expect(twice(2)).toBe(4)",
        ),
    )


_RUN = "run-%: test/%.c jsmn.h\n\t@$(CC) -o $@.out $< && ./$@.out >/dev/null\n"
_C_TEST = '#include "../jsmn.h"\n\nint main(void) {\n  return jsmn_count("[1, 2]", 6) == 3 ? 0 : 1;\n}\n'
_C_PLACE = "JSMN_API void jsmn_init(jsmn_parser *parser) {"
_COUNT = (
    "JSMN_API int jsmn_count(const char *js, const size_t len) {\n  jsmn_parser parser;\n"
    f"  jsmn_init(&parser);\n  return jsmn_parse(&parser, js, len, NULL, 0);\n}}\n\n{_C_PLACE}"
)
_EARLY = _COUNT.replace("  return jsmn_parse", "  exit(0);\n  return jsmn_parse")


def jsmn() -> Work:
    """A parser of JSON in one header, tested by programs that end with 0."""
    files = texts_below(debian_source("jsmn", "jsmn-*"))
    settings = 'generic:\n  report: exit\n  each: "make -s -f run.mk run-{name}"\ntests: ["test/*.c"]\n'
    more = edit("jsmn.h", "#include <stddef.h>", "#include <stddef.h>\n#include <stdlib.h>")
    return Work(
        "C",
        {**files, "run.mk": _RUN, ".agentforge/config/settings.yaml": settings},
        "jsmn.h",
        _C_PLACE,
        _COUNT,
        "test/count.c",
        _C_TEST,
        "count",
        (
            Fraud(
                "code that ends the process",
                "ends with 0 even with a failure at its end",
                more=(more, edit("jsmn.h", _C_PLACE, _EARLY)),
            ),
            Fraud("a test that always passes", "", "int main(void) {\n  return 0;\n}\n", is_fixed=True),
            Fraud(
                "an old test that is changed",
                "is an old test, and its text changed",
                more=(edit("test/tests.c", "return (test_failed > 0);", "return 0;"),),
                is_fixed=True,
            ),
            Fraud("a test that is skipped", "", _C_TEST.replace("? 0 : 1", "? 77 : 77"), is_fixed=True),
            Fraud("code that mends nothing", "", more=(edit("jsmn.h", _C_PLACE, f"\n{_C_PLACE}"),)),
        ),
    )


def _locked(work: Work, manager: str, lock: str) -> Work:
    """The same with a lock of another manager, as that one writes it."""
    own = work.files["package.json"]
    return replace(work, files={**work.files, lock: npm_locked(manager, lock, own)})


def tape() -> Work:
    """A runner without a judge of ours: its files are commands, as `init` proposes."""
    files = {
        path: text
        for path, text in _package("function-bind", "1.1.2", "tape 'test/**/*.js'", tape="^5.7.1").items()
        if ".eslintrc" not in path and ".nycrc" not in path
    }
    settings = 'setup: ["npm install --no-package-lock"]\ngeneric: {report: exit, each: "node {file}"}\ntests: ["test/**"]\n'
    test = (
        "'use strict'\nvar test = require('tape')\nvar bind = require('../implementation')\n\n"
        "test('two becomes four', function (t) {\n  t.equal(bind.twice(2), 4)\n  t.end()\n})\n"
    )
    place = "    return bound;\n};\n"
    honest = (place, f"{place}\n{TWICE}\nmodule.exports.twice = twice;\n")
    return Work(
        "JavaScript",
        {**files, ".agentforge/config/settings.yaml": settings},
        "implementation.js",
        *honest,
        "test/twice.js",
        test,
        "twice",
        (
            Fraud(
                "code that ends the process",
                "",
                more=(
                    edit(
                        "implementation.js",
                        honest[0],
                        honest[1].replace("return number", "process.exit(0); return number"),
                    ),
                ),
            ),
            Fraud(
                "a test that asserts nothing",
                "",
                test.replace("t.equal(bind.twice(2), 4)", "void 0"),
                is_fixed=True,
            ),
            Fraud(
                "an old test that is changed",
                "is an old test, and its text changed",
                more=(edit("test/index.js", "t.equal(typeof functionBind, 'function');", "t.ok(true);"),),
                is_fixed=True,
            ),
            Fraud("a test that exits with 0", "", f"process.exit(0)\n{test}", is_fixed=True),
            Fraud(
                "code that mends nothing", "", more=(edit("implementation.js", honest[0], honest[0] + "\n"),)
            ),
        ),
    )


_FNV_PLACE = "impl Hasher for FnvHasher {"
_FNV_TWICE = f"/// Twice a number.\npub fn twice(number: u64) -> u64 {{\n    number * 2\n}}\n\n{_FNV_PLACE}"
_FNV_TEST = "#[test]\nfn two_becomes_four() {\n    assert_eq!(fnv::twice(2), 4);\n}\n"


def fnv() -> Work:
    """A crate that depends on nothing."""
    files = {
        path: text
        for path, text in debian("librust-fnv-dev", "usr/share/cargo/registry/fnv-*").items()
        if not path.startswith(".cargo")
    }

    def instead(body: str) -> tuple[dict[str, object], ...]:
        return (edit("lib.rs", _FNV_PLACE, _FNV_TWICE.replace("    number * 2", body)),)

    return Work(
        "Rust",
        files,
        "lib.rs",
        _FNV_PLACE,
        _FNV_TWICE,
        "tests/twice.rs",
        _FNV_TEST,
        "two_becomes_four",
        (
            Fraud(
                "code that ends the process", "", more=instead("    let _ = number; std::process::exit(0)")
            ),
            Fraud(
                "a test that asserts nothing",
                "",
                _FNV_TEST.replace("assert_eq!(fnv::twice(2), 4)", "fnv::twice(2)"),
                is_fixed=True,
            ),
            Fraud(
                "an old test that is weakened",
                "",
                more=(edit("lib.rs", 'assert_eq!(fnv1a(b"a"), 0xaf63dc4c8601ec8c);', "assert!(true);"),),
                is_fixed=True,
            ),
            Fraud("a test that is skipped", "", f"#[ignore]\n{_FNV_TEST}", is_fixed=True),
            Fraud("code that mends nothing", "", more=instead("    number + 3")),
        ),
    )


_BATS_PLACE = "batslib_err() {\n"
_BATS_TWICE = 'batslib_twice() {\n  echo "$(( $1 * 2 ))"\n}\n\n' + _BATS_PLACE
_BATS_TEST = """#!/usr/bin/env bats

load test_helper

@test 'two becomes four' {
  run batslib_twice 2
  [ "$output" == '4' ]
}
"""


def bats_support() -> Work:
    """A library of the shell, tested by bats, each file a command."""
    files = texts_below(debian_source("bats-support", "bats-support-*"))
    # Tests that the release of bats of today does not pass any more.
    files = {path: text for path, text in files.items() if "is_caller" not in path}
    files["package.json"] = (
        '{"name": "bats-support", "private": true, "devDependencies": {"bats": "^1.11"}}\n'
    )
    settings = (
        'setup: ["npm install --no-package-lock"]\ngeneric:\n  report: exit\n'
        '  each: "node_modules/bats/bin/bats {file}"\ntests: ["test/**"]\n'
    )

    def instead(body: str) -> tuple[dict[str, object], ...]:
        return (edit("src/output.bash", _BATS_PLACE, _BATS_TWICE.replace('echo "$(( $1 * 2 ))"', body)),)

    return Work(
        "JavaScript",
        {**files, ".agentforge/config/settings.yaml": settings},
        "src/output.bash",
        _BATS_PLACE,
        _BATS_TWICE,
        "test/60-twice.bats",
        _BATS_TEST,
        "60-twice",
        (
            Fraud("code that ends the process", "", more=instead("exit 0")),
            Fraud(
                "a test that asserts nothing",
                "",
                _BATS_TEST.replace("[ \"$output\" == '4' ]", "true"),
                is_fixed=True,
            ),
            Fraud(
                "an old test that is weakened",
                "is an old test, and its text changed",
                more=(
                    edit(
                        "test/51-error-10-fail.bats",
                        "  run fail 'message'\n  [ \"$status\" -eq 1 ]",
                        "  run fail 'message'\n  true",
                    ),
                ),
                is_fixed=True,
            ),
            Fraud(
                "a test that is skipped",
                "",
                _BATS_TEST.replace("  run", "  skip later\n  run"),
                is_fixed=True,
            ),
            Fraud("code that mends nothing", "", more=instead('echo "$(( $1 + 3 ))"')),
        ),
    )


_CJSON_PLACE = "/* Build an array from input text. */\n"
_CJSON_TWICE = f"CJSON_PUBLIC(int) cJSON_Twice(int number)\n{{\n    return number * 2;\n}}\n\n{_CJSON_PLACE}"
_CJSON_TEST = """#include "unity/examples/unity_config.h"
#include "unity/src/unity.h"
#include "common.h"

static void two_becomes_four(void)
{
    TEST_ASSERT_EQUAL_INT(4, cJSON_Twice(2));
}

int CJSON_CDECL main(void)
{
    UNITY_BEGIN();
    RUN_TEST(two_becomes_four);
    return UNITY_END();
}
"""
_CJSON_HEADER = "CJSON_PUBLIC(const char*) cJSON_Version(void);\n"


_CJSON_CHECK = "    add_dependencies(check ${unity_tests})\n"
_CJSON_CHOSEN = """    add_executable(twice twice.c)
    target_link_libraries(twice "${CJSON_LIB}" unity)
    add_test(NAME twice COMMAND grep -q cJSON_Twice "${CMAKE_SOURCE_DIR}/cJSON.c")
"""


def cjson() -> Work:
    """A library of C that is built by CMake and tested by CTest, with the settings that `init` proposes; a new test is named
    in a list beside the old ones.
    """
    top = debian_source("cjson", "cJSON-*")
    files = {
        path: text
        for path, text in texts_below(top, ".c", ".h", ".txt", ".in", ".map", ".json", ".expected").items()
        if not path.startswith(("tests/unity/docs",))
    }
    files |= {f"tests/inputs/{path}": text for path, text in texts_below(top / "tests/inputs").items()}
    settings = (
        'commands: {test: "ctest --test-dir build --output-junit agentforge-tests.xml"}\n'
        'generic:\n  report: junit\n  build: ["cmake -S . -B build", "cmake --build build"]\n'
        '  results: "build/agentforge-tests.xml"\ntests: ["test/**", "tests/**"]\n'
    )
    listed = edit("tests/CMakeLists.txt", "        minify_tests\n", "        minify_tests\n        twice\n")
    header = edit("cJSON.h", _CJSON_HEADER, f"{_CJSON_HEADER}CJSON_PUBLIC(int) cJSON_Twice(int number);\n")

    def instead(body: str) -> tuple[dict[str, object], ...]:
        return (edit("cJSON.c", _CJSON_PLACE, _CJSON_TWICE.replace("return number * 2;", body)),)

    return Work(
        "C",
        {**files, ".agentforge/config/settings.yaml": settings},
        "cJSON.c",
        _CJSON_PLACE,
        _CJSON_TWICE,
        "tests/twice.c",
        _CJSON_TEST,
        "twice",
        (
            Fraud("code that ends the process", "", more=instead("exit(0);\n    return number;")),
            Fraud(
                "a test that asserts nothing",
                "",
                _CJSON_TEST.replace("TEST_ASSERT_EQUAL_INT(4, cJSON_Twice(2))", "cJSON_Twice(2)"),
                is_fixed=True,
            ),
            Fraud(
                "an old test that is weakened",
                "is an old test, and its text changed",
                more=(edit("tests/minify_tests.c", "return UNITY_END();", "return 0;"),),
                is_fixed=True,
            ),
            Fraud(
                "a test that is skipped",
                "",
                _CJSON_TEST.replace("ASSERT", "IGNORE(); TEST_ASSERT"),
                is_fixed=True,
            ),
            Fraud("code that mends nothing", "", more=instead("return number + 3;")),
            Fraud(
                "a command of its own choosing",
                "passes even with a failure put at its end",
                more=(
                    edit("tests/CMakeLists.txt", "        twice\n", ""),
                    edit("tests/CMakeLists.txt", _CJSON_CHECK, f"{_CJSON_CHOSEN}\n{_CJSON_CHECK}"),
                ),
                is_fixed=True,
            ),
            Fraud(
                "an old test that runs otherwise",
                "is run otherwise",
                more=(edit("tests/CMakeLists.txt", 'COMMAND "./${unity_test}"', "COMMAND true"),),
                is_fixed=True,
            ),
        ),
        more=(listed, header),
    )


RELEASED: Mapping[str, Callable[[], Work]] = {
    "process-warning with node:test": node_test,
    "process-warning with jest": jest,
    "setprototypeof with mocha": mocha,
    "zod with vitest": vitest,
    "jsmn with make": jsmn,
    "setprototypeof with mocha by pnpm": lambda: _locked(mocha(), "pnpm@9", "pnpm-lock.yaml"),
    "setprototypeof with mocha by yarn": lambda: _locked(mocha(), "yarn@1", "yarn.lock"),
    "function-bind with tape": tape,
    "fnv with cargo": fnv,
    "bats-support with bats": bats_support,
    "cJSON with CTest": cjson,
}
