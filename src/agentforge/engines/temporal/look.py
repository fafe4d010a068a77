"""What the server knows of a task at this moment: its workflow and what that waits for. Asks no worker, where
it need not.
"""

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple, Protocol, TypeAlias

from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import PendingActivityState, PendingWorkflowTaskState
from temporalio.api.failure.v1 import Failure
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import DescribeWorkflowExecutionResponse
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowHistoryEventFilterType,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
)
from temporalio.common import SearchAttributeKey
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from agentforge.engines.temporal.workflow import HOST_LOST

SHORT_S = 5
"""For a look at the server."""
QUERY_S = 0.5
NOWHERE = 8
"""Workers that did not see a task, in a row, until we say that it is nowhere to be seen."""
NEXT_STEP = "next step"
"""What a workflow that nobody works on waits for, where others have an activity."""
WorkflowState: TypeAlias = Literal["none", "running", "ended", "failed"]


@dataclass(frozen=True, slots=True)
class PendingActivity:
    """An activity, or the next step of the workflow itself, that has not ended yet."""

    family: str
    taken: bool
    """Whether a worker has it; else it lies in the queue."""
    seconds: float
    """For how long it has been so."""
    queue: str
    attempt: int = 1
    heard: float = 0
    """Seconds since its worker gave a sign of life."""
    progress: str = ""
    """What that said, if anything."""

    @property
    def is_step(self) -> bool:
        """Whether it is the workflow itself that waits, and no activity."""
        return self.family == NEXT_STEP


class EndedRun(NamedTuple):
    """That a run was ended from outside: who says to have done it, and why. Words of whoever it was."""

    identity: str
    reason: str


@dataclass(frozen=True, slots=True)
class Look:
    """What the server says about the workflow of a task."""

    found: WorkflowState
    host_lost: bool = False
    troubles: tuple[str, ...] = ()
    """Why activities have to be tried again."""
    flights: tuple[PendingActivity, ...] = ()
    run: str = ""
    """Which of the workflow's runs this is."""
    ended: EndedRun | None = None
    """By whom it was ended, if it did not come to its own end."""

    def untaken(self, seconds: float) -> PendingActivity | None:
        """What has waited longest for a worker, if that is longer than this."""
        waiting = [each for each in self.flights if not each.taken and each.seconds > seconds]
        return max(waiting, key=lambda each: each.seconds, default=None)

    @property
    def is_taken(self) -> bool:
        """Whether a worker has any of it."""
        return any(each.taken for each in self.flights)

    @property
    def is_busy(self) -> bool:
        """Whether any activity is under way: whoever does it reads the journal, and answers what that says
        then.
        """
        return any(not each.is_step for each in self.flights)

    def is_stuck(self, seconds: float) -> bool:
        """Whether an activity waits for a worker that does not come: the next one reads the journal anew."""
        found = self.untaken(seconds) or self.silent(seconds)
        return self.host_lost or (found is not None and not found.is_step)

    def silent(self, seconds: float) -> PendingActivity | None:
        """What a worker has that gave no sign of life for longer than this."""
        return next((each for each in self.flights if each.taken and each.heard > seconds), None)


class _Moment(Protocol):
    """A point in time as the server's messages hold it."""

    seconds: int
    nanos: int


async def look_at(client: Client, name: str) -> Look:
    """Asks the server about the workflow of this name."""
    try:
        found = await client.get_workflow_handle(name).describe(rpc_timeout=timedelta(seconds=SHORT_S))
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return Look("none")
        raise
    status: WorkflowState = "ended"
    if found.status == WorkflowExecutionStatus.RUNNING:
        status = "running"
    elif found.status == WorkflowExecutionStatus.FAILED:
        status = "failed"
    shown = found.typed_search_attributes.get(SearchAttributeKey.for_keyword("AgentForgeStatus"))
    raw = found.raw_description
    flights = _flights(raw, time.time())
    if shown is None and status == "running" and not any(each.is_step for each in flights):
        shown = await _asked(client, name)
    stopped = found.status in (WorkflowExecutionStatus.TERMINATED, WorkflowExecutionStatus.CANCELED)
    ended = await _ended(client, name, found.run_id) if stopped else None
    return Look(status, shown == HOST_LOST, _troubles(raw), flights, found.run_id, ended)


