"""What safe hands cost: walls around a command, a search in a large tree, a patch of many files; each beside
the bare program.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agentforge.core.reply import Json
from agentforge.sandbox.base import Confinement, Sandbox
from agentforge.sandbox.walls import ladder
from agentforge.sandbox.walls.bubblewrap import Bubblewrap
from agentforge.sandbox.walls.landlock import Landlock, kernel_abi
from agentforge.sandbox.walls.none import NoSandbox
from agentforge.tools.base import ToolResult, Workbench
from agentforge.tools.change.patching import apply_patch
from agentforge.tools.look.searching import search_codebase
from bench.timed import median_ms

FOLDERS, FILES, LINES = 200, 100, 60
PATCHED = 1_000
WALL_ROUNDS, SEARCH_ROUNDS, PATCH_ROUNDS = 25, 3, 3
NEEDLE = "needle_in_the_hay"


@dataclass(frozen=True, slots=True)
class Compared:
    """One way of doing something, and the bare way."""

    name: str
    ms: float
    bare: str
    bare_ms: float


def measure_walls(place: Path) -> list[Compared]:
    """The same short command within each rung that works here and without walls, by turns."""
    room = place / "room"
    room.mkdir()
    known: dict[str, Sandbox] = {
        "bubblewrap": Bubblewrap(),
        "Landlock with namespaces": Landlock(kernel_abi()),
        "Landlock alone": Landlock(kernel_abi(), namespaces=False),
    }
    rungs: dict[str, Sandbox] = {
        "no walls": NoSandbox(),
        **{name: rung for name, rung in known.items() if ladder.works(rung)},
    }
    confinement = Confinement(cwd=room, write=(room,), timeout_s=20)
    rounds = [
        [_timed(partial(rung.run, ("/bin/true",), confinement)) for rung in rungs.values()]
        for _ in range(WALL_ROUNDS)
    ]
    bare, *walled = (median_ms(times) for times in zip(*rounds, strict=True))
    return [
        Compared(name, ms, "the command alone", bare)
        for name, ms in zip(list(rungs)[1:], walled, strict=True)
    ]


def measure_search(place: Path) -> list[Compared]:
    """A word, a pattern, and a word that is everywhere, beside ripgrep and grep where they are."""
    tree = place / "tree"
    make_tree(tree)
    bench = Workbench(tree, _nothing)
    questions: Mapping[str, tuple[dict[str, Json], str, bool]] = {
        "a rare word": ({"pattern": NEEDLE}, NEEDLE, False),
        "a pattern": ({"pattern": "needle_[a-z_]+hay", "regex": True}, "needle_[a-z_]+hay", True),
        "a word that is everywhere": ({"pattern": "value"}, "value", False),
    }
    found = []
    for name, (args, pattern, is_regex) in questions.items():
        ours = _best(partial(_search, args, bench), SEARCH_ROUNDS)
        for bare, argv in others(pattern, is_regex=is_regex):
            found.append(Compared(name, ours, bare, _best(partial(_run, argv, tree), SEARCH_ROUNDS)))
    return found


def others(pattern: str, *, is_regex: bool) -> Iterator[tuple[str, list[str]]]:
    """The programs that search, as far as they are here."""
    beside = Path(sys.executable).parent / "rg"
    if (rg := str(beside) if beside.exists() else shutil.which("rg")) is not None:
        yield "ripgrep", [rg, "-n", *([] if is_regex else ["-F"]), "--", pattern, "."]
    if (grep := shutil.which("grep")) is not None:
        yield "grep", [grep, "-rnI", "-E" if is_regex else "-F", "--", pattern, "."]


def make_tree(tree: Path) -> None:
    """Many small files of ordinary lines; a few hold the word that is looked for."""
    for folder in range(FOLDERS):
        inside = tree / f"part_{folder:03d}"
        inside.mkdir(parents=True)
        for file in range(FILES):
            lines = [f"def value_{folder}_{file}_{line}(x): return x + {line}" for line in range(LINES)]
            if (folder * FILES + file) % 997 == 0:
                lines[LINES // 2] = f"{NEEDLE} = {folder}"
            (inside / f"module_{file:03d}.py").write_text("\n".join(lines) + "\n")


def measure_patch(place: Path) -> Compared:
    """One patch of many files by the tool, and by git, each time on a tree of its own."""
    ours: list[float] = []
    theirs: list[float] = []
    patch = "".join(
        f"--- a/d{at % 50:02d}/f{at:04d}.txt\n+++ b/d{at % 50:02d}/f{at:04d}.txt\n@@ -1,3 +1,3 @@\n "
        "a\n-b\n+B\n c\n"
        for at in range(PATCHED)
    )
    for turn in range(PATCH_ROUNDS):
        for kept, name in ((ours, "tool"), (theirs, "git")):
            tree = place / f"{name}-{turn}"
            for at in range(PATCHED):
                path = tree / f"d{at % 50:02d}" / f"f{at:04d}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("a\nb\nc\n")
            if name == "tool":
                kept.append(_timed(partial(_patch, patch, Workbench(tree, _nothing))))
            else:
                kept.append(_timed(partial(_run, ["git", "apply", "-"], tree, patch.encode())))
    return Compared(f"{PATCHED:,} files", median_ms(ours), "git apply", median_ms(theirs))


def _nothing(_ids: Sequence[str]) -> ToolResult:
    raise AssertionError("nothing was to run")


def _search(args: Mapping[str, Json], bench: Workbench) -> None:
    result = search_codebase(args, bench)
    assert result.ok, result.text


def _patch(patch: str, bench: Workbench) -> None:
    result = apply_patch({"patch": patch}, bench)
    assert result.ok, result.text


def _run(argv: Sequence[str], cwd: Path, data: bytes = b"") -> None:
    done = subprocess.run(argv, cwd=cwd, input=data, capture_output=True, check=False)
    if done.returncode != 0:
        raise AssertionError(
            f"{argv[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace')[:300]}"
        )


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _best(work: Callable[[], object], rounds: int) -> float:
    work()  # the first one warms the cache of the disk
    return median_ms([_timed(work) for _ in range(rounds)])
