"""Files that are passed over are counted; formats of an extra are read where it is installed."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk.data import MediaFolder, Unread, kind_of
from cuescope_sdk.data._media import files, images
from cuescope_sdk.data._media.survey import probe
from cuescope_sdk.data._media.unread import unread_beside, why_unread


@pytest.fixture
def without_heif(monkeypatch):
    """As if pillow-heif were not installed."""
    monkeypatch.setattr(files, "reads_heif", lambda: False)


@pytest.mark.usefixtures("without_heif")
def test_files_are_counted_by_suffix_and_reason(tmp_path):
    unread = Unread()
    for name in ("a.TXT", "b.txt", "LICENSE", "c.heic", "d.\x1b[2Jx"):
        (tmp_path / name).write_bytes(b"x")
        assert unread.passes_over(tmp_path / name)
    unread.add("damaged", count=2)
    words = unread.in_words()
    assert words.startswith("2 .txt (no image or video), 2 damaged, ")
    assert "\x1b" not in words
    assert "1 without suffix (no image by their content)" in words
    assert "1 .heic (pip install pillow-heif)" in words


def test_no_suffix_is_left_out_of_the_count():
    unread = Unread()
    for number in range(30):
        unread.add(f".x{number:02}")
    assert unread.in_words().endswith("22 of 22 other kinds")
    assert Unread().in_words() == ""


def test_a_file_without_suffix_is_read_by_its_content(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "photo", "JPEG")
    (tmp_path / "README").write_text("GIF89a is how a GIF begins")
    assert MediaFolder(tmp_path).images() == [tmp_path / "photo"]
    assert why_unread(tmp_path / "photo") is None
    assert why_unread(tmp_path / "gone") == "no image by their content"


def test_what_lies_beside_is_counted(tmp_path):
    for name in ("a.png", "b.png", "c.webp2", ".d.png"):
        (tmp_path / name).write_bytes(b"x")
    words = unread_beside([tmp_path / "a.png", tmp_path / "gone" / "x.png"]).in_words()
    assert words == "1 .webp2 (no image or video), 1 hidden"


def test_heic_of_its_own_library_is_read(tmp_path):
    heif = pytest.importorskip(
        "pillow_heif", reason="needs pillow-heif (cuescope-folder[heif])"
    )
    heif.from_pillow(Image.new("RGB", (8, 6), (200, 30, 30))).save(tmp_path / "a.heic")
    assert why_unread(tmp_path / "a.heic") is None
    image = probe(tmp_path / "a.heic", 10_000).image().load()
    assert image.size == (8, 6)
    assert abs(int(np.asarray(image)[3, 4, 0]) - 200) < 20


def test_heic_is_read_where_its_library_is_installed(tmp_path, monkeypatch):
    """A stand-in for pillow-heif, which registers its format with Pillow as that does."""

    def register_heif_opener():
        Image.register_open(
            "HEIF", Image.OPEN["PNG"][0], lambda head: head.startswith(b"\x89PNG")
        )

    monkeypatch.setitem(
        sys.modules,
        "pillow_heif",
        SimpleNamespace(register_heif_opener=register_heif_opener),
    )
    monkeypatch.setattr(Image, "OPEN", dict(Image.OPEN))
    monkeypatch.setattr(Image, "ID", list(Image.ID))
    for module in (files, images):
        monkeypatch.setattr(module, "reads_heif", lambda: True)
    images.image_formats.cache_clear()
    path = tmp_path / "1.heic"
    Image.fromarray(np.full((4, 4, 3), 9, np.uint8)).save(path, "PNG")
    try:
        assert kind_of(path) == "image"
        assert "HEIF" in images.image_formats()
        assert probe(path, 100).image().load().getpixel((0, 0)) == (9, 9, 9)
    finally:
        images.image_formats.cache_clear()
