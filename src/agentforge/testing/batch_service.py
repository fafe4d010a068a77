"""Batches on the loopback, as every provider has them: jobs, their life, and what can go wrong with them."""

import itertools
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from agentforge.core.reply import Json
from agentforge.models.known.providers import Wire
from agentforge.testing.dialects import Dialect, said
from agentforge.testing.server import Exchange, Fault, Response, Scripted

Fate = Literal["run", "expired", "canceled", "missing", "twice"]
"""What becomes of a request: `missing` has no result; `twice` has a second one, which is another."""
JobState = Literal["running", "ended", "canceled", "expired", "failed"]


@dataclass(slots=True)
class Job:
    """One batch as the server keeps it."""

    id: str
    items: dict[str, Mapping[str, Any]]
    model: str
    input_file: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    created: float = field(default_factory=time.time)
    looks: int = 0
    state: JobState = "running"
    results: list[tuple[str, int | str, Any]] = field(default_factory=list)
    """Each with its status, or how it was not run."""

    @property
    def made(self) -> str:
        """The time of its submission, in ISO 8601."""
        return datetime.fromtimestamp(self.created, tz=UTC).isoformat().replace("+00:00", "Z")


class Batches(ABC):
    """The batches of one server. Reads like its `script`: a reply per request in the order in which they
    run.
    """

    wire: Wire
    dialect: Dialect

    def __init__(
        self,
        script: Sequence[Scripted] | Callable[[Mapping[str, Json]], Scripted] = (),
        *,
        looks: int = 1,
        fate: Callable[[int], Fate] = lambda _: "run",
        refusals: Sequence[int] = (),
        lost: int = 0,
        uploads: str = "",
    ) -> None:
        """`fate` is asked with the number of the request; `refusals` are statuses of the first submissions;
        of the next `lost` ones the job is made, and its maker is told of a failure. `uploads` is the host
        that Google's uploads are sent to.
        """
        self._script, self._looks, self._fate = script, looks, fate
        self._refusals, self._lost, self._uploads = list(refusals), lost, uploads
        self.keys: list[str | None] = []
        """The key that came with each request."""
        self._lock = threading.RLock()
        self._ran = itertools.count()
        self._numbers = itertools.count(1)
        self.jobs: dict[str, Job] = {}
        self.files: dict[str, bytes] = {}
        self.hold = False
        self.ends_as: JobState = "ended"
        self.cancels: list[str] = []

    @property
    def submissions(self) -> int:
        """How many batches were submitted."""
        return len(self.jobs)

    def route(self, exchange: Exchange) -> Response | None:
        """The response to a request of the batch API; put it into the `routes` of a server."""
        path = exchange.path.partition("?")[0]
        with self._lock:
            found = self._serve(exchange, path)
            if found is not None:
                self.keys.append(self.dialect.key(exchange.headers))
            return found

    @abstractmethod
    def _serve(self, exchange: Exchange, path: str) -> Response | None:
        """The response to a request of this wire's batch API; None if it is for something else."""

    def _submission(self, job: Job) -> Response:
        """A submission, as far as it goes well."""
        if self._refusals:
            status = self._refusals.pop(0)
            return json_response(self.dialect.error(status, f"a scripted {status}"), status)
        self.jobs[job.id] = job
        if self._lost:
            self._lost -= 1
            return json_response(self.dialect.error(500, "the answer was lost"), 500)
        return json_response(self._job_body(job))

    @abstractmethod
    def _job_body(self, job: Job) -> dict[str, Json]:
        """A job as the wire shows it."""

    def _status(self, job: Job) -> Response:
        job.looks += 1
        if job.state == "running" and not self.hold and job.looks >= self._looks:
            self._run(job)
        return json_response(self._job_body(job))

    def _cancellation(self, job: Job) -> Response:
        self.cancels.append(job.id)
        if job.state == "running":
            job.state = "canceled"
        return json_response(self._job_body(job))

    def _run(self, job: Job) -> None:
        job.state = self.ends_as
        if job.state != "ended":
            return
        for name, body in job.items.items():
            fate = self._fate(next(self._ran))
            if fate in ("expired", "canceled"):
                job.results.append((name, fate, None))
            elif fate != "missing":
                job.results.append((name, *self._answer(body, job)))
                if fate == "twice":
                    job.results.append(
                        (
                            name,
                            200,
                            self.dialect.reply(said({"thought": "a second result"}, "text"), body, ""),
                        )
                    )

    def _answer(self, body: Mapping[str, Any], job: Job) -> tuple[int, dict[str, Json]]:
        scripted: Any = (
            self._script(body) if callable(self._script) else self._script[next(self._numbers) - 1]
        )
        fault = scripted if isinstance(scripted, Fault) else Fault(reply=scripted)
        if fault.reply is None:
            return fault.status, self.dialect.error(
                fault.status, fault.message or f"a scripted {fault.status}"
            )
        body = {"model": job.model, **body}
        what = said(fault.reply, self.dialect.reply_format(body), cut_off=fault.cut_off)
        return 200, self.dialect.reply(what, body, f"/models/{job.model}:generateContent")

    def _name(self, prefix: str) -> str:
        return f"{prefix}{len(self.jobs) + len(self.files) + 1:06}"

    def _keep(self, prefix: str, data: bytes) -> str:
        name = self._name(prefix)
        self.files[name] = data
        return name


def json_response(value: Mapping[str, Json], status: int = 200) -> Response:
    """An answer whose body is this value."""
    return Response(status, json.dumps(value).encode())
