"""Whatever fits the description of the API, and whatever does not, is answered and never breaks the server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.app.test_app_answers import command
from tests.depth import SOAK
from tests.surfaces.dashboards import Visitor, dashboard
from tests.surfaces.test_dashboard_api import TASK, put_task
from tests.whole.checkouts import make_repository

pytestmark = pytest.mark.slow

FEW = settings(
    max_examples=60 if SOAK else 2,
    deadline=None,
    database=None,
    suppress_health_check=[*HealthCheck],
    derandomize=True,
)


@pytest.fixture
def visitor(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visitor]:
    top = make_repository(tmp_path / "pantry", {"a.txt": "a\n"})
    monkeypatch.chdir(top)
    put_task(top).ask(command("git", "push"))
    with dashboard(top) as found:
        yield found.enter()


def test_no_request_breaks_the_server(visitor: Visitor) -> None:
    import schemathesis  # noqa: PLC0415 - a second of every process that collects these tests
    from schemathesis.core.result import Ok  # noqa: PLC0415 - as above

    schema = schemathesis.openapi.from_dict(visitor.get("/api/openapi.json"))
    sent = {"Authorization": f"Bearer {visitor.key}", "Origin": visitor.origin}
    answers: set[int] = set()
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    for operation in operations:
        modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
        cases = st.one_of([operation.as_strategy(generation_mode=mode) for mode in modes])

        @FEW
        @given(case=cases, real=st.booleans())
        def answered(case: "schemathesis.Case[Any]", real: bool) -> None:
            if real and case.method == "GET" and "task_id" in case.path_parameters:
                case.path_parameters["task_id"] = TASK  # not only names that nobody has
            came = case.call(base_url=visitor.origin, headers=sent)
            assert came.status_code < 500, (case.method, case.formatted_path, came.content[:400])
            answers.add(came.status_code)

        answered()
    assert len(operations) >= 24
    assert {200, 404, 422} <= answers
