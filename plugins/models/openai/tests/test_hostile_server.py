"""Servers that drip, flood, compress bombs, send elsewhere, or speak to the terminal."""

import gzip
import json
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from cuescope_openai.options import OpenAIWriterOptions
from cuescope_openai.writing import OpenAIWriter
from cuescope_sdk import Context, UserError

from .sockets import ANSWER, Script, ScriptedServer, drip, head, reply, serve_scripts

Ask = Callable[..., str]
KEY = "sk-proj-hidden0123456789"
MIB = 2**20


@pytest.fixture
def socketed() -> Iterator[ScriptedServer]:
    with serve_scripts() as server:
        yield server


@pytest.fixture
def lines() -> list[str]:
    """What is announced."""
    return []


@pytest.fixture
def ask(socketed: ScriptedServer, tmp_path: Path, lines: list[str]) -> Ask:
    """`ask(*scripts, **options)`: an answer of a server that does these."""

    def generate(*scripts: Script, **options: Any) -> str:
        socketed.scripts = list(scripts)
        given = {"model": "m", "base_url": socketed.url, "backoff": 0.01, "retries": 0}
        context = Context(cache=tmp_path, announce=lines.append)
        writer = OpenAIWriter(OpenAIWriterOptions(**{**given, **options}), context)
        (text,) = writer.generate(["hi"])
        return text

    return generate


def refusal(ask: Ask, *scripts: Script, **options: Any) -> str:
    """The line that a server gets its user."""
    with pytest.raises(UserError) as caught:
        ask(*scripts, **options)
    line = str(caught.value)
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 1500
    return line


# --------------------------------------------------------------------------------------- deadlines


def never(client: socket.socket, closed: Event) -> None:
    closed.wait()


def endless_informational(client: socket.socket, closed: Event) -> None:
    while True:
        client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


def endless_chunks(client: socket.socket, closed: Event) -> None:
    client.sendall(head(None, "Transfer-Encoding: chunked"))
    while not closed.wait(0.05):
        client.sendall(b"1\r\n \r\n")


