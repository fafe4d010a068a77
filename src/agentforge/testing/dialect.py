"""What every provider's wire has in common, for servers that speak it: a reply in one of the formats, and
what a request holds.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentforge.core.reply import Json, reply_from_json, reply_to_json
from agentforge.models.known.providers import ReplyFormat, Wire


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """What a model says: a text beside calls, or a text alone."""

    text: str
    calls: tuple[tuple[str, dict[str, Json]], ...] = ()
    cut_off: bool = False

    def arguments(self) -> Iterator[tuple[str, str]]:
        """Each call with its arguments as text; a cut leaves half of the last."""
        for at, (name, arguments) in enumerate(self.calls, 1):
            text = json.dumps(arguments, ensure_ascii=False)
            yield name, text[: len(text) // 2] if self.cut_off and at == len(self.calls) else text

    def objects(self) -> Iterator[tuple[str, dict[str, Json]]]:
        """Each call with its arguments as an object; of a cut one nothing arrived."""
        for at, (name, arguments) in enumerate(self.calls, 1):
            yield name, {} if self.cut_off and at == len(self.calls) else arguments

    @property
    def words(self) -> str:
        """The text; a cut leaves half, unless there were calls after it."""
        return self.text[: len(self.text) // 2] if self.cut_off and not self.calls else self.text


def said(reply: Mapping[str, Json], reply_format: ReplyFormat, *, cut_off: bool = False) -> ModelOutput:
    """What a model says to send `reply` in this format."""
    value = reply_from_json(dict(reply))
    if reply_format != "calls":
        text = json.dumps(
            {key: part for key, part in reply_to_json(value).items() if part is not None}, ensure_ascii=False
        )
        return ModelOutput(text if reply_format == "schema" else f"```json\n{text}\n```", cut_off=cut_off)
    calls = [(action.name, dict(action.args)) for action in value.actions]
    report: dict[str, Json] = {} if value.notes is None else {"notes": value.notes}
    report |= {key: part for key, part in (("signal", value.signal), ("summary", value.summary)) if part}
    return ModelOutput(value.thought, (*calls, *([("report", report)] if report else [])), cut_off)


class Dialect(ABC):
    """One provider's wire as its server speaks it."""

    wire: Wire
    prefix: str
    """The path that belongs to the address a client is given."""
    path: str
    """How the path of a request for a reply ends."""
    key_header = "authorization"

    @abstractmethod
    def reply(self, what: ModelOutput, request: Mapping[str, Any], path: str) -> dict[str, Json]:
        """The body of the response that holds what the model says."""

    @abstractmethod
    def error(self, status: int, message: str) -> dict[str, Json]:
        """The body of an error, in the provider's own shape."""

    @abstractmethod
    def system(self, request: Mapping[str, Any]) -> str:
        """The system text of a request."""

    @abstractmethod
    def user(self, request: Mapping[str, Any]) -> str:
        """The user's text of a request."""

    @abstractmethod
    def tools(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The tools of a request: the schema of each by its name."""

    @abstractmethod
    def schema(self, request: Mapping[str, Any]) -> object:
        """The schema that holds the reply, if the request has one."""

    def listing(self, models: tuple[str, ...]) -> dict[str, Json]:
        """The body that lists the models."""
        return {
            "object": "list",
            "data": [
                {"id": name, "object": "model", "created": 1, "owned_by": "loopback"} for name in models
            ],
        }

    def reply_format(self, request: Mapping[str, Any]) -> ReplyFormat:
        """The format that the request asks for."""
        return "calls" if self.tools(request) else "schema" if self.schema(request) is not None else "text"

    def key(self, headers: Mapping[str, str]) -> str | None:
        """The key that came with a request."""
        value = headers.get(self.key_header)
        return value.removeprefix("Bearer ") if value is not None else None


def content_of(request: Mapping[str, Any], role: str) -> str:
    """The text of the first message of that role."""
    for message in request.get("messages") or []:
        if isinstance(message, dict) and message.get("role") == role:
            return text_of(message.get("content"))
    return ""


def text_of(value: object) -> str:
    """The text of a content, be it one text or a list of parts."""
    if isinstance(value, list):
        return "".join(str(part.get("text", "")) for part in value if isinstance(part, dict))
    return str(value or "")
