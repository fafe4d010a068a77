"""Bare Temporal, for comparison: a workflow that does nothing, many times, on another queue than its own."""

from datetime import timedelta

from temporalio import activity, workflow


@activity.defn
async def nothing(key: str) -> list[str]:
    """An answer of the size of ours."""
    return [key] * 6


@workflow.defn
class Bare:
    """One activity after another."""

    @workflow.run
    async def run(self, queue: str, times: int) -> int:
        """As many as the effects of a task."""
        for number in range(times):
            await workflow.execute_activity(
                nothing, f"key-{number}", task_queue=queue, start_to_close_timeout=timedelta(minutes=1)
            )
        return times
