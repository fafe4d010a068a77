"""What it costs to read a long journal back, time per line and memory, and to show it with one more line."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_READ = """
import json, resource, sys, tempfile, time
from pathlib import Path
from agentforge.store.task.journal import Journal
from agentforge.store.layout import TaskFiles
from agentforge.store.task.summary import summary_of
from agentforge.store.task.times import utc_now
files = TaskFiles(Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
journal = Journal.open(files, utc_now, write=False)
seconds = time.perf_counter() - started
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = files.journal.read_bytes()
cuts = [len(data)]
for _ in range(9):
    cuts.append(data.rindex(b"\\n- ", 0, cuts[-1] - 1) + 1)
with tempfile.TemporaryDirectory() as place:
    grown = TaskFiles(Path(place) / files.task_id)
    grown.root.mkdir()
    grown.journal.write_bytes(data[: cuts[-1]])
    reader, took = Journal.open(grown, utc_now, write=False), []
    for end, start in zip(cuts[-2::-1], cuts[:0:-1]):
        with grown.journal.open("ab") as file:
            file.write(data[start:end])
        began = time.perf_counter()
        reader.catch_up()
        summary_of(reader.state, reader.times, reader.progress, {"created": [], "modified": []})
        took.append(time.perf_counter() - began)
assert reader.length == journal.length
print(json.dumps([seconds, journal.length, journal.state.step, journal.size, after - before, 1000 * sorted(took)[4]]))
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
    one_more_ms: float
    """To take in one more line, and say how the task stands."""

    @property
    def ms_per_line(self) -> float:
        """The time of one line."""
        return self.seconds * 1000 / self.lines


def measure_replay(task: Path) -> Replay:
    """Reads the journal of a task from its first byte to its last."""
    done = subprocess.run([sys.executable, "-c", _READ, str(task)], check=True, capture_output=True)
    return Replay(*json.loads(done.stdout))
