"""Public doubles: what a test of AgentForge, or of something built on it, may stand on instead of the outside
world.

    with AnthropicServer([{"actions": [{"name": "read_file", "args": {"path": "a.py"}}]}]) as server:
        model = open_spec("anthropic:any", known({"ANTHROPIC_BASE_URL": server.base_url}), lambda _: "a-key")

Each is a real HTTP server on the loopback that speaks one provider's wire: `OpenAIServer` (chat completions),
`ResponsesServer`, `AnthropicServer`, `MistralServer`, `GoogleServer`. It is told what to answer by a list of
replies (in the JSON shape of our own replies) or by a function of the request, answers in the format that the
request asks for, and keeps what it was sent.
"""

from agentforge.testing.dialects import completion
from agentforge.testing.server import (
    SERVERS,
    AnthropicServer,
    Exchange,
    Fault,
    GoogleServer,
    MistralServer,
    OpenAIServer,
    ReceivedRequest,
    Response,
    ResponsesServer,
    Route,
    Scripted,
    WireServer,
)

__all__ = [
    "SERVERS",
    "AnthropicServer",
    "Exchange",
    "Fault",
    "GoogleServer",
    "MistralServer",
    "OpenAIServer",
    "ReceivedRequest",
    "Response",
    "ResponsesServer",
    "Route",
    "Scripted",
    "WireServer",
    "completion",
]
