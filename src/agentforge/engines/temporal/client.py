"""A command's side of the engine: starts the workflow of a task, speaks to it, and looks at it. Blocks; needs
no worker.
"""

import asyncio
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode

from agentforge.core.errors import PolicyError, StateInvalid, Unusable, UsageError, UserError
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.connection import connect, runtime_for, sentences
from agentforge.engines.temporal.look import SHORT_S, Look, look_at
from agentforge.engines.temporal.workflow import NAME, MessageReply, Task

T = TypeVar("T")

TELL_S = 10
FRESH_S = 75
"""A poll lasts a minute: who has not come back since is gone."""

_KINDS: dict[str, type[UserError]] = {
    "UsageError": UsageError,
    "PolicyError": PolicyError,
    "StateInvalid": StateInvalid,
    "Unusable": Unusable,
}


def workflow_id(task_id: str, marker: str) -> str:
    """`agentforge-<task>`; the task's own mark tells tasks of one name in two repositories apart."""
    return f"agentforge-{task_id}" + (f"-{marker[:8]}" if marker else "")


class Connection:
    """A connection to the Temporal server for the time of one command."""

    def __init__(self, config: Config, *, quiet: bool = True) -> None:
        self.config = config
        self._quiet = quiet
        self._runner = asyncio.Runner()
        self._client: Client | None = None

    def __enter__(self) -> Self:
        self._runner.__enter__()
        try:
            self._client = self._runner.run(connect(self.config, _runtime(self.config, quiet=self._quiet)))
        except BaseException:
            self._runner.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.close()

    def begin(self, name: str, task: Task, memo: Mapping[str, str]) -> None:
        """Starts the workflow, unless it runs."""
        self._ask(self._begin(name, task, memo))

    def tell(self, name: str, said: Mapping[str, str]) -> MessageReply | None:
        """An answer, or None if no worker gave one in time; the message stays in the inbox."""
        return self._ask(self._tell(name, dict(said)))

    def look(self, name: str, seconds: float | None = None) -> Look:
        """Whether the workflow runs, and what it waits for; within so many seconds, if somebody waits."""
        return self._ask(asyncio.wait_for(look_at(self._server, name), seconds))

    def pollers(self, queue: str, seconds: float | None = None) -> int:
        """How many workers wait for work there."""
        return self._ask(asyncio.wait_for(self._pollers(queue), seconds))

    def failure(self, name: str) -> UserError:
        """The error that made the workflow fail, with its sentence and next step."""
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

    async def _tell(self, name: str, said: dict[str, str]) -> MessageReply | None:
        handle = self._server.get_workflow_handle(name)
        try:
            return await asyncio.wait_for(
                handle.execute_update("tell", said, result_type=MessageReply), TELL_S
            )
        except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError):
            return None  # the library's word for our own patience that ended
        except WorkflowUpdateFailedError as error:
            return MessageReply(accepted=False, sentence=str(error.cause))
        except RPCError as error:
            if error.status in (
                RPCStatusCode.NOT_FOUND,
                RPCStatusCode.DEADLINE_EXCEEDED,
                RPCStatusCode.CANCELLED,
            ):
                return None  # it has ended, or nobody took the message
            raise

    async def _pollers(self, queue: str) -> int:
        kind = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY
        found = await self._server.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=self.config.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
            ),
            timeout=timedelta(seconds=SHORT_S),
        )
        return sum(time.time() - poller.last_access_time.ToSeconds() < FRESH_S for poller in found.pollers)

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
            await self._server.get_workflow_handle(name).terminate(
                reason=reason, rpc_timeout=timedelta(seconds=SHORT_S)
            )
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return False
            raise
        return True


def _runtime(config: Config, *, quiet: bool) -> Runtime | None:
    """A command offers no metrics, and tells of a server that is away in its own words."""
    return runtime_for(replace(config, metrics=""), quiet=quiet)


def glance(config: Config, names: Sequence[str], seconds: float) -> dict[str, Look]:
    """What the server says of several tasks, within so many seconds, connecting included."""

    async def run() -> dict[str, Look]:
        async with asyncio.timeout(seconds):
            client = await connect(config, _runtime(config, quiet=True))
            return dict(
                zip(names, await asyncio.gather(*(look_at(client, name) for name in names)), strict=True)
            )

    with sentences(config):
        return asyncio.run(run())
