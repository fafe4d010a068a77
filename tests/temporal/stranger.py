"""A workflow of somebody else on the same server, which speaks to the queue of a host behind our workflow's
back.
"""

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy


@workflow.defn
class Stranger:
    @workflow.run
    async def run(self, family: str, order: dict[str, Any], queue: str) -> Any:  # noqa: ANN401 - whatever comes
        return await workflow.execute_activity(
            family,
            order,
            task_queue=queue,
            start_to_close_timeout=timedelta(seconds=20),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
