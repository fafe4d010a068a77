"""A world that does anything it may: every outcome of every effect, every word of a person, crashes and late
answers.
"""

import json
from dataclasses import dataclass, field, replace

from agentforge.core.decide import decide
from agentforge.core.dependencies import Dependencies, TaskDependency
from agentforge.core.digests import (
    ActionResults,
    ContextDigest,
    Extension,
    Handover,
    LeavingAction,
    RequestDigest,
    StageResult,
    VerdictDigest,
)
from agentforge.core.effects import (
    Act,
    Ask,
    Assemble,
    Await,
    Check,
    Commit,
    Deliver,
    Depend,
    Effect,
    Judge,
    Pause,
    Prepare,
    TakeBaseline,
)
from agentforge.core.errors import StateInvalid
from agentforge.core.events import (
    AskLost,
    AskPromoted,
    AskSent,
    Discarded,
    Event,
    event_from_json,
    event_to_json,
)
from agentforge.core.evolve import evolve
from agentforge.core.inputs import (
    Abort,
    Acted,
    ActionLeaving,
    Answered,
    AskLate,
    AskStarted,
    AskTrouble,
    Assembled,
    BaselineFailed,
    BaselineReady,
    CheckRan,
    CommitMade,
    DeliveryMade,
    DependenciesReady,
    DependencyLost,
    DriverStarted,
    Elapsed,
    Extend,
    Input,
    Judged,
    Message,
    Outcome,
    Prepared,
    Resolution,
    Resume,
    Revise,
    TroubleKind,
    Unclassified,
)
from agentforge.core.pending import pending, worst_case
from agentforge.core.pipeline import GATE_NAMES, Stage
from agentforge.core.reply import SIGNALS
from agentforge.core.state import State
from agentforge.core.values import (
    ActionDigest,
    Amount,
    ArtifactRef,
    CheckDigest,
    GateStatus,
    OfRun,
    Opened,
    Question,
    Reopening,
    ReplyDigest,
    Usage,
)
from tests.core.scenes import BASELINE, EDIT, FAILED, LATER, MISS, PASSED, handed_in

TROUBLES: tuple[tuple[TroubleKind, bool, bool], ...] = (
    ("auth", False, False),
    ("rate_limit", True, False),
    ("unreachable", True, False),
    ("timeout", True, True),
    ("server", True, True),
    ("bad_request", False, True),
    ("script", False, False),
)
GATE_STATUSES: tuple[GateStatus, ...] = ("failed", "not_run", "blocked", "split", "unread")
GIVEN_UP = Question("May it be given up?", ("allow", "keep them"), about=("tests/a.py::test_a",))
ANSWERS = (
    "retry",
    "go on without",
    "double",
    "x3",
    "²",
    "abort",
    "The second one.",
    "",
    "allow",
    "back to red: it is wrong",
)

DECISIONS = (
    *("approve", "revise: say more", "reject: wrong", "exit", "extend", "once more", "go on", "stop: enough"),
    *("refuse", "revise", "", "Say more about errors.", "abort"),
)
EDITED = (ArtifactRef("specification", "spec", 7, "by hand"),)


