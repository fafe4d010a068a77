"""How long a connection may say nothing, and who gives way where there are too many: so that nobody who only
holds connections keeps the owner out.
"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 400
PATIENCE_S = 10.0
"""How long the head of a request may take to come."""


class PatientProtocol(H11Protocol):
    """A connection that is closed if no whole request comes. Where there are too many, the one that has been
    idle longest gives way to the newest.
    """

    waits_since = 0.0
    is_socket = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Makes room, and begins to wait for a request."""
        waiting = [each for each in self.connections if isinstance(each, PatientProtocol) and each.is_idle]
        if len(self.connections) >= MOST_CONNECTIONS - 1 and waiting:
            min(waiting, key=lambda each: each.waits_since).give_way()
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        """The next request may come on the same connection."""
        super().on_response_complete()
        self._wait()

    def handle_websocket_upgrade(self, event: object) -> None:
        """From here on the socket has its own rules."""
        self.is_socket = True
        super().handle_websocket_upgrade(event)  # type: ignore[arg-type]  # h11 is uvicorn's

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered."""
        answers = vars(self)["cycle"]  # none before the first request, though its type does not say so
        return not self.is_socket and (answers is None or answers.response_complete)

    def give_way(self) -> None:
        """Closes the connection, and counts it no longer."""
        self.connections.discard(self)
        self.transport.close()

    def _wait(self) -> None:
        self.waits_since = self.loop.time()
        self.loop.call_later(PATIENCE_S, self._look)

    def _look(self) -> None:
        if self.is_idle and self.loop.time() >= self.waits_since + PATIENCE_S - 0.1:
            self.give_way()
