"""Everybody on a machine reaches its Temporal server. Who has no token of a task changes nothing about it, and
is named.
"""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from agentforge import __version__
from agentforge.app.drivers.hosting import HostedTasks
from agentforge.core.errors import UsageError
from agentforge.engines.temporal.activities import _failure
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.port import Ref
from agentforge.engines.temporal.workflow import MessageReply, Order, Task, TaskWorkflow
from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.store.task.engine import read_engine
from agentforge.store.task.inbox import strangers
from agentforge.store.user.task_tokens import hand_over_proof, signed_message, token_file
from tests.system.secret_shapes import TOKENS
from tests.temporal.light import Light, found_task, keys, read_state
from tests.temporal.stranger import Stranger
from tests.temporal.working import begin, connect, until, working

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

ANSWER = {"kind": "resolution", "id": "ESC-001", "escalation": "ESC-001", "answer": "that", "by": "eve"}
ABORT = {"kind": "abort", "id": "abort-1", "by": "eve", "reason": "because"}


class Guarded(Light):
    """Light tasks, and the real look at who hands them over."""

    def admits(self, ref: Ref) -> bool:
        return HostedTasks().admits(ref)


async def told(handle: WorkflowHandle[Any, Any], said: dict[str, str]) -> MessageReply:
    reply: MessageReply = await handle.execute_update("tell", said, result_type=MessageReply)
    return reply


def test_a_strangers_answer_and_abort_are_refused_and_named(
    config: Config, tmp_path: Path, home: Path
) -> None:
    files, own = found_task(tmp_path), Home(home_path())
    other = found_task(tmp_path, "task-2")
    sign = partial(signed_message, own, str(tmp_path))

    async def run() -> None:
        client = await connect(config)
        async with working(config, Guarded(steps=2, asks_person=True), tmp_path) as said:
            handle = await begin(client, config, files)
            await until(lambda: read_state(files).status == "blocked")
            theirs = signed_message(Home(tmp_path / "eve"), str(tmp_path), files.task_id, ANSWER)
            of_another = sign(other.task_id, ANSWER)
            changed = {**sign(files.task_id, ANSWER), "answer": "rm"}
            for forged in (ANSWER, ABORT, {**ANSWER, "proof": "0" * 64}, theirs, of_another, changed):
                reply = await told(handle, forged)
                assert not reply.accepted
                assert "does not carry the token of task-1" in reply.sentence
            assert read_state(files).status == "blocked"
            assert any("An abort was refused" in line for line in said), said
            assert len(strangers(files)) == 6
            assert (await told(handle, sign(files.task_id, {**ANSWER, "answer": "this"}))).accepted
            assert (await handle.result())["status"] == "completed"
            history = (await handle.fetch_history()).to_json()
            assert token_file(own).read_text(encoding="ascii").strip() not in history

    asyncio.run(run())
    assert read_state(files).escalations[0].answer == "this"


def test_a_task_that_a_stranger_hands_over_is_not_begun(config: Config, tmp_path: Path, home: Path) -> None:
    files = found_task(tmp_path)
    before = keys(files)

    async def run() -> None:
        client = await connect(config)
        async with working(config, Guarded(), tmp_path) as said:
            for number, proof in enumerate(("", hand_over_proof(Home(home_path()), str(tmp_path), "task-9"))):
                task = Task(files.task_id, str(tmp_path), __version__, proof=proof)
                name = f"{config.queue}-stranger-{number}"
                await client.start_workflow(TaskWorkflow.run, task, id=name, task_queue=config.queue)
            await until(lambda: any("The hand-over of task-1 was refused" in line for line in said))
            assert (keys(files), read_engine(files).host) == (before, "")
            assert (await (await begin(client, config, files)).result())["status"] == "completed"

    asyncio.run(run())


def test_what_a_stranger_puts_into_the_queue_of_a_host_is_not_done(
    config: Config, tmp_path: Path, home: Path
) -> None:
    files = found_task(tmp_path)

    async def run() -> None:
        client, mine = await connect(config), f"{config.queue}-eve"
        async with (
            working(config, Guarded(steps=2, asks_person=True), tmp_path),
            Worker(
                client, task_queue=mine, workflows=[Stranger], workflow_runner=UnsandboxedWorkflowRunner()
            ),
        ):
            await begin(client, config, files)
            await until(lambda: read_state(files).status == "blocked")
            queue, before = read_engine(files).host, keys(files)
            for number, (family, said) in enumerate((("hear", ABORT), ("act", None), ("hear", None))):
                order = vars_of(Order(files.task_id, str(tmp_path), __version__, "work/1/1/act", said))
                with pytest.raises(WorkflowFailureError) as refused:
                    await client.execute_workflow(
                        Stranger.run, args=[family, order, queue], id=f"{mine}-{number}", task_queue=mine
                    )
                cause: Any = refused.value.cause
                assert isinstance(cause.cause, ApplicationError)
                assert "does not carry the task's token" in cause.cause.message
            assert keys(files) == before

    asyncio.run(run())


def vars_of(order: Order) -> dict[str, Any]:
    return {name: getattr(order, name) for name in order.__slots__}


def test_the_key_is_private_and_one_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    own = Home(tmp_path / "own")
    proof = hand_over_proof(own, "/srv/x", "task-1")
    assert proof == hand_over_proof(own, "/srv/x", "task-1") != hand_over_proof(own, "/srv/y", "task-1")
    assert token_file(own).stat().st_mode & 0o777 == 0o600
    token_file(own).chmod(0o640)
    with pytest.raises(UsageError, match="others on this machine can read it"):
        hand_over_proof(own, "/srv/x", "task-1")
    token_file(own).chmod(0o600)
    token_file(own).write_text("x" * 64, encoding="ascii")
    with pytest.raises(UsageError, match="it holds no key"):
        hand_over_proof(own, "/srv/x", "task-1")


def test_what_a_worker_tells_the_server_of_a_failure_has_no_secret_in_it() -> None:
    for error in (
        UsageError(f"It said {TOKENS['stripe']}.", f"Use {TOKENS['stripe']}."),
        ValueError(TOKENS["stripe"]),
    ):
        told = _failure(error)
        assert isinstance(told, ApplicationError)
        assert TOKENS["stripe"] not in f"{told.message} {told.details}"
        assert "[REDACTED:" in told.message