def outcomes(effect: Effect, state: State) -> list[Outcome]:  # noqa: C901  # one arm per effect is the point
    """Everything this effect can end in. The first is the one that was hoped for."""
    run = (state.find(effect.run) if isinstance(effect, OfRun) else None) or state.worker
    match effect:
        case Prepare():
            edits = [
                Prepared(f"{state.tree}h", ("kept",), "feedfacefeedface"),
                Prepared(f"{state.tree}h", (), "feedfacefeedface", ("tests/a.py",), ("tests/a.py",)),
            ]
            return [Prepared(state.tree), *(edits if effect.halted else ()), Unclassified("git")]
        case TakeBaseline():
            return [
                BaselineReady(BASELINE),
                BaselineFailed("No way to install it.", "Set `setup:`."),
                Unclassified("uv"),
            ]
        case Depend():
            return [DependenciesReady(), DependencyLost("It failed.", "retry"), Unclassified("index")]
        case Assemble():
            return [Assembled(ContextDigest("context", 700, ("map",))), Unclassified("pack")]
        case Ask():
            return _ask_outcomes(effect, state)
        case Pause():
            return [Elapsed(), Unclassified("clock")]
        case Act():
            assert run is not None
            return _act_outcomes(state, state.stage_of(run))
        case Check():
            return [
                CheckRan(PASSED, "ref"),
                CheckRan(FAILED, "ref"),
                CheckRan(CheckDigest("not_run", "no pytest"), "ref"),
                Unclassified("x"),
            ]
        case Judge():
            wrong = next(gate for gate in GATE_NAMES if gate != effect.gate)
            assert run is not None
            products = state.stage_of(run).products
            finals = tuple(ArtifactRef(item.contract, item.phase, 1, "final") for item in products)
            verdicts = [
                Judged(VerdictDigest(effect.gate, status, ("why",), "ref"), parts=2)
                for status in GATE_STATUSES
            ]
            return [
                Judged(VerdictDigest(effect.gate, "passed", (), "ref", finals)),
                *verdicts,
                Judged(VerdictDigest(effect.gate, "blocked", ("why",), "ref"), tests_wrong=True),
                Judged(VerdictDigest(effect.gate, "failed", ("why",), "ref"), question=GIVEN_UP),
                Judged(VerdictDigest(effect.gate, "failed", (), "ref")),
                Judged(VerdictDigest(wrong, "passed", (), "ref")),
                Unclassified("x"),
            ]
        case Commit():
            return [
                CommitMade(StageResult(state.tree, "commit")),
                CommitMade(
                    StageResult(state.tree, "commit", ("no_ambiguities", "trivial_change")), files=1, lines=9
                ),
                CommitMade(StageResult(state.tree, "commit"), files=9, lines=900),
                CommitMade(
                    StageResult(state.tree, "commit"), dependencies=Dependencies((TaskDependency("task-2"),))
                ),
                Unclassified("git"),
            ]
        case Deliver():
            return [DeliveryMade(Handover("agentforge/task-1", "commit", "evidence")), Unclassified("git")]
        case Await():
            return [Elapsed()]


def _ask_outcomes(effect: Ask, state: State) -> list[Outcome]:
    reserved = next((flight.reserved for flight in state.flights if flight.key == effect.key), Amount())
    batch = any(flight.key == effect.key and flight.delivery == "batch" for flight in state.flights)
    late: list[Outcome] = [AskLate(maybe_billed=True), AskLate(maybe_billed=False)]
    usage = Usage(reserved.tokens, 0, 10)
    bad = "The reply is not JSON."
    new = f"reply to {effect.key}"
    replies = (
        ReplyDigest(new, usage, reserved, 2, signal="success"),
        *(ReplyDigest(new, usage, reserved, 1, signal=signal, summary="so") for signal in SIGNALS),
        ReplyDigest(new, Usage(5, 5), Amount(min(1, reserved.calls), min(10, reserved.tokens)), 1),
        ReplyDigest(new, usage, reserved, 0, priced=False, mistake=bad),
        ReplyDigest(new, usage, reserved, 0),
        ReplyDigest("as before", usage, reserved, 1),
    )
    return [
        *map(Answered, replies),
        *(late if batch else ()),
        *(AskTrouble(kind, kind, retryable=retry, maybe_billed=billed) for kind, retry, billed in TROUBLES),
        AskTrouble("quota", "quota", retryable=False, maybe_billed=False, retry_after_s=60, at=1_900_000_000),
        Unclassified("socket"),
    ]


def _act_outcomes(state: State, stage: Stage) -> list[Outcome]:
    same, edited = state.tree, f"{state.tree}+"[-8:]
    everything = handed_in(stage, same)
    read = ActionDigest("read_file", ok=True, target="a.py")
    return [
        handed_in(stage, edited if stage.checks else same),
        everything,
        Acted(ActionResults("ref", same, everything.done.results, everything.done.artifacts[:1])),
        Acted(ActionResults("ref", same, ())),
        Acted(ActionResults("ref", same, (MISS,))),
        Acted(ActionResults("ref", edited, (EDIT, MISS), created=("new.py",), notes="half done")),
        Acted(ActionResults("ref", edited, (EDIT,), opened=(Opened("a.py", "f", 1, 9),), seen=("a.py@1",))),
        Acted(ActionResults("ref", same, (read,), notes="")),
        Acted(ActionResults("ref", same, ()), question=Question("Which?", ("a", "b"), "a")),
        Acted(ActionResults("ref", same, ()), reopens=Reopening("it cannot be met", ("tests/a.py::test_a",))),
        Unclassified("tool"),
    ]


