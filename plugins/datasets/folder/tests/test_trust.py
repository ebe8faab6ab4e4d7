"""What arrives in a table, a shard or a repository reads nothing else, and calls nobody."""

import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from cuescope_folder import Folder
from cuescope_folder.hub import HuggingFace, HuggingFaceOptions
from cuescope_sdk import Context, UserError

from .test_elsewhere import png, shown

Opened = Callable[..., Folder]
KINDS = ("csv", "tsv", "jsonl", "parquet", "bytes")
COLUMNS = ("path", "image", "mask")


def write_table(folder: Path, kind: str, column: str, cell: str) -> Path:
    """A table whose second row names `cell`; `bytes` has {bytes, path} as Hugging Face has."""
    rows = [{"path": "1.png", "label": "a"}, {"path": "1.png", "label": "b"}]
    if column == "image":
        rows = [{"image": row["path"], "label": row["label"]} for row in rows]
    rows[1][column] = cell
    if column == "mask":
        rows[0][column] = "1.png"
    (folder / "1.png").write_bytes(png(1))
    names = sorted({*rows[0], *rows[1]})
    if kind in ("csv", "tsv"):
        mark = {"csv": ",", "tsv": "\t"}[kind]
        lines = [names, *([row[name] for name in names] for row in rows)]
        text = "\n".join(mark.join(line) for line in lines)
        (folder / f"manifest.{kind}").write_text(text + "\n")
        return folder / f"manifest.{kind}"
    if kind == "jsonl":
        (folder / "manifest.jsonl").write_text(
            "\n".join(json.dumps(row) for row in rows)
        )
        return folder / "manifest.jsonl"
    columns: dict[str, list[Any]] = {
        name: [row[name] for row in rows] for name in names
    }
    if kind == "bytes":
        first = {"bytes": png(2), "path": "in.png"}
        columns[column] = [first, {"bytes": None, "path": cell}]
    parquet.write_table(pa.table(columns), folder / "manifest.parquet")
    return folder / "manifest.parquet"


def schemes() -> list[str]:
    """Every protocol that fsspec knows by name."""
    import fsspec
    from fsspec.registry import known_implementations

    known = {
        *known_implementations,
        *fsspec.available_protocols(),
        "ssh",
        "gopher",
        "tar",
    }
    return sorted(known)


def hostile_cells(secret: Path, port: int) -> list[str]:
    """What a cell may not say: every protocol, alone and in a chain, and ways out of the folder."""
    here = f"127.0.0.1:{port}"
    plain = [f"{s}://{here}/x.png" for s in schemes()] + [
        f"{s}://{secret}" for s in schemes()
    ]
    chains = [f"{s}://x.png::http://{here}/refs.json" for s in schemes()]
    hosts = (
        "localhost",
        "127.1",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0",
    )
    others = [f"{s}://{host}:{port}/x.png" for host in hosts for s in ("http", "https")]
    paths = [
        str(secret),
        f"../{secret.name}",
        "link.png",
        "away/x.png",
        "pipe.png",
        "/dev/zero",
    ]
    return [
        *plain,
        *chains,
        *others,
        *paths,
        f"x.png::http://{here}/x",
        "\\\\host\\share\\x.png",
    ]


# ------------------------------------------------------------------------------- nothing is called

