"""Calls that tell which lines run, and mistakes, in every language that has a grammar: where they may stand."""

import pytest

from agentforge.languages.grammars.mutants import mutants
from agentforge.languages.grammars.probes import with_probes
from agentforge.languages.measures import changed_code
from tests.rows import every

pytest.importorskip("tree_sitter")

CALLS = [
    # A text, and what it becomes.
    (
        "a.js",
        'function f(a) { "use strict"; return a }',
        'function f(a) { "use strict";P(0); P(1);return a }',
    ),
    ("a.js", "function f(a) {\n  'use strict'\n  return a\n}", "'use strict';P(0);\n  P(1);return a"),
    ("a.js", "const f = a =>\n  a + 1", "const f = a =>\n  (P(0),a + 1)"),
    ("a.js", "class A extends B { constructor() { super() } }", "P(0); P(1);super()"),
    ("a.js", "function f() {}\nf()", "function f() {P(0);}\nf()"),
    ("a.ts", "switch (x) { case 1: y() }", "switch (x) { case 1: y() }"),
    (
        "a.ts",
        "function f(x: number): void { switch (x) { case 1: y(); break } }",
        "case 1: P(2);y(); P(3);break }",
    ),
    ("a.go", "package a\nfunc init() { f() }\n", "func init() { f() }"),
    (
        "a.go",
        "package a\nfunc f() { switch { case x: y(); fallthrough; case z: } }\n",
        "case x: P(2);y(); fall",
    ),
    ("a.rs", "const fn c() -> u8 { 1 }", "const fn c() -> u8 { 1 }"),
    ("a.rs", "fn f() {\n  #[cfg(a)]\n  let x = 1;\n}", "fn f() {P(0);\n  P(1);#[cfg(a)]\n  let x = 1;\n}"),
    ("a.rs", "#[cfg(test)]\nmod tests { #[test] fn t() { f() } }", "fn t() { f() }"),
    ("A.java", "class A { A() { super(); x(); } }", "A() { super();P(0); P(1);x(); }"),
    ("A.java", "class A { static { x(); } }", "static { x(); }"),
]


@every(("path", "text", "wanted"), CALLS)
def test_a_call_stands_where_a_statement_may_and_nothing_runs_for_tests_alone(
    path: str, text: str, wanted: str
) -> None:
    written, lines = with_probes(text, path, "P({})".format, 0)
    assert wanted in written
    assert written.count("\n") == text.count("\n")
    assert len(lines) == written.count("P(")


BEFORE = "import { a } from './a';\nexport const LIMIT = 1;\nexport function f(x) {\n  return x;\n}\n"


@every(
    ("after", "values"),
    [
        (BEFORE.replace("return x", "return x + 1"), 0),
        (BEFORE.replace("{ a }", "{ a, b }").replace("return x", "return b(x)"), 0),
        (BEFORE.replace("LIMIT = 1", "LIMIT = 2").replace("return x", "return x + 1"), 1),
        (BEFORE.replace("f(x)", "f(x = 2)"), 0),
    ],
)
def test_what_changes_outside_of_functions_is_a_value_and_imports_are_none(after: str, values: int) -> None:
    found = changed_code(BEFORE, after, "f.js")
    assert found is not None
    assert len(found.values) == values
    assert found.functions == ("f",)


@every(
    ("path", "text", "wanted"),
    [
        ("a.js", "export function f(a) {\n  return a < 1\n}", "has `<=` for `<` in `a < 1`"),
        ("a.js", "export function f(a) {\n  return a\n}", "returns undefined"),
        ("a.ts", "function f(a: string) {\n  g('x')\n}", "leaves out `g('x')`"),
        (
            "a.go",
            "package a\nfunc f(a int) bool {\n\treturn a == 1 && b\n}",
            "has `||` for `&&` in `a == 1 && b`",
        ),
        ("a.rs", "fn f(a: i32) -> i32 {\n  if a > 1 { 2 } else { 3 }\n}", "asks the opposite of `a > 1`"),
        ("A.java", "class A { int f(int a) {\n  return a - 1; } }", "has `+` for `-` in `a - 1`"),
    ],
)
def test_mistakes_are_made_by_the_grammar(path: str, text: str, wanted: str) -> None:
    made = mutants(text, path, range(1, 9), limit=50, seed="x")
    assert wanted in [each.what for each in made]
    assert all(each.text != text for each in made)


def test_no_mistake_is_made_where_nothing_can_be_seen_to_run() -> None:
    text = "import { a } from './one-1';\nexport const LIMIT = 1;\ntype A = 1 | 2;\n"
    assert mutants(text, "a.ts", range(1, 9), limit=50, seed="x") == []
