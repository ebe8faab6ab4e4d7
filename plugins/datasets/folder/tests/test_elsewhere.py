"""Data that is no folder of files: tar shards, images in Parquet, files at addresses."""

import io
import json
import shutil
import tarfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from cuescope_folder import Folder, FolderOptions
from cuescope_sdk import Context, UserError

Opened = Callable[..., Folder]


def png(level: int) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (16, 12), (level, level, level)).save(content, "PNG")
    return content.getvalue()


def write_shard(path: Path, members: dict[str, bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def shown(folder: Folder) -> list[tuple[str, str | None, int]]:
    """Key, label and grey level of each sample."""
    return [
        (s.key, s.label, int(np.asarray(s.frames[0].load())[0, 0, 0])) for s in folder
    ]


def test_shards_are_samples(data: Path, context: Context, opened: Opened) -> None:
    first = {
        "a/1.png": png(10),
        "a/1.cls": b"1",
        "a/2.seg.png": png(0),
        "a/2.png": png(20),
        "a/2.json": json.dumps(
            {"label": "dog", "question": "What is it?", "n": 3}
        ).encode(),
        "a/2.pyd": b"cos\nsystem",
        "a/3.txt": b"no image",
    }
    write_shard(data / "train-000.tar", first)
    write_shard(data / "train-001.tar", {"b.png": png(30), "b.cls": b"0"})
    (data / "classnames.txt").write_text("cat\ndog\n")
    folder = opened(path=data / "train-{000..001}.tar", answers="pooled")
    expected = [
        ("train-000.tar/a/1.png", "dog", 10),
        ("train-000.tar/a/2.png", "dog", 20),
        ("train-001.tar/b.png", "cat", 30),
    ]
    assert shown(folder) == expected
    assert folder[1].question == "What is it?"
    assert folder[1].annotations["n"] == 3
    assert np.asarray(folder[1].annotations["foreground"].load()).max() == 0
    assert "1 samples of shards (no image or video)" in folder.facts["left out"]
    assert "1 .pyd (in shards)" in folder.facts["left out"]
    whole = opened(answers="pooled")  # a folder of shards and nothing else
    assert whole.fingerprint == folder.fingerprint
    (data / "train-001.tar").unlink()
    write_shard(data / "train-001.tar", {"b.png": png(40), "b.cls": b"0"})
    assert shown(opened(answers="pooled"))[2][2] == 40


def test_images_in_a_table(data: Path, opened: Opened) -> None:
    """Bytes, and Hugging Face's {bytes, path}; the table is read once."""
    images = [{"bytes": png(10 * n), "path": "same.png"} for n in range(3)]
    table = pa.table(
        {"image": images, "mask": [png(0)] * 3, "label": ["cat", "dog", "cat"]}
    )
    parquet.write_table(table, data / "manifest.parquet")
    folder = opened()
    expected = [
        (f"row-{n + 1}/same.png", ("cat", "dog")[n % 2], 10 * n) for n in range(3)
    ]
    assert shown(folder) == expected
    assert "foreground" in folder[0].annotations
    again = opened()
    assert (again.fingerprint, shown(again)) == (folder.fingerprint, expected)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"1.png": png(1), "1.jpg": png(2), "1.cls": b"0"}, "has several images"),
        ({"1.json": b"{}"}, "no images or videos in 1 shards"),
        ({"1.png": png(1), "1.json": b"[]"}, "expected a JSON object"),
        ({"1.png": png(1), "1.cls": b"7"}, "class 7: expected one of 1 names"),
    ],
)
def test_a_bad_shard_is_one_line(
    data: Path, opened: Opened, members: dict[str, bytes], said: str
) -> None:
    write_shard(data / "x.tar", members)
    (data / "classnames.txt").write_text("cat\n")
    with pytest.raises(UserError, match=said):
        opened()


