"""What it costs to look back at a task of a thousand steps: its audit as a page, and its trace."""

import time
from collections.abc import Iterator
from pathlib import Path

import agentforge
from agentforge.app.evidence.audits import audit_task
from agentforge.app.evidence.traces import trace_lines
from agentforge.store.layout import Home, ProjectFiles, TaskFiles
from agentforge.store.site import Site
from agentforge.store.task.journal import read_lines
from agentforge.surfaces.cli.pages.audit import spell_audit
from agentforge.system.git.repository import Git
from bench.report import Row

STEPS = 1_000
AUDIT_S = 2.0


def measure_reports(place: Path, task: Path) -> Iterator[Row]:
    """The first thousand steps of a long task, read back."""
    site = Site(Git.open(place / "repository"), ProjectFiles(place / "repository"), Home(place / "home"))
    opened = agentforge.OpenTask.open(site, TaskFiles(task))
    lines = read_lines(opened.files.journal)
    last = next((line.seq for line in lines if line.body.get("step") == STEPS), len(lines))
    about = f"{min(STEPS, opened.state.step):,} steps"
    started = time.process_time()
    page = spell_audit(audit_task(opened, last), "html")
    yield Row(about, "audit as HTML", time.process_time() - started, "s", AUDIT_S)
    yield Row(about, "its size", len(page) / 1e6, "MB")
    started = time.process_time()
    trace_lines(lines[:last])
    yield Row(about, "trace", time.process_time() - started, "s")
