"""Batches for Mistral: its batch jobs behind the methods that `pydantic-ai` gives to other models.

The requests go up as a file of lines, a job reads the file, and two files come back: what was answered, and
what failed.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

from mistralai.client.models import BatchJob, ChatCompletionRequest, ChatCompletionResponse
from mistralai.client.types import UNSET
from pydantic_ai import ModelResponse
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UserError
from pydantic_ai.models.batch import (
    Batch,
    BatchRequest,
    BatchResult,
    BatchResultStatus,
    BatchStatus,
    EncodedBatchRequest,
)
from pydantic_ai.models.mistral import MistralModel, MistralModelSettings, _map_api_errors

_ENDPOINT: Final = "/v1/chat/completions"
MOST_REQUESTS = 10_000
MOST_BYTES = 500_000_000
"""Below the largest file that it takes."""

_STATUSES: dict[str, BatchStatus] = {
    "QUEUED": "in_progress",
    "RUNNING": "in_progress",
    "CANCELLATION_REQUESTED": "canceling",
    "SUCCESS": "ended",
    "FAILED": "ended",
    "TIMEOUT_EXCEEDED": "ended",
    "CANCELLED": "ended",
}
_UNRUN: dict[str, BatchResultStatus] = {"TIMEOUT_EXCEEDED": "expired", "CANCELLED": "canceled"}


class BatchMistralModel(MistralModel):
    """The library's Mistral model with the batch methods that it lacks."""

    @property
    def batch_max_requests(self) -> int:
        """More than we send at once."""
        return MOST_REQUESTS

    @property
    def batch_max_bytes(self) -> int:
        """How large the uploaded file may be."""
        return MOST_BYTES

    async def batch_encode(self, request: BatchRequest) -> EncodedBatchRequest:
        """What `_completions_create` would send, without the model: that is the job's."""
        prepared, parameters = self.prepare_request(request.model_settings, request.model_request_parameters)
        settings = cast("MistralModelSettings", dict(prepared or {}))
        if "timeout" in settings:
            raise UserError("A batch job has no `timeout` per request.")
        tools, tool_choice = self._get_tool_choice(parameters, settings)
        body = ChatCompletionRequest(
            model=self.model_name,
            messages=await self._map_messages(request.messages, parameters),
            n=1,
            stream=False,
            tools=[*tools] if tools else UNSET,
            tool_choice=tool_choice,
            max_tokens=settings.get("max_tokens", UNSET),
            temperature=settings.get("temperature", UNSET),
            top_p=settings.get("top_p", 1),
            reasoning_effort=self._translate_thinking(parameters),
            prompt_cache_key=settings.get("mistral_prompt_cache_key", UNSET),
        )
        value = body.model_dump(mode="json", by_alias=True, exclude_none=True)
        value.pop("model")
        return EncodedBatchRequest(
            custom_id=request.custom_id, group=self._group(), body=json.dumps(value, ensure_ascii=False)
        )

    async def batch_create(self, requests: Sequence[EncodedBatchRequest]) -> Batch:
        """The file, then the job. Its metadata names the requests."""
        if not requests or {item.group for item in requests} != {self._group()}:
            raise UserError("A batch needs requests of this very model and server.")
        lines = b"\n".join(
            b'{"custom_id":' + json.dumps(item.custom_id).encode() + b',"body":' + item.body.encode() + b"}"
            for item in requests
        )
        with _map_api_errors(self.model_name):
            file = await self.client.files.upload_async(
                file={"file_name": "batch.jsonl", "content": lines}, purpose="batch", retries=None
            )
            job = await self.client.batch.jobs.create_async(
                endpoint=_ENDPOINT,
                input_files=[file.id],
                model=self.model_name,
                metadata={"requests": digest_of([item.custom_id for item in requests])},
                retries=None,
            )
        return self._batch(job, requests[0].group, len(requests))

    async def batch_status(self, batch: Batch) -> Batch:
        """Asks Mistral for the present state of the job."""
        with _map_api_errors(self.model_name):
            job = await self.client.batch.jobs.get_async(job_id=batch.id)
        return self._batch(job, batch.group, batch.request_count)

    async def batch_results(self, batch: Batch) -> list[BatchResult]:
        """One result for each line of the two files; what has none was not run, or the job says why."""
        if batch.status != "ended":
            raise UserError(f"Batch {batch.id!r} has not ended yet.")
        details = batch.provider_details or {}
        found: dict[str, BatchResult] = {}
        for file_id in (details.get("output_file"), details.get("error_file")):
            if file_id:
                for result in _read(await self._file(file_id)):
                    found.setdefault(result.custom_id, result)
        status = str(details.get("status"))
        for file_id in details.get("input_files", ()) if status != "SUCCESS" else ():
            for line in (await self._file(file_id)).splitlines():
                name = str(json.loads(line).get("custom_id"))
                found.setdefault(name, _unrun(name, status, details.get("errors", [])))
        return list(found.values())

    async def batch_cancel(self, batch: Batch) -> Batch:
        """Ask to stop the job."""
        with _map_api_errors(self.model_name):
            job = await self.client.batch.jobs.cancel_async(job_id=batch.id)
        return self._batch(job, batch.group, batch.request_count)

    def batch_decode(self, result: BatchResult, request: BatchRequest) -> ModelResponse:  # noqa: ARG002 - the library's shape
        """The response, or the error that the request would have had alone."""
        if result.status not in ("succeeded", "errored") or result.body is None:
            raise ModelAPIError(self.model_name, f"The request was {result.status} before it was run.")
        if result.status == "errored":
            line = json.loads(result.body)
            status, body = int(line["status"]), line["body"]
            message = body.get("message") if isinstance(body, dict) else None
            category = None
            if status >= 400:
                from pydantic_ai import _model_errors  # noqa: PLC0415 - the library's own table of statuses

                category = _model_errors.http_status_category(
                    status, message if isinstance(message, str) else None
                )
            raise ModelHTTPError.for_category(
                category, status_code=status, model_name=self.model_name, body=body
            )
        response = self._process_response(ChatCompletionResponse.model_validate_json(result.body))
        response.provider_details = {**(response.provider_details or {}), "processing": "batch"}
        return response

    async def _file(self, file_id: str) -> str:
        with _map_api_errors(self.model_name):
            response = await self.client.files.download_async(file_id=file_id)
        return (await response.aread()).decode("utf-8", "replace")

    def _group(self) -> str:
        server = hashlib.sha256(self.base_url.encode()).hexdigest()
        return json.dumps({"endpoint": server, "model": self.model_name}, sort_keys=True)

    def _batch(self, job: BatchJob, group: str, count: int) -> Batch:
        details: dict[str, Any] = {"status": str(job.status), "input_files": list(job.input_files)}
        details |= {
            name: value
            for name in ("output_file", "error_file")
            if isinstance(value := getattr(job, name), str)
        }
        details["errors"] = [error.message for error in job.errors]
        return Batch(
            id=job.id,
            model_name=self.model_name,
            provider_name=self.system,
            group=group,
            status=_STATUSES.get(str(job.status), "in_progress"),
            created_at=datetime.fromtimestamp(job.created_at, tz=UTC),
            request_count=job.total_requests or count,
            provider_details=details,
        )


def digest_of(custom_ids: Sequence[str]) -> str:
    """Names a set of requests, in the metadata of their job."""
    return hashlib.sha256("\n".join(sorted(custom_ids)).encode()).hexdigest()


def _read(text: str) -> Iterator[BatchResult]:
    for line in text.splitlines():
        if not line.strip():
            continue
        value = json.loads(line)
        name, response = str(value["custom_id"]), value.get("response") or {}
        status = int(response.get("status_code") or 500)
        if value.get("error") is None and 200 <= status < 300:
            yield BatchResult(custom_id=name, status="succeeded", body=json.dumps(response.get("body")))
        else:
            yield _errored(name, status if status >= 400 else 500, value.get("error") or response.get("body"))


def _unrun(name: str, status: str, errors: Sequence[object]) -> BatchResult:
    if status in _UNRUN:
        return BatchResult(custom_id=name, status=_UNRUN[status])
    return _errored(name, 400, {"message": "; ".join(map(str, errors[:3])) or "The job failed."})


def _errored(name: str, status: int, body: object) -> BatchResult:
    return BatchResult(custom_id=name, status="errored", body=json.dumps({"status": status, "body": body}))
