"""What each runner of JavaScript does in the cases that decide a verdict: node's own here, the others with
their packages (`make wide`).
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentforge.languages.node.language import NODE
from agentforge.languages.node.watching import NodeWatch
from agentforge.languages.outcomes import NO_TESTS, TestRun, Watch
from agentforge.sandbox.walls.ladder import choose

NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
WIDE = (pytest.mark.wide, pytest.mark.network)


@dataclass(frozen=True)
class Project:
    """A project with one runner: what stands at the top of a test file, and how something is asserted."""

    runner: str
    package: str
    head: str
    ending: str = ".test.mjs"

    def file(self, text: str) -> str:
        """A test file in this runner's words: `same(a, b)` asserts."""
        return self.head + text


def _package(runner: str, version: str) -> str:
    return (
        f'{{"name": "p", "scripts": {{"test": "{runner}"}}, "devDependencies": {{"{runner}": "{version}"}}}}'
    )


_ASSERT = "const same = require('node:assert').strictEqual;\n"
NODE_TEST = Project(
    "node",
    '{"name": "p", "scripts": {"test": "node --test"}}',
    "const { test, it, describe, beforeEach } = require('node:test');\n" + _ASSERT,
    ".test.js",
)
PROJECTS = [
    pytest.param(NODE_TEST, id="node", marks=pytest.mark.slow),
    pytest.param(
        Project(
            "vitest",
            _package("vitest", "^4"),
            "import { test, it, describe, beforeEach, expect } from 'vitest';\n"
            "const same = (a, b) => expect(a).toBe(b);\n",
        ),
        id="vitest",
        marks=WIDE,
    ),
    pytest.param(
        Project("jest", _package("jest", "^30"), "const same = (a, b) => expect(a).toBe(b);\n", ".test.js"),
        id="jest",
        marks=WIDE,
    ),
    pytest.param(
        Project("mocha", _package("mocha", "^11"), "const test = it;\n" + _ASSERT, ".test.js"),
        id="mocha",
        marks=WIDE,
    ),
]
FILES = {
    "plain": "test('right', () => same(1, 1)); test('wrong', () => same(1, 2));\n"
    "test('right', () => same(1, 1));\ntest.skip('left out', () => same(1, 2));\n",
    "suites": "describe('outer', () => { describe('inner', () => { it('deep: a::b', async () => same(1, 1)); }); });\n",
    "hooks": "describe('hooked', () => { beforeEach(() => { throw new Error('the hook'); }); it('a', () => {}); });\n",
    "syntax": "test('never', () => {\n",
    "lost": "const lost = LOAD('./nowhere.js'); test('never', () => same(lost, 1));\n",
}
"""Files that can be run together; each runner says what it does with them."""


def run_in(
    tmp_path: Path,
    project: Project,
    files: dict[str, str],
    *ids: str,
    timeout_s: float = 60,
    source: Mapping[str, str] | None = None,
    watch: Watch | None = None,
) -> TestRun:
    top = tmp_path / "tree"
    (top / "test").mkdir(parents=True)
    for name, text in (source or {}).items():
        (top / name).write_text(text)
    (top / "package.json").write_text(project.package)
    load = "await import" if project.ending.endswith("mjs") else "require"
    for name, text in files.items():
        place = top / "test" / f"{name}{project.ending}"
        place.write_text(project.file(text.replace("LOAD", load)))
    paths = [path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()]
    plan = NODE.projects.detect(
        lambda path: (top / path).read_bytes() if (top / path).is_file() else None, paths
    )
    if project.runner == "mocha":
        assert plan.tests == ("mocha",)
    walls = choose("auto")

    def check_out(into: Path) -> None:
        shutil.copytree(top, into, dirs_exist_ok=True)

    cache = tmp_path.parent / f"cache-{project.runner}"
    env = NODE.projects.build(
        plan,
        check_out,
        cache,
        walls,
        lock_text_hash="1",
    )
    before = {path: (top / path).read_bytes() for path in paths}
    run = NODE.runs.run_tests(
        walls,
        env,
        top,
        ids=ids,
        base_command=plan.test_command,
        scratch=tmp_path / "scratch",
        timeout_s=timeout_s,
        limit_s=2,
        watch=watch,
    )
    assert {path: (top / path).read_bytes() for path in paths} == before, "what was laid is gone"
    assert not (top / "node_modules").exists()
    return run


def outcomes(run: TestRun, project: Project) -> dict[str, str]:
    return {
        key.removeprefix("test/").replace(project.ending, ""): f"{result.outcome} {result.phase}"
        for key, result in run.results.items()
    }


