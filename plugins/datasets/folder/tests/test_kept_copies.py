"""Copies in the cache folder that are no longer what was kept: told once, and made anew."""

import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_folder import Folder
from cuescope_sdk import Context, DamagedFileError, write_sealed

fsspec = pytest.importorskip("fsspec", reason="needs the extra remote")


def png(colour: str) -> bytes:
    file = BytesIO()
    Image.new("RGB", (16, 12), colour).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def server() -> Iterator[Any]:
    """Files at memory://, of which none is left afterwards."""
    system = fsspec.filesystem("memory")
    yield system
    system.rm("/served", recursive=True)


def shown(path: str, cache: Path) -> list[tuple[int, ...]]:
    """The colours of the samples, by their keys."""
    data = Folder(Folder.Options(path=path), Context(cache=cache))
    samples = sorted(data, key=lambda sample: sample.key)
    return [tuple(np.asarray(sample.frames[0].load())[0, 0]) for sample in samples]


def in_a_shard(server: Any) -> str:
    archive = BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as shard:
        for number, colour in enumerate(("red", "lime")):
            for suffix, content in {"png": png(colour), "cls": b"%d" % number}.items():
                member = tarfile.TarInfo(f"{number}.{suffix}")
                member.size = len(content)
                shard.addfile(member, BytesIO(content))
    server.pipe_file("/served/train.tar", archive.getvalue())
    return "memory://served/train.tar"


def in_a_folder(server: Any) -> str:
    for name, colour in {"hen/1.png": "red", "zebra/2.png": "lime"}.items():
        server.pipe_file(f"/served/photos/{name}", png(colour))
    return "memory://served/photos"


def test_another_image_in_the_place_of_a_copy_is_told(
    server: Any, tmp_path: Path
) -> None:
    path = in_a_shard(server)
    colours = [(255, 0, 0), (0, 255, 0)]
    assert shown(path, tmp_path) == colours
    assert shown(path, tmp_path) == colours, "copies serve as well"
    copy = sorted(tmp_path.rglob("*.png"))[0]
    copy.write_bytes(png("blue"))
    with pytest.raises(
        DamagedFileError, match=r"1 copies in .* are not what was kept.*anew"
    ) as e:
        shown(path, tmp_path)
    assert "\n" not in str(e.value)
    assert shown(path, tmp_path) == colours


def test_edited_rows_are_read_anew(server: Any, tmp_path: Path) -> None:
    """Rows of a shard that somebody edited in the cache folder do not come back."""
    path = in_a_shard(server)
    shown(path, tmp_path)
    (rows,) = (tmp_path / "tables").glob("*.json")
    written = rows.read_bytes()
    rows.write_bytes(written.replace(b"0.png", b"9.png"))
    data = Folder(Folder.Options(path=path), Context(cache=tmp_path))
    assert "9" not in "".join(sample.key for sample in data)
    assert rows.read_bytes() == written


@pytest.mark.parametrize(
    "content",
    [b"[1]", b'[{"cells": {}}]', b'[{"cells": 1, "files": {"a": 1}}]', b"[" * 100_000],
)
def test_sealed_rows_that_are_none_are_read_anew(
    server: Any, tmp_path: Path, content: bytes
) -> None:
    """Whoever mails a cache folder can compute a seal."""
    path = in_a_shard(server)
    colours = shown(path, tmp_path)
    (rows,) = (tmp_path / "tables").glob("*.json")
    write_sealed(rows, content)
    assert shown(path, tmp_path) == colours


def test_a_cache_folder_may_be_moved(server: Any, tmp_path: Path) -> None:
    path = in_a_folder(server)
    colours = shown(path, tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    server.rm("/served/photos/hen/1.png")
    server.pipe_file("/served/photos/hen/1.png", png("blue"))
    assert shown(path, tmp_path / "there") == colours, "nothing was fetched again"
