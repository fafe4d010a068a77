"""Calls that are made again where no test is: what the script that makes them says of one."""

import subprocess
import sys
from pathlib import Path

from agentforge.languages.python import line_watch

ASKED = """
import sys, plain_calls
assert "asyncio" not in sys.modules
sys.path.insert(0, sys.argv[1])
for name in ("net", "each"):
    print(plain_calls.call({"module": "shop", "name": name, "code": name, "given": "[[3], {}]"}))
"""


def test_what_waits_is_awaited_by_python_itself_whatever_the_tree_has_by_that_name(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "async def net(price):\n    return price * 2\n\n\nasync def each(price):\n    yield price\n"
    )
    (tmp_path / "asyncio.py").write_text("def run(_):\n    return 'another'\n")
    done = subprocess.run(
        [sys.executable, "-c", ASKED, str(tmp_path)],
        cwd=Path(line_watch.__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["gives 6 after [[3], {}]", "gives [3] after [[3], {}]"]
