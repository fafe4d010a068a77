"""What every test stands on: no network beyond this machine, and nothing of the person who runs it."""

import gc
import ipaddress
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agentforge.system.secrets import known
from tests.depth import leaves_out
from tests.fuzzing import register
from tests.judging import ASKED, FORKED, the_doors
from tests.order import dealt, parted
from tests.sharing import ENVIRONMENTS
from tests.wheels import NO_INDEX_HAS, packed

_HOST_FIRST = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_PROVIDERS = ("ANTHROPIC", "GEMINI", "GOOGLE", "LLAMACPP", "LMSTUDIO", "MISTRAL", "OLLAMA", "OPENAI", "VLLM")
_ADDRESS_SECOND = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_OF_THE_PERSON = ("AGENTFORGE_", "GIT_", "PYTHON", "XDG_", *(f"{name}_" for name in _PROVIDERS))
_BEHIND_WALLS = frozenset(
    {f"test_sandbox_{name}" for name in ("container", "escapes", "limits", "probe", "seccomp", "walls")}
    | {f"test_python_{name}" for name in ("coverage", "environment", "testrun", "typecheck")}
    | {f"test_gates_{name}" for name in ("green", "judge", "quality")}
    | {"test_surfaces_doctor"}
)
_WITH_GIT_OR_THE_WHOLE_PROJECT = frozenset(
    {f"test_activities_{name}" for name in ("batches", "commands", "permit")}
    | {f"test_gates_{name}" for name in ("elsewhere", "emptied", "examined", "finals", "named", "reading")}
    | {f"test_gates_{name}" for name in ("returns", "shadows", "superseded")}
    | {"test_python_canaries", "test_python_judge", "test_worktree", "test_system_worktree"}
    | {"test_extending", "test_names_are_data", "test_one_place_for_languages"}
)

_NEITHER_WALLS_NOR_START_OF_JUDGES = frozenset(
    f"test_{name}"
    for name in (
        *("about_the_change", "additions_whole", "app_api", "bad_input", "batches", "branches"),
        *("command_lines", "dashboard_tasks", "debates", "dependencies", "documented_commands"),
        *("effect_bench", "every_wire", "examined", "faults", "file_systems", "fix_violation", "goals"),
        *("iterating", "iterating_terminal", "keys", "kinds", "leaving", "model_mistakes", "model_wire"),
        *("next_lines", "own_contract", "own_tools", "permissions", "phase_build", "preflight"),
        *("recorded", "replay", "repositories", "reviews", "routing", "seal", "seal_attacks"),
        *("secrets_stay_out", "servers_heard", "several_projects", "specified_files", "suggested_models"),
        *("suite_notion", "superseded", "tutorial", "waiting", "way_back", "weak_model"),
        *(f"full_{name}" for name in ("line", "mistakes", "overrides", "panels", "rising")),
        *(f"surfaces_{name}" for name in ("audit", "context", "describe", "design", "entry", "inbox")),
        *(f"surfaces_{name}" for name in ("json", "merge", "pipelines", "replays", "repos")),
        *(f"surfaces_{name}" for name in ("request", "screens", "setup", "status", "story")),
        *(f"temporal_{name}" for name in ("command", "hosts", "rules", "waiting")),
        *(f"engine_{name}" for name in ("boundaries", "debates", "debris", "full_boundaries", "full_kills")),
        *(f"engine_{name}" for name in ("iterating", "kills", "servers")),
    )
)
"""Whole tasks that are about what follows from a verdict: their judges are forked (`tests/judging.py`), and none is
asked twice about the same files (`tests/kept_runs.py`).
"""
_START_OF_JUDGES_ALONE = frozenset({"test_cheats_whole"})
"""Whole tasks whose judges may be forked, each for itself: what they judge changes how tests are run."""
COMMAND = Path(sys.executable).with_name("agentforge")
WIDE, WHOLE = (Path(__file__).with_name(name) for name in ("wide", "whole"))
_ROOM = 4 << 30
"""Bytes that must be free where the files of tests live; a run takes less than half of it."""
_HOMES = itertools.count()


class NetworkRefused(RuntimeError):
    """Not an `OSError`: no code under test may take it for an ordinary failure of the network."""


class Border:
    """An audit hook: it sees every connection of this process, whatever library makes it."""

    def __init__(self) -> None:
        self.open = False

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if event in _HOST_FIRST:
            host = args[0]
        elif event in _ADDRESS_SECOND and isinstance(args[1], tuple):
            host = args[1][0]
        else:
            return
        if not self.open and not _is_loopback(host):
            raise NetworkRefused(f"a test tried to reach {host!r}; mark it `network` if it must")


