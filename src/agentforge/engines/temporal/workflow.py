"""The workflow: a dispatcher. It holds no rule and imports nothing of ours, so that no change of rules can
break one that runs.

`begin` on the shared queue answers with the queue of the host that has the task, and with what is owed. From
then on every effect is one activity on that queue, named by its family; what it answers is owed next.
Arguments are references, never contents.
"""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, TypeAlias

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    TimeoutError,  # noqa: A004
    TimeoutType,
    is_cancelled_exception,
)

NAME = "AgentForgeTask"
IN_FLIGHT = 4
LONGEST_HISTORY = 8_000
"""Events, after which a run hands over to a fresh one; the server would refuse at some fifty thousand, and is
slow long before.
"""
ATTRIBUTES = ("AgentForgeRepository", "AgentForgeGoal", "AgentForgeStage", "AgentForgeStatus")
LONGEST_ATTRIBUTE = 200
HOST_LOST = "host_lost"
KINDS = ("look", "resolution", "resume", "abort")
LONGEST_MESSAGE = 100_000

Json: TypeAlias = Any  # what the converter gives


@dataclass(frozen=True, slots=True)
class Timing:
    """How long an activity may take, how soon its silence is noticed, and how its tries are spaced; in
    seconds.
    """

    limit: int
    heartbeat: float = 20
    first: float = 1
    longest: float = 30

    @property
    def retry(self) -> RetryPolicy:
        """Tries without end: a worker that died is no fault of the effect. The activity itself says which
        failures are final.
        """
        return RetryPolicy(
            initial_interval=timedelta(seconds=self.first), maximum_interval=timedelta(seconds=self.longest)
        )

    def hurried(self, heartbeat: float) -> "Timing":
        """Noticed so soon, and tried again no later; as the table says, if 0."""
        return (
            Timing(self.limit, heartbeat, min(self.first, heartbeat), min(self.longest, heartbeat))
            if heartbeat
            else self
        )


MINUTE, HOUR = 60, 3600
USUAL = Timing(4 * HOUR)
TIMINGS = {
    "begin": Timing(10 * MINUTE, longest=5),
    "hear": Timing(MINUTE, longest=5),
    "elapsed": Timing(10 * MINUTE, longest=5),
    "prepare": Timing(HOUR),
    "baseline": Timing(4 * HOUR, longest=60),
    "assemble": Timing(HOUR, longest=10),
    "ask": Timing(4 * HOUR, first=2, longest=60),
    "act": Timing(4 * HOUR),
    "check": Timing(4 * HOUR),
    "judge": Timing(8 * HOUR),
    "commit": Timing(HOUR, longest=10),
    "deliver": Timing(8 * HOUR),
}
"""By family. One that a newer worker names gets `USUAL`."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a workflow is started with; also as the child of another workflow."""

    task_id: str
    repository: str
    """The path of the checkout, on the host that has it."""
    version: str
    """Of the program that asked for it. A worker that is older refuses."""
    host_silence_s: int = 600
    heartbeat_s: float = 0
    """Instead of the table's, if not 0; tries are no farther apart."""
    longest_history: int = LONGEST_HISTORY
    queue: str = ""
    """Of the host that has the task, once that is known."""
    runs: int = 0
    """How often it was handed over to a fresh run."""
    proof: str = ""
    """By which a worker knows that its own user handed the task over."""


@dataclass(frozen=True, slots=True)
class Order:
    """What an activity is told: whose effect, by its key."""

    task_id: str
    repository: str
    version: str
    key: str = ""
    said: dict[str, Json] | None = None
    """For `hear`: a person's message, or nothing but a hint to look into the inbox."""
    proof: str = ""
    """As the workflow was started with it."""


@dataclass(frozen=True, slots=True)
class Owed:
    """One effect that the world owes the task."""

    key: str
    family: str
    uses: str = "nothing"
    seconds: int = 0
    """To wait before it is done."""


@dataclass(frozen=True, slots=True)
class ActivityReport:
    """What an activity returns: what is owed now, and in short the state of the task."""

    length: int
    """Of the journal that this was read from. The longest is the newest."""
    owed: list[Owed] = field(default_factory=list)
    status: str = ""
    stage: str = ""
    goal: str = ""
    waits: str = ""
    """The question that a person owes an answer to."""
    over: bool = False
    queue: str = ""
    """For `begin`: of the host that has the task. If that is another one, it has to be asked, and `length` is
    -1.
    """
    attributes: bool = False
    """For `begin`: whether the server knows our search attributes."""
    refused: str = ""
    """For `hear`: why the message was not taken."""


