"""Batches through `pydantic-ai`'s own methods, one call of them at a time."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import TypeAdapter
from pydantic_ai.exceptions import AgentRunError, ContentFilterError, ModelAPIError, ModelHTTPError, UserError
from pydantic_ai.models import Model
from pydantic_ai.models.batch import Batch, BatchRequest, BatchResult, EncodedBatchRequest
from pydantic_ai.settings import ModelSettings

from agentforge.models.base import Answer, ModelTrouble, Request
from agentforge.models.batch import (
    AGAIN,
    BatchOutcome,
    BatchSearch,
    Encoded,
    ItemStatus,
    LostBatch,
    Ticket,
    at_batch_price,
    unrun,
)
from agentforge.models.provider_model import ProviderModel
from agentforge.models.wire.batch_lists import Listed, custom_ids, listed, sdk_errors
from agentforge.models.wire.endpoint import Incoming, Outgoing
from agentforge.models.wire.http import WireWatch
from agentforge.models.wire.send import connected, incoming, messages, parameters, request_settings
from agentforge.models.wire.trouble import trouble_of

MOST_RESULT_BYTES = 256_000_000
"""A file of results; a server cannot fill more memory than this."""
_SKEW_MS = 300_000
"""Two clocks may differ by so much."""
_BAD_BODIES = (
    AgentRunError,
    UserError,
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
)
_HANDLE = TypeAdapter(Batch)
_CANCELLED, _EXPIRED = 499, 504
"""What the library makes of a job that ended as a whole."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WireBatches:
    """The batches of one model, as a `Carrier` and a `Codec`. Each method has its own event loop and
    client.
    """

    model: ProviderModel

    def encode(self, custom_id: str, request: Request) -> Encoded:
        """The request in the form that the provider's batch takes, the same as if it were sent alone."""
        encoded = self._run(lambda model: model.batch_encode(self._request(custom_id, request)))
        return Encoded(encoded.custom_id, encoded.group, encoded.body)

    def create(self, items: Sequence[Encoded]) -> Ticket:
        """Submit them as one batch."""
        requests = [
            EncodedBatchRequest(custom_id=item.custom_id, group=item.group, body=item.body) for item in items
        ]
        return _ticket(self._run(lambda model: model.batch_create(requests)))

    def status(self, ticket: Ticket) -> Ticket:
        """Asks the provider for the present state of the batch."""
        return _ticket(self._run(lambda model: model.batch_status(_HANDLE.validate_json(ticket.handle))))

    def results(self, ticket: Ticket, custom_ids: Sequence[str]) -> Iterator[BatchOutcome]:
        """Each request's result once; those without one by what is said of the batch."""
        batch = _HANDLE.validate_json(ticket.handle)
        wanted = dict.fromkeys(custom_ids)
        for item in self._run(lambda model: _results(model, batch, tuple(custom_ids))):
            if item.custom_id in wanted:
                del wanted[item.custom_id]
                yield item
        state = str((batch.provider_details or {}).get("state", ""))
        left: ItemStatus = "missing"
        if state.endswith("CANCELLED"):
            left = "canceled"
        elif state.endswith("EXPIRED"):
            left = "expired"
        for name in wanted:
            yield BatchOutcome(name, left)

    def cancel(self, ticket: Ticket) -> None:
        """Asks the provider to stop the batch."""
        self._run(lambda model: model.batch_cancel(_HANDLE.validate_json(ticket.handle)))

    def find(self, sought: LostBatch) -> BatchSearch:
        """The batch that holds exactly these requests, among those that the provider has had since then."""
        return self._run(lambda model: _find(model, sought))

    def decode(self, item: BatchOutcome, request: Request) -> Answer:
        """The answer that the outcome of a request holds."""
        if item.status in AGAIN:
            raise unrun(item, self.model.name)
        reply_format = self.model.reply_format()
        outgoing = self.model.outgoing(request, reply_format)
        came = self._incoming(item, request, outgoing)
        return at_batch_price(self.model.answer(outgoing, came, reply_format), self.model)

    def _incoming(self, item: BatchOutcome, request: Request, outgoing: Outgoing) -> Incoming:
        result = BatchResult(
            custom_id=item.custom_id,
            status="succeeded" if item.status == "succeeded" else "errored",
            body=item.body,
        )

        async def decoded(model: Model) -> Incoming:
            return incoming(model.batch_decode(result, self._request(item.custom_id, request)))

        try:
            return self._run(decoded, outgoing)
        except ContentFilterError:
            return Incoming("", (), "refused", None, None)
        except ModelTrouble as trouble:
            # A request that failed in a batch is not billed.
            failure = ModelTrouble(
                trouble.kind,
                trouble.user_sentence,
                retryable=trouble.retryable,
                retry_after_s=trouble.retry_after_s,
            )
        raise failure

    def _request(self, custom_id: str, request: Request) -> BatchRequest:
        outgoing = self.model.outgoing(request, self.model.reply_format())
        # The next step of a stage waits for this one's batch: five minutes would be over by then. An hour
        # costs twice the input, so it must pay: in a stage that goes on, and where the cache finds it again.
        pays = bool(outgoing.held) and request.ordinal > 0 and request.cache_found
        outgoing = replace(outgoing, held="1h" if pays else "")
        endpoint = self.model.endpoint
        settings = ModelSettings(
            **{key: value for key, value in request_settings(endpoint, outgoing).items() if key != "timeout"}  # type: ignore[typeddict-item]  # what it was, less one key
        )
        return BatchRequest(
            custom_id=custom_id,
            messages=[*messages(endpoint, outgoing)],
            model_settings=settings,
            model_request_parameters=parameters(outgoing),
        )

    def _run(self, work: Callable[[Model], Awaitable[T]], outgoing: Outgoing | None = None) -> T:
        endpoint, watch = self.model.endpoint, WireWatch(MOST_RESULT_BYTES)

        async def run() -> T:
            async with asyncio.timeout(endpoint.timeout_s), connected(endpoint, watch) as model:
                return await work(model)

        try:
            return asyncio.run(run())
        except ContentFilterError:
            raise
        except (TimeoutError, *_BAD_BODIES) as error:
            if not watch.sent and not isinstance(error, TimeoutError | AgentRunError):
                raise
            failure = error
        raise trouble_of(failure, endpoint, outgoing, watch)


