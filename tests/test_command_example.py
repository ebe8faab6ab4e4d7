"""`cuescope example` against a local server that plays the homes of the model and the photos."""

import csv
import hashlib
import io
import shlex
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from cuescope.cli import main
from cuescope_commands.example import _download
from cuescope_commands.example._photos import outline_mask
from cuescope_sdk import Context
from cuescope_sdk.data._sufficiency import DataProfile

CLASSES = ("crab", "sea_horse")
Line = Callable[..., str]


class Homes(ThreadingHTTPServer):
    """Serves `files`; `drop` connections end after so many bytes, `ranges` says if it resumes."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.drop: list[int] = []
        self.ranges = True
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Homes

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.requests.append((self.path, asked))
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        begin = (
            int(asked.removeprefix("bytes=").rstrip("-"))
            if asked and self.server.ranges
            else 0
        )
        if begin >= len(content) > 0 and begin:
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        end = begin + self.server.drop.pop(0) if self.server.drop else len(content)
        self.wfile.write(content[begin:end])

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def homes() -> Iterator[Homes]:
    server = Homes()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def cuescope(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Line:
    """What a command prints; of a failure its one line."""
    monkeypatch.setenv("CUESCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)

    def said(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(words)
        out, err = capsys.readouterr()
        assert ended.value.code == code, out + err
        if code:
            assert len(err.splitlines()) == 1
        return err if code else out

    return said


def caltech(each: int = 7) -> bytes:
    """An archive with the layout of Caltech-101: an archive of photos, and one of outlines."""
    photos, outlines, whole = io.BytesIO(), io.BytesIO(), io.BytesIO()
    rng = np.random.default_rng(0)
    with (
        tarfile.open(fileobj=photos, mode="w:gz") as tar,
        tarfile.open(fileobj=outlines, mode="w") as other,
    ):
        for name in (*CLASSES, "anchor"):
            for number in range(1, each + 1):
                picture, annotation = io.BytesIO(), io.BytesIO()
                pixels = rng.integers(0, 255, (40, 60, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(picture, "JPEG")
                square = np.array([[0.0, 10, 10, 0], [0, 0, 8, 8]])
                box = np.array([[11.0, 19, 21, 31]])  # top, bottom, left, right
                savemat(annotation, {"obj_contour": square, "box_coord": box})
                _add(
                    tar, f"101_ObjectCategories/{name}/image_{number:04d}.jpg", picture
                )
                _add(
                    other, f"Annotations/{name}/annotation_{number:04d}.mat", annotation
                )
        _add(
            tar,
            "101_ObjectCategories/../../crab/image_0009.jpg",
            io.BytesIO(b"not a photo"),
        )
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("caltech-101/101_ObjectCategories.tar.gz", photos.getvalue())
        archive.writestr("caltech-101/Annotations.tar", outlines.getvalue())
    return whole.getvalue()


def _add(tar: tarfile.TarFile, name: str, content: io.BytesIO) -> None:
    item = tarfile.TarInfo(name)
    item.size = len(content.getvalue())
    tar.addfile(item, io.BytesIO(content.getvalue()))


@pytest.fixture
def sources(homes: Homes, tmp_path: Path) -> Path:
    """The homes' two files, pinned."""
    weights, archive = bytes(range(256)) * 40, caltech()
    homes.files = {"/weights": weights, "/photos.zip": archive}
    file = tmp_path / "sources.toml"
    file.write_text(f"""
[model]
name = "A CLIP"
spec = "open-clip:ViT-B-32"
home = "{homes.address}"
license = "MIT"
file = "clip.safetensors"
url = "{homes.address}/weights"
sha256 = "{hashlib.sha256(weights).hexdigest()}"
[photos]
name = "Photos"
home = "{homes.address}"
license = "CC BY 4.0"
file = "photos.zip"
url = "{homes.address}/photos.zip"
md5 = "{hashlib.md5(archive).hexdigest()}"
classes = {list(CLASSES)}
each = 7
""")
    return file


def test_photos_come_as_a_folder_that_an_audit_reads(
    cuescope: Line, sources: Path, homes: Homes
) -> None:
    said = cuescope("example", "--sources", str(sources))
    assert "License: CC BY 4.0" in said
    table = Path("cuescope-example/photos/manifest.csv").read_text()
    rows = list(csv.DictReader(table.splitlines()))
    assert len(rows) == 14
    assert {row["label"] for row in rows} == {"crab", "sea horse"}
    data = Context().build("dataset", "folder:cuescope-example/photos")
    profile = DataProfile.of([data[index] for index in range(len(data))])
    assert profile.counts["label"] == {"crab": 7, "sea horse": 7}
    assert "foreground" in profile.annotated
    *_, methods, plan, audit = said.splitlines()
    checkpoint = str(Path("cuescope-example/clip.safetensors"))
    assert f"checkpoint={checkpoint}" in audit
    assert shlex.split(plan)[1:] == [*shlex.split(audit)[1:], "--plan"]
    assert "cci" in cuescope(*shlex.split(methods)[1:])  # as it is shown


