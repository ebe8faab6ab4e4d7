"""A server whose every byte is scripted."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

Script = Callable[[socket.socket, Event], None]
ANSWER = b'{"choices": [{"message": {"content": "hello"}}]}'


def head(length: int | None = None, *headers: str, status: str = "200 OK") -> bytes:
    """Status line and headers; the client is told that its next request needs a new connection."""
    lengths = [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join(
        [f"HTTP/1.1 {status}", "Connection: close", *lengths, *headers, "", ""]
    ).encode()


def reply(body: bytes, *headers: str, status: str = "200 OK") -> Script:
    """A whole reply at once."""
    return lambda client, _: client.sendall(
        head(len(body), *headers, status=status) + body
    )


def drip(content: bytes, seconds: float) -> Script:
    """A byte after the other, then nothing."""

    def script(client: socket.socket, closed: Event) -> None:
        for byte in content:
            client.sendall(bytes([byte]))
            if closed.wait(seconds):
                return
        closed.wait()

    return script


class ScriptedServer:
    """Answers request after request by `scripts`, the last of them again and again.

    `requests` are their bytes; each has a connection of its own.
    """

    def __init__(self) -> None:
        self.scripts: list[Script] = []
        self.requests: list[bytes] = []
        self.closed = Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"

    def serve(self) -> None:
        """Until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                Thread(target=self.answer, args=(client,), daemon=True).start()

    def answer(self, client: socket.socket) -> None:
        """Read a request, and do what comes next."""
        with client, suppress(OSError):
            self.requests.append(read_request(client))
            script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
            script(client, self.closed)


def read_request(client: socket.socket) -> bytes:
    """Headers and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (part := client.recv(65536)):
            return data
        data += part
    start, _, body = data.partition(b"\r\n\r\n")
    fields = [line.partition(b":") for line in start.lower().splitlines()]
    length = next(
        (int(value) for name, _, value in fields if name == b"content-length"), 0
    )
    while len(body) < length and (part := client.recv(65536)):
        body += part
    return start + b"\r\n\r\n" + body


@contextmanager
def serve_scripts() -> Iterator[ScriptedServer]:
    """A server that is up."""
    server = ScriptedServer()
    thread = Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.closed.set()
        with suppress(OSError):
            server.listener.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        server.listener.close()
        thread.join()