@dataclass(frozen=True, slots=True)
class MessageReply:
    """What a person is told about the message that they sent."""

    accepted: bool
    sentence: str = ""
    status: str = ""


@workflow.defn(name=NAME)
class TaskWorkflow:
    """The workflow of one task: hands out what is owed until the task is over."""

    @workflow.init
    def __init__(self, task: Task) -> None:
        self._task = task
        self._queue = task.queue
        self._attributes = False
        self._newest = ActivityReport(-1)
        self._flying: dict[str, asyncio.Task[None]] = {}
        self._uses: dict[str, str] = {}
        self._pausing: set[str] = set()
        self._trouble: BaseException | None = None
        self._lost = False
        self._shown: tuple[str, ...] = ()
        self._turn = 0

    @workflow.run
    async def run(self, task: Task) -> dict[str, Json]:
        """Hands out what is owed until nothing is, or the world fails; then says where the task stands."""
        try:
            await self._hand_out(task)
        except (
            asyncio.CancelledError
        ):  # and no `finally`: a workflow that is put out of memory can await nothing
            await self._end_flights()
            raise
        await self._end_flights()
        if self._trouble is not None and not self._newest.over:
            raise _final(self._trouble)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self.state()

    @workflow.query
    def state(self) -> dict[str, Json]:
        """Where the task stands, as far as a dispatcher knows it."""
        newest = self._newest
        return {
            "task_id": self._task.task_id,
            "status": HOST_LOST if self._lost else newest.status,
            "stage": newest.stage,
            "goal": newest.goal,
            "waits": newest.waits,
            "host": self._queue,
            "lines": newest.length,
            "owed": [each.key for each in newest.owed],
            "flying": sorted(self._flying),
            "runs": self._task.runs,
        }

    @workflow.update
    async def tell(self, said: dict[str, Json]) -> MessageReply:
        """A person's message, put on record by the host; or only `look`: something lies in the inbox."""
        await workflow.wait_condition(lambda: bool(self._newest.status))
        try:
            answer = await self._do("hear", "", said=said, patience=timedelta(seconds=60))
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return MessageReply(accepted=False, sentence=_sentence(error), status=self._newest.status)
        self._take(answer)
        return MessageReply(accepted=not answer.refused, sentence=answer.refused, status=answer.status)

    @tell.validator
    def check_tell(self, said: dict[str, Json]) -> None:
        """The shape; whether it makes sense is for the rules."""
        if said.get("kind") not in KINDS:
            raise ValueError(f"`kind` is one of {', '.join(KINDS)}")
        if (
            not all(isinstance(value, str) for value in said.values())
            or sum(map(len, said.values())) > LONGEST_MESSAGE
        ):
            raise ValueError(
                f"a message is short texts by name, together at most {LONGEST_MESSAGE} characters"
            )
        if said["kind"] != "look" and not said.get("id"):
            raise ValueError("a message has an `id`; the first one of a name counts")

    async def _hand_out(self, task: Task) -> None:
        await self._open()
        while self._goes_on():
            if self._is_long() and not self._flying:
                await workflow.wait_condition(workflow.all_handlers_finished)
                workflow.continue_as_new(replace(task, queue=self._queue, runs=task.runs + 1))
            if not self._is_long():
                self._start()
            turn = self._turn
            # awaited before it changes
            await workflow.wait_condition(lambda: self._turn != turn)  # noqa: B023

    async def _open(self) -> None:
        try:
            self._take(await self._begin())
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            self._trouble = error

    def _goes_on(self) -> bool:
        if self._trouble is not None:
            return False
        return bool(self._flying) or (bool(self._newest.owed) and not self._newest.over)

    def _is_long(self) -> bool:
        info = workflow.info()
        return (
            info.is_continue_as_new_suggested()
            or info.get_current_history_length() > self._task.longest_history
        )

    def _start(self) -> None:
        """Starts what may start beside what flies: bounded, and one user of the worktree at a time."""
        busy = "worktree" in self._uses.values()
        for owed in self._newest.owed:
            wants = owed.uses == "worktree"
            if (
                (owed.family == "await" and not owed.seconds)
                or owed.key in self._flying
                or len(self._flying) >= IN_FLIGHT
                or (wants and busy)
            ):
                continue
            busy = busy or wants
            self._uses[owed.key] = owed.uses
            self._flying[owed.key] = asyncio.create_task(self._perform(owed))

    async def _perform(self, owed: Owed) -> None:
        try:
            if owed.seconds:
                self._pausing.add(owed.key)
                await workflow.sleep(owed.seconds)
                self._pausing.discard(owed.key)
            answer = await self._do(owed.family, owed.key)
        except asyncio.CancelledError:
            pass  # withdrawn, or the workflow ends
        except ActivityError as error:
            if not is_cancelled_exception(error):
                self._trouble = self._trouble or error
        else:
            self._take(answer, owed.key)
        finally:
            self._pausing.discard(owed.key)
            self._uses.pop(owed.key, None)
            self._flying.pop(owed.key, None)
            self._turn += 1

    async def _do(
        self, family: str, key: str, *, said: dict[str, Json] | None = None, patience: timedelta | None = None
    ) -> ActivityReport:
        """One activity on the host's queue. If the host is silent, the answer is that of its first sign of
        life.
        """
        try:
            return await self._activity(
                family,
                self._order(key, said),
                patience,
            )
        except ActivityError as error:
            if patience is not None or not _is_silence(error):
                raise
        self._lose()
        return await self._begin()

    def _order(self, key: str = "", said: dict[str, Json] | None = None) -> Order:
        task = self._task
        return Order(task.task_id, task.repository, task.version, key, said, task.proof)

    async def _begin(self) -> ActivityReport:
        """Where the task is, and what is owed there. Waits for its host as long as it takes."""
        order = self._order()
        while True:
            try:
                answer = await self._activity("begin", order, None)
            except ActivityError as error:
                if not _is_silence(error):
                    raise
                self._lose()
                continue
            self._queue, self._attributes, self._lost = answer.queue, answer.attributes, False
            if answer.length >= 0:
                return answer

    async def _activity(self, family: str, order: Order, patience: timedelta | None) -> ActivityReport:
        timing = TIMINGS.get(family, USUAL).hurried(self._task.heartbeat_s)
        answer: ActivityReport = await workflow.execute_activity(
            family,
            order,
            result_type=ActivityReport,
            task_queue=self._queue or workflow.info().task_queue,
            start_to_close_timeout=timedelta(seconds=timing.limit),
            heartbeat_timeout=timedelta(seconds=timing.heartbeat),
            schedule_to_start_timeout=timedelta(seconds=self._task.host_silence_s)
            if patience is None
            else None,
            schedule_to_close_timeout=patience,
            retry_policy=timing.retry,
            # A flight that is called off has ended its processes before we go on.
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        )
        return answer

    def _take(self, answer: ActivityReport, key: str = "") -> None:
        """The longest journal speaks. A shorter one does only if nobody else could know better: the task was
        restored from its ref.
        """
        others = set(self._flying) - {key}
        if answer.length >= self._newest.length or not others:
            self._newest = answer
        still = {each.key for each in self._newest.owed}
        for gone in self._pausing - still:
            self._flying[gone].cancel()
        self._turn += 1
        self._show()

    def _lose(self) -> None:
        self._lost = True
        self._show()

    def _show(self) -> None:
        """Search attributes, where the server has them and they changed: each upsert is an event."""
        newest = self._newest
        now = (
            self._task.repository[-LONGEST_ATTRIBUTE:],
            newest.goal,
            newest.stage,
            HOST_LOST if self._lost else newest.status,
        )
        if self._attributes and now != self._shown:
            self._shown = now
            keys = map(SearchAttributeKey.for_keyword, ATTRIBUTES)
            workflow.upsert_search_attributes(
                [key.value_set(value) for key, value in zip(keys, now, strict=True)]
            )

    async def _end_flights(self) -> None:
        flights = list(self._flying.values())
        for flight in flights:
            flight.cancel()
        if flights:
            await asyncio.wait(flights)


def _is_silence(error: ActivityError) -> bool:
    """Whether nobody took the activity from the host's queue in time."""
    return isinstance(error.cause, TimeoutError) and error.cause.type == TimeoutType.SCHEDULE_TO_START


def _final(error: BaseException) -> ApplicationError:
    """The failure of an activity, as that of the workflow: its sentence, the next step and the exit code."""
    cause = error.cause if isinstance(error, ActivityError) else None
    if isinstance(cause, ApplicationError):
        return ApplicationError(cause.message, *cause.details, type=cause.type, non_retryable=True)
    return ApplicationError(_sentence(error), type="Unusable", non_retryable=True)


def _sentence(error: BaseException) -> str:
    cause = error.cause if isinstance(error, ActivityError) and error.cause is not None else error
    if isinstance(cause, TimeoutError):
        return "The worker that has the task did not answer in time."
    return cause.message if isinstance(cause, ApplicationError) else str(cause)
