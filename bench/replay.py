"""What it costs to read a long journal back: time per line, and memory."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_READ = """
import json, resource, sys, time
from pathlib import Path
from agentforge.store.task.journal import Journal
from agentforge.store.layout import TaskFiles
from agentforge.store.task.times import utc_now
files = TaskFiles(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
journal = Journal.open(files, utc_now, write=False)
seconds = time.perf_counter() - started
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds, journal.length, journal.state.step, journal.size, after - before]))
"""


@dataclass(frozen=True, slots=True)
class Replay:
    """One reading of a journal, in a process of its own."""

    seconds: float
    lines: int
    steps: int
    size: int
    peak_kib: int
    """What the process grew by."""

    @property
    def ms_per_line(self) -> float:
        """The time of one line."""
        return self.seconds * 1000 / self.lines


def measure_replay(task: Path) -> Replay:
    """Reads the journal of a task from its first byte to its last."""
    done = subprocess.run([sys.executable, "-c", _READ, str(task)], check=True, capture_output=True)
    return Replay(*json.loads(done.stdout))
