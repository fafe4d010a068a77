"""What is read from the files of a JavaScript project without running them."""

import json
from pathlib import Path

import pytest

from agentforge.languages.node import scan
from agentforge.languages.node.canaries import canaries, with_canaries
from agentforge.languages.node.language import NODE
from agentforge.languages.node.manifest import RUNNERS, Runner, manager_of, suite_in, suites_in
from agentforge.languages.node.modules import laid_modules
from agentforge.languages.node.projects import managers_own
from agentforge.languages.node.registry import logins_in, registry_places, registry_settings, without_logins
from agentforge.languages.values import Environment, Plan
from tests.rows import every

TESTS = """\
import { test, describe } from 'node:test'; // test("no", () => {})
const pattern = /test\\("x", /;
describe("outer", () => {
  test('adds \\'one\\'', { timeout: 5 }, async (t) => { const s = `a ${ {b:")"}.b } test("z", () => {})`; check(s); });
  it.each([[1, 2], [3, 4]])("case %i", (a, b) => { expect(a).toBe(b) });
  it.skip("later", () => { expect(f()).toBe(1) });
});
test("plain", done => { assert.equal(f(), 1); done() }, 500)
test("named", body)
test(`computed ${x}`, () => {})
test("empty", () => { f() });
test("constant", () => { f(); assert.ok(true); expect(1).toBe(1); });
test("own result", ({ task }) => { task.result = { state: "pass" }; expect(f()).toBe(1); });
test("swallows", () => { try { expect(f()).toBe(1); } catch {} });
"""


def test_tests_are_found_by_their_calls_and_not_in_strings_or_comments() -> None:
    assert [call.name for call in scan.test_calls(TESTS)] == [
        "outer::adds 'one'",
        "outer::case %i",
        "outer::later",
        *("plain", "named", "empty", "constant", "own result", "swallows"),
    ]
    assert len(scan.masked(TESTS)) == len(TESTS)
    assert NODE.tests.test_ids_in_source(TESTS, "a.test.js")[3] == "a.test.js::plain"


@every(
    ("name", "refused", "doubt"),
    [
        ("plain", "", ""),
        ("outer::case %i[case 1]", "", ""),
        ("outer::later", "it is marked `skip`, and so does not run", ""),
        ("outer::adds 'one'", "", "it asserts nothing itself, and may call what does"),
        ("constant", "", "it asserts nothing itself, and may call what does"),
        ("own result", "it reaches for its own result", ""),
        ("swallows", "", "it swallows what is thrown in it"),
        ("nobody", "", "whether it can fail is not read: its title is not written out"),
    ],
)
def test_a_test_that_cannot_fail_is_refused_and_what_is_not_sure_is_said(
    name: str, refused: str, doubt: str
) -> None:
    assert NODE.tests.liveness(TESTS, f"a.test.js::{name}")[:2] == (refused, doubt)


def test_a_test_without_any_assertion_in_its_file_is_refused() -> None:
    text = "test('calls', () => { f(); });\n"
    assert NODE.tests.liveness(text, "a.test.js::calls").refused == "it asserts nothing"
    assert not NODE.tests.asserts(text, "a.test.js::calls")


def test_tests_made_to_fail_are_wrapped_and_others_left() -> None:
    text, found = NODE.tests.made_to_fail(
        TESTS, ["a.test.js::plain", "a.test.js::nobody", "a.test.js::named"]
    )
    assert found == {"a.test.js::plain", "a.test.js::named"}
    assert 'test("plain", __afMustFail(done => { assert.equal(f(), 1); done() }), 500)' in text
    assert 'test("named", __afMustFail(body))' in text
    assert 'test("empty", () => { f() });' in text


@every(
    ("error", "promised", "found"),
    [
        (
            "SyntaxError: The requested module '../src/price.js' does not provide an export named 'gross'",
            "src/price.js",
            True,
        ),
        (
            "Error: Cannot find module '/tree/src/price.js' imported from /tree/test/a.js",
            "src/price.ts",
            True,
        ),
        ("Error: Cannot find module '../src/other.js'", "src/price.js", False),
        ("TypeError: nothing of this", "src/price.js", False),
    ],
)
def test_what_is_not_there_yet_is_compile_red_only_if_it_was_promised(
    error: str, promised: str, found: bool
) -> None:
    said = NODE.tests.missing_import(error, [promised])
    assert (said is not None and said.startswith("compile-red")) == found


