"""The engine with real rules and a real server, in one process: what a task goes through on its way."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from agentforge import __version__
from agentforge.core.effects import Act, Ask, Effect
from agentforge.core.errors import Unusable
from agentforge.core.inputs import Abort, Outcome, Parked, Resolution
from agentforge.engines.temporal import answers
from agentforge.engines.temporal import client as client_side
from agentforge.engines.temporal import look as looking
from agentforge.engines.temporal.activities import Host, OpenTasks
from agentforge.engines.temporal.client import Connection
from agentforge.engines.temporal.config import Config
from agentforge.engines.temporal.look import Look
from agentforge.engines.temporal.worker import Seats
from agentforge.engines.temporal.workflow import MessageReply, Order, Task, TaskWorkflow
from agentforge.store.layout import Home, TaskFiles
from agentforge.store.site import home_path
from agentforge.store.task import inbox
from agentforge.store.task.engine import Driven, write_engine
from agentforge.store.user.task_tokens import signed_message
from tests.core.broken import broken_rule
from tests.temporal.light import Light, LightSession, driven_locally, found_task, keys, read_state
from tests.temporal.parent import Parent
from tests.temporal.working import begin, connect, until, working

pytestmark = pytest.mark.slow


def order_for(files: TaskFiles, key: str = "") -> Order:
    return Order(files.task_id, str(files.root.parents[2]), __version__, key)


@pytest.mark.parametrize(
    ("scene", "line"),
    [
        (Light(steps=3), "work/1/3/act"),
        (Light(steps=3, troubles=1), "work/1/1/pause/1"),
        (Light(steps=2, asks_person=True), "inbox/ESC-001"),
    ],
    ids=["plain", "trouble", "question"],
)
def test_both_engines_record_the_same_lines(config: Config, tmp_path: Path, scene: Light, line: str) -> None:
    files = found_task(tmp_path / "a")

    async def run() -> dict[str, object]:
        client = await connect(config)
        async with working(config, scene, tmp_path):
            handle = await begin(client, config, files)
            if scene.asks_person:
                await until(lambda: read_state(files).status == "blocked")
                inbox.send(files, Resolution("ESC-001", "this", "ada"), "ESC-001")
                assert (
                    await handle.execute_update("tell", {"kind": "look"}, result_type=MessageReply)
                ).accepted
            found: dict[str, object] = await handle.result()
        return found

    found = asyncio.run(run())
    assert (found["status"], found["goal"], found["owed"], found["flying"]) == (
        "completed",
        "implement",
        [],
        [],
    )
    assert keys(files) == driven_locally(tmp_path / "b", scene)
    assert line in keys(files)


def test_a_call_that_waits_in_a_batch_is_a_timer_and_then_another_look(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, looks = found_task(tmp_path), list[str]()
    monkeypatch.setattr(answers, "BATCH_LOOK_S", 1)

    def meddle(effect: Effect) -> Outcome | None:
        if isinstance(effect, Ask):
            looks.append(effect.key)
        return Parked() if isinstance(effect, Ask) and len(looks) == 1 else None

    async def run() -> None:
        client = await connect(config)
        async with working(config, Light(meddle=meddle), tmp_path):
            assert (await (await begin(client, config, files)).result())["status"] == "completed"

    asyncio.run(run())
    assert looks == ["work/1/1/ask/0"] * 2
    assert keys(files).count("work/1/1/ask/0") == 1


def test_a_person_is_answered_at_once_and_the_first_answer_counts(config: Config, tmp_path: Path) -> None:
    files = found_task(tmp_path)
    resolution = {
        "kind": "resolution",
        "id": "ESC-001",
        "escalation": "ESC-001",
        "answer": "this",
        "by": "ada",
    }

    def mine(**said: str) -> dict[str, str]:
        return signed_message(Home(home_path()), str(tmp_path), files.task_id, {**resolution, **said})

    async def run() -> None:
        client = await connect(config)
        async with working(config, Light(steps=2, asks_person=True), tmp_path):
            handle = await begin(client, config, files)
            await until_async(partial(_stands_at, handle, ("blocked", "ESC-001", [])))
            with pytest.raises(WorkflowUpdateFailedError):
                await handle.execute_update("tell", {"kind": "shout"}, result_type=MessageReply)
            wrong = mine(id="ESC-009", escalation="ESC-009")
            told = await handle.execute_update("tell", wrong, result_type=MessageReply)
            assert not told.accepted
            assert "ESC-009" in told.sentence
            assert (await handle.execute_update("tell", mine(), result_type=MessageReply)).accepted
            late = await handle.execute_update("tell", mine(answer="that"), result_type=MessageReply)
            assert not late.accepted
            assert (await handle.result())["status"] == "completed"

    asyncio.run(run())
    assert read_state(files).escalations[0].answer == "this"


def test_an_effect_that_is_owed_again_after_its_outcome_halts_here_too(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, scene = found_task(tmp_path), Light(steps=1)

    async def run() -> None:
        client = await connect(config)
        async with working(config, scene, tmp_path):
            with broken_rule(monkeypatch):
                handle = await begin(client, config, files)
                await until(lambda: read_state(files).status == "blocked")
            inbox.send(files, Resolution("ESC-001", "retry", "ada"), "ESC-001")
            assert (await handle.execute_update("tell", {"kind": "look"}, result_type=MessageReply)).accepted
            assert (await handle.result())["status"] == "completed"

    asyncio.run(run())
    asked = read_state(files).escalations[0]
    assert (asked.kind, "work/1/1/assemble is owed again" in asked.question.text) == ("confused", True)
    assert scene.performed.count("work/1/1/assemble") == 1


def test_an_abort_ends_a_task_while_an_effect_runs(config: Config, tmp_path: Path) -> None:
    files = found_task(tmp_path)
    started, go_on = threading.Event(), threading.Event()

    def meddle(effect: Effect) -> Outcome | None:
        if isinstance(effect, Act):
            started.set()
            assert go_on.wait(120)
        return None

    async def run() -> None:
        client = await connect(config)
        async with working(config, Light(meddle=meddle), tmp_path):
            handle = await begin(client, config, files)
            await until(started.is_set)
            inbox.send(files, Abort("ada", "enough"), "abort-1")
            assert (
                await handle.execute_update("tell", {"kind": "look"}, result_type=MessageReply)
            ).status == "cancelled"
            go_on.set()
            assert (await handle.result())["status"] == "cancelled"

    asyncio.run(run())
    assert len(set(keys(files))) == len(keys(files))


def test_a_workflow_that_is_cancelled_calls_its_effects_off_and_records_nothing_of_them(
    config: Config, tmp_path: Path
) -> None:
    files = found_task(tmp_path)
    started, go_on = threading.Event(), threading.Event()

    def meddle(effect: Effect) -> Outcome | None:
        if isinstance(effect, Act):
            started.set()
            assert go_on.wait(120)
        return None

    async def run() -> None:
        client = await connect(config)
        async with working(config, Light(meddle=meddle), tmp_path):
            handle = await begin(client, config, files)
            await until(started.is_set)
            await handle.cancel()
            asyncio.get_running_loop().call_later(
                1.5, go_on.set
            )  # as the killed child of a real effect would
            with pytest.raises(WorkflowFailureError) as caught:
                await handle.result()
            assert isinstance(caught.value.cause, CancelledError)

    asyncio.run(run())
    assert keys(files)[-1] == "work/1/1/ask/0"
    assert read_state(files).status == "running"


def test_a_world_that_fails_for_good_ends_the_workflow_with_its_sentence_and_another_one_goes_on(
    config: Config, tmp_path: Path
) -> None:
    files = found_task(tmp_path)
    tries: list[str] = []

    def meddle(effect: Effect) -> Outcome | None:
        if isinstance(effect, Act) and len(tries) < 3:
            tries.append(effect.key)
            raise Unusable("The disk is full.", "Make room.")
        return None

    async def run() -> None:
        client = await connect(config)
        async with working(config, Light(meddle=meddle), tmp_path):
            with pytest.raises(WorkflowFailureError) as caught:
                await (await begin(client, config, files)).result()
            cause = caught.value.cause
            assert isinstance(cause, ApplicationError)
            assert (cause.message, cause.details[0], cause.type) == (
                "The disk is full.",
                "Make room.",
                "Unusable",
            )
            again = await begin(client, config, files)
            assert (await again.result())["status"] == "completed"

    asyncio.run(run())
    assert len(tries) == 3
    assert len(set(keys(files))) == len(keys(files))


def test_a_task_can_be_the_child_of_another_workflow(config: Config, tmp_path: Path) -> None:
    files = found_task(tmp_path)

    async def run() -> None:
        client = await connect(config)
        async with (
            working(config, Light(), tmp_path),
            Worker(client, task_queue=f"{config.queue}-parent", workflows=[Parent, TaskWorkflow]),
        ):
            task = Task(files.task_id, str(tmp_path), __version__)
            found = await client.execute_workflow(
                Parent.run,
                args=[task, config.queue],
                id=f"{config.queue}-parent",
                task_queue=f"{config.queue}-parent",
            )
            assert found["status"] == "completed"

    asyncio.run(run())


def test_an_old_worker_leaves_a_newer_task_to_others_and_says_so(config: Config, tmp_path: Path) -> None:
    files = found_task(tmp_path)

    async def run() -> None:
        client = await connect(config)
        async with working(config, Light(), tmp_path, version="0.0.9"):
            handle = await begin(client, config, files)
            await until_async(lambda: _has_trouble(handle, "0.0.9"))
            assert "Upgrade it" in (await asyncio.to_thread(_looked_at, config, handle.id)).troubles[0]
        async with working(config, Light(), tmp_path):
            assert (await handle.result())["status"] == "completed"

    asyncio.run(run())


def test_a_word_to_a_workflow_that_no_worker_serves_ends_in_no_answer(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = found_task(tmp_path)
    monkeypatch.setattr(client_side, "TELL_S", 1)
    handle = asyncio.run(_begun(config, files))
    with Connection(config) as line:
        assert line.look(handle).found == "running"
        assert line.pollers(config.queue) == 0
        assert line.tell(handle, {"kind": "look"}) is None


def test_a_task_that_no_worker_sees_is_said_to_be_nowhere(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = found_task(tmp_path / "a")
    monkeypatch.setattr(looking, "NOWHERE", 2)

    async def run() -> None:
        async with working(config, Light(blind=True), tmp_path / "one"):
            name = await _begun(config, files)

            async def told() -> bool:
                return any(
                    "that has this repository" in each
                    for each in (await asyncio.to_thread(_looked_at, config, name)).troubles
                )

            await until_async(told)

    asyncio.run(run())


def test_a_host_without_the_task_leaves_it_to_one_that_has_it(config: Config, tmp_path: Path) -> None:
    files = found_task(tmp_path / "a")

    async def run() -> None:
        client = await connect(config)
        async with working(config, Light(blind=True), tmp_path / "one"):
            handle = await begin(client, config, files)
            await asyncio.sleep(0.5)
            async with working(config, Light(), tmp_path / "two"):
                assert (await handle.result())["status"] == "completed"

    asyncio.run(run())


def test_a_silent_host_is_host_lost_until_a_worker_sits_there_again(config: Config, tmp_path: Path) -> None:
    files = found_task(tmp_path / "a")
    mine = Seats(tmp_path / "home", config.queue).name(0)
    write_engine(files, Driven("temporal", mine))

    async def run() -> None:
        client = await connect(config)
        async with working(config, Light(), tmp_path / "other"):
            handle = await begin(client, config, files)
            await until_async(lambda: _is_lost(handle))
            shown = (await handle.describe()).typed_search_attributes.get(
                SearchAttributeKey.for_keyword("AgentForgeStatus")
            )
            assert shown == "host_lost"
            assert keys(files) == ["create"]
            async with working(config, Light(), tmp_path / "home"):
                found = await handle.result()
            assert (found["status"], found["host"]) == ("completed", mine)

    asyncio.run(run())


def test_a_second_attempt_joins_the_first_and_a_late_one_finds_its_key(tmp_path: Path) -> None:
    files = found_task(tmp_path)
    started, go_on = threading.Event(), threading.Event()

    def meddle(effect: Effect) -> Outcome | None:
        started.set()
        assert go_on.wait(120)
        return None

    async def run() -> None:
        host = Light(meddle=meddle)
        open_tasks = OpenTasks(host, Host("here", __version__))
        prepare = _named(open_tasks, "prepare")
        first = asyncio.create_task(ActivityEnvironment().run(prepare, order_for(files, "prepare/1")))
        await until(started.is_set)
        second = asyncio.create_task(ActivityEnvironment().run(prepare, order_for(files, "prepare/1")))
        await asyncio.sleep(0.1)
        go_on.set()
        one, two = await first, await second
        late = await ActivityEnvironment().run(prepare, order_for(files, "prepare/1"))
        assert one == two == late
        assert host.performed == ["prepare/1"]
        assert (host.opened, [owed.key for owed in late.owed]) == (1, ["work/1/1/assemble"])
        await open_tasks.clear()

    asyncio.run(run())
    assert keys(files) == ["create", "prepare/1"]


def test_an_attempt_waits_while_another_process_has_the_task(tmp_path: Path) -> None:
    files = found_task(tmp_path)

    async def run() -> None:
        beats: list[object] = []
        host = Light()
        other = LightSession(host, files)
        open_tasks = OpenTasks(host, Host("here", __version__))
        environment = ActivityEnvironment()
        environment.on_heartbeat = lambda *details: beats.extend(details)
        prepare = _named(open_tasks, "prepare")
        flight = asyncio.create_task(environment.run(prepare, order_for(files, "prepare/1")))
        await until(lambda: any("Another driver works on" in str(beat) for beat in beats))
        assert not host.performed
        other.close()
        assert (await flight).length == 2
        await open_tasks.clear()

    asyncio.run(run())


async def until_async(condition: Callable[[], Awaitable[bool]], seconds: float = 30) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not await condition():
        assert loop.time() < deadline, "it did not happen in time"
        await asyncio.sleep(0.1)


async def _begun(config: Config, files: TaskFiles) -> str:
    return (await begin(await connect(config), config, files)).id


def _looked_at(config: Config, name: str) -> Look:
    with Connection(config) as line:
        return line.look(name)


async def _stands_at(handle: WorkflowHandle[Any, Any], wanted: tuple[str, str, list[str]]) -> bool:
    """The workflow hears of what is on record a moment later than the journal."""
    state = await handle.query("state")
    return (state["status"], state["waits"], state["flying"]) == wanted


async def _has_trouble(handle: WorkflowHandle[Any, Any], word: str) -> bool:
    found = await handle.describe()
    return any(word in pending.last_failure.message for pending in found.raw_description.pending_activities)


async def _is_lost(handle: WorkflowHandle[Any, Any]) -> bool:
    found = await handle.query("state")
    return bool(found["status"] == "host_lost")


def _named(open_tasks: OpenTasks, name: str) -> Callable[..., Any]:
    return next(
        each for each in open_tasks.all() if getattr(each, "__temporal_activity_definition").name == name
    )  # mangled else
