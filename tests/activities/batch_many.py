"""So many requests through one outbox, each number in a process of its own: says how much memory it took at
most.
"""

import json
import os
import resource
import sys
from pathlib import Path

from agentforge.models.batch import custom_id, open_batcher
from agentforge.models.known.providers import Provider
from agentforge.models.provider_model import ProviderModel

# what takes long to load is loaded once for all
from agentforge.models.wire import anthropic, batches  # noqa: F401
from agentforge.store.user.outbox import Waiting
from tests.activities.batch_scene import TASK, outbox_at
from tests.models.wire_talk import REQUEST


def main(root: Path, url: str, count: int, size: int) -> None:
    batcher = open_batcher(ProviderModel(Provider("mine", "anthropic", url), "some-model", "key", None))
    batch_outbox = outbox_at(root)
    one = batcher.codec.encode("0" * 40, REQUEST)
    body = one.body.replace("def f(): ...", "def f(): ... " + "y" * size)
    box = batch_outbox.outbox.box(batcher.box(one))
    for number in range(count):
        name = custom_id(TASK.task_id, TASK.marker, str(number))
        box.put(Waiting(name, "owner", str(number), one.group, box.now_ms()), body)
    while not box.batches() or not all(sent.ended for sent in box.batches()):
        batch_outbox.work(box, batcher.carrier)
    answered = 0
    for sent in box.batches():
        with (box.root / "results" / f"{sent.name}.jsonl").open("rb") as lines:
            answered += sum(json.loads(line)["status"] == "succeeded" for line in lines)
    sys.stdout.write(
        json.dumps({"answered": answered, "peak_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss})
        + "\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    for number in sys.argv[4:]:
        # Forked from here, so that all begin with the same memory.
        if (child := os.fork()) == 0:
            main(Path(sys.argv[1]) / number, sys.argv[2], int(number), int(sys.argv[3]))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
