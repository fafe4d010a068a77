"""A real development server, one for each process that runs tests of the engine."""

import pytest

from agentforge.engines.temporal.config import Config
from tests.temporal.servers import Server, own_config, the_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """In memory; every test has queues of its own."""
    return the_server(tmp_path_factory)


@pytest.fixture
def config(server: Server, request: pytest.FixtureRequest) -> Config:
    """A queue that nobody else works on."""
    return own_config(server, request, host_silence_s=2)
