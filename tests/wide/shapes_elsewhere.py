"""Repositories of unplanned shapes in other languages than Python."""

import json
from collections.abc import Mapping

from tests.whole.plays import create
from tests.wide.shapes import Shape
from tests.wide.works import GO, RUST, Work

_TS = "export function double(n: number): number {\n  return n;\n}\n"
_MJS = "export function double(n) {\n  return n;\n}\n"
_MOCHA = (
    'import assert from "node:assert";\nimport { double } from "../src/double.js";\n\n'
    'it("NAME", () => {\n  assert.strictEqual(double(CALL);\n});\n'
)


def jest_test(end: str, name: str, given: int, wanted: int) -> str:
    return (
        f'import {{ double }} from "../src/double{end}";\n\ntest("{name}", () => {{\n'
        f"  expect(double({given})).toBe({wanted});\n}});\n"
    )


def script(
    package: Mapping[str, object], files: Mapping[str, str], code: str, test: str, *texts: str
) -> Work:
    """A project of JavaScript: its new test and its old one."""
    new, old = texts
    folder, _, name = test.rpartition("/")
    own = {"name": "shop", "version": "1.0.0", "private": True, **package}
    return Work(
        "JavaScript",
        {
            "package.json": json.dumps(own, indent=2) + "\n",
            code: _TS if code.endswith(".ts") else _MJS,
            f"{folder}/zero{name[name.index('.') :]}": old,
            **files,
        },
        code,
        "return n;",
        "return n * 2;",
        test,
        new,
        "two becomes four",
    )


def mocha_test(name: str, call: str) -> str:
    return _MOCHA.replace("NAME", name).replace("CALL", call)


def unjudged(runner: str, script_of_it: str) -> Shape:
    """A runner that nobody here judges: it is named before anything is spent, and so is what to do."""
    return Shape(
        script(
            {"type": "module", "scripts": {"test": script_of_it}, "devDependencies": {runner: "*"}},
            {},
            "src/double.js",
            "test/two.test.js",
            mocha_test("two becomes four", "2), 4"),
            mocha_test("zero", "0), 0"),
        ),
        says=runner,
    )


_GO_MOD = "module example.com/{0}\n\ngo 1.20\n"
CRATE = '[package]\nname = "{0}"\nversion = "0.1.0"\nedition = "2021"\n'


def _below(work: Work, folder: str, more: Mapping[str, str], without: str = "") -> Work:
    return Work(
        work.language,
        {**{f"{folder}/{path}": text for path, text in work.files.items() if path != without}, **more},
        f"{folder}/{work.edited}",
        work.old,
        work.new,
        f"{folder}/{work.path}",
        work.test,
        work.name,
    )


