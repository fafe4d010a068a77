"""The port to a language model: one request in, one answer out.

An adapter makes exactly one attempt per `ask`; retries are the caller's, so that each is on record. A reply
that cannot be used is an `Answer` with a `mistake`; a call that brought no reply raises `ModelTrouble`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from agentforge.core.errors import AgentForgeError
from agentforge.core.reply import Json, Reply
from agentforge.core.values import Usage
from agentforge.models.reply.text import MAX_REPLY_BYTES, Parsed, parse_reply_text

__all__ = [
    "MAX_REPLY_BYTES",
    "REFUSED",
    "Answer",
    "Block",
    "Delivery",
    "Model",
    "ModelTrouble",
    "OfferedTool",
    "Parsed",
    "Request",
    "Reservation",
    "Stop",
    "TroubleKind",
    "Usage",
    "parse_reply_text",
    "render_blocks",
    "rough_tokens",
    "tool_tokens",
]

Stop = Literal["end", "length", "refused"]
REFUSED = (
    "The last reply was a refusal. Do what the task allows, or put the question to a human with `escalate`."
)
"""What a model is told that declined to answer."""

TroubleKind = Literal[
    "auth",
    "rate_limit",
    "quota",  # the account is used up for now
    "unreachable",
    "timeout",
    "server",
    "bad_request",
    "window",  # the request is longer than the model reads
    "no_model",  # no such model there, or none is left to ask
    "not_installed",  # the SDK of this provider is missing
    "script",
]
CHARACTERS_PER_TOKEN: Final = 3
"""Of the densest text that we send. A limit must not be passed because the text was JSON."""
_AROUND_TOOLS: Final = 800
"""What we and the provider say on how tools are used."""
Delivery = Literal["live", "batch"]
"""Whether a reply is waited for, or collected later at a lower price."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the model may call, as a wire with native tool calls declares it."""

    name: str
    description: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Block:
    """One named part of a step's context."""

    name: str
    text: str
    cache: bool = False
    """A prompt-cache mark after this block: all up to here is expected again."""


@dataclass(frozen=True, slots=True)
class Request:
    """All that one call sends: no conversation, the whole context each time."""

    key: str
    """The effect's key, `<stage>/<attempt>/<step>/ask/<n>`."""
    stage: str
    """The stage, or `<stage>/<reviewer>` for a reviewer of its panel."""
    system: str
    blocks: tuple[Block, ...]
    tools: tuple[OfferedTool, ...]
    max_output_tokens: int
    ordinal: int = 0
    """How many answers of this stage the journal held before this call. A call that is sent again after a
    crash has the same one.
    """
    tier: str = "generation"
    """What kind of model the role needs."""
    cache_found: bool = True
    """Whether the last call of this stage found in a prompt cache what those before it had marked; true as
    long as nobody can know.
    """
    turn: int = 0
    """Its place among those of its tier who should be different models: the tier's next one is asked first,
    where there is one.
    """


@dataclass(frozen=True, slots=True)
class Reservation:
    """The most that one call can cost."""

    tokens: int
    micro_usd: int | None
    """Unknown if there is no price; never 0 for lack of one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply of one call, what it used and what it cost."""

    text: str
    """The reply as it goes on record: the text as it came, or the canonical JSON of a native one."""
    reply: Reply | None
    mistake: str | None
    """What to tell the model, if the reply cannot be used or was used in part only."""
    usage: Usage
    micro_usd: int | None
    model: str
    stop: Stop
    delivery: Delivery = "live"


class Model(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """The name that journals and reports use: `provider:model`."""
        ...

    def worst_case(self, request: Request, input_tokens: int) -> Reservation:
        """What to reserve before `request`, whose context counts `input_tokens`, is sent."""
        ...

    def ask(self, request: Request) -> Answer:
        """Send `request` once. Raises `ModelTrouble` if no reply came back."""
        ...


class ModelTrouble(AgentForgeError):
    """A call that brought no reply."""

    def __init__(
        self,
        kind: TroubleKind,
        user_sentence: str,
        *,
        retryable: bool = False,
        maybe_billed: bool = False,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(user_sentence)
        self.kind = kind
        self.user_sentence = user_sentence
        self.retryable = retryable
        self.maybe_billed = maybe_billed
        """Whether the provider may have done the work: then the reservation stays on the bill."""
        self.retry_after_s = retry_after_s
        """How long the provider asked to wait, if it said so."""


def render_blocks(blocks: tuple[Block, ...]) -> str:
    """The blocks as the one user message that every wire sends. Of a name only its first part: the rest may
    be from the repository.
    """
    return "\n\n".join(
        f'<block name="{block.name.partition(":")[0]}">\n{block.text}\n</block>' for block in blocks
    )


def rough_tokens(text: str) -> int:
    """A quarter of the characters: only for calls whose provider counted nothing."""
    return (len(text) + 3) // 4


def tool_tokens(tools: Sequence[OfferedTool]) -> int:
    """The most that the tools add to the input of a call, on the high side. They are sent beside the context,
    which counts itself.
    """
    if not tools:
        return 0
    sizes = (
        len(tool.name) + len(tool.description) + len(json.dumps(dict(tool.schema))) + 60 for tool in tools
    )
    return -(-sum(sizes) // CHARACTERS_PER_TOKEN) + _AROUND_TOOLS
