"""What a ranked map costs: of a tree of 900 files and 5.5 MB, cold and after one change, and of 20,000 files.

Time on a processor, of this process: what a busy machine cannot stretch. Git's own is not in it.
"""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from agentforge.activities.code import CodeReader
from agentforge.context.named import tree_facts
from agentforge.context.repository_map import repo_map
from agentforge.context.seeds import focus_of
from agentforge.store.user.code_facts import KeptFacts
from agentforge.system.git.repository import Git
from bench.report import Row

REQUEST = "total_17_0() is wrong when the invoice of a customer is empty"
COLD_S, WARM_MS = 2.0, 50.0
TOKENS = 1_800
_WORDS = ("order", "invoice", "customer", "parser", "cache", "token", "session", "report", "widget", "router")


def measure_maps(place: Path) -> Iterator[Row]:
    """Cold with an empty cache; warm in the same process after one file changed; again in a new one."""
    for files, lines in ((300, 190), (900, 190), (20_000, 30)):
        top = place / f"tree-{files}"
        first, second = _repository(top, files, lines)
        git = Git.open(top)
        size = sum(each.stat().st_size for each in top.rglob("*.py")) / 1e6
        name = f"{files:,} files, {size:.1f} MB"
        with KeptFacts(place / f"code-{files}.db") as kept:
            reader = CodeReader(git, kept)
            cold = _ms(reader, first)
            warm = _ms(reader, second)
        with KeptFacts(place / f"code-{files}.db") as kept:
            again = _ms(CodeReader(Git.open(top), kept), second)
        yield Row(name, "cold", cold / 1000, "s", COLD_S if files == 900 else None)
        yield Row(name, "after one change", warm, "ms", WARM_MS if files == 900 else None)
        yield Row(name, "in a new process, from the cache", again, "ms")
        yield Row(name, "cold, per MB", cold / size, "ms")


def _ms(reader: CodeReader, tree: str) -> float:
    began = time.process_time()
    index = reader.index(tree, REQUEST)
    drawn = repo_map(index, focus_of(REQUEST, tree_facts(REQUEST, index)), TOKENS)
    assert "def total_17_0" in drawn, drawn
    return (time.process_time() - began) * 1000


def _repository(top: Path, files: int, lines: int) -> tuple[str, str]:
    """A repository of generated modules that use one another; its tree, and that after one change."""
    for number in range(files):
        path = top / f"src/app/{_WORDS[number % 10]}{number // 200}/module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_module(number, files, lines))
    _git(top, "init", "-q")
    _git(top, "config", "gc.auto", "0")
    _git(top, "add", "-A")
    _git(top, "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-q", "-m", "one")
    first = _git(top, "rev-parse", "HEAD^{tree}")
    changed = next(top.rglob("module_7.py"))
    changed.write_text(changed.read_text() + "\n\ndef added():\n    return 1\n")
    _git(top, "add", "-A")
    return first, _git(top, "write-tree")


def _module(number: int, files: int, lines: int) -> str:
    kind = _WORDS[number % 10].title()
    others = [(number * 7 + step * 13 + 1) % files for step in range(4)]
    head = "".join(
        f"from app.{_WORDS[at % 10]}{at // 200}.module_{at} import total_{at}_0\n" for at in others
    )
    body = [f'"""What a {kind.lower()} is, number {number}."""\n', head, f"\n\nclass {kind}:\n"]
    body += [
        f"    def total_{number}{f'_{at}' if at else ''}(self, values: list[int], start: int = {at}) -> int:\n"
        f'        """The total of all values from {at} on, without those that are empty."""\n'
        f"        result = start\n        for value in values:\n            if value > {at}:\n"
        f"                result += total_{others[at % 4]}_0(value)\n        return result\n\n"
        for at in range(lines // 9)
    ]
    return (
        "".join(body)
        + f"\ndef total_{number}_0(value: int) -> int:\n    return {kind}().total_{number}([value])\n"
    )


def _git(top: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=top, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for row in measure_maps(Path(folder)):
            print(row)
