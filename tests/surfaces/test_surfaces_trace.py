"""`trace`: where the time went, for people and programs."""

from pathlib import Path

import pytest

from agentforge.surfaces.cli.main import main
from tests.surfaces.shapes import conform
from tests.surfaces.test_surfaces_audit import repo, said

__all__ = ["repo"]


def test_a_person_sees_stages_effects_and_requests_in_their_order(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(capsys, "trace", "task-small").splitlines()
    assert lines[0].split() == ["span", "from", "took", "end"]
    assert lines[1].startswith("pipeline implement")
    assert lines[2].startswith("  task task-small")
    depth = {line.split()[0]: len(line) - len(line.lstrip()) for line in lines[1:]}
    assert depth["stage"] < depth["ask"] < depth["chat"]


def test_programs_get_every_span_and_the_words_only_when_asked_for(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = conform("trace", said(capsys, "trace", "task-full", "--json"))
    known = {span["id"] for span in found["spans"]}
    assert all(span["parent"] in known for span in found["spans"] if span["parent"])
    assert all("agentforge.request" not in span["attributes"] for span in found["spans"])


def test_a_trace_needs_a_collector_to_be_sent_to(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    assert main(["trace", "task-small", "--export"]) == 2
    assert "--endpoint http://127.0.0.1:4318" in capsys.readouterr().err
    assert main(["trace", "task-small", "--endpoint", "http://127.0.0.1:4318"]) == 2
    assert "--endpoint needs --export" in capsys.readouterr().err
    assert main(["trace", "task-small", "--export", "--endpoint", "localhost:4318"]) == 2
    assert "which begins with http:// or https://" in capsys.readouterr().err
    # no pack is there: what models said cannot be shown, and that is said
    assert main(["trace", "task-small", "--content"]) == 1
    assert "steps.pack" in capsys.readouterr().err