PROBE = """
import json, os, sys
from itertools import product
from pathlib import Path

folder, secret, cases = Path(sys.argv[1]), sys.argv[2], json.load(open(sys.argv[3]))
import aiohttp, datasets, fsspec, pyarrow.parquet, s3fs, socket
from cuescope_folder import Folder, FolderOptions
from cuescope_sdk import Context, UserError
from cuescope_core.trust import child

class Here:  # in a child nothing would be seen
    is_idle = lives = True
    def values(self, title, call, arguments):
        yield from call(*arguments)
child.Child = Here

events, watched = [], False
def hook(event, arguments):
    if not watched:
        return
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"):
        events.append((event, str(arguments)))
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        end = os.path.realpath(os.fsdecode(arguments[0]))  # a link's own name says nothing
        if secret in end or end == "/dev/zero":
            events.append((event, end))
sys.addaudithook(hook)

sys.path.insert(0, sys.argv[4])
from tests.test_trust import write_table
results = []
for kind, column, cell in cases:
    table = write_table(folder, kind, column, cell)
    watched = True
    try:
        Folder(FolderOptions(path=folder), Context(cache=folder.parent / "cache"))
        said = None
    except UserError as error:
        said = str(error)
    except BaseException as error:
        said = f"INTERNAL {type(error).__name__}: {error}"
    watched = False
    table.unlink()
    results.append((kind, column, cell, said))
print(json.dumps({"events": events, "results": results}))
"""


@pytest.fixture
def traps(data: Path, tmp_path: Path) -> Path:
    """A secret beside the data, and links to it, a pipe and a folder away within the data."""
    secret = tmp_path / "secret-of-the-house.png"
    secret.write_bytes(png(99))
    (data / "link.png").symlink_to(secret)
    (data / "away").symlink_to(tmp_path)
    os.mkfifo(data / "pipe.png")
    return secret


