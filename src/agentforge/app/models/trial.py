"""One tiny real request to a model, and what became of it in one sentence."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from agentforge.app.models.answering import Answering
from agentforge.core.errors import UserError
from agentforge.models.base import Answer, Block, Model, ModelTrouble, OfferedTool, Request, TroubleKind
from agentforge.models.known.providers import SCRIPTED, ReplyFormat
from agentforge.models.known.tiers import split
from agentforge.models.provider_model import ProviderModel, load_library
from agentforge.models.reply.format import POSSIBLE
from agentforge.models.wrap.retry import Attempt, Retrying, Tries
from agentforge.store.layout import Home
from agentforge.store.site import home_path
from agentforge.store.task.calls import ModelCall
from agentforge.store.user.ledger import TRIAL, Ledger
from agentforge.system.git.repository import Git

_READY = OfferedTool(
    "ready",
    "Say that you are ready.",
    {"type": "object", "properties": {"word": {"type": "string", "enum": ["ready"]}}, "required": ["word"]},
)
_REQUEST = Request(
    "models-test",
    "models-test",
    "You are being tried out. Take the action `ready` once, with the word `ready`, and do nothing else.",
    (Block("task", "Take the action `ready`."),),
    (_READY,),
    2000,
)
_TRIES = Tries(most=2, first_s=0.5, longest_s=10)
"""A second try tells a hiccup from a fault; nobody waits a minute for a test."""


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """The result of one small request to a model."""

    model: str
    ok: bool
    sentence: str
    """What went wrong, and what to do; empty if all went well."""
    means: ReplyFormat | None = None
    """How it replied."""
    milliseconds: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    micro_usd: int | None = None
    trouble: TroubleKind | None = None
    """What kind of trouble it was, where a call brought no reply."""


def send_one_call(config: Answering, spec: str) -> ModelTrial:
    """Sends the request once, whatever becomes of it."""
    model = config.open(spec)
    assert isinstance(model, ProviderModel)
    return _attempt(model, lambda _: None, Tries(most=1))


def try_model(config: Answering, spec: str, say: Callable[[str], None]) -> ModelTrial:
    """Sends the request; if the model cannot reply as it is asked to, finds out how it can."""
    if split(spec)[0] == SCRIPTED:
        return ModelTrial(
            spec,
            ok=True,
            sentence="a script: it only answers the stages it was written for, so nothing was sent",
        )
    try:
        model = config.open(spec)
    except UserError as error:
        return ModelTrial(spec, ok=False, sentence=str(error))
    assert isinstance(model, ProviderModel)
    tried = _attempt(model, say)
    if tried.ok or not tried.means or model.provider.reply is not None:
        return tried
    for reply_format in POSSIBLE[model.provider.wire]:
        if reply_format == tried.means:
            continue
        other = _attempt(replace(model, provider=replace(model.provider, reply=reply_format)), say)
        if other.ok:
            way = (
                f"It can reply by {reply_format}: set `providers: {{{model.provider.name}: {{reply: "
                f"{reply_format}}}}}` in your config.yaml."
            )
            return replace(tried, sentence=f"{tried.sentence} {way}")
    return tried


def _attempt(model: ProviderModel, say: Callable[[str], None], tries: Tries = _TRIES) -> ModelTrial:
    """`means` is only set on a failure if another one might do better."""

    def announce(attempt: Attempt) -> None:
        if attempt.trouble is not None and attempt.pause_s is not None:
            say(f"{model.name}: {attempt.trouble.user_sentence} Trying again in {attempt.pause_s:.1f} s.")

    asked: Model = Retrying(model, tries, announce)
    _load(model)
    began = time.monotonic()
    try:
        answer = asked.ask(_REQUEST)
        _book(model.name, answer)
        reply_format = model.reply_format()
    except UserError as error:
        return ModelTrial(model.name, ok=False, sentence=str(error))
    except ModelTrouble as trouble:
        another_format_may_help = trouble.kind == "bad_request"
        return ModelTrial(
            model.name,
            ok=False,
            sentence=trouble.user_sentence,
            means=model.reply_format() if another_format_may_help else None,
            trouble=trouble.kind,
        )
    took = int((time.monotonic() - began) * 1000)
    wrong, otherwise = _wrong(answer)
    if wrong:
        return ModelTrial(model.name, ok=False, sentence=wrong, means=reply_format if otherwise else None)
    used = answer.usage
    return ModelTrial(
        model.name,
        ok=True,
        sentence="",
        means=reply_format,
        milliseconds=took,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        micro_usd=answer.micro_usd,
    )


def _book(spec: str, answer: Answer) -> None:
    """Puts the call on the user's ledger; it belongs to no task."""
    try:
        repo = str(Git.open(Path.cwd()).top)
    except UserError:
        repo = ""
    now = datetime.now(UTC)
    call = ModelCall(repo, TRIAL, f"{TRIAL}/{now:%H%M%S.%f}", f"{now:%Y-%m-%d}", stage=TRIAL, model=spec)
    with Ledger.of(Home(home_path()), lambda _: None) as ledger:
        ledger.settle(call, answer.usage, answer.micro_usd)


def _load(model: ProviderModel) -> None:
    """The libraries take longer to load than a quick model takes to answer."""
    load_library(model.provider)


def _wrong(answer: Answer) -> tuple[str, bool]:
    """What is wrong with it, and whether another way of replying might do better."""
    if answer.stop == "length":
        return "It answers, but its reply was cut off at the length limit.", False
    if answer.stop == "refused":
        return "It answers, but it refused a harmless request.", False
    if answer.reply is None or not any(action.name == _READY.name for action in answer.reply.actions):
        return f"It answers, but not with an action. {answer.mistake or ''}".rstrip(), True
    return "", False
