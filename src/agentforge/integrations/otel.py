"""Sending what a task has to tell to a collector, over OTLP/HTTP. The only module that knows OpenTelemetry.

The library's own processors and samplers are not used: what is sent was made from a record, with the times
and ids that it had, and its delivery is known before anybody goes on.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from opentelemetry._logs import LogRecord as OtelRecord
from opentelemetry._logs import SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from agentforge.integrations.spans import LogRecord, Measure, Severity, Span, Telemetry

TIMEOUT_S = 5.0
_AT_ONCE = 500
_SEVERITIES: dict[Severity, SeverityNumber] = {
    "info": SeverityNumber.INFO,
    "warning": SeverityNumber.WARN,
    "error": SeverityNumber.ERROR,
}


@dataclass(frozen=True, slots=True)
class Collector:
    """Where traces go. Headers and certificates come from the variables that OpenTelemetry defines."""

    endpoint: str
    """The address without a signal's path, such as `http://127.0.0.1:4318`."""
    version: str = ""
    """Of AgentForge."""

    def send(self, telemetry: Telemetry) -> str:
        """Sends everything; returns why it could not be delivered, or nothing."""
        base = self.endpoint.rstrip("/")
        with _Complaints() as complaints:
            for part in _parts([_span(each, telemetry, self._resource) for each in telemetry.spans]):
                if not _taken(OTLPSpanExporter(f"{base}/v1/traces", timeout=TIMEOUT_S), part):
                    return complaints.last("traces were refused")
            for records in _parts([_record(each, telemetry, self._resource) for each in telemetry.records]):
                if not _logged(OTLPLogExporter(f"{base}/v1/logs", timeout=TIMEOUT_S), records):
                    return complaints.last("log records were refused")
            if telemetry.measures:
                exporter = OTLPMetricExporter(f"{base}/v1/metrics", timeout=TIMEOUT_S)
                if exporter.export(self._metrics(telemetry)) is not MetricExportResult.SUCCESS:
                    return complaints.last("metrics were refused")
        return ""

    @property
    def _resource(self) -> Resource:
        return Resource({"service.name": "agentforge", "service.version": self.version})

    def _metrics(self, telemetry: Telemetry) -> MetricsData:
        metrics = [_metric(each, telemetry) for each in telemetry.measures]
        scope = ScopeMetrics(_SCOPE, metrics, "")
        return MetricsData([ResourceMetrics(self._resource, [scope], "")])


_SCOPE = InstrumentationScope("agentforge")
_T = TypeVar("_T")


def _parts(items: Sequence[_T]) -> list[Sequence[_T]]:
    return [items[at : at + _AT_ONCE] for at in range(0, len(items), _AT_ONCE)]


def _taken(exporter: OTLPSpanExporter, spans: Sequence[ReadableSpan]) -> bool:
    return exporter.export(spans) is SpanExportResult.SUCCESS


def _logged(exporter: OTLPLogExporter, records: Sequence[ReadableLogRecord]) -> bool:
    return exporter.export(records) is LogRecordExportResult.SUCCESS


def _context(trace: str, span: str) -> SpanContext:
    return SpanContext(int(trace, 16), int(span, 16), is_remote=False, trace_flags=TraceFlags(1))


def _span(span: Span, telemetry: Telemetry, resource: Resource) -> ReadableSpan:
    return ReadableSpan(
        span.name,
        _context(telemetry.trace, span.id),
        _context(telemetry.trace, span.parent) if span.parent else None,
        resource,
        dict(span.attributes),
        kind=SpanKind.CLIENT if span.asks else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.failed) if span.failed else Status(StatusCode.UNSET),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=_SCOPE,
    )


def _record(record: LogRecord, telemetry: Telemetry, resource: Resource) -> ReadableLogRecord:
    made = OtelRecord(
        timestamp=record.at_ns,
        observed_timestamp=record.at_ns,
        trace_id=int(telemetry.trace, 16),
        span_id=int(record.span, 16) if record.span else 0,
        trace_flags=TraceFlags(1),
        severity_text=record.severity.upper(),
        severity_number=_SEVERITIES[record.severity],
        body=record.text,
        attributes=dict(record.attributes),
    )
    return ReadableLogRecord(made, resource, _SCOPE)


def _metric(measure: Measure, telemetry: Telemetry) -> Metric:
    since, until, about = telemetry.since_ns, telemetry.until_ns, dict(measure.attributes)
    total = sum(measure.values)
    if not measure.bounds:
        point = NumberDataPoint(about, since, until, total)
        return Metric(
            measure.name, "", measure.unit, Sum([point], AggregationTemporality.CUMULATIVE, is_monotonic=True)
        )
    counts = [0] * (len(measure.bounds) + 1)
    for value in measure.values:
        counts[sum(value > bound for bound in measure.bounds)] += 1
    spread = HistogramDataPoint(
        about,
        since,
        until,
        len(measure.values),
        total,
        counts,
        measure.bounds,
        min(measure.values),
        max(measure.values),
    )
    return Metric(measure.name, "", measure.unit, Histogram([spread], AggregationTemporality.CUMULATIVE))


class _Complaints(logging.Handler):
    """Keeps what the library would have written to a log: it says why something was not delivered."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._said: list[str] = []
        self._logger = logging.getLogger("opentelemetry")

    def emit(self, record: logging.LogRecord) -> None:
        self._said.append(record.getMessage())

    def last(self, otherwise: str) -> str:
        return self._said[-1] if self._said else otherwise

    def __enter__(self) -> Self:
        self._before = self._logger.propagate
        self._logger.propagate = False
        self._logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.propagate = self._before
