"""Broken, hostile and odd files: named and skipped, never a crash, never read from outside."""

import os
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from PIL import Image

from cuescope_folder import Folder, FolderOptions
from cuescope_sdk import BadDataError, Context, UserError
from cuescope_sdk.data import probe_all

SUFFIXES = [
    "jpg",
    "png",
    "webp",
    "bmp",
    "tiff",
    "avif",
    "ppm",
    "gif",
    "mp4",
    "avi",
    "mkv",
    "webm",
    "mov",
    "flv",
    "mpg",
]


def test_bad_files_are_named_and_skipped(data, image, opened):
    for number in range(8):
        image(data / "a" / f"{number}.png")
    (data / "a" / "bad.jpg").write_bytes(b"no image")
    (data / "b").mkdir()
    (data / "b" / "empty.mp4").write_bytes(b"")
    folder = opened(max_bad=0.2)
    assert len(folder) == 8
    assert folder.facts["skipped"].startswith(
        "2 unreadable: a/bad.jpg (no image of a known format)"
    )
    assert "b/empty.mp4 (" in folder.facts["skipped"]
    assert folder.labels == ("a", "b")
    with pytest.raises(
        BadDataError, match=r"2 of 10.* at most 10\.0%.*a/bad.jpg.*max_bad=0\.2$"
    ):
        opened(max_bad=0.1)
    with pytest.raises(BadDataError):
        opened()


