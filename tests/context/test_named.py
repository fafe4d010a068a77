"""What a request names: the right definition, the right file, and nothing else."""

from agentforge.context.code_index import CodeIndex
from agentforge.context.named import tree_facts
from tests.rows import every

INDEX = CodeIndex.of_texts(
    {
        "src/store/__init__.py": "class TTLCache:\n    def expire(self): ...\n    def get(self): ...\n",
        "src/store/keys.py": "def hashkey(*args): ...\n",
        "src/store/lru.py": "class LRUCache:\n    def expire(self): ...\nclass HTTPStore:\n    def get(self): ...\n",
        "src/store/odd.py": "def sorted(items): ...\ndef len(items): ...\n",
        "src/other/keys2.py": "def keys(): ...\n",
        "tests/test_store.py": "class TTLCacheTest:\n    def expire(self): ...\n",
        "src/public/__init__.py": "from store.keys import hashkey\n",
        "src/public/lru.py": "from store.lru import *\n",
        "src/store/table.py": "def do_trim(text): ...\ndef render(rows, show_index=False): ...\nclass Layout: ...\n",
        "src/store/base.py": "class Old:\n    def close(self): ...\nclass Base(Old): ...\nclass Disk(Base): ...\nclass Full(Exception): ...\nclass FullError(Exception): ...\n",
        "examples/shop.py": "class URL: ...\nclass Shop: ...\n",
        "src/store/stubbed.py": "def hashed(text): ...\n",
        "src/store/stubbed.pyi": "def hashed(text: str) -> str: ...\n",
        "README.md": "",
        "src/store/cli.py": "def show(key): ...\ndef drop_all(): ...\n",
        "src/store/views.py": "def show(page): ...\n",
        "lib/parse.js": "var readEntities = function (text) { return text; };\n",
        "dist/parse.js": "var readEntities = function (text) { return text; };\n",
        "src/_vendor/html.py": "def hashkey(): ...\n",
        "go/server.go": "package x\n\nfunc (s *Server) Start() {\n}\n",
    }
)


@every(
    ("request_text", "paths", "symbols"),
    [
        ("TTLCache.expire() returns pairs", (), ("src/store/__init__.py::TTLCache.expire",)),
        ("TTLCache is slow", (), ("src/store/__init__.py::TTLCache",)),
        ("Make HTTPStore close", (), ("src/store/lru.py::HTTPStore",)),
        ("`f(sorted(x), len(y))` must work like hashkey(1)", (), ("src/store/keys.py::hashkey",)),
        ("isinstance(x, dict) and print(y)", (), ()),
        ("`sorted` must be stable", (), ("src/store/odd.py::sorted",)),
        ("`store.keys.hashkey` is wrong", (), ("src/store/keys.py::hashkey",)),
        ("the module store.keys is slow", ("src/store/keys.py",), ()),
        ("`store.keys` is slow", ("src/store/keys.py",), ()),
        ("TTLCache.missing should exist", (), ("src/store/__init__.py::TTLCache",)),
        ("fix keys.py and README.md", ("README.md", "src/store/keys.py"), ()),
        ("Server.Start hangs", (), ("go/server.go::Server.Start",)),
        ("Version 1.2 e.g. of the thing", (), ()),
        ("Add store.keys.methodkey() for methods", ("src/store/keys.py",), ()),
        ("Add public.lru.NewCache, please", ("src/store/lru.py",), ()),
        ("public.hashkey() is slow", (), ("src/store/keys.py::hashkey",)),
        ("render should support any iterable", (), ("src/store/table.py::render",)),
        ("render treats tabs as nothing", (), ("src/store/table.py::render",)),
        ("Make render accept any iterable", (), ("src/store/table.py::render",)),
        ("Allow render to take an iterable", (), ("src/store/table.py::render",)),
        ("speed up render for short rows", (), ("src/store/table.py::render",)),
        ("In render, keep the order of rows", (), ("src/store/table.py::render",)),
        ("Add a parameter `order` to render.", (), ("src/store/table.py::render",)),
        ("Add an option to render rows", (), ()),
        ("Allow render", (), ()),
        ("Make the render quicker", (), ()),
        ("Make sorted accept rows", (), ()),
        ("Fix render order of rows", (), ()),
        ("Fix rendering of rows", (), ()),
        ("hashed should take bytes", (), ("src/store/stubbed.py::hashed",)),
        ("Rendering should support any iterable", (), ()),
        ("The trim filter keeps tabs", (), ("src/store/table.py::do_trim",)),
        ("The `trim` filter keeps tabs", (), ("src/store/table.py::do_trim",)),
        ("Numbers are lost with show_index=count(1)", (), ("src/store/table.py::render",)),
        ("Give the rows of a Layout names", (), ("src/store/table.py::Layout",)),
        ("Layout the rows", (), ()),
        ("Disk.close() hangs", (), ("src/store/base.py::Old.close",)),
        ("The URL of a thing is lost", (), ()),
        ("`Shop` is slow", (), ("examples/shop.py::Shop",)),
        ("parse with readEntities is wrong", (), ("lib/parse.js::readEntities",)),
        ("`store show KEY` exits with code 1", (), ("src/store/cli.py::show",)),
        ("`store drop-all` exits with code 1", (), ("src/store/cli.py::drop_all",)),
        ("`other show KEY` exits with code 1", (), ()),
        (
            "It raises FullError when a Layout is given",
            (),
            ("src/store/base.py::FullError", "src/store/table.py::Layout"),
        ),
    ],
)
def test_a_request_names_what_it_names(
    request_text: str, paths: tuple[str, ...], symbols: tuple[str, ...]
) -> None:
    facts = tree_facts(request_text, INDEX)
    assert (facts.named_paths, facts.named_symbols) == (paths, symbols), request_text


def test_what_is_named_only_to_say_what_for_is_no_place_to_change() -> None:
    facts = tree_facts("hashkey() should keep its names, so that HTTPStore can show them", INDEX)
    assert facts.aside == {"src/store/lru.py"}
    assert not tree_facts("Mend it, so that HTTPStore can show it", INDEX).aside


def test_a_folder_that_a_request_names_is_the_one_whose_path_it_says_most_of() -> None:
    klass = "class Provider:\n    pass\n"
    index = CodeIndex.of_texts(
        {
            "fake/address/hu_HU/__init__.py": klass,
            "fake/person/hu_HU/__init__.py": klass,
            "fake/address/de_DE/__init__.py": klass,
            "tests/address/hu_HU/test_it.py": "def test_it():\n    pass\n",
        }
    )
    said = "The city names of the address provider for hu_HU should be capitalized"
    assert tree_facts(said, index).named_paths == ("fake/address/hu_HU/__init__.py",)
    assert tree_facts("Capitalize everything of hu_HU", index).named_paths == ()


def test_several_functions_in_front_of_a_sentence_are_names_if_all_of_them_are() -> None:
    texts = {"calc.py": "def divide(a, b):\n    pass\n\n\ndef multiply(a, b):\n    pass\n"}
    index = CodeIndex.of_texts(texts)
    said = tree_facts("divide and multiply return the wrong result for 0", index)
    assert said.named_symbols == ("calc.py::divide", "calc.py::multiply")
    assert tree_facts("divide and people should agree", index).named_symbols == ()
