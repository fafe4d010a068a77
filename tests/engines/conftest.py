"""The site of every crash test, made once per run of the tests."""

import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentforge.engines.temporal.config import Config
from tests.engines.crash_site import SMALL, Plan, Reference, Scene, reference
from tests.engines.engines import Engine, Local, Temporal
from tests.engines.full_site import FULL
from tests.temporal.servers import own_config, the_server

_PLACES = itertools.count()


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory that no other test gets: an effect of a driver that was stopped may still write there for a
    moment.
    """
    place = tmp_path_factory.getbasetemp() / "scenes" / str(next(_PLACES))
    place.mkdir(parents=True)
    yield place
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that the workers of one run of the tests share."""
    mine = tmp_path_factory.getbasetemp()
    return mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine


@pytest.fixture
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Engine:
    """Who drives; by name, see `engines.py`."""
    if request.param == "local":
        return Local()

    def become(scene: Scene) -> None:
        monkeypatch.setenv("AGENTFORGE_HOME", str(scene.home.path))

    return Temporal(own_config(the_server(tmp_path_factory), request, host_silence_s=300), become)


@pytest.fixture
def config(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """The server of this process, and a queue that nobody else works on."""
    return own_config(the_server(tmp_path_factory), request, host_silence_s=300)


@pytest.fixture
def site(shared: Path, home: Path, network: None, monkeypatch: pytest.MonkeyPatch) -> Reference:
    """The reference run of the small lane."""
    return _made(shared, SMALL, monkeypatch)


@pytest.fixture
def full_site(shared: Path, home: Path, network: None, monkeypatch: pytest.MonkeyPatch) -> Reference:
    """The reference run of the full line."""
    return _made(shared, FULL, monkeypatch)


def _made(shared: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Reference:
    """Packages are compiled once: every pytest below starts twice as fast."""
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    return reference(shared, plan)