@every(
    ("line", "command"),
    [
        ("vitest", ("vitest", "run")),
        ("vitest run --coverage", ("vitest", "run")),
        ("npm run lint && jest --ci", ("jest",)),
        ("cross-env NODE_ENV=test c8 mocha test/unit", ("mocha", "test/unit")),
        ("mocha -u tdd --reporter spec && standard index.js", ("mocha", "-u", "tdd")),
        (
            "mocha -r ts-node/register -t 5000 --recursive test",
            ("mocha", "-r", "ts-node/register", "--recursive", "test"),
        ),
        ("node --test", ("node", "--test")),
        (
            "node --import tsx --test --test-reporter spec 'test/**/*.test.ts'",
            ("node", "--import", "tsx", "--test", "test/**/*.test.ts"),
        ),
        ("tsx --test test/a.ts", ("node", "--import", "tsx", "--test", "test/a.ts")),
        ("npx ava", None),
        ("node build.js", None),
        ("", None),
    ],
)
def test_the_runner_is_read_from_the_projects_own_command(line: str, command: tuple[str, ...] | None) -> None:
    suite = suite_in(line)
    assert (suite.command if suite else None) == command


def reader(files: dict[str, object]) -> tuple[object, list[str]]:
    texts = {path: text if isinstance(text, str) else json.dumps(text) for path, text in files.items()}
    return (lambda path: texts[path].encode() if path in texts else None), [*texts]


def test_packages_of_a_workspace_are_tested_each_in_its_folder() -> None:
    read, paths = reader(
        {
            "package.json": {"workspaces": ["packages/*"], "scripts": {"test": "npm test --workspaces"}},
            "packages/a/package.json": {"scripts": {"test": "vitest"}},
            "packages/b/package.json": {"devDependencies": {"mocha": "1"}},
            "packages/c/package.json": {},
            "node_modules/x/package.json": {"scripts": {"test": "jest"}},
        }
    )
    found = suites_in(read, paths)  # type: ignore[arg-type]  # it reads
    assert [(suite.folder, suite.runner) for suite in found] == [
        ("packages/a", "vitest"),
        ("packages/b", "mocha"),
    ]


@every(
    ("files", "words"),
    [
        ({"package.json": {}, "package-lock.json": ""}, "npm ci"),
        ({"package.json": {}}, "npm install"),
        ({"package.json": {}, "pnpm-lock.yaml": "lockfileVersion: '6.0'"}, "{added} pnpm-8 "),
        ({"package.json": {}, "pnpm-lock.yaml": "lockfileVersion: '9.0'"}, "{added} pnpm-9 "),
        ({"package.json": {"packageManager": "yarn@4.1.0"}, "pnpm-lock.yaml": ""}, "{added} pnpm-9 "),
        (
            {"package.json": {"packageManager": "pnpm@9.1.0+sha512.a"}, "pnpm-lock.yaml": ""},
            "--package=pnpm@9.1.0",
        ),
        (
            {"package.json": {}, "yarn.lock": "# yarn lockfile v1"},
            "yarn@1.22.22 yarn install --frozen-lockfile",
        ),
        ({"package.json": {}, "yarn.lock": "__metadata:\n  version: 8\n"}, "{added} yarn-4 "),
        ({"package.json": {}, "yarn.lock": "__metadata:\n  version: 6\n"}, "{added} yarn-3 "),
        ({"package.json": {}, "yarn.lock": "__metadata:\n"}, "yarn install --immutable"),
    ],
)
def test_the_manager_is_the_one_of_the_lock(files: dict[str, object], words: str) -> None:
    read, paths = reader(files)
    setup = manager_of(read, paths).setup  # type: ignore[arg-type]  # it reads
    assert words in " ".join(word for command in setup for word in command)


