"""A chat completions server on loopback that does as it is told, and counts what it is asked.

with ChatServer.running() as server:
    server.brain = lambda body: {"message": {"content": "yes"}}
    server.fail(429)
    ...  # a client of server.url
    assert len(server.asked) == 2
"""

import json
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

Body = dict[str, Any]
Act = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    # 1.0 closes the connection after each answer, which servers in use do not
    protocol_version = "HTTP/1.1"
    # head and body would else be two packets, and the second waits 40 ms for the first's receipt
    disable_nagle_algorithm = True
    server: "ChatServer"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """The list of models."""
        models = [{"id": name} for name in self.server.models]
        self.reply(200, {"data": models} if self.path == "/v1/models" else {})

    def do_POST(self) -> None:
        """A chat completion, or the next fault."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        # each connection has a thread of its own
        with server.lock:
            # before any fault: a request that fails was asked all the same
            server.asked.append(body)
            server.times.append(time.monotonic())
            server.keys.append(self.headers.get("Authorization", ""))
            server.busy += 1
            # for tests of how many requests a client has under way together
            server.busiest = max(server.busiest, server.busy)
            # under the lock, so that each fault is for one request alone
            act = server.acts.popleft() if server.acts else None
        try:
            if act is not None:
                act(self)
            elif self.path != "/v1/chat/completions":
                self.reply(404, {"detail": "Not Found"})
            elif body["model"] not in server.models:
                self.reply(
                    404, {"error": {"message": f"model {body['model']} is unknown"}}
                )
            else:
                self.answer(body)
        finally:
            with server.lock:
                server.busy -= 1

    def answer(self, body: Body) -> None:
        """Answer of the server's `brain`, unless it holds it back for good."""
        server = self.server
        time.sleep(server.delay)
        with server.lock:
            # counted and paid under one lock: two threads must not both be the last
            held = len(server.paid) >= server.most
            if not held:
                server.paid.append(body)
        # after the lock is left: who waits must not stop the others
        if held:
            # bounded, so that a test that fails does not hang
            server.released.wait(60)
            self.close_connection = True
        else:
            self.reply(200, completion(server.brain(body)))

    def reply(
        self,
        status: int,
        content: object,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Send JSON, or text as it is."""
        text = content if isinstance(content, str) else json.dumps(content)
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:  # the client has gone
            self.close_connection = True


class ChatServer(ThreadingHTTPServer):
    """`asked` are the requests' bodies, `paid` those that got their answer.

    `acts` come first, one a request. `brain` makes the choice of a completion from a body.
    After `most` answers it gives no other, until they are `released` without one.
    """

    # a request that is held back must not keep the process alive
    daemon_threads = True

    def __init__(self) -> None:
        # port 0: any free one, so that tests can run side by side
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = Lock()
        self.released = Event()
        self.models = ["tiny", "tiny-vision"]
        self.reset()

    def reset(self) -> None:
        """Forget what was asked."""
        self.asked: list[Body] = []
        self.paid: list[Body] = []
        self.times: list[float] = []
        self.keys: list[str] = []
        self.acts: deque[Act] = deque()
        self.brain: Callable[[Body], Body] = lambda body: {
            "message": {"content": f"You said: {prompt_of(body)}"}
        }
        self.delay = 0.0
        self.busy = 0
        self.busiest = 0
        # answers before it holds all others back
        self.most = sys.maxsize
        self.released.clear()

    @classmethod
    @contextmanager
    def running(cls) -> "Iterator[ChatServer]":
        """One that is up."""
        server = cls()
        # shutdown waits for the next poll, which is half a second apart by default
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def handle_error(self, *_: object) -> None:
        """A client that was killed is no error of the server's."""

    @property
    def answered(self) -> list[str]:
        """The words of what is paid."""
        return [prompt_of(body) for body in self.paid]

    @property
    def url(self) -> str:
        """Up to /v1."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def fail(self, status: int, content: object = "", **headers: str) -> None:
        """Answer the next request with a status."""
        # a keyword cannot have the hyphen of Retry-After
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.acts.append(lambda handler: handler.reply(status, content, named))

    def stall(self, seconds: float) -> None:
        """Answer the next request too late."""

        def act(handler: Handler) -> None:
            time.sleep(seconds)
            # the client has given up: what comes now must reach nobody
            handler.reply(200, completion({"message": {"content": "too late"}}))

        self.acts.append(act)

    def cut(self) -> None:
        """Close the next request's connection in the middle of its answer."""

        def act(handler: Handler) -> None:
            handler.send_response(200)
            # more than is sent, so the client knows that the answer is cut
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b'{"choices": [{"mess')
            # or nothing of the answer would have left before the cut
            handler.wfile.flush()
            # closing alone leaves the socket open while rfile and wfile hold it
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True

        self.acts.append(act)


def completion(choice: Body) -> Body:
    """A whole answer around a choice; the usage is 10 and 5 tokens."""
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"choices": [choice], "usage": usage, "system_fingerprint": "fp_1"}


def prompt_of(body: Body) -> str:
    """The words of the last message."""
    content = body["messages"][-1]["content"]
    return str(content if isinstance(content, str) else content[-1]["text"])
