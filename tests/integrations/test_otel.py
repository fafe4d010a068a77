"""A collector gets the whole hierarchy of a task, while it runs and afterwards; a task never waits for one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agentforge.app.evidence.traces import TraceReader, trace_lines
from agentforge.core.effects import Await
from agentforge.core.events import AskSent, StageEntered
from agentforge.store.task.journal import read_lines
from tests.posts import taking_posts
from tests.surfaces.scene import CODE, QUESTION, Scene, make_scene

JOURNALS = Path(__file__).parents[1] / "store" / "journals"
HIERARCHY = ["pipeline", "task", "stage", "ask", "chat"]


@dataclass
class FakeCollector:
    """What came in, decoded; `refuse` makes it answer with this status."""

    refuse: int = 0
    spans: list[Any] = field(default_factory=list)
    records: list[Any] = field(default_factory=list)
    metrics: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def take(self, path: str, body: bytes) -> None:
        if path == "/v1/traces":
            traces = ExportTraceServiceRequest.FromString(body)
            self.spans += [
                span for each in traces.resource_spans for scope in each.scope_spans for span in scope.spans
            ]
        elif path == "/v1/logs":
            logs = ExportLogsServiceRequest.FromString(body)
            self.records += [
                record
                for each in logs.resource_logs
                for scope in each.scope_logs
                for record in scope.log_records
            ]
        else:
            assert path == "/v1/metrics"
            found = ExportMetricsServiceRequest.FromString(body)
            self.metrics += [
                metric
                for each in found.resource_metrics
                for scope in each.scope_metrics
                for metric in scope.metrics
            ]

    def path_to(self, name: str) -> list[str]:
        """The names from the outermost span to the first one whose name begins so, each by its first word."""
        known = {span.span_id: span for span in self.spans}
        span = next(each for each in self.spans if each.name.startswith(name))
        found = [span.name.split()[0]]
        while span.parent_span_id:
            span = known[span.parent_span_id]
            found.append(span.name.split()[0])
        return found[::-1]

    @property
    def text(self) -> str:
        return "\n".join(str(each) for each in (*self.spans, *self.records, *self.metrics))


@contextmanager
def collecting(refuse: int = 0) -> Iterator[FakeCollector]:
    found = FakeCollector(refuse)

    def take(path: str, headers: dict[str, str], body: bytes) -> int:
        found.headers.append(headers)
        if not found.refuse:
            found.take(path, body)
        return found.refuse or 200

    with taking_posts(take) as found.url:
        yield found


def scene_with(tmp_path: Path, settings: str) -> Scene:
    scene = make_scene(tmp_path, {"greeting.py": CODE})
    home = Path(scene.environ["AGENTFORGE_HOME"])
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.yaml").write_text(settings)
    (home / "config.yaml").chmod(0o600)
    return scene


def design(scene: Scene) -> None:
    done = scene.run("design", "Greet the world", "--model", scene.script(("intake", QUESTION)))
    assert done.returncode == 3, done.stderr


@pytest.mark.slow
def test_a_task_is_traced_while_it_runs_and_sent_again_whole_afterwards(tmp_path: Path) -> None:
    with collecting() as live:
        scene = scene_with(tmp_path, f"otel: {{endpoint: '{live.url}'}}\n")
        design(scene)
        # the task waits for a person, so what is around the call has not ended yet
        assert any(span.name.startswith("chat ") for span in live.spans)
        assert not any(span.name.startswith("task ") for span in live.spans)
        once = {span.span_id for span in live.spans}
        done = scene.run("abort", scene.task, "--reason", "enough")
        assert done.returncode == 0, done.stderr
        done = scene.run("trace", "--export", OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20abc")
        assert done.returncode == 0, done.stderr
        assert "Greet the world" not in live.text
        assert "Who is greeted" not in live.text
    assert live.path_to("chat") == HIERARCHY
    assert once <= {span.span_id for span in live.spans if span.name}
    whole = [span for span in live.spans if span.name.startswith("task ")]
    assert len({span.span_id for span in whole}) == 1
    assert any(each.get("authorization") == "Bearer abc" for each in live.headers)
    assert {metric.name for metric in live.metrics} >= {"gen_ai.client.token.usage", "agentforge.steps"}
    lines = len(read_lines(scene.top / ".agentforge" / "tasks" / scene.task / "actions.yaml"))
    told = [attribute for record in live.records for attribute in record.attributes]
    numbers = {each.value.int_value for each in told if each.key == "agentforge.line"}
    assert numbers == set(range(1, lines + 1))


@pytest.mark.slow
def test_a_task_does_not_notice_a_collector_that_is_not_there_and_nothing_is_lost(tmp_path: Path) -> None:
    with collecting(refuse=400) as refusing:
        scene = scene_with(tmp_path, f"otel: {{endpoint: '{refusing.url}', content: true}}\n")
        design(scene)
        done = scene.run("trace", "--export")
        assert done.returncode == 1
        assert "did not take the trace" in done.stderr
        refusing.refuse = 0
        done = scene.run("resolve", "--answer", "abort")
        assert "did not take" not in done.stderr
        # what was refused while the task ran is sent with its next run, and with the words that were asked for
        assert (
            any(span.name.startswith("chat ") for span in refusing.spans)
            or scene.run("trace", "--export").returncode == 0
        )
    assert "Who is greeted by an empty name?" in refusing.text


@pytest.mark.parametrize("name", sorted(path.stem for path in JOURNALS.glob("*.yaml")))
def test_every_recorded_task_has_one_tree_of_spans_that_is_the_same_each_time(name: str) -> None:
    lines = read_lines(JOURNALS / f"{name}.yaml")
    found = trace_lines(lines).telemetry(unfinished=True)
    assert found == trace_lines(lines).telemetry(unfinished=True)
    known = {span.id: span for span in found.spans}
    assert len(known) == len(found.spans)
    for span in found.spans:
        if span.parent:
            above = known[span.parent]
            assert above.start_ns <= span.start_ns <= span.end_ns <= above.end_ns, (span, above)
        else:
            assert span.name.startswith("pipeline ")
    sent = [event for line in lines for event in line.events if isinstance(event, AskSent)]
    entered = [event for line in lines for event in line.events if isinstance(event, StageEntered)]
    assert sum(span.asks for span in found.spans) == len(sent)
    assert sum(span.name.startswith("stage ") for span in found.spans) == len(entered)
    assert [record.attributes["agentforge.line"] for record in found.records] == [line.seq for line in lines]


@pytest.mark.parametrize("name", ["v2-full-arbiter", "v1-waiting-for-a-person"])
def test_what_was_told_before_a_crash_and_what_comes_after_it_is_the_whole(name: str) -> None:
    lines = read_lines(JOURNALS / f"{name}.yaml")
    whole = trace_lines(lines)
    for cut in range(1, len(lines)):
        first = trace_lines(lines[:cut])
        again = TraceReader()
        for line in lines:
            again.take(line)
            if line.seq <= cut:
                again.forget()
        assert [*first.spans, *again.spans] == whole.spans


def test_waiting_for_a_person_is_a_span_and_no_failure() -> None:
    found = trace_lines(read_lines(JOURNALS / "v1-waiting-for-a-person.yaml")).telemetry(unfinished=True)
    waits = [span for span in found.spans if span.name == Await.__name__.lower()]
    assert waits
    assert not any(span.failed for span in waits)