@pytest.mark.parametrize("kinds", [1, pytest.param(len(KINDS), marks=pytest.mark.long)])
def test_no_cell_reads_or_calls_anything_else(
    data: Path, traps: Path, tmp_path: Path, kinds: int
) -> None:
    """Every protocol that fsspec knows x column, seen by an audit hook.

    Each in so many kinds of tables, of which the next one has the next kinds.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    cells = hostile_cells(traps, listener.getsockname()[1])
    pairs = list(product(COLUMNS, cells))
    turns = product(enumerate(pairs), range(kinds))
    cases = [
        (KINDS[(number + turn) % len(KINDS)], *pair) for (number, pair), turn in turns
    ]
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    here = str(Path(__file__).parents[1])
    command = [
        sys.executable,
        "-c",
        PROBE,
        data,
        traps.name,
        tmp_path / "cases.json",
        here,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["events"] == []
    assert len(answer["results"]) == len(cases)
    for kind, column, cell, said in answer["results"]:
        assert said is not None, (kind, column, cell)
        assert not said.startswith("INTERNAL"), (kind, column, cell, said)
        assert "\n" not in said
        assert "manifest." in said, said
        assert "line 3" in said or "line 2" in said or "row 2" in said, said
    listener.setblocking(False)
    with listener, pytest.raises(BlockingIOError):
        listener.accept()


# --------------------------------------------------------------------------------------- the web


class Server:
    """A web server that answers with files, or sends elsewhere; it counts who asked for what."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.elsewhere: dict[str, str] = {}
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                if self.path in server.elsewhere:
                    self.send_response(302)
                    self.send_header("Location", server.elsewhere[self.path])
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                content = server.files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def do_HEAD(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    """The one whose address is typed, and one that only data names."""
    pair = (Server(), Server())
    yield pair
    for server in pair:
        server.close()


def test_cells_name_what_lies_at_the_host_of_the_table(
    servers: tuple[Server, Server], opened: Opened
) -> None:
    typed, other = servers
    typed.files["/b/2.png"] = png(20)
    other.files["/3.png"] = png(30)

    def read(*cells: str, **options: Any) -> list[tuple[str, str | None, int]]:
        rows = [f"{cell},a\n" for cell in cells]
        typed.files["/a/t.csv"] = ("path,label\n" + "".join(rows)).encode()
        return shown(opened(path=f"{typed.address}/a/t.csv", **options))

    assert read(f"{typed.address}/b/2.png")[0][2] == 20
    with pytest.raises(
        UserError, match=r"line 2: 'path' may not be read: it is below no"
    ):
        read(f"{other.address}/3.png")
    for cell in (
        "../b/2.png",
        "%2e%2e/b/2.png",
        "x::http://e.org/y",
        "/b/2.png",
        "a\\b.png",
    ):
        with pytest.raises(
            UserError, match=r"t.csv line 2: 'path' (leads out|may not be)"
        ):
            read(cell)
    assert other.asked == []
    assert read(f"{other.address}/3.png", roots=(other.address,))[0][2] == 30
    with pytest.raises(UserError, match="may not be read"):
        read(f"{other.address}/3.png", roots=(f"{other.address}/photos",))


def test_a_root_lets_a_local_table_name_its_files(
    data: Path, servers: tuple[Server, Server], opened: Opened
) -> None:
    server, _ = servers
    server.files["/1.png"] = png(10)
    (data / "manifest.csv").write_text(f"path,label\n{server.address}/1.png,a\n")
    with pytest.raises(UserError, match=rf"add -O data.roots={server.address}$"):
        opened()
    assert server.asked == []
    assert shown(opened(roots=(server.address,)))[0][2] == 10


@pytest.mark.parametrize(
    "place", ["{other}/x.png", "http://localhost:{port}/x.png", "file:///etc/passwd"]
)
def test_a_server_that_sends_elsewhere(
    servers: tuple[Server, Server], opened: Opened, place: str
) -> None:
    typed, other = servers
    other.files["/x.png"] = png(10)
    port = other.address.rpartition(":")[2]
    typed.elsewhere["/1.png"] = place.format(other=other.address, port=port)
    typed.files["/t.csv"] = b"path,label\n1.png,a\n"
    with pytest.raises(UserError) as caught:
        opened(path=f"{typed.address}/t.csv")
    assert "\n" not in str(caught.value)
    assert other.asked == []


def test_a_table_may_not_send_to_an_inner_host_either(
    servers: tuple[Server, Server], opened: Opened
) -> None:
    typed, other = servers
    other.files["/t.csv"] = b"path,label\n1.png,a\n"
    typed.elsewhere["/t.csv"] = f"{other.address}/t.csv"
    with pytest.raises(
        UserError, match=r"may not be read: got http://127.* was not typed"
    ):
        opened(path=f"{typed.address}/t.csv")
    assert other.asked == []


def test_a_listing_may_not_write_or_read_elsewhere(
    servers: tuple[Server, Server], tmp_path: Path, opened: Opened
) -> None:
    server, other = servers
    victim = tmp_path / "victim.png"
    names = [
        f"/set/{victim}",
        "/set/../x.png",
        f"/set/x.png::{other.address}/y",
        "/set/a/1.png",
    ]
    links = "".join(f'<a href="{name}">x</a>' for name in names)
    server.files |= {
        "/set": links.encode(),
        "/set/": links.encode(),
        "/set/a/1.png": png(10),
    }
    server.files |= {name: png(20) for name in names}
    folder = opened(path=f"{server.address}/set")
    assert [sample.key for sample in folder] == ["a/1.png"]
    assert not victim.exists()
    assert other.asked == []


# ---------------------------------------------------------------------------------------- shards


def test_columns_of_a_shard_name_no_file(
    data: Path, tmp_path: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whatever case they are written, and from where the command is run."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "own.png").write_bytes(png(50))
    monkeypatch.chdir(tmp_path / "work")
    for column in ("Mask", "MASK", " mask", "Path", "FileName", "mask"):
        cells = json.dumps({column: "own.png", "label": "a"}).encode()
        with tarfile.open(data / "s.tar", "w") as archive:
            for name, content in (("1.png", png(1)), ("1.json", cells)):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        (sample,) = opened(path=data / "s.tar")
        assert "foreground" not in sample.annotations
        assert sample.key == "s.tar/1.png"
        (data / "s.tar").unlink()


def test_a_file_of_a_shard_has_a_size(
    data: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cuescope_folder.shards.MOST_BYTES", 100)
    with tarfile.open(data / "s.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("1.png")
        member.size = 2**20
        archive.addfile(member, io.BytesIO(bytes(2**20)))
    with pytest.raises(
        UserError, match=r"cannot read the shard .*1\.png has 1,048,576"
    ):
        opened(path=data / "s.tar.gz")


FAR = {  # as Python has none
    "date": pa.array([2**31 - 1], pa.date32()),
    "time": pa.array([2**62], pa.timestamp("us")),
    "time of a zone": pa.array([1], pa.timestamp("us", tz="/etc/passwd")),
    "duration": pa.array([2**62], pa.duration("s")),
}


@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize("column", ["label", "group", "taken"])
def test_a_date_that_no_calendar_has(
    kind: str, column: str, data: Path, opened: Opened
) -> None:
    columns = {"path": ["1.png"], "label": ["a"], column: FAR[kind]}
    parquet.write_table(pa.table(columns), data / "t.parquet")
    with pytest.raises(UserError, match=r"t\.parquet is no Parquet file: got"):
        opened(path=data / "t.parquet")


@pytest.mark.parametrize("column", ["boxes", "actions"])
def test_a_number_that_no_float_holds(column: str, data: Path, opened: Opened) -> None:
    cell = [["a", 0, 1, 2, 10**400]] if column == "boxes" else [["a", 0, 10**400]]
    row = {"path": "1.mp4", "label": "a", column: cell}
    (data / "t.jsonl").write_text(json.dumps(row))
    with pytest.raises(UserError, match=f"line 1: column '{column}'"):
        opened(path=data / "t.jsonl")


def test_a_class_of_thousands_of_digits(data: Path, opened: Opened) -> None:
    (data / "classnames.txt").write_text("cat\n")
    with tarfile.open(data / "s.tar", "w") as archive:
        for name, content in (("1.png", png(1)), ("1.cls", b"9" * 5000)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    with pytest.raises(UserError, match="expected one of 1 names"):
        opened(path=data / "s.tar")


# ------------------------------------------------------------------------------- the hub's layout


def write_repository(folder: Path, cell: str, card: str = "") -> Path:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "in.png").write_bytes(png(30))
    datasets = pytest.importorskip("datasets", reason="needs pip install datasets")
    features = datasets.Features(
        {"image": datasets.Image(), "label": datasets.ClassLabel(names=["a", "b"])}
    )
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    images = pa.array(
        [{"bytes": png(1), "path": "1.png"}, {"bytes": None, "path": cell}], kind
    )
    table = pa.table({"image": images, "label": pa.array([0, 1], pa.int64())})
    parquet.write_table(
        table.cast(features.arrow_schema), folder / "data" / "test.parquet"
    )
    if card:
        (folder / "README.md").write_text(card)
    return folder


def hub(folder: Path, tmp_path: Path, **options: Any) -> HuggingFace:
    return HuggingFace(
        HuggingFaceOptions(source=f"{folder}:test", **options),
        Context(cache=tmp_path / "cache"),
    )


pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning"
)


def test_rows_of_a_repository_name_its_own_files(
    tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    folder = write_repository(tmp_path / "repo", str(tmp_path / "repo" / "in.png"))
    assert shown(hub(folder, tmp_path))[1][2] == 30  # type: ignore[arg-type]
    with zipfile.ZipFile(folder / "x.zip", "w") as archive:
        archive.writestr("a.png", png(40))
    write_repository(folder, f"zip://a.png::{folder / 'x.zip'}")
    assert shown(hub(folder, tmp_path))[1][2] == 40  # type: ignore[arg-type]


@pytest.mark.parametrize("step", [20, pytest.param(1, marks=pytest.mark.long)])
def test_rows_of_a_repository_name_nothing_else(
    tmp_path: Path, servers: tuple[Server, Server], step: int
) -> None:
    server, _ = servers
    secret = tmp_path / "secret.png"
    secret.write_bytes(png(99))
    port = int(server.address.rpartition(":")[2])
    # each opens a repository anew; all cells by `make test-all`, and in tables below
    for cell in hostile_cells(secret, port)[::step]:
        folder = write_repository(tmp_path / "repo", cell)
        if cell in ("link.png", "away/x.png", "pipe.png"):
            continue  # they are not there
        with pytest.raises(UserError, match=r"hf: row 1: 'image'") as caught:
            hub(folder, tmp_path)
        assert "\n" not in str(caught.value)
    assert server.asked == []
    (folder / "link.png").symlink_to(secret)
    with pytest.raises(UserError, match=r"link\.png' leads out of its folder"):
        hub(folder, tmp_path)


@pytest.mark.parametrize(
    "files",
    [
        "{other}/*.parquet",
        "../other/data/*.parquet",
    ],
)
def test_the_card_of_a_repository_names_its_own_files(
    tmp_path: Path, files: str
) -> None:
    names = json.dumps(files.format(other=tmp_path / "other" / "data"))
    card = f"---\nconfigs:\n- config_name: default\n  data_files: {names}\n---\n"
    folder = write_repository(
        tmp_path / "repo", str(tmp_path / "repo" / "in.png"), card
    )
    write_repository(tmp_path / "other", "x")
    with pytest.raises(UserError, match=r"hf: .*leads out of its folder"):
        hub(folder, tmp_path)


@pytest.mark.parametrize(
    "card", ["# Photos\n", "", "---\nlicense: mit\n---\n", "---\n---\n- a: :b"]
)
def test_a_card_that_names_no_files_is_fine(tmp_path: Path, card: str) -> None:
    place = str(tmp_path / "repo" / "in.png")
    assert len(hub(write_repository(tmp_path / "repo", place, card), tmp_path)) == 2


def test_rows_of_a_repository_may_name_a_typed_root(
    tmp_path: Path, servers: tuple[Server, Server]
) -> None:
    server, _ = servers
    server.files["/1.png"] = png(60)
    folder = write_repository(tmp_path / "repo", f"{server.address}/1.png")
    data = hub(folder, tmp_path, roots=(server.address,))
    assert shown(data)[1][2] == 60  # type: ignore[arg-type]


def test_files_that_follow_links_of_their_own_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "test.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(UserError, match="has files of the kind 'hdf5'"):
        hub(folder, tmp_path)


# ---------------------------------------------------------------------------------------- limits

DEEP = "[" * 900 + "]" * 900
GOOD = '"path": "1.png", "label": "a"'
JSON_BOMBS = {
    "deep row": '{"a": ' * 50_000,
    "digits": f'{{{GOOD}, "x": {"1" * 100_000}}}',
    "columns by row": "\n".join(
        f'{{"path": "1.png", "lable{n}": 1}}' for n in range(30_000)
    ),
    "without path": f'{{{GOOD}}}\n{{"label": "a"}}',
    "without label": f'{{{GOOD}}}\n{{"path": "1.png"}}',
    "other case": f'{{{GOOD}}}\n{{"PATH": "1.png", "label": "a"}}',
}
CSV_BOMBS = {
    **{
        f"deep {column}": f'path,label,{column}\n1.png,a,"{DEEP}"'
        for column in ("choices", "boxes", "cues", "actions")
    },
}
BOMBS = {name: ("manifest.jsonl", text) for name, text in JSON_BOMBS.items()}
BOMBS |= {name: ("manifest.csv", text) for name, text in CSV_BOMBS.items()}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", BOMBS)
def test_a_table_that_is_too_much_is_one_line_at_once(
    data: Path, opened: Opened, name: str
) -> None:
    file, text = BOMBS[name]
    (data / "1.png").write_bytes(png(1))
    (data / file).write_text(text)
    with pytest.raises(UserError) as caught:
        opened()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000
