"""A server on loopback that takes whatever an observer sends, for a check without the real one."""

from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

PLACE = "{server}"  # in an option: the address of the sink


class Received(NamedTuple):
    """A request: its method, its path and what was sent."""

    method: str
    path: str
    body: bytes


class _Handler(BaseHTTPRequestHandler):
    server: "Sink"

    def take(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.received.append(Received(self.command, self.path, body))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST = do_PUT = do_PATCH = take  # noqa: N815 - the names of http.server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Sink(ThreadingHTTPServer):
    """Answers each request with `{}`, and keeps it in `received`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[Received] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


@cache
def process_sink() -> Sink:
    """The one of this process; it ends with the process."""
    sink = Sink()
    Thread(target=sink.serve_forever, daemon=True).start()
    return sink
