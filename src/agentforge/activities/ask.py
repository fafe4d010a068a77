"""`Ask`: one model call. The intent is on record before the bytes leave, the reply on disk before its outcome is."""

from collections.abc import Sequence

from agentforge.activities.assemble import bridge_of
from agentforge.activities.world import World
from agentforge.core.effects import Ask
from agentforge.core.inputs import Answered, AskStarted, AskTrouble
from agentforge.core.pending import worst_case
from agentforge.core.reply import Json, Reply, reply_to_json
from agentforge.core.state import State
from agentforge.core.values import Amount
from agentforge.models.base import Answer, Block, ModelTrouble, Request, ToolSpec
from agentforge.system.canon import digest_value
from agentforge.system.redact import redact

HELD_BACK = (
    "Your reply held what looks like a secret, so none of it was used. Write no keys, tokens or passwords; "
    "let the code read them from its environment, and use an obvious dummy in tests."
)

WITHDRAWN = AskTrouble("unreachable", "The call was not sent: something else came first.", retryable=True, maybe_billed=False)
"""Since this effect was owed, a person ended the task, or another reviewer asked a person. Nothing has left, nothing is owed for it."""


def ask_model(world: World, effect: Ask, state: State) -> Answered | AskTrouble:
    """Sends the assembled context once."""
    request = _request(world, effect, state)
    reserved = worst_case(state, state.stage)
    owed = world.record(f"{effect.key}/sent", AskStarted(_hash(request, state), world.model.name, reserved))
    if all(item.key != effect.key for item in owed):
        return WITHDRAWN
    try:
        answer = world.model.ask(request)
    except ModelTrouble as trouble:
        return AskTrouble(trouble.kind, trouble.user_sentence, trouble.retryable, trouble.maybe_billed)
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
    return Answered(
        ref,
        usage,
        Amount(1, usage.input_tokens + usage.output_tokens, answer.micro_usd or 0),
        len(reply.actions) if reply else 0,
        answer.micro_usd is not None,
        reply.signal if reply else None,
        mistake[:2000],
        reply.summary[:500] if reply else "",
    )


def _request(world: World, effect: Ask, state: State) -> Request:
    run = state.run
    assert run is not None
    blocks: Sequence[tuple[str, str]] = world.once("context", run.context, make=lambda: world.pack.get_blocks(run.context))
    system = next((text for name, text in blocks if name == "system"), "")
    tools = tuple(ToolSpec(spec.name, spec.description, spec.schema) for spec in bridge_of(world, state).specs())
    rest = tuple(Block(name, text) for name, text in blocks if name != "system")
    return Request(effect.key, run.label, system, rest, tools, state.stage.max_output_tokens, effect.ordinal, state.stage.tier)


def _hash(request: Request, state: State) -> str:
    """Names all that is sent: the context by the hash that it has in the pack, which holds every block of it."""
    assert state.run is not None
    tools: list[Json] = [tool.name for tool in request.tools]
    return digest_value({"context": state.run.context, "tools": tools, "max_output_tokens": request.max_output_tokens})


def _usable(answer: Answer) -> tuple[Reply | None, str]:
    """The reply as it may be acted on, with what the model must be told. A secret in an action spoils the whole reply."""
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
