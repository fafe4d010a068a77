"""A command's side of the engine: starts the workflow of a task, speaks to it, and looks at it. Blocks; needs no worker."""

import asyncio
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias, TypeVar

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.failure.v1 import Failure
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import SearchAttributeKey, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.converter import DataConverter
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from agentforge.core.errors import PolicyError, StateInvalid, Unusable, UsageError, UserError
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.connection import connect, sentences
from agentforge.engines.temporal.workflow import HOST_LOST, NAME, Task, Told

T = TypeVar("T")

SHORT_S = 5
"""For a look at the server."""
QUERY_S = 1
TELL_S = 10
FRESH_S = 75
"""A poll lasts a minute: who has not come back since is gone."""
NOWHERE = 8
"""Workers that did not see a task, in a row, until we say that it is nowhere to be seen."""
Found: TypeAlias = Literal["none", "running", "ended", "failed"]

_KINDS: dict[str, type[UserError]] = {
    "UsageError": UsageError,
    "PolicyError": PolicyError,
    "StateInvalid": StateInvalid,
    "Unusable": Unusable,
}


@dataclass(frozen=True, slots=True)
class Look:
    """What the server says of a task."""

    found: Found
    host_lost: bool = False
    troubles: tuple[str, ...] = ()
    """Why activities have to be tried again."""


def workflow_id(task_id: str, marker: str) -> str:
    """`agentforge-<task>`; the task's own mark tells tasks of one name in two repositories apart."""
    return f"agentforge-{task_id}" + (f"-{marker[:8]}" if marker else "")


class Connection:
    """The server, for one command."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._runner = asyncio.Runner()
        self._client: Client | None = None

    def __enter__(self) -> Self:
        self._runner.__enter__()
        try:
            self._client = self._runner.run(connect(self.config))
        except BaseException:
            self._runner.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._runner.close()

    def begin(self, name: str, task: Task, memo: Mapping[str, str]) -> None:
        """Starts the workflow, unless it runs."""
        self._ask(self._begin(name, task, memo))

    def tell(self, name: str, said: Mapping[str, str]) -> Told | None:
        """An answer, or None if no worker gave one in time; the message stays in the inbox."""
        return self._ask(self._tell(name, dict(said)))

    def look(self, name: str) -> Look:
        """Whether the workflow runs, and what holds it up."""
        return self._ask(self._look(name))

    def pollers(self, queue: str) -> int:
        """How many workers wait for work there."""
        return self._ask(self._pollers(queue))

    def failure(self, name: str) -> UserError:
        """Why the workflow failed."""
        return self._ask(self._failure(name))

    def terminate(self, name: str, reason: str) -> bool:
        """Ends the workflow; the journal stays. False if none ran."""
        return self._ask(self._terminate(name, reason))

    def _ask(self, work: Coroutine[Any, Any, T]) -> T:
        with sentences(self.config):
            return self._runner.run(work)

    @property
    def _server(self) -> Client:
        assert self._client is not None, "the connection is not open"
        return self._client

    async def _begin(self, name: str, task: Task, memo: Mapping[str, str]) -> None:
        try:
            await self._server.start_workflow(
                NAME,
                task,
                id=name,
                task_queue=self.config.queue,
                memo=dict(memo),
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                rpc_timeout=timedelta(seconds=SHORT_S),
            )
        except WorkflowAlreadyStartedError:
            return  # between our two looks somebody else did

    async def _tell(self, name: str, said: dict[str, str]) -> Told | None:
        handle = self._server.get_workflow_handle(name)
        try:
            return await asyncio.wait_for(handle.execute_update("tell", said, result_type=Told), TELL_S)
        except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError):
            return None  # the library's word for our own patience that ended
        except WorkflowUpdateFailedError as error:
            return Told(accepted=False, sentence=str(error.cause))
        except RPCError as error:
            if error.status in (RPCStatusCode.NOT_FOUND, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED):
                return None  # it has ended, or nobody took the message
            raise

    async def _look(self, name: str) -> Look:
        try:
            found = await self._server.get_workflow_handle(name).describe(rpc_timeout=timedelta(seconds=SHORT_S))
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return Look("none")
            raise
        status: Found = "ended"
        if found.status == WorkflowExecutionStatus.RUNNING:
            status = "running"
        elif found.status == WorkflowExecutionStatus.FAILED:
            status = "failed"
        shown = found.typed_search_attributes.get(SearchAttributeKey.for_keyword("AgentForgeStatus"))
        if shown is None and status == "running":
            shown = await self._asked(name)
        return Look(status, host_lost=shown == HOST_LOST, troubles=_troubles(found))

    async def _asked(self, name: str) -> str:
        """The status, from the workflow itself: where the server has no search attributes. Needs a worker."""
        try:
            found = await self._server.get_workflow_handle(name).query("state", rpc_timeout=timedelta(seconds=QUERY_S))
        except (RPCError, WorkflowQueryFailedError, WorkflowQueryRejectedError):
            return ""
        return str(found.get("status")) if isinstance(found, dict) else ""

    async def _pollers(self, queue: str) -> int:
        count = 0
        for kind in (TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,):
            found = await self._server.workflow_service.describe_task_queue(
                DescribeTaskQueueRequest(namespace=self.config.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind),
                timeout=timedelta(seconds=SHORT_S),
            )
            count += sum(time.time() - poller.last_access_time.ToSeconds() < FRESH_S for poller in found.pollers)
        return count

    async def _failure(self, name: str) -> UserError:
        try:
            await self._server.get_workflow_handle(name).result(rpc_timeout=timedelta(seconds=SHORT_S))
        except WorkflowFailureError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError):
                kind = _KINDS.get(cause.type or "", Unusable)
                return kind(cause.message, *(str(each) for each in cause.details[:1]))
            return Unusable(f"The workflow {name} ended: {cause}.")
        return Unusable(f"The workflow {name} ended before its task did.")

    async def _terminate(self, name: str, reason: str) -> bool:
        try:
            await self._server.get_workflow_handle(name).terminate(reason=reason, rpc_timeout=timedelta(seconds=SHORT_S))
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return False
            raise
        return True


def _troubles(found: WorkflowExecutionDescription) -> tuple[str, ...]:
    """The last failures of activities that are tried again; a worker that died or was stopped is none."""
    return tuple(_spell(each.last_failure) for each in found.raw_description.pending_activities if _is_trouble(each))


def _is_trouble(pending: PendingActivityInfo) -> bool:
    """One worker that does not see the task is none, because another one may. If it goes on, none of them does."""
    if not pending.HasField("last_failure") or not pending.last_failure.HasField("application_failure_info"):
        return False
    kind = pending.last_failure.application_failure_info.type
    return kind != "Stopped" and (kind != "NotHere" or pending.attempt >= NOWHERE)


def _spell(failure: Failure) -> str:
    """The sentence, and the next step, which our failures carry first."""
    details = DataConverter.default.payload_converter.from_payloads(failure.application_failure_info.details.payloads)
    return " ".join([failure.message, *(step for step in details[:1] if isinstance(step, str) and step)])
