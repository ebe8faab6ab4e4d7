"""The list of everybody's plugins: what ships is whole, what arrives is read line by line."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from cuescope import plugin_index
from cuescope.cli import main
from cuescope.plugin_index import COLUMNS, fetch_index, read_index, shipped_index
from cuescope_core.errors import UserError
from cuescope_core.registry import KINDS

HEADER = ",".join(COLUMNS)
STRANGER = 'method,glare,cuescope-glare,"Reflections, and what goes with them."'
HOSTILE = (
    "method,a,x; rm -rf ~,a command in the place of a name",
    "method,b,--index-url=https://example.org,an option in its place",
    "method,c,../c,a path in its place",
    "method,,nameless,no name",
    "method,short",
    "method,d,cuescope-d[-],an extra that is none",
    'method,e,"cuescope-e[x,]",extras that are none',
)


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["plugins", "search", *words])
    assert ended.value.code == code
    output = capsys.readouterr()
    return output.out + output.err


@pytest.fixture
def newest(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """What the project's page answers to `--newest`."""
    page = {"content": f"{HEADER}\n{STRANGER}\n".encode()}

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(page["content"])

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/plugins.csv"
    monkeypatch.setattr(
        "cuescope.cli.plugins.fetch_index", lambda: fetch_index(address)
    )
    yield page
    server.shutdown()
    server.server_close()


def test_each_line_that_ships_is_whole_and_sorted() -> None:
    index = shipped_index()
    names = [(plugin.kind, plugin.name) for plugin in index]
    assert names == sorted(set(names))
    assert {plugin.kind for plugin in index} <= set(KINDS)
    assert all(plugin.finds for plugin in index)


def test_all_words_must_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "backgrounds", "CLIP", "--kind", "method")
    assert told.startswith("method cci (cuescope-cci): Backgrounds")
    assert "saliency" not in told
    assert "None of" in said(capsys, "backgrounds", "zebra")


def test_a_newer_list_is_fetched_when_asked_for(
    newest: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "glare" not in said(capsys, "reflections")
    told = said(capsys, "reflections", "--newest")
    assert "method glare (cuescope-glare): Reflections, and what" in told
    assert (
        "`pip install cuescope-glare` brings it, which is not of this project" in told
    )
    assert "Nobody here has looked" in told


def test_lines_that_are_no_names_are_left_out() -> None:
    text = "\n".join([HEADER, *HOSTILE, STRANGER])
    assert [plugin.name for plugin in read_index(text)] == ["glare"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"\xff\xfe",
        b"kind,name\n",
        b'kind,name,dist,finds\n"' + b"x" * 200_000,
    ],
    ids=["empty", "page", "bytes", "columns", "cell"],
)
def test_what_is_no_list_is_one_line(
    newest: dict[str, bytes], capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    newest["content"] = content
    assert len(said(capsys, "--newest", code=2).splitlines()) == 1


def test_a_list_without_end_is_refused(
    newest: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(plugin_index, "MOST_BYTES", 20)
    assert "expected at most 20 bytes" in said(capsys, "--newest", code=2)


def test_no_network_is_one_line() -> None:
    with pytest.raises(UserError, match="Without --newest"):
        fetch_index("http://127.0.0.1:9/plugins.csv")


def test_codes_that_a_terminal_obeys_are_not_printed(
    newest: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    newest["content"] = (
        f"{HEADER}\nmethod,glare,cuescope-glare,\x1b[2Jreflections\n".encode()
    )
    assert "\x1b" not in said(capsys, "reflections", "--newest")
