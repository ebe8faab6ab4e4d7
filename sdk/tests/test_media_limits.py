"""Limits of what is shown of a file: what is cut is named, what is turned stands upright."""

from io import BytesIO

import numpy as np
import pytest
from media_files import MediaFile
from PIL import Image

from cuescope_core import pixels
from cuescope_sdk import Context
from cuescope_sdk.data import probe_all
from cuescope_sdk.data._media.images import decode_image
from cuescope_sdk.data._media.survey import probe

MAX = 10**6


def test_laying_over_white_is_that_of_the_whole_image_in_a_tenth_of_its_memory():
    rng = np.random.default_rng(0)
    image = Image.fromarray(rng.integers(0, 256, (1500, 1500, 4), dtype=np.uint8))
    white = Image.new("RGBA", image.size, "white")
    expected = Image.alpha_composite(white, image).convert("RGB")
    assert np.array_equal(pixels._over_white(image), expected)


@pytest.mark.parametrize(
    ("name", "codec", "share"),
    [
        ("a.mp4", "libx264", 0.9),
        ("a.mov", "mpeg4", 0.5),
        ("a.avi", "mpeg4", 0.7),
    ],
)
def test_cut_videos_are_named_and_whole_ones_are_not(tmp_path, name, codec, share):
    options = {"movflags": "faststart"} if name.endswith(("mp4", "mov")) else {}
    path = MediaFile.video(tmp_path / name, 60, codec, **options)
    assert probe(path, MAX).loss is None
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    cut = probe(path, MAX)
    assert cut.problem is None
    assert cut.loss is not None
    assert f"{cut.frames}" in cut.loss


def test_cut_animations_are_named(tmp_path):
    path = tmp_path / "a.gif"
    rng = np.random.default_rng(0)
    frames = [
        Image.fromarray(rng.integers(0, 256, (40, 40), dtype=np.uint8))
        for _ in range(5)
    ]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    assert probe(path, MAX).loss is None
    whole = path.read_bytes()
    for end in (len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        assert "after" in (probe(path, MAX).loss or "")


def test_an_animated_still_says_that_one_frame_is_shown(tmp_path):
    path = tmp_path / "a.webp"
    frames = [Image.new("RGB", (8, 8), (i * 90, 0, 0)) for i in range(3)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    assert probe(path, MAX).loss == "only the first of its 3 frames is shown"


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tiff"])
def test_all_orientations_are_shown_upright(tmp_path, orientation, suffix):
    from cuescope_sdk import Frame

    upright = np.zeros((16, 24, 3), np.uint8)
    upright[:8, :8], upright[:8, 16:], upright[8:, :8] = (
        (255, 0, 0),
        (0, 255, 0),
        (0, 0, 255),
    )
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = Image.fromarray(upright)
    if orientation > 1:
        stored = stored.transpose(undo[orientation])
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / f"a.{suffix}"
    stored.save(path, exif=exif, quality=100)
    probed = probe_all([path], Context(cache=tmp_path / "c"))[path]
    for frame in (Frame.from_file(path), probed.image()):
        pixels = np.asarray(frame.load()).astype(int)
        assert pixels.shape == upright.shape
        assert abs(pixels - upright).mean() < 12
    as_stored = probed.image(turned=False)
    # Pillow turns a TIFF whenever it loads one
    assert as_stored.load().size == (stored.size if suffix != "tiff" else (24, 16))
    assert as_stored.key != probed.image().key


def test_formats_that_pillow_reads_by_itself(tmp_path):
    for suffix, name in (
        ("avif", "AVIF"),
        ("jfif", "JPEG"),
        ("jpe", "JPEG"),
        ("", "PNG"),
    ):
        path = tmp_path / f"a{'.' * bool(suffix)}{suffix}"
        Image.new("RGB", (8, 8), "red").save(path, name)
        assert probe(path, MAX).problem is None
        assert decode_image(BytesIO(path.read_bytes())).getpixel((4, 4))[0] > 240
