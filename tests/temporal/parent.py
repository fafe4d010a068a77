"""A workflow that has a task as its child, as a plan of several tasks will have."""

from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from agentforge.engines.temporal.workflow import Task, TaskWorkflow


@workflow.defn
class Parent:
    @workflow.run
    async def run(self, task: Task, queue: str) -> dict[str, Any]:
        return await workflow.execute_child_workflow(
            TaskWorkflow.run, task, id=f"{queue}-child", task_queue=queue
        )
