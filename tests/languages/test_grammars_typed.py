"""What an emptied function gives back where a compiler looks at types."""

import pytest

from agentforge.languages.grammars.reader import is_installed
from agentforge.languages.grammars.typed import go, java, rust
from agentforge.languages.measures import emptied
from tests.rows import every

NO = None


@every(
    ("end", "result", "plain", "other"),
    [
        (go, "", "return ", "return "),
        (go, "int", "var left0 int; return left0", "return 1"),
        (go, "[]string", "var left0 []string; return left0", "return make([]string, 1)"),
        (go, "(bool, error)", "var left0 bool; var left1 error; return left0, left1", NO),
        (go, "(a, b int, ok bool)", "var left0 int; var left1 int; var left2 bool; return left0, left1, left2", "return 1, 1, true"),
        (go, "(chan int, *Money)", "var left0 chan int; var left1 *Money; return left0, left1", NO),
        (rust, "", "return ();", "return ();"),
        (rust, "Result<Option<String>, Error>", "return Ok(None);", 'return Ok(Some(String::from("left out")));'),
        (rust, "Vec<Money>", "return Vec::new();", NO),
        (rust, "Money", NO, NO),
        (java, "void", "return;", "return;"),
        (java, "boolean", "return false;", "return true;"),
        (java, "List<String>", "return null;", NO),
    ],
)  # fmt: skip
def test_the_plainest_value_of_a_type_and_another_one_where_there_is_any(
    end: object, result: str, plain: str | None, other: str | None
) -> None:
    assert callable(end)
    assert (end(result, answer=False), end(result, answer=True)) == (plain, other)


JAVA = "class A {\n  final int c;\n  A(int c) { this.c = c; }\n  int get() { return c; }\n}\n"


@pytest.mark.skipif(not is_installed(), reason="needs the extra `code`")
def test_what_makes_an_object_keeps_its_body_and_then_there_is_no_opposite_answer() -> None:
    left = JAVA.replace("int get() {", "int get() {if (true) { return 0; }")
    assert emptied(JAVA, "A.java", ("A.A", "A.get"), answer=False) == left
    assert emptied(JAVA, "A.java", ("A.A", "A.get"), answer=True) is None
    assert emptied(JAVA, "A.java", ("A.get",), answer=True) == left.replace("return 0", "return 1")
    assert emptied(JAVA, "A.java", ("A.A",), answer=False) is None
    rust_text = "fn get() -> i32 { 3 }\nfn price() -> Money { Money { c: 1 } }\n"
    assert emptied(rust_text, "a.rs", ("get", "price"), answer=False) is None, "a type that nobody knows"
