"""The model and the tool on a server on loopback that does as it is told."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer

from cuescope_openai import OpenAI
from cuescope_openai.options import OpenAIOptions, OpenAIWriterOptions
from cuescope_openai.writing import OpenAIWriter
from cuescope_sdk import Context


@pytest.fixture(scope="session")
def loopback() -> Iterator[ChatServer]:
    with ChatServer.running() as server:
        yield server


@pytest.fixture
def server(loopback: ChatServer) -> ChatServer:
    """The server, with nothing asked of it yet."""
    loopback.reset()
    return loopback


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def writer(server: ChatServer, tmp_path: Path) -> Callable[..., OpenAIWriter]:
    """`writer(**options)`: the tool on the server, quick to try again."""

    def build(*, planning: bool = False, **options: Any) -> OpenAIWriter:
        given = {"model": "tiny", "base_url": server.url, "backoff": 0.01, **options}
        context = Context(cache=tmp_path, planning=planning)
        return OpenAIWriter(OpenAIWriterOptions(**given), context)

    return build


@pytest.fixture
def model(server: ChatServer, tmp_path: Path) -> Callable[..., OpenAI]:
    """`model(**options)`: the model on the server."""

    def build(**options: Any) -> OpenAI:
        given = {
            "model": "tiny-vision",
            "base_url": server.url,
            "backoff": 0.01,
            **options,
        }
        return OpenAI(OpenAIOptions(**given), Context(cache=tmp_path))

    return build


@pytest.fixture
def unused_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
