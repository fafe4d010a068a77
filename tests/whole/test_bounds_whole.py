"""A test that takes more than a run may have, in a whole task: the run ends as out of bounds, and that counts
against nobody's tests.
"""

import shutil

import pytest

from tests.depth import telling
from tests.whole.plays import NEW_TEST, TEST, Play, ask, asked, create, patch

pytestmark = pytest.mark.slow

# Each stays within what one process may have, and waits to be ended: it never ends as a failure of its own.
GREEDY = {
    "more than 512 processes": """
    import os
    for _ in range(2000):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
""",
    "more than 4 GiB of memory": """
    import os
    for _ in range(6):
        if os.fork() == 0:
            kept = bytearray(b"x") * (1 << 30)
            time.sleep(60)
            os._exit(0)
""",
    # Not in `tmp_path`: that is in the folder on the disk that a run of tests may write.
    "more than 4 GiB of memory together, files in its private places among it": """
    import os
    for number in range(4):
        with open(f"/dev/shm/long-{number}", "wb") as file:
            for _ in range(3 << 10):
                file.write(block)
""",
    # On the disk, in the one folder that a run of tests may write; room is taken without being written.
    "more than 10 GiB of files": """
    import os
    for number in range(4):
        with open(request.config.cache.mkdir("long") / str(number), "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 3 << 30)
""",
}


@pytest.mark.parametrize("bound", telling(list(GREEDY), 1))
def test_a_run_at_a_bound_is_said_to_be_out_of_bounds_and_no_test_is_blamed(play: Play, bound: str) -> None:
    if "files" in bound and "memory" not in bound and shutil.disk_usage(play.top).free < 20 << 30:
        pytest.skip("there are no 20 GiB free on this disk")
    greedy = (
        f"{TEST}\n\ndef test_greedy(tmp_path, request) -> None:\n    import time\n    block = b'x' * (1 << 20)"
        f"{GREEDY[bound]}    time.sleep(60)\n"
    )
    done = play.start(
        patch(create(NEW_TEST, greedy), expects=()),
        ask("patch", expects=(rf"out of bounds.*{bound.removeprefix('more than ')}",)),
        lane="hotfix",
    )
    assert asked(done)
    assert "test_greedy failed" not in done.said