async def _ended(client: Client, name: str, run: str) -> EndedRun:
    """Who ended a run, by the last line of its history."""
    closing = WorkflowHistoryEventFilterType.CLOSE_EVENT
    handle = client.get_workflow_handle(name, run_id=run)
    try:
        async for event in handle.fetch_history_events(
            event_filter_type=closing, rpc_timeout=timedelta(seconds=SHORT_S)
        ):
            if event.HasField("workflow_execution_terminated_event_attributes"):
                about = event.workflow_execution_terminated_event_attributes
                return EndedRun(about.identity, about.reason)
    except RPCError:
        pass
    return EndedRun("", "")


async def _asked(client: Client, name: str) -> str:
    """The status, from the workflow itself: where the server has no search attributes. Needs a worker."""
    try:
        found = await client.get_workflow_handle(name).query("state", rpc_timeout=timedelta(seconds=QUERY_S))
    except (RPCError, WorkflowQueryFailedError, WorkflowQueryRejectedError):
        return ""
    return str(found.get("status")) if isinstance(found, dict) else ""


def _flights(found: DescribeWorkflowExecutionResponse, now: float) -> tuple[PendingActivity, ...]:
    shared = found.execution_config.task_queue.name
    flights = [_flight(each, shared, now) for each in found.pending_activities]
    step = found.pending_workflow_task
    if (
        found.HasField("pending_workflow_task")
        and step.state == PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED
    ):
        since = (
            step.original_scheduled_time if step.HasField("original_scheduled_time") else step.scheduled_time
        )
        flights.append(PendingActivity(NEXT_STEP, taken=False, seconds=_ago(since, now), queue=shared))
    return tuple(flights)


def _flight(pending: PendingActivityInfo, shared: str, now: float) -> PendingActivity:
    """The clock of the server and ours are taken for the same."""
    family, queue = pending.activity_type.name, pending.activity_options.task_queue.name or shared
    if pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED:
        # Where a worker died on it, it has waited for another one since then.
        died = pending.last_failure.HasField("timeout_failure_info") and pending.HasField(
            "last_heartbeat_time"
        )
        since = pending.last_heartbeat_time if died else pending.scheduled_time
        return PendingActivity(
            family, taken=False, seconds=_ago(since, now), queue=queue, attempt=pending.attempt
        )
    started = _ago(pending.last_started_time, now)
    # The beat of an earlier attempt is no sign of life.
    heard = (
        min(started, _ago(pending.last_heartbeat_time, now))
        if pending.HasField("last_heartbeat_time")
        else started
    )
    progress = _progress(pending.heartbeat_details)
    return PendingActivity(
        family,
        taken=True,
        seconds=started,
        queue=queue,
        attempt=pending.attempt,
        heard=heard,
        progress=progress,
    )


def _progress(details: Payloads) -> str:
    said = DataConverter.default.payload_converter.from_payloads(details.payloads)
    return said[0] if said and isinstance(said[0], str) else ""


def _ago(moment: _Moment, now: float) -> float:
    """Seconds; none for what is yet to come."""
    return max(0.0, now - moment.seconds - moment.nanos / 1e9)


def _troubles(found: DescribeWorkflowExecutionResponse) -> tuple[str, ...]:
    """The last failures of activities that are tried again; a worker that died or was stopped is none."""
    return tuple(_spell(each.last_failure) for each in found.pending_activities if _is_trouble(each))


def _is_trouble(pending: PendingActivityInfo) -> bool:
    """One worker that does not see the task is none, because another one may. If it goes on, none of them
    does.
    """
    if not pending.HasField("last_failure") or not pending.last_failure.HasField("application_failure_info"):
        return False
    kind = pending.last_failure.application_failure_info.type
    return kind != "Stopped" and (kind not in ("NotHere", "Stranger") or pending.attempt >= NOWHERE)


def _spell(failure: Failure) -> str:
    """The sentence, and the next step, which our failures carry first."""
    details = DataConverter.default.payload_converter.from_payloads(
        failure.application_failure_info.details.payloads
    )
    return " ".join([failure.message, *(step for step in details[:1] if isinstance(step, str) and step)])
