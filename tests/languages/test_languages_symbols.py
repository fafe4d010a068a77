import time

from agentforge.languages import symbols
from agentforge.languages.symbols import decode, find_symbol, outline, syntax_error
from tests.depth import SOAK
from tests.rows import every

SOURCE = """\
LIMIT: int = 3
a, b = 1, 2


@decorated
class Parser(Base, metaclass=Meta):
    size = 1

    @property
    def name(self) -> str:
        return ""

    @name.setter
    def name(self, value: str) -> None: ...

    async def feed(self, data: bytes, *, end: bool = False) -> None:
        def inner(): ...


if True:
    def helper(*args): ...
else:
    def other(): ...
"""


def test_an_outline_names_methods_by_their_class_and_counts_decorators_in() -> None:
    assert [(symbol.name, symbol.kind, symbol.start, symbol.end) for symbol in outline(SOURCE, "p.py")] == [
        ("LIMIT", "variable", 1, 1),
        ("Parser", "class", 5, 17),
        ("Parser.name", "method", 9, 11),
        ("Parser.name", "method", 13, 14),
        ("Parser.feed", "method", 16, 17),
        ("helper", "function", 21, 21),
        ("other", "function", 23, 23),
    ]
    assert outline(SOURCE, "p.py")[1].signature == "class Parser(Base, metaclass=Meta)"
    assert (
        outline(SOURCE, "p.py")[4].signature
        == "async def feed(self, data: bytes, *, end: bool = False) -> None"
    )


def test_a_symbol_is_found_by_its_name_or_its_unique_end() -> None:
    feed = find_symbol(SOURCE, "feed", "a.py")
    assert feed is not None
    assert feed.name == "Parser.feed"
    both = find_symbol(SOURCE, "Parser.name", "a.py")
    assert both is not None
    assert (both.start, both.end) == (9, 14)
    assert find_symbol(SOURCE, "Parser.feed.inner", "a.py") is not None
    assert find_symbol(SOURCE, "nothing", "a.py") is None
    assert (
        find_symbol("class A:\n    def f(self): ...\nclass B:\n    def f(self): ...\n", "f", "a.py") is None
    )


def test_python_that_does_not_parse_still_has_an_outline() -> None:
    broken = (
        "class A:\n    def f(self):\n        return (\n\n    def g(self):\n        pass\n\ndef "
        "h():\n    pass\n"
    )
    assert [(symbol.name, symbol.kind, symbol.start, symbol.end) for symbol in outline(broken, "b.py")] == [
        ("A", "class", 1, 6),
        ("A.f", "method", 2, 3),
        ("A.g", "method", 5, 6),
        ("h", "function", 8, 9),
    ]


def test_other_languages_are_read_by_lines() -> None:
    go = (
        "package x\n\nfunc (s *Server) Start(port int) error {\n\treturn nil\n}\n\ntype Server struct "
        "{\n\tport int\n}\n"
    )
    assert [(symbol.name, symbol.start, symbol.end) for symbol in symbols._by_lines(go)] == [
        ("Start", 3, 5),
        ("Server", 7, 9),
    ]
    script = "export class Box {\n  open() {}\n}\nexport default async function load(x) {\n}\n"
    assert [symbol.name for symbol in symbols._by_lines(script)] == ["Box", "load"]


@every(
    ("text", "path", "line"),
    [
        ("x = (\n", "a.py", 1),
        ("\nreturn 1\n", "a.py", 2),
        ("a = 1\nb =\n", "a.toml", 2),
        ("\0", "a.py", 1),
        ("(" * 5000, "a.py", 1),
    ],
)
def test_a_syntax_error_has_its_line(text: str, path: str, line: int) -> None:
    found = syntax_error(text, path)
    assert found is not None
    assert found[0] == line
    assert found[1]


def test_sound_files_and_unknown_kinds_have_no_syntax_error() -> None:
    assert syntax_error('x = "\\d"\n', "a.py") is None
    assert syntax_error("{", "a.json") is None


def test_bytes_that_are_not_utf8_are_read_as_they_declare() -> None:
    assert decode("# -*- coding: latin-1 -*-\nx = 'ü'\n".encode("latin-1"), "a.py").endswith("x = 'ü'\n")
    assert "x = 1" in decode(b"x = 1 # \xff\n", "a.py")
    assert decode(b"# -*- coding: no-such -*-\n", "a.py").startswith("#")


def test_a_huge_file_is_outlined_in_reasonable_time() -> None:
    count = 50_000 if SOAK else 10_000
    text = "def f():\n    pass\n" * count
    begin = time.thread_time()  # what other programs do meanwhile does not count
    assert len(outline(text, "big.py")) == count
    assert time.thread_time() - begin < count / 5_000