@NEEDS_NODE
@pytest.mark.parametrize("project", PROJECTS)
def test_every_runner_tells_each_test_once_and_what_cannot_be_loaded_by_its_file(
    tmp_path: Path, project: Project
) -> None:
    run = run_in(tmp_path, project, FILES)
    assert run.status == "ran", (run.reason, run.output)
    assert outcomes(run, project) == {
        "plain::right": "passed call",
        "plain::wrong": "failed call",
        "plain::right#2": "passed call",
        "plain::left out": "skipped call",
        "suites::outer::inner::deep: a:b": "passed call",
        "hooks::hooked::a": "error setup" if project.runner in ("node", "mocha") else "failed call",
        "syntax": "error collect",
        "lost": "error collect",
    }
    assert "nowhere" in run.collect_errors[f"test/lost{project.ending}"]
    wrong = run.results[f"test/plain{project.ending}::wrong"]
    assert wrong.exception == "AssertionError"
    assert wrong.line


@NEEDS_NODE
@pytest.mark.parametrize("project", PROJECTS)
def test_a_test_that_ends_the_process_or_never_ends_is_no_result(tmp_path: Path, project: Project) -> None:
    ends = {"ends": "test('ends', () => { process.exit(0); }); test('after', () => same(1, 1));\n"}
    run = run_in(tmp_path / "1", project, ends)
    found = outcomes(run, project)
    # vitest alone takes the end for a failure of the test, and goes on.
    assert {key: told for key, told in found.items() if told == "passed call"}.keys() <= (
        {"ends::after"} if project.runner == "vitest" else set()
    )
    assert run.status == "not_run" or run.results
    waits = {"waits": "test('waits', () => new Promise((_, no) => setTimeout(no, 1e9)));\n"}
    run = run_in(tmp_path / "2", project, waits, timeout_s=30)
    assert all(result.outcome not in ("passed", "skipped") for result in run.results.values()), outcomes(
        run, project
    )
    assert run.status == "not_run" or run.results


@NEEDS_NODE
@pytest.mark.parametrize("project", PROJECTS)
def test_a_test_that_is_asked_for_by_name_is_told_alone_and_one_that_is_not_there_is_missing(
    tmp_path: Path, project: Project
) -> None:
    name = f"test/plain{project.ending}"
    run = run_in(
        tmp_path,
        project,
        FILES | {"syntax": "test('x', () => {});\n", "lost": ""},
        f"{name}::wrong",
        f"{name}::nobody",
    )
    assert outcomes(run, project) == {"plain::wrong": "failed call", "plain::nobody": "missing collect"}


@NEEDS_NODE
@pytest.mark.parametrize("project", PROJECTS)
def test_only_hides_nothing(tmp_path: Path, project: Project) -> None:
    run = run_in(
        tmp_path,
        project,
        {"only": "test.only('shown', () => same(1, 1)); test('hidden', () => same(1, 2));\n"},
    )
    hidden = outcomes(run, project).get("only::hidden", "missing")
    assert hidden != "passed call"
    assert hidden == "failed call" or run.unvouched or run.collect_errors


@pytest.mark.slow
@NEEDS_NODE
def test_a_busy_loop_is_ended_by_the_clock(tmp_path: Path) -> None:
    run = run_in(tmp_path, NODE_TEST, {"busy": "test('busy', () => { for (;;) {} });\n"}, timeout_s=6)
    assert not any(result.outcome == "passed" for result in run.results.values())


@NEEDS_NODE
def test_a_project_without_tests_says_so(tmp_path: Path) -> None:
    assert run_in(tmp_path, NODE_TEST, {}).reason == NO_TESTS


IN_MODULES = Project(
    "node",
    '{"name": "p", "type": "module", "scripts": {"test": "node --test"}}',
    "import { test } from 'node:test';\nimport { strictEqual as same, throws } from 'node:assert';\n",
    ".test.mjs",
)
SOURCE = {
    "price.js": "export function label(n) { return `${n} EUR`; }\n",
    "old.cjs": "exports.label = () => 1;\n",
}


@pytest.mark.slow
@NEEDS_NODE
def test_a_test_of_what_is_not_there_yet_fails_by_an_outcome(tmp_path: Path) -> None:
    files = {
        "export": "import { label, net } from '../price.js';\ntest('a', () => same(net(2), label(1)));\n",
        "class": "import { Cart as Any, label } from '../price.js';\ntest('b', () => same(new Any(), label(1)));\n",
        "module": "import { total } from '../cart.js';\ntest('b', () => same(total(), 1));\n",
        "hollow": "import { gone } from '../price.js';\ntest('c', () => throws(() => gone()));\n",
        "package": "import { x } from 'no-such-package';\ntest('d', () => same(x, 1));\n",
        "old": "import { label } from '../price.js';\ntest('e', () => same(label(1), '1 EUR'));\n",
    }
    ids = [f"test/{name}.test.mjs" for name in files]
    run = run_in(tmp_path, IN_MODULES, files, *ids, source=SOURCE)
    said = {key.partition(".test.mjs")[0]: found for key, found in run.results.items()}
    assert {name.removeprefix("test/"): found.outcome for name, found in said.items()} == {
        "export": "failed",
        "class": "failed",
        "module": "error",
        "hollow": "error",
        "package": "error",
        "old": "passed",
    }
    assert said["test/export"].message.startswith("stub-red (")
    assert "net is not there yet" in said["test/export"].message
    assert said["test/hollow"].message.startswith("it passes without what it names")
    assert run.collect_errors.keys() == {"test/module.test.mjs", "test/package.test.mjs"}


