"""Reports, packs, settings and journals may be anybody's. Whatever their bytes: a reader ends with a value or with
one sentence, in little memory, and with no other error.

Each try is a process of its own with a limit of memory, forked from this one.
"""

import os
import resource
import signal
import sys
import tempfile
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from agentforge.app.setup.settings import check_settings
from agentforge.core.errors import UserError
from agentforge.languages.python.testreport import read_report_file
from agentforge.store.task.journal import read_lines
from agentforge.store.task.pack import Pack
from agentforge.system import strict_yaml
from agentforge.system.bounded import SETTINGS_BYTES, read_bounded
from tests.fuzzing import tries

MEMORY = 200 << 20
SECONDS = 10
JOURNAL = max((Path(__file__).parents[1] / "store/journals").rglob("*.yaml")).read_bytes()


def _settings(path: Path) -> None:
    text = read_bounded(path, SETTINGS_BYTES).decode("utf-8", "replace")
    check_settings(strict_yaml.load(text, "settings.yaml"), "settings.yaml", text)


def _pack(path: Path) -> None:
    pack = Pack(path)
    pack.problems()
    pack.get("0" * 64)


READERS: dict[str, Callable[[Path], object]] = {
    "settings": _settings,
    "journal": lambda path: list(read_lines(path)),
    "pack": _pack,
    "report": lambda path: read_report_file(path, b"k" * 32, "token", "/tree").doubt(),
}


def _block(data: bytes) -> bytes:
    packed = zlib.compress(data, 1)
    return b"AFb1" + bytes(32) + len(packed).to_bytes(8, "big") + packed + packed


BOMBS = [
    b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    b"a: " + b"[" * 200_000,
    b"actions:\n- " + b"[" * 300_000 + b"]" * 300_000 + b"\n",
    b'actions:\n- {"seq":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n",
    b'actions:\n- {"seq":1' + b"0" * 100_000 + b"}\n",
    JOURNAL + b"- " + b"[" * 300_000 + b"]" * 300_000 + b"\n",
    JOURNAL + b'- {"seq":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}\n",
    b"- " * 100_000,
    b"{" * 100_000,
    b"\x00" * 4096,
    _block(bytes(1 << 24)),
]


def ends_well(reader: str, data: bytes) -> str:
    """Nothing, or what went wrong instead."""
    with tempfile.TemporaryDirectory() as place:
        path, said = Path(place) / "file", Path(place) / "said"
        path.write_bytes(data)
        child = os.fork()
        if child == 0:
            os._exit(_try(reader, path, said))
        _, status = os.waitpid(child, 0)
        return "" if status == 0 else said.read_text() if said.exists() else f"it ended with {status}"


def _try(reader: str, path: Path, said: Path) -> int:
    signal.alarm(SECONDS)
    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (used + MEMORY, used + MEMORY))
    try:
        READERS[reader](path)
    except (UserError, OSError):
        return 0
    except BaseException:  # noqa: BLE001 - whatever it is, it is told
        said.write_text(traceback.format_exc(limit=-6))
        return 1
    finally:
        sys.stdout.flush()
    return 0


def _cut(data: bytes, at: int, other: bytes, most: int) -> bytes:
    at %= len(data) + 1
    return data[:at] + other + data[at + most :]


MANGLED = st.one_of(
    st.sampled_from(BOMBS),
    st.binary(max_size=400),
    st.builds(_cut, st.just(JOURNAL), st.integers(0, 10**6), st.binary(max_size=30), st.integers(0, 300)),
    st.builds(
        _cut, st.sampled_from(BOMBS), st.integers(0, 10**6), st.binary(max_size=30), st.integers(0, 300)
    ),
)


@pytest.mark.slow
@tries(40, HealthCheck.data_too_large)
@given(st.sampled_from(sorted(READERS)), MANGLED)
@example("journal", BOMBS[2])
@example("journal", BOMBS[3])
@example("journal", BOMBS[4])
@example("settings", BOMBS[0])
@example("settings", BOMBS[1])
@example("journal", BOMBS[5])
@example("journal", BOMBS[6])
@example("report", BOMBS[8])
@example("pack", BOMBS[-1])
def test_a_reader_ends_with_a_value_or_a_sentence_whatever_the_bytes(reader: str, data: bytes) -> None:
    assert ends_well(reader, data) == ""


def test_the_limit_is_one() -> None:
    """The control: who reads without a bound runs into it."""
    READERS["boundless"] = lambda path: path.read_bytes() * (3 << 20)
    try:
        assert "MemoryError" in ends_well("boundless", b"x" * 1000)
    finally:
        del READERS["boundless"]