def messages(state: State) -> list[Message]:
    """What people may say, sense or nonsense."""
    known = [item.id for item in state.escalations][-2:]
    waiting = state.open_escalation
    decides = waiting is not None and waiting.kind in ("iteration", "approval")
    answers = DECISIONS if decides else ANSWERS
    edits = [
        Resolution(identity, choice, "ada", None, EDITED)
        for identity in known
        for choice in ("approve", "revise")
    ]
    line = replace(state.pipeline, stages=(*state.pipeline.stages, LATER))
    return [
        *(Resolution(identity, answer, "ada") for identity in reversed(known) for answer in answers),
        *(edits if decides and waiting is not None and waiting.stage == "spec" else ()),
        *(
            [Extend(Extension(line, "cat1", "ada")), Revise("ada")]
            if decides or state.status == "completed"
            else ()
        ),
        Resolution("ESC-999", "retry", "ada"),
        Resume("ada"),
        Abort("ada", "enough"),
    ]


@dataclass
class World:
    """A task under a journal's rules: a known key is not decided again, a discarded one may be."""

    state: State = field(default_factory=State)
    events: list[Event] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    seen: dict[str, Effect] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    refused: list[StateInvalid] = field(default_factory=list)

    def advance(self, key: str, given: Input) -> tuple[Event, ...]:
        if key in self.known:
            return ()
        try:
            decided = decide(self.state, given, key).events
        except StateInvalid as error:
            assert isinstance(given, Resolution | Resume | Abort | Extend | Revise), given
            self.refused.append(error)
            return ()
        for event in decided:
            assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event
            self.state = evolve(self.state, event)
        self.events += decided
        if decided and not any(isinstance(event, Discarded) for event in decided):
            self.known.add(key)
        self.lost |= {event.key for event in decided if isinstance(event, AskLost | AskPromoted)}
        self.seen |= {effect.key: effect for effect in pending(self.state)}
        return decided

    def perform(self, choice: int) -> tuple[Event, ...]:
        """One owed effect ends, or a call leaves."""
        owed = [effect for effect in pending(self.state) if not isinstance(effect, Await)]
        if not owed:
            return ()
        choice, which = divmod(choice, len(owed))
        effect = owed[which]
        if isinstance(effect, Ask) and not self.flying(effect):
            reserved = worst_case(self.state, self.state.run_of(effect.run))
            sent = AskStarted(
                RequestDigest(
                    "hash",
                    "model",
                    reserved,
                    delivery="batch" if choice % 5 < 2 and not effect.live else "live",
                )
            )
            trouble = AskTrouble("auth", "no key", retryable=False, maybe_billed=False)
            # One call in twelve fails before it leaves.
            return (
                self.advance(effect.key, trouble)
                if choice % 12 == 11
                else self.advance(f"{effect.key}/sent", sent)
            )
        if isinstance(effect, Act) and choice % 9 == 0:
            self.advance(
                f"{effect.key}/left/1", ActionLeaving(LeavingAction(1, "run_command", "make publish"))
            )
        possible = outcomes(effect, self.state)
        # Mostly the world does what was hoped for: else no walk would get far.
        hoped = 3 * len(possible)
        return self.advance(effect.key, possible[max(0, choice % (hoped + len(possible)) - hoped)])

    def arrive_late(self, choice: int) -> tuple[Event, ...]:
        """An outcome of something that was owed once. A lost call has no answer: its process is gone."""
        owed = {effect.key for effect in pending(self.state)}
        stale = [
            effect
            for key, effect in self.seen.items()
            if key not in owed | self.lost and self.state.worker is not None
        ]
        if not stale:
            return ()
        choice, which = divmod(choice, len(stale))
        possible = outcomes(stale[which], self.state)
        return self.advance(stale[which].key, possible[choice % len(possible)])

    def mistake(self, choice: int) -> tuple[Event, ...]:
        """An owed effect answers with the outcome of another one."""
        owed = pending(self.state)
        others = list(self.seen.values())
        if not owed or self.state.worker is None:
            return ()
        choice, which = divmod(choice, len(others))
        possible = [given for given in outcomes(others[which], self.state) if not isinstance(given, Answered)]
        return self.advance(owed[0].key, possible[choice % len(possible)])

    def hear(self, choice: int) -> tuple[Event, ...]:
        possible = messages(self.state)
        return self.advance(f"message/{len(self.events)}/{choice}", possible[choice % len(possible)])

    def crash(self) -> tuple[Event, ...]:
        return self.advance(f"driver/{len(self.events)}", DriverStarted())

    def flying(self, effect: Effect) -> bool:
        return any(flight.key == effect.key for flight in self.state.flights)

    def sent(self) -> int:
        return sum(isinstance(event, AskSent) for event in self.events)
