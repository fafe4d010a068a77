"""Tests are found in the text of Go, Rust and Java, read, weighed and made to fail, without a parser."""

import re

import pytest

from agentforge.languages.compiled import braces
from tests.languages.dialects import GO, JAVA, RUST

GO_TEXT = """package calc

import "testing"

// func TestInComment(t *testing.T) {
func TestAdd(t *testing.T) {
	if s := "}"; Add(1, 2) != 3 && s == `
func TestInString(t *testing.T) {` {
		t.Fatal("{")
	}
}

func TestNothing(tt *testing.T) {
	Add(1, 2)
}

func TestByHelper(t *testing.T) { check(t, Add(1, 2)) }
func Testable(t *testing.T) {}
"""
RUST_TEXT = """pub fn add<'a>(a: &'a str) -> char { '{' }

#[cfg(test)]
mod tests {
    use super::*;
    mod inner {
        #[test]
        #[should_panic(expected = "{")]
        fn panics() { panic!("{"); }
    }
    #[tokio::test(flavor = "x")]
    async fn waits() -> Result<(), String> {
        assert_eq!(add(r#"}"#), '}');
        Ok(())
    }
    #[test]
    fn nothing() {}
}
"""
JAVA_TEXT = '''package shop;
class LibTest {
  @Test void adds() { assertEquals("}", Lib.add(1, 2)); }
  @Nested class Inner {
    @ParameterizedTest @ValueSource(ints = {1, 2}) void many(int x) throws Exception { assertTrue(x > 0); }
  }
  @Test(expected = Foo.class) public void throwing() { Lib.boom(); }
  String text = """
    @Test void no() { } }
    """;
}
'''


def _names(text: str, dialect: braces.TestDialect) -> list[str]:
    return [test.name for test in braces.tests_in(text, dialect)]


def test_tests_are_found_by_their_marks_and_told_by_what_they_stand_in() -> None:
    assert _names(GO_TEXT, GO) == ["TestAdd", "TestNothing", "TestByHelper"]
    assert _names(RUST_TEXT, RUST) == ["tests::inner::panics", "tests::waits", "tests::nothing"]
    assert _names(JAVA_TEXT, JAVA) == ["adds", "Inner::many", "throwing"]


def test_the_text_of_a_test_goes_from_its_marks_to_its_closing_brace() -> None:
    assert braces.source_of(RUST_TEXT, RUST, "src/lib.rs::tests::inner::panics") == (
        '#[test]\n#[should_panic(expected = "{")]\nfn panics() { panic!("{"); }'
    )
    assert (braces.source_of(GO_TEXT, GO, "a_test.go::TestAdd") or "").endswith('t.Fatal("{")\n}\n}')
    assert braces.source_of(GO_TEXT, GO, "a_test.go::TestGone") is None


@pytest.mark.parametrize(
    ("text", "dialect", "name", "refused", "doubt"),
    [
        (GO_TEXT, GO, "TestAdd", "", ""),
        (GO_TEXT, GO, "TestNothing", "it asserts nothing", ""),
        (GO_TEXT, GO, "TestByHelper", "", "has no assertion of its own; what it calls may have one"),
        (RUST_TEXT, RUST, "tests::nothing", "it asserts nothing", ""),
        (RUST_TEXT, RUST, "tests::waits", "", ""),
        (JAVA_TEXT, JAVA, "Inner::many", "", ""),
    ],
    ids=range(6),
)
def test_a_test_without_an_assertion_cannot_fail(
    text: str, dialect: braces.TestDialect, name: str, refused: str, doubt: str
) -> None:
    assert braces.liveness_of(text, dialect, f"file::{name}")[:2] == (refused, doubt)


def test_a_test_is_made_to_fail_however_it_ends() -> None:
    text, found = braces.made_to_fail(GO_TEXT, GO, ["f::TestNothing", "f::TestAdd[case]", "f::TestGone"])
    assert found == {"f::TestNothing", "f::TestAdd[case]"}
    assert "func TestNothing(tt *testing.T) { defer func() { tt.Errorf(" in text
    assert len(text.splitlines()) == len(GO_TEXT.splitlines()), "lines stay where they are"
    text, found = braces.made_to_fail(RUST_TEXT, RUST, ["f::tests::inner::panics"])
    assert found
    assert "should_panic" not in text, "a failure would be a pass"
    text, _ = braces.made_to_fail(JAVA_TEXT, JAVA, ["f::throwing"])
    assert re.search(r"@Test\s+public void throwing\(\) \{ try \{.*\} finally \{", text)


def test_what_an_edit_took_from_old_tests_is_named() -> None:
    weaker = GO_TEXT.replace('t.Fatal("{")', "_ = s").replace("	Add(1, 2)\n", "	tt.Skip()\n")
    weaker = weaker.replace("func TestByHelper(t *testing.T) { check(t, Add(1, 2)) }\n", "")
    assert braces.weakened(GO_TEXT, weaker, GO, "a_test.go") == [
        'a_test.go::TestAdd lost 1 assertion(s), first: t.Fatal("{")',
        "a_test.go::TestNothing is skipped or expected to fail now",
        "a_test.go::TestByHelper was deleted",
    ]
    assert braces.weakened(GO_TEXT, GO_TEXT + "\nfunc TestMore(t *testing.T) {}\n", GO, "a_test.go") == []
    helper = "func check(t *testing.T, x int) { if x != 3 { t.Fatal(x) } }\n"
    assert braces.weakened(GO_TEXT + helper, GO_TEXT + helper.replace("t.Fatal(x)", ""), GO, "a_test.go") == [
        "a_test.go lost 1 assertion(s), first: func check(t *testing.T, x int) { if x != 3 { t.Fatal(x) } }"
    ]


@pytest.mark.parametrize("dialect", [GO, RUST, JAVA], ids=["go", "rust", "java"])
def test_hostile_text_is_read_in_linear_time(dialect: braces.TestDialect) -> None:
    for piece in ('"', "/*", "{", "#[", "#[a]", "@a(", "@a() ", "`'", "mod a {", "@Test ", "#[test]"):
        assert braces.tests_in(piece * 8_000, dialect) == []