def test_what_is_here_is_not_fetched_again(
    cuescope: Line, sources: Path, homes: Homes
) -> None:
    cuescope("example", "--sources", str(sources))
    homes.requests.clear()
    cuescope("example", "--sources", str(sources))
    assert not homes.requests


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_download_goes_on(
    cuescope: Line, sources: Path, homes: Homes, ranges: bool
) -> None:
    homes.drop, homes.ranges = [300, 500], ranges
    for code in (2, 2, 0):
        cuescope("example", "--sources", str(sources), code=code)
    asked = [begin for path, begin in homes.requests if path == "/photos.zip"]
    assert asked == [None, "bytes=300-", "bytes=800-" if ranges else "bytes=500-"]


def test_a_later_command_goes_on_from_the_part(
    cuescope: Line, sources: Path, homes: Homes
) -> None:
    homes.drop = [400]
    assert "goes on from there" in cuescope(
        "example", "--sources", str(sources), code=2
    )
    assert Path("cuescope-example/photos.zip.part").stat().st_size == 400
    homes.requests.clear()
    cuescope("example", "--sources", str(sources))
    assert homes.requests[0] == ("/photos.zip", "bytes=400-")


def test_another_file_than_the_one_meant_is_refused(
    cuescope: Line, sources: Path, homes: Homes
) -> None:
    good = homes.files["/weights"]
    homes.files["/weights"] = good[:-1] + b"x"
    said = cuescope("example", "--sources", str(sources), code=2)
    assert "is not the file that was meant" in said
    assert hashlib.sha256(good).hexdigest() in said
    assert not list(Path("cuescope-example").glob("clip*"))
    homes.files["/weights"] = good
    cuescope("example", "--sources", str(sources))


def test_a_changed_file_is_noticed(cuescope: Line, sources: Path) -> None:
    cuescope("example", "--sources", str(sources))
    Path("cuescope-example/clip.safetensors").write_bytes(b"changed")
    assert "removed" in cuescope("example", "--sources", str(sources), code=2)


def test_a_server_that_is_down_is_one_line(
    cuescope: Line, sources: Path, homes: Homes
) -> None:
    homes.shutdown()
    homes.server_close()
    assert "127.0.0.1 cannot be reached" in cuescope(
        "example", "--sources", str(sources), code=2
    )


def test_a_file_that_has_moved_is_one_line(
    cuescope: Line, sources: Path, homes: Homes
) -> None:
    del homes.files["/photos.zip"]
    assert "HTTP 404" in cuescope("example", "--sources", str(sources), code=2)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("sha256 =", "# sha256 =", "without one nothing is fetched"),
        ("http://127.0.0.1", "http://example.org", "an https address"),
        ('file = "clip', 'file = "../clip', "file"),
    ],
)
def test_what_is_not_pinned_is_refused(
    cuescope: Line, sources: Path, homes: Homes, before: str, after: str, words: str
) -> None:
    sources.write_text(sources.read_text().replace(before, after))
    assert words in cuescope("example", "--sources", str(sources), code=2)
    assert not homes.requests


def test_the_shipped_list_is_pinned() -> None:
    shipped = Path(_download.__file__).with_name("sources.toml")
    sources = _download.read_sources(shipped)
    assert sources["model"].checksum[0] == "sha256"
    assert all(source.url.startswith("https://") for source in sources.values())


def test_an_outline_becomes_a_mask() -> None:
    content = io.BytesIO()
    square = np.array([[0.0, 9, 9, 0], [0, 0, 7, 7]])
    savemat(content, {"obj_contour": square, "box_coord": np.array([[11, 18, 21, 30]])})
    mask = np.asarray(outline_mask(content.getvalue(), (60, 40))) > 0
    assert mask.shape == (40, 60)
    assert mask[10:18, 20:30].all()
    assert mask.sum() == 8 * 10


def test_the_toy_needs_no_network(cuescope: Line) -> None:
    said = cuescope("example", "--toy")
    *_, methods, plan, audit = said.splitlines()
    assert audit.split()[1:4] == ["audit", "cci", "--model"]
    fitting = [
        line.split() for line in cuescope(*shlex.split(methods)[1:]).splitlines()
    ]
    assert ["cci", "yes", "nothing"] in fitting
    assert "at least 400" in cuescope(*shlex.split(plan)[1:])
