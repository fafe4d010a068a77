"""Claims about how branches are counted; the linter is the witness."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import dedent

from agentforge.languages import measures
from agentforge.languages.python.complexity import complexity
from tests.rows import every

SOURCE = Path(__file__).parents[2] / "src" / "agentforge"


def count(text: str) -> dict[str, int]:
    return complexity(dedent(text))


@every(
    ("body", "ways"),
    [
        ("pass", 1),
        ("if a: pass\n    elif b: pass\n    else: pass", 3),
        ("for a in b: pass\n    else: pass", 2),
        ("while a: pass", 2),
        ("try: pass\n    except A: pass\n    except B: pass\n    else: pass\n    finally: pass", 4),
        ("try: pass\n    except* A: pass", 2),
        ("match a:\n        case 1: pass\n        case 2: pass\n        case _: pass", 3),
        ("match a:\n        case 1: pass\n        case 2: pass", 3),
        ("with a: pass", 1),
        ("def g():\n        if a: pass", 3),
        ("return [a for a in b if c] and d or e", 1),
    ],
)
def test_each_way_through_a_function_counts(body: str, ways: int) -> None:
    assert complexity(f"async def f():\n    {body}\n")["f"] == ways


def test_names_are_dotted_and_nothing_hides() -> None:
    text = """
    class A:
        def b(self):
            def c():
                if x: pass
        class D:
            async def e(self): pass
    if x:
        def f(): pass
    else:
        def f():
            if y: pass
    """
    assert count(text) == {"A.b": 3, "A.b.c": 2, "A.D.e": 1, "f": 2}


def test_what_is_no_python_has_no_functions() -> None:
    assert count("def (") == {}
    assert measures.complexity("def f(): pass", "a.js") == {}


def test_a_long_chain_is_no_trouble() -> None:
    assert complexity("def f():\n if a: pass\n" + " elif a: pass\n" * 300) == {"f": 302}


def test_the_linter_counts_the_same_on_our_own_source() -> None:
    ruff = [
        str(Path(sys.executable).parent / "ruff"),
        "check",
        "--isolated",
        "--ignore-noqa",
        "--no-cache",
        "--exit-zero",
    ]
    done = subprocess.run(
        [
            *ruff,
            "--select=C901",
            "--config=lint.mccabe.max-complexity=0",
            "--output-format=json",
            str(SOURCE / "analysis"),
            str(SOURCE / "gates"),
        ],
        capture_output=True,
        check=True,
    )
    theirs: Counter[tuple[str, str, int]] = Counter()
    for row in json.loads(done.stdout):
        found = re.match(r"`(\w+)` is too complex \((\d+)", row["message"])
        assert found is not None
        theirs[row["filename"], found[1], int(found[2])] += 1
    ours = Counter(
        (str(path), name.rpartition(".")[2], number)
        for folder in ("analysis", "gates")
        for path in (SOURCE / folder).rglob("*.py")
        for name, number in complexity(path.read_text()).items()
    )
    assert ours == theirs
    assert len(ours) > 100
