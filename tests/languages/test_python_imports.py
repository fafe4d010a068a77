import time

from agentforge.languages.imports import ImportGraph
from tests.rows import every

FILES = {
    "src/app/__init__.py": "",
    "src/app/core.py": "from .low import base\n",
    "src/app/low/__init__.py": "",
    "src/app/low/base.py": "import os\n",
    "src/app/alone.py": "",
    "src/app/late.py": "def f():\n    import importlib\n    return importlib.import_module('app.alone')\n",
    "src/app/up.py": "from . import core as c, late\n",
    "src/app/broken.py": "from app.alone import (\nimport app.core\n",
    "tests/conftest.py": "import app.late\n",
    "tests/test_core.py": "from app.core import x\n",
    "tests/test_up.py": "from app import up\n",
    "tests/test_beside.py": "import support\n",
    "tests/support.py": "from app.low.base import *\n",
    "tests/test_none.py": "import json\n",
    "other/test_else.py": "import json\n",
    "other/test_broken.py": "import app.broken\n",
}
TESTS = [path for path in FILES if "/test_" in path]


@every(
    ("changed", "reached"),
    [
        (
            "src/app/low/base.py",
            ["other/test_broken.py", "tests/test_beside.py", "tests/test_core.py", "tests/test_up.py"],
        ),
        ("src/app/up.py", ["tests/test_up.py"]),
        (
            "src/app/alone.py",
            ["tests/test_beside.py", "tests/test_core.py", "tests/test_none.py", "tests/test_up.py"],
        ),
        ("tests/support.py", ["tests/test_beside.py"]),
        ("tests/test_none.py", ["tests/test_none.py"]),
        (
            "tests/conftest.py",
            ["tests/test_beside.py", "tests/test_core.py", "tests/test_none.py", "tests/test_up.py"],
        ),
        ("README.md", []),
    ],
)
def test_a_change_reaches_the_tests_that_import_it(changed: str, reached: list[str]) -> None:
    found = ImportGraph.build(FILES, ["src", "."]).reaches(TESTS, [changed])
    assert set(reached) <= set(found)
    assert set(found) - set(reached) <= {"other/test_broken.py"}


def test_cycles_end() -> None:
    graph = ImportGraph.build({"a.py": "import b", "b.py": "import a", "test_a.py": "import a"})
    assert graph.reaches(["test_a.py"], ["b.py"]) == ("test_a.py",)


def test_relative_imports_cannot_climb_out() -> None:
    assert ImportGraph.build({"p/a.py": "from ....x import y\n", "x.py": ""}).reaches(
        ["p/a.py"], ["x.py"]
    ) in ((), ("p/a.py",))


def test_a_long_chain_is_read_in_linear_time() -> None:
    files = {f"m{number}.py": f"import m{number + 1}\n" for number in range(4000)} | {
        "test_m.py": "import m0"
    }
    begin = time.thread_time()
    assert ImportGraph.build(files).reaches(["test_m.py"], ["m3999.py"]) == ("test_m.py",)
    assert time.thread_time() - begin < 10
