"""Batches of each provider on the loopback: files, jobs, lists, results; and what can go wrong with them.

    batches = AnthropicBatches(replies)
    with AnthropicServer(routes=[batches.route]) as server: ...

A job runs when it has been looked at `looks` times, and not while `hold` is set. `submissions` counts the
jobs that were made.
"""

import email
import email.policy
import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from agentforge.core.reply import Json
from agentforge.models.known.providers import Wire
from agentforge.testing.batch_service import Batches, Job, json_response
from agentforge.testing.dialects import GenerateContent, Messages, MistralChat, Responses
from agentforge.testing.server import Exchange, Response


class AnthropicBatches(Batches):
    """The API of Anthropic's message batches."""

    wire = "anthropic"
    dialect = Messages()
    _path = "/v1/messages/batches"

    def _serve(self, exchange: Exchange, path: str) -> Response | None:
        if not path.startswith(self._path):
            return None
        parts = path.removeprefix(self._path).strip("/").split("/")
        if not parts[0]:
            if exchange.method == "GET":
                return json_response(
                    {"data": [self._job_body(job) for job in reversed(self.jobs.values())], "has_more": False}
                )
            items = {item["custom_id"]: item["params"] for item in json.loads(exchange.raw)["requests"]}
            return self._submission(Job(self._name("msgbatch_"), items, next(iter(items.values()))["model"]))
        job = self.jobs.get(parts[0])
        if job is None:
            return json_response(self.dialect.error(404, "no such batch"), 404)
        if parts[1:] == ["results"]:
            return Response(
                200,
                _lines([self._line(*result) for result in job.results]),
                {"content-type": "application/x-jsonl"},
            )
        return self._cancellation(job) if parts[1:] == ["cancel"] else self._status(job)

    def _line(self, name: str, status: int | str, body: Any) -> dict[str, Json]:  # noqa: ANN401 - a body of the wire
        if isinstance(status, str):
            return {"custom_id": name, "result": {"type": status}}
        result = (
            {"type": "succeeded", "message": body} if status == 200 else {"type": "errored", "error": body}
        )
        return {"custom_id": name, "result": result}

    def _job_body(self, job: Job) -> dict[str, Json]:
        over = job.state != "running"
        if job.state in ("canceled", "expired") and not job.results:
            job.results = [(name, job.state, None) for name in job.items]
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["succeeded" if over else "processing"] = len(job.items)
        return {
            "id": job.id,
            "type": "message_batch",
            "processing_status": "ended" if over else "in_progress",
            "request_counts": {**counts},
            "created_at": job.made,
            "expires_at": job.made,
            "ended_at": job.made if over else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self._path}/{job.id}/results" if over else None,
        }


class _FileBatches(Batches):
    """Batches whose requests come in one file and whose results go into two."""

    _jobs: str

    def _serve(self, exchange: Exchange, path: str) -> Response | None:
        if path == "/v1/files" and exchange.method == "POST":
            return json_response(self._file(self._keep("file-", _uploaded(exchange))))
        if path.startswith("/v1/files/"):
            name = path.split("/")[3]
            if exchange.method == "DELETE":
                return json_response({"id": name, "object": "file", "deleted": True})
            data = self.files.get(name)
            return (
                json_response(self.dialect.error(404, "no such file"), 404)
                if data is None
                else Response(200, data, _OCTETS)
            )
        if not path.startswith(self._jobs):
            return None
        parts = path.removeprefix(self._jobs).strip("/").split("/")
        if not parts[0]:
            return self._list() if exchange.method == "GET" else self._create(json.loads(exchange.raw))
        job = self.jobs.get(parts[0])
        if job is None:
            return json_response(self.dialect.error(404, "no such batch"), 404)
        return self._cancellation(job) if parts[1:] == ["cancel"] else self._status(job)

    def _create(self, value: Mapping[str, Any]) -> Response:
        file = str(value.get("input_file_id") or value["input_files"][0])
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        items = {str(line["custom_id"]): line["body"] for line in lines}
        model = str(value.get("model") or next(iter(items.values())).get("model"))
        return self._submission(Job(self._name("batch_"), items, model, file, value.get("metadata") or {}))

    def _list(self) -> Response:
        shown: list[Json] = [self._job_body(job) for job in reversed(self.jobs.values())]
        return json_response({"object": "list", "data": shown, "has_more": False, "total": len(shown)})

    def _file(self, name: str) -> dict[str, Json]:
        size = len(self.files[name])
        return {
            "id": name,
            "object": "file",
            "bytes": size,
            "size_bytes": size,
            "created_at": 1,
            "filename": "batch.jsonl",
            "purpose": "batch",
            "status": "processed",
            "sample_type": "batch_request",
            "source": "upload",
        }

    def _result_files(self, job: Job) -> tuple[str | None, str | None]:
        """The two files of a job that has run."""
        good = [result for result in job.results if result[1] == 200]
        bad = [result for result in job.results if result[1] != 200]
        names = []
        for kind, results in (("out", good), ("err", bad)):
            name = f"file-{kind}-{job.id}"
            if results:
                self.files[name] = _lines([self._line(*result) for result in results])
            names.append(name if results else None)
        return names[0], names[1]

    @abstractmethod
    def _line(self, name: str, status: int | str, body: Any) -> dict[str, Json]:  # noqa: ANN401 - a body of the wire
        """One line of a file of results."""