def _is_loopback(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if not isinstance(name, str) or name in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _in_memory() -> None:
    """Lets the files of tests live in memory, where there is room: thousands of small repositories, each
    written with care for a machine that dies, would wait for the disk half of the time.
    """
    memory = Path("/dev/shm")
    if "PYTEST_DEBUG_TEMPROOT" in os.environ or not os.access(memory, os.W_OK | os.X_OK):
        return
    free = os.statvfs(memory)
    if free.f_bavail * free.f_frsize >= _ROOM:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(memory)


gc.disable()  # until the tests are collected
# Whoever asks for no compiled files means those of others: to compile the tests takes longer than to collect them.
sys.dont_write_bytecode = False
_in_memory()
_border = Border()
sys.addaudithook(_border)
register()


@pytest.fixture(scope="session", autouse=True)
def wheels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What installers find without a network: whatever this machine may have kept from earlier, a fresh one
    has not.
    """
    os.environ["UV_FIND_LINKS"] = str(packed(_shared(tmp_path_factory)))


@pytest.fixture(scope="session", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The command is on the path of whoever runs it, and nothing else that was installed beside it."""
    place = _shared(tmp_path_factory) / "bin"
    place.mkdir(exist_ok=True)
    with suppress(FileExistsError):  # another process was first
        (place / COMMAND.name).symlink_to(COMMAND)
    os.environ["PATH"] = f"{place}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


@pytest.fixture(autouse=True)
def no_keys_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process remembers the keys that it was given; the next test is another person's process."""
    monkeypatch.setattr(known, "_spellings", ())


@pytest.fixture(autouse=True)
def network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Loopback only, and installers offline in child processes too, unless the test is marked `network`."""
    _border.open = request.node.get_closest_marker("network") is not None
    if _border.open:
        monkeypatch.setenv("UV_FIND_LINKS", str(Path(os.environ["UV_FIND_LINKS"], NO_INDEX_HAS)))
    else:
        for name in ("PIP_NO_INDEX", "UV_NO_INDEX", "UV_OFFLINE"):
            monkeypatch.setenv(name, "1")
    yield
    _border.open = False


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, empty settings, and one fixed author."""
    # For installers that tests start themselves; set-up has a cache of its own.
    cache = os.environ.get("UV_CACHE_DIR") or str(
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "uv"
    )
    for name in [name for name in os.environ if name.startswith(_OF_THE_PERSON)]:
        monkeypatch.delenv(name)
    # Counted here: pytest would look through all the homes there are to find the next number.
    place = tmp_path_factory.getbasetemp() / "homes" / str(next(_HOMES))
    place.mkdir(parents=True)
    settings = place / ".gitconfig"
    # No housekeeping: it is one more process for each commit, and nothing here grows old.
    settings.write_text("[init]\n\tdefaultBranch = main\n[maintenance]\n\tauto = false\n", encoding="utf-8")
    for name, value in {
        "HOME": str(place),
        "AGENTFORGE_HOME": str(place / ".agentforge"),
        "UV_CACHE_DIR": cache,
        "GIT_CONFIG_GLOBAL": str(settings),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada Tester",
        "GIT_AUTHOR_EMAIL": "ada@example.invalid",
        "GIT_COMMITTER_NAME": "Ada Tester",
        "GIT_COMMITTER_EMAIL": "ada@example.invalid",
    }.items():
        monkeypatch.setenv(name, value)
    return place


@pytest.fixture(scope="module", autouse=True)
def judges(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """How the judges of the commands of these tests come to be, and of what their module plays once for all of
    them.
    """
    with pytest.MonkeyPatch.context() as monkeypatch:
        if request.path.stem in _NEITHER_WALLS_NOR_START_OF_JUDGES:
            kept = str(_shared(tmp_path_factory) / "judged")
            monkeypatch.setenv(ASKED, kept)
            the_doors().lead_judges_there(kept, monkeypatch.setattr)
        elif request.path.stem in _START_OF_JUDGES_ALONE:
            monkeypatch.setenv(ASKED, FORKED)
        yield


@pytest.fixture(scope="session", autouse=True)
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each set of packages is installed once per session, whichever worker needs it first: the cache of any
    home that tests make.
    """
    place = _shared(tmp_path_factory) / "environments"
    place.mkdir(exist_ok=True)
    os.environ[ENVIRONMENTS] = str(place)
    return place


def _shared(factory: pytest.TempPathFactory) -> Path:
    """A directory that all processes of one run of the tests have."""
    mine = factory.getbasetemp()
    return mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What no test of this run is in is not loaded: the libraries of `tests/wide` take longer than its rows, and a
    fifth of what the inner loop would load is slow as a whole.
    """
    path, chosen = collection_path, config.option.markexpr
    if (path == WIDE and leaves_out("wide", chosen)) or (_is_all_slow(path) and leaves_out("slow", chosen)):
        return True
    return None


def _is_all_slow(path: Path) -> bool:
    """Whether a folder or file drives whole tasks, or in nearly every test starts programs, makes repositories or
    reads the whole project. That is not for the inner loop.
    """
    return WHOLE in (path, path.parent) or path.stem in _BEHIND_WALLS | _WITH_GIT_OR_THE_WHOLE_PROJECT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is slow in all of its tests, and deals."""
    for item in items:
        if _is_all_slow(item.path):
            item.add_marker(pytest.mark.slow)
    items[:] = dealt(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def pytest_collection_finish() -> None:
    """What the tests are stays until the end: no collection of garbage need look through it again."""
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Where several processes load all tests, each begins elsewhere. And a shell that runs the tests in the background has them ignore Ctrl-C, and every command they start
    would inherit that.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
        config.args[:] = parted(config.args, number, int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
