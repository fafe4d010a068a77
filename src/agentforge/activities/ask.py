"""`Ask`: one model call. The intent is on record before the bytes leave, the reply on disk before its outcome
is.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from agentforge.activities.ask_batch import ask_by_batch, delivery_of, flight_of, why_live
from agentforge.activities.assemble import offered_tools
from agentforge.activities.reading import reads_change
from agentforge.activities.world import World
from agentforge.context.blocks import LASTING, kind_of
from agentforge.core.digests import RequestDigest
from agentforge.core.effects import Ask
from agentforge.core.inputs import Answered, AskLate, AskStarted, AskTrouble, Parked
from agentforge.core.pending import worst_case
from agentforge.core.reply import Json, Reply, reply_to_json
from agentforge.core.state import RunView
from agentforge.core.values import Amount, Delivery, ReplyDigest
from agentforge.models.base import Answer, Block, ModelTrouble, Request
from agentforge.models.router import Picked
from agentforge.store.task.calls import ModelCall
from agentforge.system.canon import digest_value
from agentforge.system.secrets.redact import redact

HELD_BACK = (
    "Your reply held what looks like a secret, so none of it was used. Write no keys, tokens or passwords; "
    "let the code read them from its environment, and use an obvious dummy in tests."
)

MARKED_UNSEEN = 2
"""So many steps into a stage nobody can know whether a cache finds what a batch has marked."""
USUAL_CONTEXT = 16_000
"""The largest context of those who do not review."""

WITHDRAWN = AskTrouble(
    "unreachable", "The call was not sent: something else came first.", retryable=True, maybe_billed=False
)
"""Since this effect was owed, a person ended the task, or another reviewer asked a person. Nothing has left,
nothing is owed for it.
"""


def ask_model(world: World, effect: Ask, state: RunView) -> Answered | AskTrouble | AskLate | Parked:
    """Sends the assembled context once, or collects what an earlier driver sent by batch."""
    if (question := world.model_question()) is not None:
        options, advice = ("allow", "abort"), question.advice
        return AskTrouble(
            "consent", question.text, retryable=False, maybe_billed=False, options=options, advice=advice
        )
    request = _request(world, effect, state)
    if (flight := flight_of(state, effect)) is not None:
        known = world.reservations.call(state, effect.key, flight.model, flight.reserved)
        return _sent(
            world,
            effect,
            state,
            request,
            _Sending(world.models.named(flight.model, state.tier), known, "batch"),
        )
    try:
        picked = world.models.pick(request, _shown(state))
    except ModelTrouble as trouble:
        return _trouble(world, trouble)
    # Before the intent is on record: a call that is lost from there on may have left this machine.
    world.models.load(picked.spec)
    reserved, priced = _reserved(picked, request, state)
    call = world.reservations.set_aside(state, effect.key, picked.spec, reserved, priced=priced)
    if isinstance(call, AskTrouble):
        return call
    delivery = delivery_of(world.batch_outbox, picked, effect)
    why = " ".join(filter(None, (picked.why, why_live(world.batch_outbox, picked, effect))))
    asked = RequestDigest(_hash(request, state), picked.spec, reserved, picked.tier, why, delivery)
    owed = world.record(f"{effect.key}/sent", AskStarted(asked))
    if all(item.key != effect.key for item in owed):
        world.reservations.give_back(call, maybe_billed=False)
        return WITHDRAWN
    return _sent(world, effect, state, request, _Sending(picked, call, delivery))


class _Sending(NamedTuple):
    """A call that is on record: whom it asks, what is set aside for it, and how it goes."""

    picked: Picked
    call: ModelCall
    delivery: Delivery


def _sent(
    world: World, effect: Ask, state: RunView, request: Request, sending: _Sending
) -> Answered | AskTrouble | AskLate | Parked:
    picked, call, delivery = sending
    try:
        came = (
            picked.model.ask(request)
            if delivery == "live"
            else ask_by_batch(world, effect, state, request, picked)
        )
    except ModelTrouble as trouble:
        world.reservations.give_back(call, maybe_billed=trouble.maybe_billed)
        return _trouble(
            world,
            trouble,
            retryable=trouble.retryable or world.models.another(request, _shown(state), picked.spec),
        )
    match came:
        case Parked():
            return came
        case AskLate(maybe_billed):
            world.reservations.give_back(call, maybe_billed=maybe_billed)
            return came
        case Answer():
            world.reservations.settle(call, came.usage, came.micro_usd, came.delivery)
            return _answered(world, came)


def _shown(state: RunView) -> int:
    """How many tokens a model must be able to read. A reader may be shown much, and mostly is not: a small
    change asks for no more than other steps do.
    """
    return min(state.stage.context_tokens, max(state.run.context_tokens, USUAL_CONTEXT))


def _reserved(picked: Picked, request: Request, state: RunView) -> tuple[Amount, bool]:
    """The most that this very call can cost, and whether its price is known. No less than the task reckoned
    with.
    """
    reckoned = worst_case(state, state.run)
    most = picked.model.worst_case(request, state.stage.context_tokens)
    return Amount(1, max(reckoned.tokens, most.tokens), most.micro_usd or 0), most.micro_usd is not None


def _trouble(world: World, trouble: ModelTrouble, *, retryable: bool | None = None) -> AskTrouble:
    again = trouble.retryable if retryable is None else retryable
    return AskTrouble(
        trouble.kind,
        trouble.user_sentence,
        again,
        trouble.maybe_billed,
        trouble.retry_after_s,
        at=math.ceil(world.now()),  # never a moment before the provider said that it answers again
    )


def _answered(world: World, answer: Answer) -> Answered:
    """The outcome of a reply that came, once the reply is on disk."""
    reply, mistake = _usable(answer)
    value: dict[str, Json] = {
        "text": redact(answer.text)[0],
        "reply": reply_to_json(reply) if reply is not None else None,
        "mistake": mistake,
        "model": answer.model,
        "stop": answer.stop,
    }
    ref = world.pack.put_json(value)
    world.pack.sync()
    usage = answer.usage
    digest = ReplyDigest(
        ref,
        usage,
        Amount(1, usage.input_tokens + usage.output_tokens, answer.micro_usd or 0),
        len(reply.actions) if reply else 0,
        answer.micro_usd is not None,
        reply.signal if reply else None,
        mistake[:2000],
        reply.summary[:500] if reply else "",
        answer.model,
        answer.delivery,
    )
    return Answered(digest)


def _request(world: World, effect: Ask, state: RunView) -> Request:
    run = state.run
    blocks: Sequence[tuple[str, str]] = world.once(
        "context", run.context, make=lambda: world.pack.get_blocks(run.context)
    )
    system = next((text for name, text in blocks if name == "system"), "")
    comes_again = effect.ordinal > 0 or not reads_change(state.stage, run)
    rest = _marked([(name, text) for name, text in blocks if name != "system"], comes_again=comes_again)
    return Request(
        effect.key,
        run.label,
        system,
        rest,
        offered_tools(world, state),
        state.stage.max_output_tokens,
        effect.ordinal,
        state.tier,
        # The first two calls that mark something find nothing yet.
        cache_found=effect.ordinal <= MARKED_UNSEEN or run.reply.usage.cached_tokens > 0,
        turn=state.turn,
    )


def _marked(blocks: Sequence[tuple[str, str]], *, comes_again: bool) -> tuple[Block, ...]:
    """A prompt-cache mark after what stays equal from step to step of a stage, and one after what mostly
    does. What is written to a cache costs more: whoever judges a change mostly does it in one step, and
    nothing is marked then.
    """
    if not comes_again:
        return tuple(Block(name, text) for name, text in blocks)
    stays = [kind_of(name).stays for name, _ in blocks]
    ends = {max((at for at, found in enumerate(stays) if found == how), default=-1) for how in LASTING}
    return tuple(Block(name, text, cache=at in ends) for at, (name, text) in enumerate(blocks))


def _hash(request: Request, state: RunView) -> str:
    """Names all that is sent: the context by the hash that it has in the pack, which holds every block of
    it.
    """
    tools: list[Json] = [tool.name for tool in request.tools]
    return digest_value(
        {"context": state.run.context, "tools": tools, "max_output_tokens": request.max_output_tokens}
    )


def _usable(answer: Answer) -> tuple[Reply | None, str]:
    """The reply as it may be acted on, with what the model must be told. A secret in an action spoils the
    whole reply.
    """
    if answer.reply is None:
        return None, redact(answer.mistake or "The reply was empty.")[0]
    if any(_holds_secret(value) for action in answer.reply.actions for value in action.args.values()):
        return None, HELD_BACK
    cleaned = Reply(
        redact(answer.reply.thought)[0],
        None if answer.reply.notes is None else redact(answer.reply.notes)[0],
        answer.reply.actions,
        answer.reply.signal,
        redact(answer.reply.summary)[0],
    )
    return cleaned, redact(answer.mistake or "")[0]


def _holds_secret(value: Json) -> bool:
    match value:
        case str():
            return redact(value)[1] > 0
        case list():
            return any(_holds_secret(item) for item in value)
        case dict():
            return any(_holds_secret(item) for item in value.values())
        case _:
            return False