class ResponsesBatches(_FileBatches):
    """The API of OpenAI's batches, for responses."""

    wire = "openai-responses"
    dialect = Responses()
    _jobs = "/v1/batches"

    def _line(self, name: str, status: int | str, body: Any) -> dict[str, Json]:  # noqa: ANN401 - as above
        if isinstance(status, str):
            code = {"expired": "batch_expired", "canceled": "batch_cancelled"}[status]
            return {
                "id": "r",
                "custom_id": name,
                "response": None,
                "error": {"code": code, "message": "not run"},
            }
        return {
            "id": "r",
            "custom_id": name,
            "response": {"status_code": status, "request_id": "q", "body": body},
            "error": None,
        }

    def _job_body(self, job: Job) -> dict[str, Json]:
        status = {"running": "in_progress", "ended": "completed", "canceled": "cancelled"}.get(
            job.state, job.state
        )
        out, err = self._result_files(job)
        return {
            "id": job.id,
            "object": "batch",
            "endpoint": "/v1/responses",
            "errors": {"object": "list", "data": [{"code": "bad", "message": "bad line", "line": None}]}
            if status == "failed"
            else None,
            "input_file_id": job.input_file,
            "completion_window": "24h",
            "status": status,
            "output_file_id": out,
            "error_file_id": err,
            "created_at": int(job.created),
            "request_counts": {"total": len(job.items), "completed": 0, "failed": 0},
            "metadata": dict(job.metadata) or None,
        }


class MistralBatches(_FileBatches):
    """The API of Mistral's batch jobs."""

    wire = "mistral"
    dialect = MistralChat()
    _jobs = "/v1/batch/jobs"

    def _line(self, name: str, status: int | str, body: Any) -> dict[str, Json]:  # noqa: ANN401 - as above
        if isinstance(status, str):
            return {
                "id": "r",
                "custom_id": name,
                "response": None,
                "error": {"message": f"the request was {status}"},
            }
        return {
            "id": "r",
            "custom_id": name,
            "response": {"status_code": status, "body": body},
            "error": None,
        }

    def _job_body(self, job: Job) -> dict[str, Json]:
        words = {
            "running": "RUNNING",
            "ended": "SUCCESS",
            "canceled": "CANCELLED",
            "expired": "TIMEOUT_EXCEEDED",
            "failed": "FAILED",
        }
        out, err = self._result_files(job)
        return {
            "id": job.id,
            "object": "batch",
            "input_files": [job.input_file],
            "endpoint": "/v1/chat/completions",
            "errors": [{"message": "bad line", "count": 1}] if job.state == "failed" else [],
            "status": words[job.state],
            "created_at": int(job.created),
            "total_requests": len(job.items),
            "completed_requests": 0,
            "succeeded_requests": 0,
            "failed_requests": 0,
            "model": job.model,
            "metadata": dict(job.metadata),
            "output_file": out,
            "error_file": err,
        }


