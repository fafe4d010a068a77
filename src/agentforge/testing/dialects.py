"""The shapes of each provider's wire: a reply, an error, a listing, and where a request keeps what it
holds.
"""

import json
from collections.abc import Mapping
from typing import Any

from agentforge.core.reply import Json
from agentforge.models.base import rough_tokens
from agentforge.models.known.providers import Wire
from agentforge.testing.dialect import Dialect, ModelOutput, content_of, said, text_of

__all__ = [
    "Chat",
    "Dialect",
    "GenerateContent",
    "Messages",
    "MistralChat",
    "ModelOutput",
    "Responses",
    "completion",
    "said",
]


class Chat(Dialect):
    """The wire of OpenAI's chat completions."""

    wire: Wire = "openai"
    prefix = "/v1"
    path = "/chat/completions"

    def reply(self, what: ModelOutput, request: Mapping[str, Any], path: str) -> dict[str, Json]:  # noqa: ARG002 - the shape of all
        """The body of a chat completion that holds what the model says."""
        tool_calls: list[Json] = [
            {"id": f"call_{at:09}", "type": "function", "function": {"name": name, "arguments": text}}
            for at, (name, text) in enumerate(what.arguments())
        ]
        message: dict[str, Json] = {"role": "assistant", "content": what.words or None}
        if tool_calls:
            message["tool_calls"] = tool_calls
        finish = "length" if what.cut_off else "tool_calls" if tool_calls else "stop"
        return {
            "id": "chatcmpl-loopback",
            "object": "chat.completion",
            "created": 1,
            "model": request.get("model"),
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
            "usage": self._usage(
                rough_tokens(json.dumps(request.get("messages"))), rough_tokens(json.dumps(message))
            ),
        }

    def _usage(self, read: int, written: int) -> dict[str, Json]:
        return {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": read // 2},
        }

    def error(self, status: int, message: str) -> dict[str, Json]:
        """`error`, with a message, a type and a code."""
        code = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}.get(status)
        return {
            "error": {
                "message": message,
                "type": "server_error" if status >= 500 else "invalid_request_error",
                "code": code,
            }
        }

    def system(self, request: Mapping[str, Any]) -> str:
        """The content of the first system message."""
        return content_of(request, "system")

    def user(self, request: Mapping[str, Any]) -> str:
        """The first message of the user."""
        return content_of(request, "user")

    def tools(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The functions of a request: the schema of each by its name."""
        return {
            tool["function"]["name"]: tool["function"]["parameters"] for tool in request.get("tools") or []
        }

    def schema(self, request: Mapping[str, Any]) -> object:
        """The schema in the response format, if the request has one."""
        return ((request.get("response_format") or {}).get("json_schema") or {}).get("schema")


class MistralChat(Chat):
    """Mistral's chat completions: nearly the same, with other errors."""

    wire: Wire = "mistral"
    prefix = ""
    path = "/v1/chat/completions"

    def _usage(self, read: int, written: int) -> dict[str, Json]:
        return {**super()._usage(read, written), "num_cached_tokens": read // 2}

    def error(self, status: int, message: str) -> dict[str, Json]:
        """Flat; where nobody knows the key it has another shape still."""
        if status == 401:
            return {"detail": message}
        kind = {400: "invalid_request", 404: "not_found", 429: "rate_limited"}.get(
            status, "internal_server_error"
        )
        return {
            "object": "error",
            "message": message,
            "type": kind,
            "param": None,
            "code": "1300" if status == 429 else "3000",
        }


class Responses(Dialect):
    """The wire of OpenAI's responses."""

    wire: Wire = "openai-responses"
    prefix = "/v1"
    path = "/responses"

    def reply(self, what: ModelOutput, request: Mapping[str, Any], path: str) -> dict[str, Json]:  # noqa: ARG002 - the shape of all
        """The body of a response, with an item for the text and for each call."""
        output: list[Json] = []
        status = "incomplete" if what.cut_off else "completed"
        if what.words:
            part: Json = {"type": "output_text", "text": what.words, "annotations": []}
            output.append(
                {"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": [part]}
            )
        for at, (name, text) in enumerate(what.arguments()):
            call = {
                "id": f"fc_{at}",
                "call_id": f"call_{at}",
                "type": "function_call",
                "name": name,
                "arguments": text,
            }
            output.append({**call, "status": "completed"})
        read, written = rough_tokens(json.dumps(request.get("input"))), rough_tokens(json.dumps(output))
        return {
            "id": "resp_loopback",
            "object": "response",
            "created_at": 1,
            "model": request.get("model"),
            "status": status,
            "incomplete_details": {"reason": "max_output_tokens"} if what.cut_off else None,
            "error": None,
            "instructions": None,
            "metadata": {},
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "temperature": 1,
            "top_p": 1,
            "usage": {
                "input_tokens": read,
                "input_tokens_details": {"cached_tokens": read // 2},
                "output_tokens": written,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": read + written,
            },
        }

    def error(self, status: int, message: str) -> dict[str, Json]:
        """The body of an error, the same as for chat completions."""
        return Chat().error(status, message)

    def system(self, request: Mapping[str, Any]) -> str:
        """The instructions, or the first system item."""
        return str(request.get("instructions") or content_of({"messages": request.get("input")}, "system"))

    def user(self, request: Mapping[str, Any]) -> str:
        """The first item of the user."""
        return content_of({"messages": request.get("input")}, "user")

    def tools(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The functions of a request: the schema of each by its name."""
        return {tool["name"]: tool["parameters"] for tool in request.get("tools") or []}

    def schema(self, request: Mapping[str, Any]) -> object:
        """The schema in the format of the text, if the request has one."""
        return ((request.get("text") or {}).get("format") or {}).get("schema")


class Messages(Dialect):
    """The wire of Anthropic's messages."""

    wire: Wire = "anthropic"
    prefix = ""
    path = "/v1/messages"
    key_header = "x-api-key"

    def reply(self, what: ModelOutput, request: Mapping[str, Any], path: str) -> dict[str, Json]:  # noqa: ARG002 - the shape of all
        """A message with its blocks. Its count of input leaves out what came from the cache or went into
        it.
        """
        content: list[Json] = [{"type": "text", "text": what.words}] if what.words else []
        content += [
            {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": value}
            for at, (name, value) in enumerate(what.objects())
        ]
        read, written = rough_tokens(json.dumps(request.get("messages"))), rough_tokens(json.dumps(content))
        return {
            "id": "msg_loopback",
            "type": "message",
            "role": "assistant",
            "model": request.get("model"),
            "content": content,
            "stop_reason": "max_tokens" if what.cut_off else "tool_use" if what.calls else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": read - read // 2 - read // 4,
                "cache_read_input_tokens": read // 2,
                "cache_creation_input_tokens": read // 4,
                "output_tokens": written,
            },
        }

    def error(self, status: int, message: str) -> dict[str, Json]:
        """`error`, with a type of their own for each status."""
        kinds = {
            401: "authentication_error",
            403: "permission_error",
            404: "not_found_error",
            413: "request_too_large",
            429: "rate_limit_error",
            529: "overloaded_error",
        }
        kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_loopback"}

    def system(self, request: Mapping[str, Any]) -> str:
        """The content of the field `system`."""
        return text_of(request.get("system"))

    def user(self, request: Mapping[str, Any]) -> str:
        """The text of the first message."""
        return content_of(request, "user")

    def tools(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The tools of a request: the input schema of each by its name."""
        return {tool["name"]: tool["input_schema"] for tool in request.get("tools") or []}

    def schema(self, request: Mapping[str, Any]) -> object:
        """The schema in the output format, if the request has one."""
        return ((request.get("output_config") or {}).get("format") or {}).get("schema")

    def listing(self, models: tuple[str, ...]) -> dict[str, Json]:
        """The body of a page of models, the only one there is."""
        data: list[Json] = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
            for name in models
        ]
        return {"data": data, "has_more": False, "first_id": None, "last_id": None}


class GenerateContent(Dialect):
    """The wire of Google's `generateContent`."""

    wire: Wire = "google"
    prefix = ""
    path = ":generateContent"
    key_header = "x-goog-api-key"

    def reply(self, what: ModelOutput, request: Mapping[str, Any], path: str) -> dict[str, Json]:
        """One candidate. Its thoughts are counted beside it."""
        parts: list[Json] = [{"text": what.words}] if what.words else []
        parts += [{"functionCall": {"name": name, "args": value}} for name, value in what.objects()]
        read, written = rough_tokens(json.dumps(request.get("contents"))), rough_tokens(json.dumps(parts))
        finish = "MAX_TOKENS" if what.cut_off else "STOP"
        return {
            "candidates": [
                {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": finish}
            ],
            "modelVersion": path.rpartition("/")[2].partition(":")[0],
            "responseId": "loopback",
            "usageMetadata": {
                "promptTokenCount": read,
                "cachedContentTokenCount": read // 2,
                "candidatesTokenCount": written,
                "totalTokenCount": read + written,
            },
        }

    def error(self, status: int, message: str) -> dict[str, Json]:
        """`error`, with the status in words."""
        words = {
            400: "INVALID_ARGUMENT",
            401: "UNAUTHENTICATED",
            403: "PERMISSION_DENIED",
            404: "NOT_FOUND",
            429: "RESOURCE_EXHAUSTED",
            500: "INTERNAL",
            503: "UNAVAILABLE",
        }
        return {"error": {"code": status, "message": message, "status": words.get(status, "UNKNOWN")}}

    def system(self, request: Mapping[str, Any]) -> str:
        """The text of the system instruction."""
        return text_of((request.get("systemInstruction") or {}).get("parts"))

    def user(self, request: Mapping[str, Any]) -> str:
        """The text of the first content."""
        return text_of((request.get("contents") or [{}])[0].get("parts"))

    def tools(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The function declarations of a request: the schema of each by its name."""
        found = [
            function
            for tool in request.get("tools") or []
            for function in tool.get("functionDeclarations") or []
        ]
        return {
            function["name"]: function.get("parameters_json_schema", function.get("parametersJsonSchema"))
            for function in found
        }

    def schema(self, request: Mapping[str, Any]) -> object:
        """The schema in the generation configuration, if the request has one."""
        config = request.get("generationConfig") or {}
        return config.get("responseJsonSchema", config.get("responseSchema"))

    def listing(self, models: tuple[str, ...]) -> dict[str, Json]:
        """The body that lists the models, each below `models/` as Google names them."""
        return {
            "models": [
                {"name": f"models/{name}", "supportedGenerationMethods": ["generateContent"]}
                for name in models
            ]
        }


def completion(
    reply: Mapping[str, Json], request: Mapping[str, Json], *, cut_off: bool = False
) -> dict[str, Json]:
    """The chat completion that says `reply` in native tool calls."""
    return Chat().reply(said(reply, "calls", cut_off=cut_off), request, "")
