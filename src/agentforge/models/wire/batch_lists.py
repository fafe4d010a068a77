"""The batches that a provider has, and what each of them holds: for the one whose ticket was lost."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.batch import Batch

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Listed:
    """One batch in a provider's list of batches."""

    id: str
    created_at: datetime
    count: int | None = None
    """How many requests it has, where the list says so."""
    input_file: str | None = None
    """The file that holds its requests, where the list says so."""


async def listed(model: Model, since: datetime) -> AsyncIterator[Listed]:
    """Every batch that was made since then."""
    async for found in _all(model):
        if found.created_at >= since:
            yield found


async def custom_ids(model: Model, found: Listed, batch: Batch) -> frozenset[str] | None:
    """What a batch holds; None where that cannot be known, or not before it is over."""
    if found.input_file is not None:
        return _ids(await _text(model, found.input_file))
    if batch.status != "ended":
        return None
    return frozenset(result.custom_id for result in await model.batch_results(batch))


def sdk_errors(model: Model) -> tuple[type[Exception], ...]:
    """What this provider's client raises by itself, where the library is not in between. Each is an extra,
    loaded where it is used.
    """
    match model.system:
        case "anthropic":
            from anthropic import AnthropicError  # noqa: PLC0415

            return (AnthropicError,)
        case "openai":
            from openai import OpenAIError  # noqa: PLC0415

            return (OpenAIError,)
        case "mistral":
            from mistralai.client.errors import MistralError  # noqa: PLC0415

            return (MistralError, httpx2.HTTPError)
        case _:
            from google.genai.errors import APIError  # noqa: PLC0415

            return (APIError, httpx2.HTTPError)


async def _all(model: Model) -> AsyncIterator[Listed]:
    match model.system:
        case "anthropic":
            # of this provider's client
            async for each in model.client.beta.messages.batches.list(limit=_PAGE):  # type: ignore[attr-defined]
                counts = each.request_counts
                total = (
                    counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
                )
                yield Listed(each.id, each.created_at, total)
        case "openai":
            async for each in model.client.batches.list(limit=_PAGE):  # type: ignore[attr-defined]
                yield Listed(
                    each.id, datetime.fromtimestamp(each.created_at, tz=UTC), input_file=each.input_file_id
                )
        case "mistral":
            async for found in _of_mistral(model):
                yield found
        case _:
            # The list tells nothing of what a job holds, but the library gives all its jobs one name.
            jobs = await model.client.aio.batches.list(config={"page_size": _PAGE})  # type: ignore[attr-defined]
            async for each in jobs:
                if str(each.model or "").rpartition("/")[2] == model.model_name and each.name:
                    yield Listed(each.name, each.create_time or datetime.now(tz=UTC))


async def _of_mistral(model: Model) -> AsyncIterator[Listed]:
    page = 0
    while True:
        jobs = (await model.client.batch.jobs.list_async(page=page, page_size=_PAGE)).data or []  # type: ignore[attr-defined]
        for job in jobs:
            made = datetime.fromtimestamp(job.created_at, tz=UTC)
            yield Listed(job.id, made, job.total_requests or None, next(iter(job.input_files), None))
        if len(jobs) < _PAGE:
            return
        page += 1


async def _text(model: Model, file_id: str) -> str:
    if model.system == "mistral":
        response = await model.client.files.download_async(file_id=file_id)  # type: ignore[attr-defined]
        return str((await response.aread()).decode("utf-8", "replace"))
    return str((await model.client.files.content(file_id)).text)  # type: ignore[attr-defined]


def _ids(lines: str) -> frozenset[str]:
    return frozenset(str(json.loads(line).get("custom_id")) for line in lines.splitlines() if line.strip())