class GoogleBatches(Batches):
    """Google's batch mode. A job's name is all that a list tells of what it holds."""

    wire = "google"
    dialect = GenerateContent()

    def _serve(self, exchange: Exchange, path: str) -> Response | None:
        if path.startswith("/upload/"):
            return self._upload(exchange, path)
        path = path.replace("/v1beta/", "/v1/", 1)
        if path.startswith("/v1/files/"):
            if exchange.method == "DELETE":
                return json_response({})
            data = self.files.get(f"files/{path.split('/')[3].partition(':')[0]}")
            return (
                json_response(self.dialect.error(404, "no such file"), 404)
                if data is None
                else Response(200, data, _OCTETS)
            )
        if path.endswith(":batchGenerateContent"):
            source = json.loads(exchange.raw)["batch"]["inputConfig"]["fileName"]
            lines = [json.loads(line) for line in self.files[source].splitlines()]
            model = path.rpartition("/")[2].partition(":")[0]
            return self._submission(
                Job(self._name("batches/b"), {line["key"]: line["request"] for line in lines}, model, source)
            )
        if not path.startswith("/v1/batches"):
            return None
        name, _, verb = path.removeprefix("/v1/").partition(":")
        if name == "batches":
            jobs: list[Json] = [self._job_body(job) for job in reversed(self.jobs.values())]
            return json_response({"operations": jobs})
        job = self.jobs.get(name)
        if job is None:
            return json_response(self.dialect.error(404, "no such batch"), 404)
        if verb == "cancel":
            self._cancellation(job)
            return json_response({})
        return self._status(job)

    def _upload(self, exchange: Exchange, path: str) -> Response:
        if "upload_id" not in exchange.path:
            host = exchange.headers["host"].replace("127.0.0.1", self._uploads or "127.0.0.1")
            url = f"http://{host}{path}?upload_id=1"
            return Response(200, b"{}", {"x-goog-upload-url": url, "x-goog-upload-status": "active"})
        name = self._keep("files/f", exchange.raw)
        body = json.dumps(
            {"file": {"name": name, "uri": name, "mimeType": "application/jsonl", "state": "ACTIVE"}}
        )
        return Response(200, body.encode(), {"x-goog-upload-status": "final"})

    def _job_body(self, job: Job) -> dict[str, Json]:
        words = {"running": "RUNNING", "ended": "SUCCEEDED", "canceled": "CANCELLED"}
        meta: dict[str, Json] = {
            "state": f"BATCH_STATE_{words.get(job.state, job.state.upper())}",
            "model": f"models/{job.model}",
            "displayName": "pydantic-ai-batch",
            "createTime": job.made,
        }
        if job.results or job.state == "ended":
            name = f"files/out-{job.id.rpartition('/')[2]}"
            # One that was not run has no line: the job's own state says why.
            self.files[name] = _lines([self._line(*result) for result in job.results])
            meta["output"] = {"responsesFile": name}
        return {"name": job.id, "metadata": meta, "done": job.state != "running"}

    def _line(self, name: str, status: int | str, body: Any) -> dict[str, Json]:  # noqa: ANN401 - a body of the wire
        if status == 200:
            return {"key": name, "response": body}
        codes = {400: 3, 429: 8, 500: 13, 503: 14, "expired": 4, "canceled": 1}
        return {"key": name, "error": {"code": codes.get(status, 2), "message": f"a scripted {status}"}}


BATCHES: Mapping[Wire, type[Batches]] = MappingProxyType(
    {kind.wire: kind for kind in (AnthropicBatches, ResponsesBatches, MistralBatches, GoogleBatches)}
)
"""The batches of each wire that has some."""

_OCTETS = MappingProxyType({"content-type": "application/octet-stream"})


def _lines(values: Sequence[Mapping[str, Json]]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _uploaded(exchange: Exchange) -> bytes:
    """The content of the file in a form that was sent."""
    head = f"Content-Type: {exchange.headers['content-type']}\r\n\r\n".encode()
    for part in email.message_from_bytes(head + exchange.raw, policy=email.policy.HTTP).iter_parts():
        if part.get_filename() is not None:
            payload = part.get_payload(decode=True)
            assert isinstance(payload, bytes)
            return payload
    raise ValueError("a form without a file")
