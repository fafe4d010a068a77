"""Languages that are read but not run: definitions and references by their grammar, and by lines without it."""

import subprocess
import sys

from agentforge.languages.facts import FileFacts, facts_of, reading_note
from agentforge.languages.grammars.reader import is_installed, symbols
from agentforge.languages.grammars.table import grammar_of
from agentforge.languages.lexed import names_in
from agentforge.languages.names import references
from agentforge.languages.symbols import find_symbol, outline
from tests.rows import every

TS = """import { a } from "./a";
export interface Shape { area(): number; }
export class Box<T> extends Base implements Shape {
  constructor(private width: number) { super(); }
  async open(key: string): Promise<void> { use("unused text"); }
}
export const make = (n: number) => new Box(n);
export default function load(x: string): Box { return make(x); }
enum Colour { Red }
type Pair = [number, number];
"""
GO = """package x

const Limit = 3

type Server struct {
\tport int
}

func (s *Server) Start(port int) error {
\treturn listen(port)
}

func listen(port int) error { return nil }
"""
RUST = """pub struct Cache<K> { size: usize }

impl<K> Cache<K> {
    pub fn get(&self, key: &K) -> Option<&K> { find(key) }
}

pub trait Store { fn put(&mut self); }

mod inner {
    pub fn find() {}
}
macro_rules! twice { () => {} }
"""
JAVA = """package a.b;

public class Account extends Base {
    private int sum; // not withdraw
    public Account(int sum) { this.sum = sum; }
    public int withdraw(int amount) throws Empty { return check(amount); }
    static class Empty extends Exception {}
}
interface Bank { Account open(String name); }
"""


@every(
    ("path", "text", "names"),
    [
        ("a.ts", TS, "Shape Shape.area Box Box.constructor Box.open make load Colour Pair"),
        ("a.tsx", TS, "Shape Shape.area Box Box.constructor Box.open make load Colour Pair"),
        ("a.js", "class A { run(x) {} }\nconst f = function () {};\n", "A A.run f"),
        ("a.go", GO, "Limit Server Server.Start listen"),
        ("a.rs", RUST, "Cache Cache Cache.get Store Store.put inner inner.find twice"),
        ("A.java", JAVA, "Account Account.Account Account.withdraw Account.Empty Bank Bank.open"),
    ],
)
def test_definitions_are_found_with_what_they_belong_to(path: str, text: str, names: str) -> None:
    assert [symbol.name for symbol in outline(text, path)] == names.split()


def test_a_definition_has_its_signature_and_its_lines() -> None:
    found = find_symbol(TS, "Box.open", "a.ts")
    assert found is not None
    assert (found.start, found.end) == (5, 5)
    assert found.signature == "async open(key: string): Promise<void>"
    method = find_symbol(GO, "Server.Start", "a.go")
    assert method is not None
    assert (method.kind, method.start, method.end) == ("method", 9, 11)


def test_strings_and_comments_use_nothing() -> None:
    assert ("check", 6) in references(JAVA, "A.java")
    assert all(line != 4 for name, line in references(JAVA, "A.java") if name == "withdraw")
    assert "unused" not in names_in(TS, "a.ts")
    assert references("x = 'y'  # z\nf(x)\n", "a.py")[0] == ("x", 1)
    assert {name for name, _ in references("x = 'y'  # z\n", "a.py")} == {"x"}


def test_hostile_text_is_read_in_linear_time_and_broken_code_without_an_error() -> None:
    for text in (
        '"\\"' * 60_000,
        "/*" * 100_000,
        "'''" * 66_001,
        "`" * 150_001,
        "{" * 50_000,
        "class " * 30_000,
    ):
        for path in ("a.py", "a.ts", "a.rs"):
            facts_of(text, path)  # a quadratic reader would need minutes for each
    assert [symbol.name for symbol in outline("class A {\n  run( {}\n", "a.ts")][:1] == ["A"]


def test_what_was_kept_is_read_back_whole_or_not_at_all() -> None:
    facts = facts_of(GO, "a.go")
    assert FileFacts.from_json(facts.to_json()) == facts
    for broken in (
        "",
        "[]",
        "null",
        "[[[1]], 2, 3]",
        '[[["a", 9, 1, 1, "s"]], "", ""]',
        facts.to_json()[:-3],
    ):
        assert FileFacts.from_json(broken) is None


def test_a_user_is_told_what_the_extra_would_read_better() -> None:
    paths = ("a.go", "b/c.ts", "d.py")
    assert reading_note(paths, installed=False).startswith("Go, TypeScript: read line by line")
    assert reading_note(paths, installed=True) == reading_note(["d.py"], installed=False) == ""


def test_without_the_extra_files_are_read_by_their_lines() -> None:
    code = (
        "import sys\nsys.modules['tree_sitter'] = None\n"
        "from agentforge.languages.symbols import outline\n"
        "from agentforge.languages.names import references\n"
        "print([s.name for s in outline('func Start() {\\n}\\n', 'a.go')], references('f()', 'a.go'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "['Start'] []\n"


def test_an_expression_without_an_end_is_read_by_lines_and_a_long_comment_is_not() -> None:
    """The parser takes a minute for the first of them, and nothing can interrupt it."""
    java, go = grammar_of("a.java"), grammar_of("a.go")
    assert java is not None
    assert go is not None
    assert symbols(("a<b<c<" * 12 + "\n") * 800, java) is None
    assert symbols(("a?b:c?" * 12 + "\n") * 800, go) is None
    if is_installed():
        assert symbols("/*" + "words of a licence\n" * 300 + "*/\n" + JAVA, java)
