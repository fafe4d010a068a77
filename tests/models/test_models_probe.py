"""A probe: one sentence for every way in which a provider does not answer, and nobody is waited for longer
than said.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from agentforge.models.known.providers import Provider, Wire
from agentforge.models.probe import ProviderProbe, probe_all
from tests.rows import every

KEY = "weird/key~of~9/parts"
Answer = Callable[[BaseHTTPRequestHandler], tuple[int, str, bytes]]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            code, kind, body = answer(self)
            with suppress(OSError):  # whoever asked may be gone
                self._send(code, kind, body)

        def _send(self, code: int, kind: str, body: bytes) -> None:
            self.send_response(code)
            self.send_header("content-type", kind)
            if 300 <= code < 400:
                self.send_header("location", "http://127.0.0.1:1/elsewhere")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def look(address: str, wire: Wire = "openai", key: str | None = KEY, within_s: float = 60) -> ProviderProbe:
    (found,) = probe_all([Provider("box", wire, address, "BOX_KEY")], lambda _: key, within_s)
    return found


@every(
    ("wire", "path", "header", "value"),
    [
        ("openai", "/models", "authorization", f"Bearer {KEY}"),
        ("openai-responses", "/models", "authorization", f"Bearer {KEY}"),
        ("mistral", "/v1/models", "authorization", f"Bearer {KEY}"),
        ("anthropic", "/v1/models?limit=1000", "x-api-key", KEY),
        ("google", "/v1beta/models?pageSize=1000", "x-goog-api-key", KEY),
    ],
)
def test_each_wire_is_asked_for_its_models_in_its_own_way(
    wire: Wire, path: str, header: str, value: str
) -> None:
    seen: list[tuple[str, str | None]] = []

    def answer(request: BaseHTTPRequestHandler) -> tuple[int, str, bytes]:
        seen.append((request.path, request.headers.get(header)))
        return 200, "application/json", b'{"data": [{"id": "a"}, {"id": "b"}]}'

    with serving(answer) as address:
        found = look(address, wire)
    assert (found.state, found.detail) == ("ok", "answers; 2 models")
    assert seen == [(path, value)]


@every(
    ("answer", "state", "words"),
    [
        ((401, "application/json", KEY.encode()), "wrong_key", "does not take the key (401)"),
        ((403, "text/html", b"<html>"), "may_not_list", "does not take the key (403)"),
        ((200, "text/html", b"<html>hello</html>"), "html", "answers with a web page"),
        ((200, "application/json", b"  <!doctype html>"), "html", "answers with a web page"),
        ((502, "text/html", b"<html>bad gateway</html>"), "html", "answers with a web page"),
        ((200, "application/json", b'{"data": ['), "failing", "is no model server"),
        ((500, "application/json", b"{}"), "failing", "answers 500"),
        ((302, "text/plain", b""), "failing", "sends us to another address (302)"),
        ((404, "application/json", b"{}"), "ok", "without a list of its models (404)"),
        ((200, "application/json", b"[]"), "ok", "answers"),
    ],
)
def test_what_a_server_answers_is_told_in_a_few_words(
    answer: tuple[int, str, bytes], state: str, words: str
) -> None:
    with serving(lambda _: answer) as address:
        found = look(address)
    assert found.state == state
    assert words in found.detail
    assert KEY not in found.detail + found.next_step


def test_nobody_is_waited_for_longer_than_that() -> None:
    over = Event()

    def slow(_: BaseHTTPRequestHandler) -> tuple[int, str, bytes]:
        over.wait(60)
        return 200, "application/json", b"{}"

    with serving(slow) as address:
        providers = [Provider(f"box{number}", "openai", address) for number in range(8)]
        before = time.monotonic()
        found = probe_all(providers, lambda _: None, 0.2)
        took = time.monotonic() - before
        over.set()
    assert took < 30
    assert [probe.state for probe in found] == ["late"] * 8


def test_a_closed_port_and_a_missing_key_are_told_apart() -> None:
    assert (look("http://127.0.0.1:1/v1").state, look("http://127.0.0.1:1/v1").next_step) == (
        "unreachable",
        "Is the server running?",
    )
    (found,) = probe_all(
        [Provider("openai", "openai", "http://127.0.0.1:1", "OPENAI_API_KEY", needs_key=True)], lambda _: None
    )
    assert (found.state, found.next_step) == (
        "no_key",
        "Set OPENAI_API_KEY, or run `agentforge auth login openai`.",
    )