def _ticket(batch: Batch) -> Ticket:
    return Ticket(batch.id, _HANDLE.dump_json(batch).decode(), batch.status == "ended")


async def _results(model: Model, batch: Batch, ids: tuple[str, ...]) -> list[BatchOutcome]:
    try:
        return [
            BatchOutcome(result.custom_id, result.status, result.body)
            for result in await model.batch_results(batch)
        ]
    except ModelHTTPError as error:
        if not _of_job(error):
            raise
        body = error.body.get("error") if isinstance(error.body, dict) else None
        if error.status_code in (_CANCELLED, _EXPIRED):
            return [
                BatchOutcome(name, "canceled" if error.status_code == _CANCELLED else "expired")
                for name in ids
            ]
        return [BatchOutcome(name, "errored", json.dumps(body)) for name in ids]


async def _find(model: Model, sought: LostBatch) -> BatchSearch:
    try:
        return await _look(model, sought)
    except sdk_errors(model) as error:
        failure = ModelAPIError(model.model_name, type(error).__name__)
    raise failure


async def _look(model: Model, sought: LostBatch) -> BatchSearch:
    wait = False
    since = datetime.fromtimestamp((sought.since_ms - _SKEW_MS) / 1000, tz=UTC)
    async for candidate in listed(model, since):
        if candidate.id in sought.known or candidate.count not in (None, len(sought.custom_ids)):
            continue
        batch = await model.batch_status(_handle(model, candidate, sought))
        held = await _held_ids(model, candidate, batch)
        if held is None:
            wait = wait or batch.status != "ended"
        elif held == sought.custom_ids:
            return BatchSearch(_ticket(batch))
    return BatchSearch(wait=wait)


async def _held_ids(model: Model, candidate: Listed, batch: Batch) -> frozenset[str] | None:
    try:
        return await custom_ids(model, candidate, batch)
    except ModelHTTPError as error:
        if not _of_job(error):
            raise
        return None  # it ran nothing


def _of_job(error: ModelHTTPError) -> bool:
    """Whether a job failed as a whole. The library keeps that class to itself."""
    return type(error).__name__ == "BatchJobError"


def _handle(model: Model, candidate: Listed, sought: LostBatch) -> Batch:
    return Batch(
        id=candidate.id,
        model_name=model.model_name,
        provider_name=model.system,
        group=sought.group,
        status="in_progress",
        created_at=candidate.created_at,
        request_count=len(sought.custom_ids),
    )
