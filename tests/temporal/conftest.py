"""A real development server, one for each process that runs tests of the engine."""

from collections.abc import Iterator

import pytest

from agentforge.engines.temporal.config import Config
from tests.temporal.servers import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """In memory; every test has queues of its own."""
    with Server(None, tmp_path_factory.mktemp("temporal")) as running:
        yield running


@pytest.fixture
def config(server: Server, request: pytest.FixtureRequest) -> Config:
    """A queue that nobody else works on."""
    return Config(address=server.address, queue=f"q-{abs(hash(request.node.nodeid)) % 10**8}", host_silence_s=2)