def test_other_places_that_are_wrong(data: Path, opened: Opened) -> None:
    def refusal(path: object, **options: Any) -> str:
        with pytest.raises(UserError) as caught:
            opened(path=path, **options)
        return str(caught.value)

    (data / "x.tar").write_bytes(b"no archive " * 99)
    assert "cannot read the shard" in refusal(data / "x.tar")
    assert "no shard" in refusal(data / "y-{0..1}.tar")
    assert "upwards" in refusal(data / "y-{3..1}.tar")
    assert "cannot read http://127.0.0.1:9/x.csv" in refusal("http://127.0.0.1:9/x.csv")
    assert "credentials in the environment" in refusal("https://a.b/x.csv?key=secret")
    assert "credentials in the environment" in refusal("https://me:secret@a.b/x.csv")
    assert "Protocol not known" in refusal("nowhere://bucket/x.csv")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a web server over `tmp_path/web`."""
    root = tmp_path / "web"
    root.mkdir()
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    thread.join()
    http.server_close()


def test_a_table_and_its_images_on_the_web(
    server: str, tmp_path: Path, context: Context, opened: Opened
) -> None:
    web = tmp_path / "web"
    (web / "img").mkdir()
    (web / "img" / "1.png").write_bytes(png(10))
    (web / "2.png").write_bytes(png(20))
    write_shard(web / "s-0.tar", {"1.png": png(30), "1.cls": b"fox"})
    rows = f"path,label\nimg/1.png,cat\n{server}/2.png,dog\nimg/none.png,dog\n"
    (web / "photos.csv").write_text(rows)
    folder = opened(path=f"{server}/photos.csv", max_bad=0.5)
    host = server.removeprefix("http://").replace(":", "-")
    assert shown(folder) == [("img/1.png", "cat", 10), (f"{host}/2.png", "dog", 20)]
    assert "img/none.png (no such file)" in folder.facts["skipped"]
    assert "fetched anew" in folder.facts["copies"]
    (web / "2.png").write_bytes(png(50))
    assert shown(opened(path=f"{server}/photos.csv", max_bad=0.5))[1][2] == 20
    shutil.rmtree(context.cache / "remote")
    again = opened(path=f"{server}/photos.csv", max_bad=0.5)
    assert shown(again)[1][2] == 50
    assert again.fingerprint != folder.fingerprint
    assert shown(opened(path=f"{server}/s-{{0..0}}.tar")) == [
        ("s-0.tar/1.png", "fox", 30)
    ]


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    """A bucket of a local S3 server."""
    moto = pytest.importorskip(
        "moto.server", reason="needs pip install moto[s3,server]"
    )
    boto3 = pytest.importorskip("boto3")
    local = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    local.start()
    host, port = local.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        client = boto3.client("s3")
        client.create_bucket(Bucket="photos")
        yield client
    local.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_bucket(bucket: Any, tmp_path: Path) -> None:
    """Class folders of a bucket; what is deleted there is not shown any more."""
    pytest.importorskip("s3fs", reason="needs pip install s3fs")
    for label, level in (("cat", 10), ("dog", 20), ("dog", 30)):
        bucket.put_object(
            Bucket="photos", Key=f"set/{label}/{level}.png", Body=png(level)
        )
    context = Context(cache=tmp_path / "cache")

    def labels() -> list[tuple[str, str | None, int]]:
        return shown(Folder(FolderOptions(path="s3://photos/set"), context))

    expected = [
        ("cat/10.png", "cat", 10),
        ("dog/20.png", "dog", 20),
        ("dog/30.png", "dog", 30),
    ]
    assert labels() == expected
    bucket.delete_object(Bucket="photos", Key="set/dog/20.png")
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()  # a new process has seen no listing
    assert labels() == [expected[0], expected[2]]
    with pytest.raises(UserError, match="there are no files at s3://photos/nothing"):
        Folder(FolderOptions(path="s3://photos/nothing"), context)