def test_the_registry_is_the_users_and_its_logins_stay_with_the_user(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text(
        "registry=https://me:secret@mirror.invalid/npm/\n@corp:registry=https://corp.invalid/\n"
        "//corp.invalid/:_authToken=abc\nfund=false\n"
    )
    found = registry_settings({"HOME": str(tmp_path)})
    assert logins_in(found) == ("corp.invalid", "mirror.invalid")
    told = without_logins(found)
    assert told == {"registry": "https://mirror.invalid/npm/", "@corp:registry": "https://corp.invalid/"}
    assert [place.host for place in registry_places(told)] == ["mirror.invalid", "corp.invalid"]
    own = registry_settings({"HOME": str(tmp_path), "npm_config_registry": "https://other.invalid/"})
    assert own["registry"] == "https://other.invalid/"


def test_packages_are_links_and_the_projects_own_are_those_of_the_judged_checkout(tmp_path: Path) -> None:
    source, tree, out = (tmp_path / name for name in ("source", "tree", "out"))
    for place in (source, tree):
        (place / "packages/own").mkdir(parents=True)
        (place / "packages/own/index.js").write_text(place.name)
    (source / "node_modules/@scope").mkdir(parents=True)
    (source / "node_modules/other").mkdir()
    (source / "node_modules/@scope/own").symlink_to("../../packages/own")
    out.mkdir()
    env = Environment(tmp_path, tmp_path, source, (".",), (), "key", "", tmp_path)
    with laid_modules(env, tree, out):
        assert (tree / "node_modules/other").resolve() == source / "node_modules/other"
        assert (tree / "node_modules/@scope/own/index.js").read_text() == "tree"
        assert (tree / "node_modules/.vite-temp").resolve() == out / ".vite-temp"
    assert not (tree / "node_modules").exists()


def test_files_import_one_another_by_relative_paths() -> None:
    files = {
        "src/a.ts": "export const a = 1;",
        "src/lib/index.ts": "export * from '../a.js';",
        "test/a.test.ts": "import { a } from '../src/a';\nimport x from '@scope/x/y';\nimport 'node:fs';",
        "test/b.test.ts": "const lib = require('../src/lib');",
    }
    found = NODE.imports.importers(files, ())
    assert found == {
        "src/a.ts": {"src/lib/index.ts", "test/a.test.ts"},
        "src/lib/index.ts": {"test/b.test.ts"},
    }
    assert NODE.imports.outside_imports(files["test/a.test.ts"], ()) == ("@scope/x",)


def test_code_that_looks_into_its_process_or_knows_the_answers_is_flagged() -> None:
    text = "import v8 from 'node:v8';\nexport function f(x) {\n  if (x === 'secret answer') process.exit(0);\n  return x;\n}\n"
    found = NODE.tests.code_doubts(text, [1, 3, 4], ["expect(f('secret answer')).toBe(1)"])
    assert [line.split(",")[0] for line in found] == [
        "line 1 looks into the process that it runs in",
        "line 3 looks into the process that it runs in",
        "line 3 compares with `secret answer`",
    ]


@every(
    ("scripts", "command"),
    [
        (
            {"test": "npm run unit", "unit": "mocha --recursive test/unit"},
            ("mocha", "--recursive", "test/unit"),
        ),
        ({"test": "npm run lint && yarn run t", "lint": "eslint .", "t": "jest"}, ("jest",)),
        ({"test": "npm run -s a", "a": "pnpm run b", "b": "node --test"}, ("node", "--test")),
        ({"test": "npm run unit -- test/a.js", "unit": "mocha "}, ("mocha", "test/a.js")),
        ({"test": "npm run test"}, ("node", "--test")),
    ],
)
def test_scripts_that_call_scripts_are_followed(scripts: dict[str, str], command: tuple[str, ...]) -> None:
    text = json.dumps({"scripts": scripts}).encode()
    (suite,) = suites_in(lambda path: text if path == "package.json" else None, ["package.json", "a.js"])
    assert suite.command == command


def test_yarn_may_ask_its_own_registry_which_its_locks_name() -> None:
    def plan(lock: str) -> Plan:
        files = {
            "package.json": b'{"dependencies": {"a": "1"}, "scripts": {"test": "jest"}}',
            lock: b"",
            "a.js": b"",
        }
        return NODE.projects.detect(files.get, [*files])

    assert [place.host for place in managers_own(plan("yarn.lock"))] == ["registry.yarnpkg.com"]
    assert managers_own(plan("package-lock.json")) == ()


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(
    "text", ["import { a } from './a';\ntest('b', a);", "const a = require('./a');\nit('b', a)"]
)
def test_ours_are_one_line_that_no_check_of_types_looks_at(runner: Runner, text: str) -> None:
    laid = with_canaries(text, runner, "token")
    before, unchecked, ours, end = laid.rsplit("\n", 3)
    assert (before, unchecked, end) == (text, "// @ts-ignore", "")
    assert all(title in ours for title in canaries(runner, "token"))


def test_what_fails_for_us_is_one_line_that_no_check_of_types_looks_at_and_keeps_the_types_of_the_test() -> (
    None
):
    body = 'it("adds", (done) => { done(); });'
    for path, head in {"a.test.ts": "<T>(body: T): T {", "a.test.js": "(body) {"}.items():
        text, found = NODE.tests.made_to_fail(body, [f"{path}::adds"])
        assert found == {f"{path}::adds"}
        first, unchecked, ours, end = text.split("\n")
        assert (first, unchecked, end) == (
            body.replace("(done)", "__afMustFail((done)").replace("});", "}));"),
            "// @ts-ignore",
            "",
        )
        assert ours.startswith(f"function __afMustFail{head}")