SLOW: dict[str, Script] = {
    "never": never,
    "status": drip(head(100), 0.1),
    "body": drip(head(1000) + b" " * 900, 0.05),
    "chunks": endless_chunks,
    "informational": endless_informational,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("slow", SLOW)
def test_a_slow_server_does_not_outlive_the_timeout(ask: Ask, slow: str) -> None:
    assert "no whole answer within 0.7 s" in refusal(ask, SLOW[slow], timeout=0.7)


@pytest.mark.timeout(60)
def test_a_server_that_reads_nothing_does_not_outlive_it_either(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        options = OpenAIWriterOptions(model="m", base_url=url, timeout=0.7, retries=0)
        with pytest.raises(UserError, match=r"within 0.7 s"):
            OpenAIWriter(options, Context(cache=tmp_path)).generate(["x" * 30 * MIB])


@pytest.mark.timeout(60)
def test_retries_have_a_deadline_and_waits_are_announced(
    ask: Ask, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuescope_openai.client.RETRY_SECONDS", 6.0)
    busy = reply(b"come \x1b]0;later\x07", "Retry-After: 8", status="503 Busy")
    line = refusal(ask, busy, retries=5)
    assert "in 1 try: got status 503: come" in line
    assert lines == []
    soon = reply(b"come \x1b]0;later\x07", "Retry-After: 5.1", status="503 Busy")
    assert ask(soon, reply(ANSWER), retries=5) == "hello"
    (line,) = lines
    assert "503" in line
    assert line.endswith("retry 1 of 5 in 5 s")
    assert "\x1b" not in line


PROGRAM = """
import signal
import sys
from pathlib import Path
from cuescope_openai.options import OpenAIWriterOptions
from cuescope_openai.writing import OpenAIWriter
from cuescope_sdk import Context

options = OpenAIWriterOptions(model="m", base_url=sys.argv[1], concurrency=8, retries=6)
writer = OpenAIWriter(options, Context(cache=Path(sys.argv[2])))
# a shell's background jobs, and all that they start, ignore Ctrl-C
signal.signal(signal.SIGINT, signal.default_int_handler)
writer.generate([f"prompt {number}" for number in range(100)])
"""


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "script",
    [
        never,
        pytest.param(SLOW["body"], marks=pytest.mark.long),
        pytest.param(
            reply(b"", "Retry-After: 200", status="503 Busy"), marks=pytest.mark.long
        ),
    ],
)
def test_one_ctrl_c_ends_it(
    socketed: ScriptedServer, tmp_path: Path, script: Script
) -> None:
    socketed.scripts = [script]
    command = [sys.executable, "-c", PROGRAM, socketed.url, str(tmp_path)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 60
        while len(socketed.requests) < 8 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            _, printed = process.communicate(timeout=30)
        finally:
            process.kill()
    assert len(socketed.requests) == 8
    assert printed.rstrip().endswith(b"KeyboardInterrupt")


# ------------------------------------------------------------------------------------------ bodies


def stream(client: socket.socket, closed: Event) -> None:
    client.sendall(head(None))
    while True:
        client.sendall(b" " * MIB)


def test_a_flood_is_cut_off(ask: Ask) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = refusal(ask, stream)
    assert "expected at most 8 MiB" in line
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100 * 1024, grown  # KiB


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip", "\x7f\x1b[2J"])
def test_what_is_packed_was_not_asked_for(
    ask: Ask, socketed: ScriptedServer, encoding: str
) -> None:
    packed = gzip.compress(b" " * 64 * MIB)
    line = refusal(ask, reply(packed, f"Content-Encoding: {encoding}"))
    assert "not asked for" in line or "RemoteProtocolError" in line
    assert b"accept-encoding: identity\r\n" in socketed.requests[0].lower()
    again = reply(packed, "Content-Encoding: gzip")
    assert ask(again, reply(ANSWER), retries=1) == "hello"


def test_an_error_page_is_read_as_far_as_it_is_shown(ask: Ask) -> None:
    flood = reply(b"y" * 64 * MIB, status="400 Bad")
    assert "status 400: yyy" in refusal(ask, flood)
    unknown = reply(b"x", "Content-Encoding: br", status="400 Bad")
    assert "status 400: nothing" in refusal(ask, unknown)


HEADS: dict[str, bytes] = {
    "one long header": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20 * MIB,
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 4 * MIB,
    "no end of the status": b"HTTP/1.1 200 " + b"O" * 20 * MIB,
    "two lengths": head(5, "Content-Length: 6") + b"hello",
    "a negative length": head(-1) + ANSWER,
    "a length without end": head(10**30) + ANSWER,
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\x1b]0;title\x07\x1b[2J",
    "nothing": b"",
}


@pytest.mark.parametrize("name", HEADS)
def test_heads_that_are_none(ask: Ask, name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = refusal(ask, lambda client, _: client.sendall(HEADS[name]))
    assert "no answer from" in line
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024


# -------------------------------------------------------------------------------------------- JSON


def choice(**message: object) -> dict[str, Any]:
    return {"choices": [{"message": message}]}


TOKEN = '{"token": "", "logprob": 0}'
JSONS: dict[str, str] = {
    "deep": "[" * MIB,
    "deep object": '{"choices":' * (MIB // 2),
    "wrong choices": '{"choices": [' + ",".join(["1"] * 2 * MIB) + "]}",
    "a long number": '{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": '
    + "9" * 5000
    + "}}",
    "no number": '{"choices": [{"message": {"content": NaN}}]}',
    "half a character": '{"choices": [{"message": {"content": "\\ud800"}}]}',
    "no text": '{"choices": [{"message": {"content": ["x"]}}]}',
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", JSONS)
def test_json_that_is_no_completion(ask: Ask, name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "no chat completion" in refusal(ask, reply(JSONS[name].encode()))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 400 * 1024, grown


HEAVY = {
    "many choices": '{"choices": [' + ",".join(['{"message":{}}'] * (MIB // 2)) + "]}",
    "many tokens": '{"choices": [{"message": {}, "logprobs": {"content": [{"token": "a", '
    '"logprob": 0, "top_logprobs": [' + ",".join([TOKEN] * (MIB // 4)) + "]}]}}]}",
    "many positions": '{"choices": [{"message": {}, "logprobs": {"content": ['
    + ",".join([TOKEN] * (MIB // 4))
    + "]}}]}",
    "impossible": '{"choices": [{"message": {"content": ""}, "logprobs": {"content": [{"token": "'
    + "." * MIB
    + 'a", "logprob": 1e308}]}}]}',
}
MANY = ("many tokens", "many positions")  # `make test` sends many choices


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in MANY else ())
        for name in HEAVY
    ],
)
def test_a_completion_that_weighs_much(ask: Ask, name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert ask(reply(HEAVY[name].encode())) == ""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024


@pytest.mark.parametrize("status", ["400 Bad", "404 Not Found", "500 Oh"])
@pytest.mark.parametrize(
    "name", ["deep", "deep object", "a long number", "half a character"]
)
def test_errors_that_cannot_be_parsed(ask: Ask, status: str, name: str) -> None:
    assert f"status {status[:3]}" in refusal(
        ask, reply(JSONS[name].encode(), status=status)
    )


# ------------------------------------------------------------------------------------ the terminal


@pytest.mark.parametrize(
    "status", ["301 Moved", "400 Bad", "404 Not Found", "429 Slow", "500 Oh"]
)
def test_no_terminal_obeys_a_server(ask: Ask, status: str) -> None:
    hostile = "\x1b]0;title\x07\x1b[2J\x1b]8;;http://evil\x1b\\link\u202e\x9b2J" * 100
    for body in (hostile, json.dumps({"error": {"message": hostile}})):
        line = refusal(
            ask, reply(body.encode(), f"Location: http://a/{hostile}", status=status)
        )
        assert not set(line) & set("\x07\x1b\u202e\x9b")


# ------------------------------------------------------------------------------------------ the key


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return KEY


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.usefixtures("key")
def test_the_key_follows_no_redirect(ask: Ask, status: int) -> None:
    with serve_scripts() as other:
        other.scripts = [reply(ANSWER)]
        target = f"Location: {other.url}/chat/completions?{KEY}"
        line = refusal(ask, reply(b"", target, status=f"{status} Moved"), retries=3)
        assert f"got status {status} to {other.url}" in line
        assert KEY not in line
        assert other.requests == []


def test_where_the_key_goes_is_said_before_it_goes(
    ask: Ask, key: str, socketed: ScriptedServer, lines: list[str]
) -> None:
    announced: list[list[str]] = []

    def script(client: socket.socket, closed: Event) -> None:
        announced.append(lines.copy())
        reply(ANSWER)(client, closed)

    ask(script)
    host = socketed.url.removesuffix("/v1")
    assert announced == [[f"OPENAI_API_KEY goes to {host}"]]
    assert f"authorization: bearer {key}".encode() in socketed.requests[0].lower()
    ask(script)  # from the memory
    assert len(lines) == 1


def test_without_a_key_nothing_is_said(ask: Ask, lines: list[str]) -> None:
    ask(reply(ANSWER))
    assert lines == []


@pytest.mark.parametrize(
    "written", [KEY, KEY.replace("s", "\\u0073"), KEY.replace("-", "\\u002d")]
)
@pytest.mark.usefixtures("key")
def test_an_echo_of_the_key_is_blacked_out(ask: Ask, written: str) -> None:
    body = f'{{"choices": [{{"message": {{"content": "it is {written}"}}}}]}}'
    assert ask(reply(body.encode())) == "it is [key]"
    error = f'{{"error": {{"message": "it is {written}"}}}}'.encode()
    for status in ("400 Bad", "404 Not Found", "500 Oh"):
        line = refusal(ask, reply(error, status=status), system=status)
        assert KEY not in line


@pytest.mark.usefixtures("key")
def test_no_build_is_named_by_the_key(
    server: Any, writer: Callable[..., OpenAIWriter]
) -> None:
    build = {
        "choices": [{"message": {"content": "x"}}],
        "system_fingerprint": f"fp {KEY}",
    }
    server.fail(200, build)
    tool = writer()
    tool.generate(["a"])
    assert tool.facts["server's builds"] == "fp [key]"


@pytest.mark.usefixtures("key")
def test_no_proxy_stands_before_this_machine(
    ask: Ask, socketed: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_scripts() as proxy:
        proxy.scripts = [reply(ANSWER)]
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert ask(reply(ANSWER)) == "hello"
        assert proxy.requests == []
    assert len(socketed.requests) == 1