ELSEWHERE: Mapping[str, Shape] = {
    "jest with Babel": Shape(
        script(
            {
                "scripts": {"test": "jest"},
                "devDependencies": {
                    "jest": "^29",
                    "@babel/core": "^7",
                    "@babel/preset-env": "^7",
                    "babel-jest": "^29",
                },
            },
            {
                "babel.config.js": 'module.exports = { presets: [["@babel/preset-env", { targets: { node: "current" } }]] };\n'
            },
            "src/double.js",
            "__tests__/two.js",
            jest_test("", "two becomes four", 2, 4),
            jest_test("", "zero", 0, 0),
        )
    ),
    "mocha with modules": Shape(
        script(
            {
                "type": "module",
                "scripts": {"test": "mocha 'spec/**/*.spec.js'"},
                "devDependencies": {"mocha": "^11"},
            },
            {},
            "src/double.js",
            "spec/two.spec.js",
            mocha_test("two becomes four", "2), 4"),
            mocha_test("zero", "0), 0"),
        )
    ),
    "node:test beside Python": Shape(
        script(
            {"type": "module", "scripts": {"test": "node --test"}},
            {
                "api/pyproject.toml": '[project]\nname = "api"\nversion = "1"\n',
                "api/api.py": "ONE = 1\n",
                "api/tests/test_api.py": "from api import ONE\n\n\ndef test_one():\n    assert ONE == 1\n",
            },
            "src/double.js",
            "test/two.test.js",
            'import { it } from "node:test";\n' + mocha_test("two becomes four", "2), 4"),
            'import { it } from "node:test";\n' + mocha_test("zero", "0), 0"),
        )
    ),
    "ava": unjudged("ava", "ava"),
    "jasmine": unjudged("jasmine", "jasmine"),
    "uvu": unjudged("uvu", "uvu test"),
    "tap": unjudged("tap", "tap"),
    "playwright": unjudged("@playwright/test", "playwright test"),
    "a workspace of Go": Shape(
        _below(
            GO,
            "shop",
            {
                "go.work": "go 1.20\n\nuse (\n\t./shop\n\t./other\n)\n",
                "other/go.mod": _GO_MOD.format("other"),
                "other/other.go": "package other\n\n// One is one.\nfunc One() int {\n\treturn 1\n}\n",
                "other/other_test.go": 'package other\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal("no")\n\t}\n}\n',
            },
        )
    ),
    "Go with tags of builds": Shape(
        Work(
            GO.language,
            {
                **GO.files,
                "calc/slow_test.go": '//go:build slow\n\npackage calc\n\nimport "testing"\n\nfunc TestSlow(t *testing.T) {}\n',
                "calc/only_windows.go": '//go:build windows\n\npackage calc\n\nimport "nothing.invalid/here"\n\nvar _ = here.X\n',
            },
            GO.edited,
            GO.old,
            GO.new,
            GO.path,
            GO.test,
            GO.name,
        )
    ),
    "a workspace of cargo with features": Shape(
        _below(
            RUST,
            "crates/shop",
            {
                "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nresolver = "2"\n',
                "crates/shop/Cargo.toml": CRATE.format("shop")
                + '\n[features]\ndefault = ["std"]\nstd = []\nextra = []\n',
                "crates/other/Cargo.toml": CRATE.format("other")
                + '\n[dependencies]\nshop = { path = "../shop", default-features = false }\n',
                "crates/other/src/lib.rs": "pub use shop::double;\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn zero() {\n        assert_eq!(super::double(0), 0);\n    }\n}\n",
            },
        )
    ),
    "bats without settings": Shape(
        Work(
            "C",
            {
                "double.sh": 'echo "$1"\n',
                "test/zero.bats": "@test 'zero' {\n  [ \"$(sh double.sh 0)\" = 0 ]\n}\n",
            },
            "double.sh",
            '"$1"',
            '"$(( $1 * 2 ))"',
            "test/two.bats",
            "@test 'two becomes four' {\n  [ \"$(sh double.sh 2)\" = 4 ]\n}\n",
            "two",
        ),
        says="bats",
    ),
    "a Makefile alone": Shape(
        Work(
            "C",
            {
                "Makefile": "all: lib.o\n\nlib.o: lib.c\n\t$(CC) -c -o $@ $<\n\ntest: tests/zero\n\ttests/zero\n",
                "lib.c": "int twice(int n) {\n  return n;\n}\n",
                "tests/zero.c": "int twice(int);\n\nint main(void) {\n  return twice(0);\n}\n",
            },
            "lib.c",
            "return n",
            "return n * 2",
            "tests/two.c",
            "int twice(int);\n\nint main(void) {\n  return twice(2) != 4;\n}\n",
            "two",
        ),
        says="make test",
    ),
    "nothing but words": Shape(
        Work(
            "Python",
            {"README.md": "# Words\n", "LICENSE": "free\n"},
            "README.md",
            "# Words",
            "# Words, and what doubles",
            "tests/test_double.py",
            "def test_two_becomes_four():\n    from calc import double\n\n    assert double(2) == 4\n",
            "test_two_becomes_four",
            more=(create("calc.py", "def double(number):\n    return number * 2\n"),),
        )
    ),
    "scripts of the shell": Shape(
        Work(
            "C",
            {
                "Makefile": "test:\n\t@for each in tests/*.sh; do sh $$each || exit 1; done\n",
                "lib.sh": 'double() { echo "$1"; }\n',
                "tests/zero.sh": '. ./lib.sh\n[ "$(double 0)" = 0 ]\n',
            },
            "lib.sh",
            'echo "$1"',
            "echo $(($1 * 2))",
            "tests/two.sh",
            '. ./lib.sh\n[ "$(double 2)" = 4 ]\n',
            "two",
        ),
        says="make test",
    ),
}