def test_nothing_readable_is_an_error_whatever_max_bad_says(data, opened):
    (data / "a").mkdir()
    for number in range(9):
        (data / "a" / f"{number}.png").write_bytes(b"x")
    with pytest.raises(BadDataError, match=r"9 of 9 .*a/7\.png .* and 1 more"):
        opened(max_bad=1)


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "gif"])
def test_cut_off_images_are_found(data, opened, suffix):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    whole = data / "a" / f"whole.{suffix}"
    whole.parent.mkdir()
    Image.fromarray(noise).save(whole)
    content = whole.read_bytes()
    (data / "a" / f"cut.{suffix}").write_bytes(content[: len(content) // 2])
    folder = opened(max_bad=0.5)
    assert [sample.key for sample in folder] == [f"a/whole.{suffix}"]


@pytest.mark.parametrize(
    ("suffix", "codec", "share"), [("mkv", "mpeg4", 0.6), ("mp4", "libx264", 0.9)]
)
def test_cut_off_videos_show_what_is_left(
    data, video, opened, step, suffix, codec, share, tmp_path
):
    options = {"movflags": "faststart"} if suffix == "mp4" else {}
    whole = video(data / "a" / f"1.{suffix}", 12, codec, **options)
    content = whole.read_bytes()
    whole.write_bytes(content[: int(len(content) * share)])
    count = probe_all([whole], Context(cache=tmp_path))[whole].frames
    assert 0 < count < 12
    for sample in opened(frames=12):
        shown = [
            float(np.asarray(frame.load()).mean()) / step for frame in sample.frames
        ]
        assert shown == sorted(shown)
        assert shown[0] < 0.5
        assert shown[-1] > 0.5


def test_videos_without_pictures_are_bad(data, image, opened):
    import av

    (data / "a").mkdir()
    with av.open(str(data / "a" / "sound.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 1024), np.float32), "fltp", "mono"
        )
        frame.rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    image(data / "a" / "1.png")
    assert "no video stream" in opened(max_bad=0.5).facts["skipped"]


def png_that_claims(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        checked = kind + body
        return (
            struct.pack(">I", len(body))
            + checked
            + struct.pack(">I", zlib.crc32(checked))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [9_600, 11_000, 60_000])
def test_decompression_bombs_are_refused(data, image, opened, side):
    image(data / "a" / "1.png")
    (data / "a" / "bomb.png").write_bytes(png_that_claims(side, side))
    skipped = opened(max_bad=0.5).facts["skipped"]
    assert "a/bomb.png" in skipped
    assert "bomb" in skipped.partition("(")[2] or "pixels" in skipped


def test_content_that_only_pretends_is_not_opened(data, image, video, opened):
    """An EPS would start Ghostscript; a playlist would make ffmpeg open what it names."""
    Image.open(image(data / "a" / "1.png")).save(data / "a" / "eps.jpg", "EPS")
    video(data / "a" / "2.mp4", 3)
    (data / "a" / "list.mkv").write_text("ffconcat version 1.0\nfile '2.mp4'\n")
    folder = opened(max_bad=1)
    assert [sample.key for sample in folder] == ["a/1.png", "a/2.mp4"]
    assert "a/eps.jpg (no image of a known format)" in folder.facts["skipped"]
    assert "a/list.mkv (" in folder.facts["skipped"]


def test_links_out_of_the_folder_are_refused(data, tmp_path, image, opened):
    image(data / "a" / "1.png")
    outside = image(tmp_path / "b" / "2.png")
    link = data / "a" / "2.png"
    link.symlink_to(outside)
    with pytest.raises(
        UserError, match=r"a/2\.png leads out of its folder.* got .*, a link to "
    ):
        opened()
    link.unlink()
    (data / "b").symlink_to(tmp_path / "b")
    with pytest.raises(UserError, match="leads out of its folder"):
        opened()
    (data / "b").unlink()
    (data / "c").symlink_to(data / "a")
    (data / "a" / "again.png").symlink_to(data / "a" / "1.png")
    assert [sample.key for sample in opened()] == ["a/1.png", "a/again.png"]


def test_a_frame_folder_with_a_bad_frame_is_left_out_whole(data, image, opened):
    for clip in ("c1", "c2"):
        for number in range(4):
            image(data / "a" / clip / f"{number}.png", number)
    (data / "a" / "c1" / "2.png").write_bytes(b"")
    folder = opened(frames=4, max_bad=0.5)
    assert [sample.key for sample in folder] == ["a/c2"]
    assert "a/c1 (2.png: " in folder.facts["skipped"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(data, image, opened):
    image(data / "a" / "1.png")
    os.mkfifo(data / "a" / "pipe.png")
    (data / "manifest.csv").write_text("path,label\na/1.png,a\na/pipe.png,a\n")
    with pytest.raises(UserError, match=r"line 3 cannot be read.*a pipe or a device"):
        opened(max_bad=0.5)
    (data / "manifest.csv").unlink()
    assert len(opened()) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda data: None, "no classes in .*got no images or videos"),
        (lambda data: (data / "a").mkdir(), "no classes in .*got no images or videos"),
        (
            lambda data: (
                Image.new("RGB", (4, 4)).save(data / "1.png"),
                (data / "labels.csv").write_text("path,label\n1.png,cat\n"),
            ),
            "got 1 file .*Does labels.csv list them",
        ),
        (lambda data: data.rmdir(), r"no such path: .* got '.*data'\. Did you mean"),
        (lambda data: (data.rmdir(), data.write_text("x")), "PATH is a file"),
    ],
)
def test_folders_that_are_none(data, opened, make, message, tmp_path):
    (tmp_path / "datas").mkdir()
    make(data)
    with pytest.raises(UserError, match=message) as caught:
        opened()
    assert "\n" not in str(caught.value)


def test_a_folder_that_may_not_be_read(data, image, opened, monkeypatch):
    image(data / "a" / "1.png")
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "a":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UserError, match=r"cannot read .*got Permission denied"):
        opened()


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(content=st.binary(max_size=400), suffix=st.sampled_from(SUFFIXES))
def test_any_bytes_are_skipped_or_shown(tmp_path_factory, content, suffix):
    root = tmp_path_factory.mktemp("fuzz")
    (root / "a").mkdir()
    (root / "a" / f"x.{suffix}").write_bytes(content)
    try:
        folder = Folder(
            FolderOptions(path=root, max_bad=1), Context(cache=root / ".cache")
        )
    except BadDataError:
        return
    assert folder[0].frames[-1].load().mode == "RGB"


# of damaged TIFF tags, beside good pixels
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_damage_to_a_real_file_is_skipped_or_shown(
    tmp_path, image, gif, video, suffix
):
    codecs = {"webm": "libvpx-vp9", "flv": "flv1", "mpg": "mpeg2video"}
    seed = tmp_path / f"seed.{suffix}"
    if suffix == "gif":
        gif(seed, 4)
    elif SUFFIXES.index(suffix) < SUFFIXES.index("gif"):
        image(seed)
    else:
        video(seed, 6, codecs.get(suffix, "mpeg4")) if suffix != "mpg" else _mpeg(seed)
    whole = seed.read_bytes()
    rng = random.Random(suffix)
    (tmp_path / "data" / "a").mkdir(parents=True)
    for number in range(25):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 8)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        end = rng.randrange(len(damaged)) if number % 3 == 0 else len(damaged)
        (tmp_path / "data" / "a" / f"{number}.{suffix}").write_bytes(damaged[:end])
    (tmp_path / "data" / "a" / f"whole.{suffix}").write_bytes(whole)
    options = FolderOptions(path=tmp_path / "data", max_bad=1, frames=3)
    folder = Folder(options, Context(cache=tmp_path / "cache"))
    assert folder[len(folder) - 1].key == f"a/whole.{suffix}"
    for sample in folder:
        for frame in sample.frames:
            assert frame.load().mode == "RGB"


def _mpeg(path: Path) -> None:
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg2video", rate=25)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        for level in range(6):
            pixels = np.full((32, 48, 3), level * 20, np.uint8)
            container.mux(
                stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24"))
            )
        container.mux(stream.encode(None))
