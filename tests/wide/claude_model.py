"""A model on the loopback for the real Claude Code: it does one scripted thing after the other."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentforge.testing import AnthropicServer
from agentforge.testing.server import Fault

Block = Mapping[str, Any]


def uses(number: int, tool: str, **arguments: str) -> Block:
    """A call of one of Claude Code's own tools."""
    return {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": arguments}


def loopback_model(turns: Sequence[Block]) -> AnthropicServer:
    """A server whose model calls one tool after the other, each when the one before has answered, and then says that
    it is done. Requests without tools, for titles and the like, do not count.
    """
    left = list(turns)

    def answer(body: Mapping[str, Any]) -> Fault:
        block = left.pop(0) if body.get("tools") and left else {"type": "text", "text": "Done."}
        return Fault(body=_events(block), headers={"content-type": "text/event-stream"})

    return AnthropicServer(answer)


def _events(block: Block) -> bytes:
    """The events of one message with one block, as they come over the wire."""
    is_text = block["type"] == "text"
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "any",
        "content": [],
        "usage": usage,
    }
    empty = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
    delta = (
        {"type": "text_delta", "text": block["text"]}
        if is_text
        else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    )
    ending = {"stop_reason": "end_turn" if is_text else "tool_use", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events).encode()
