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
        "README.md": "",
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
    ],
)
def test_a_request_names_what_it_names(
    request_text: str, paths: tuple[str, ...], symbols: tuple[str, ...]
) -> None:
    facts = tree_facts(request_text, INDEX)
    assert (facts.named_paths, facts.named_symbols) == (paths, symbols), request_text