LIBRARY = """{export}function add(a, b) {{
  return a + b;
}}
{export}const twice = (a) =>
  a * 2;
{export}class Shop {{
  open() {{
    if (this.closed) {{
      return "never";
    }}
    return "open";
  }}
}}
{export}const made = (() => {{ return 1; }})();
{more}"""
WATCHED = """
test('adds', () => same(add(1, 1), 2));
describe('outer', () => { it('twice', async () => same(twice(2), 4)); it('opens', () => same(new Shop().open(), 'open')); });
test('nothing', () => same(1, 1));
"""
CHILD = "if (process.argv[2]) {\n  (() => {\n    console.log('hello');\n  })();\n}\n"
STARTS = """
test('starts', () => same(START('node', ['greet.js', 'x']).toString(), 'hello\\n'));
"""


@NEEDS_NODE
@pytest.mark.parametrize("project", PROJECTS)
def test_the_lines_that_each_test_runs_are_seen_whatever_the_runner(tmp_path: Path, project: Project) -> None:
    module = project.ending.endswith("mjs")
    name = "lib.mjs" if module else "lib.js"
    loads = (
        f"import {{ add, twice, Shop }} from '../{name}'; import {{ execFileSync }} from 'node:child_process';\n"
        if module
        else f"const {{ add, twice, Shop }} = require('../{name}'), {{ execFileSync }} = require('node:child_process');\n"
    )
    more = "" if module else "module.exports = { add, twice, Shop };\n"
    run = run_in(
        tmp_path,
        project,
        {"a": loads + WATCHED + STARTS.replace("START", "execFileSync")},
        source={name: LIBRARY.format(export="export " if module else "", more=more), "greet.js": CHILD},
        watch=Watch((name, "greet.js"), children=True),
    )
    assert run.status == "ran", (run.reason, run.output)
    assert {result.outcome for result in run.results.values()} == {"passed"}, run.results
    assert run.reached is not None, run.output
    seen = {key.partition("::")[2]: dict(lines) for key, lines in run.reached.tests.items()}
    assert seen == {
        "adds": {name: frozenset({1, 2, 3})},
        "outer::twice": {name: frozenset({4, 5})},
        "outer::opens": {name: frozenset({7, 8, 10, 11, 12})},
        "nothing": {},
        "starts": {},
    }
    started = {key.partition("::")[2]: dict(lines) for key, lines in run.reached.children.items()}
    # What jest gives to tests as the environment is a copy, which no process is started with.
    of_child = {} if project.runner == "jest" else {"starts": {"greet.js": frozenset({2, 3, 4})}}
    assert {key: lines for key, lines in started.items() if lines} == of_child
    assert any(key.endswith("::starts") for key in run.reached.started)
    assert run.reached.loading == {name: frozenset({14})}, "what runs while files are loaded is nobody's"


def test_a_directive_that_ends_with_its_line_stays_in_front_of_what_is_added(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("'use strict'\n\nfunction f () { return 1 }\n")
    watch = NodeWatch(Watch(("a.js",)), tmp_path, tmp_path / "lines", tmp_path / "child.cjs")
    assert watch.texts["a.js"].startswith("'use strict';Reflect")
    assert watch.hooked("#!/usr/bin/env node\n// @ts-check\n'use strict'\nit()", "t.js", "mocha").startswith(
        "#!/usr/bin/env node\n// @ts-check\n'use strict';const"
    )


TYPED = """import { off } from '../off';

describe('shop', () => {
  it('takes off', () => {
    expect(off({ price: 100 }, 10)).toBe(90);
  });
});
"""


@NEEDS_NODE
@pytest.mark.wide
@pytest.mark.network
def test_a_compiler_that_checks_types_before_the_tests_run_passes_ours_too(tmp_path: Path) -> None:
    packages = '"jest": "^29", "ts-jest": "^29", "typescript": "^5.6.0", "@types/jest": "^29"'
    project = Project(
        "ts-jest",
        '{"name": "p", "scripts": {"test": "jest"}, "jest": {"preset": "ts-jest"}, '
        f'"devDependencies": {{{packages}}}}}',
        "",
        ".test.ts",
    )
    source = "export const off = (item: { price: number }, percent: number): number =>\n"
    run = run_in(
        tmp_path,
        project,
        {"shop": TYPED},
        source={
            "off.ts": source + "  item.price - (item.price * percent) / 100;\n",
            "tsconfig.json": '{"compilerOptions": {"strict": true, "noUnusedLocals": true, "target": "es2020", '
            '"module": "commonjs"}}',
        },
        watch=Watch(("off.ts",)),
    )
    assert outcomes(run, project) == {"shop::shop::takes off": "passed call"}, run.collect_errors
    assert run.reached is not None
    assert [*run.reached.tests.values()] == [{"off.ts": frozenset({1, 2})}]
