"""Small files of many pixels: refused, or decoded one at a time; what is cut is named."""

import os
import threading
import time
from io import BytesIO

import numpy as np
import pytest
from media_files import MediaFile
from PIL import Image

from cuescope_core import pixels
from cuescope_sdk import Context
from cuescope_sdk.data import probe_all
from cuescope_sdk.data._media import images, video
from cuescope_sdk.data._media.files import MAX_PIXELS, MOST_PIXELS
from cuescope_sdk.data._media.images import decode_image
from cuescope_sdk.data._media.memory import Budget
from cuescope_sdk.data._media.survey import probe

MAX = 10**6


def test_a_webp_of_few_bytes_and_many_pixels_is_refused_before_it_is_decoded(tmp_path):
    path = tmp_path / "bomb.webp"
    Image.new("RGB", (9_000, 8_000)).save(path, method=0, quality=0)
    assert path.stat().st_size < 200_000
    problem = probe(path, MAX_PIXELS).problem
    assert (
        problem == "9000 x 8000 pixels, more than max_pixels=89478485 allows for WEBP"
    )


def test_a_jpeg_of_many_scans_is_refused_before_it_is_decoded(tmp_path):
    """Each of a hundred bytes takes as long as a whole picture."""
    path = tmp_path / "bomb.jpg"
    Image.new("L", (64, 64), 128).save(path, progressive=True)
    content = path.read_bytes()
    last = content[content.rindex(b"\xff\xda") : -2]
    path.write_bytes(content[:-2] + 200 * last + content[-2:])
    assert "more than 100 scans" in (probe(path, MAX_PIXELS).problem or "")
    with pytest.raises(ValueError, match="scans"):
        decode_image(BytesIO(path.read_bytes()))
    with pytest.raises(ValueError, match="scans"), path.open("rb") as file:
        decode_image(file)


def test_what_follows_a_jpeg_or_is_its_thumbnail_is_no_scan_of_it(tmp_path):
    path = tmp_path / "motion.jpg"
    scans = b"\xff\xda\0\2" * 200
    exif = Image.Exif()
    exif[0x9286] = scans  # a comment of the user
    Image.new("L", (64, 64), 128).save(path, progressive=True, exif=exif)
    path.write_bytes(path.read_bytes() + scans)
    assert probe(path, MAX_PIXELS).problem is None


def test_max_pixels_can_be_raised(tmp_path):
    path = tmp_path / "a.webp"
    Image.new("RGB", (60, 50)).save(path)
    assert "allows for WEBP" in (probe(path, 3500).problem or "")
    assert probe(path, 5000).problem is None
    assert MOST_PIXELS > MAX_PIXELS


def test_an_animation_of_few_bytes_and_many_pixels_is_refused(tmp_path):
    """A frame of ten bytes is laid over the whole canvas."""
    path = tmp_path / "a.gif"
    frames = [Image.new("L", (1000, 1000), i) for i in range(2)]
    frames[0].save(path, save_all=True, append_images=[frames[1]] * 40)
    assert "pixels in all of its frames, for so few bytes" in (
        _with_few_changes(path, 100) or ""
    )
    # as many frames of so many bytes are an animation
    Image.effect_noise((100, 100), 50).save(
        path,
        save_all=True,
        append_images=[Image.effect_noise((100, 100), i) for i in range(60)],
    )
    assert probe(path, 10_000).frames == 61


def test_an_animation_of_pixels_without_end_is_refused(tmp_path, monkeypatch):
    """Millions of frames of fifteen bytes each: all of them would be looked at."""
    path = tmp_path / "a.gif"
    frames = [Image.new("L", (1, 1), i) for i in range(2)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    monkeypatch.setattr(images, "_MOST_FRAMES", 50)
    assert _with_few_changes(path, 48) is None
    assert _with_few_changes(path, 1) == "more than 50 frames"


def _with_few_changes(path, frames):
    """The problem of a GIF whose further frames change one pixel each."""
    change = b"!\xf9\x04\x04\x01\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + frames * change + b";")
    return probe(path, MAX).problem


def test_a_video_of_few_bytes_and_many_pixels_is_refused(tmp_path, monkeypatch):
    path = MediaFile.video(tmp_path / "a.mp4", 60)
    assert probe(path, MAX).frames == 60
    monkeypatch.setattr(video, "_BYTE_PIXELS", 1)
    problem = probe(path, 4000).problem
    assert problem == "more than 80,000 pixels in all of its frames, for so few bytes"
    # its frames may grow after its first
    monkeypatch.setattr(video, "MOST_PIXELS", 4000)
    with path.open("rb") as file, pytest.raises(ValueError, match="too many pixels"):
        video.decode_video(file, {59})


def test_frames_of_an_animation_are_looked_at_one_at_a_time(tmp_path):
    path = tmp_path / "a.gif"
    frames = [Image.new("L", (400, 400), i) for i in range(100)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    held = []
    hold = images.DECODING.hold

    def watched(size):
        held.append(size)
        return hold(size)

    try:
        images.DECODING.hold = watched
        assert probe(path, MAX).frames == 100
    finally:
        del images.DECODING.hold
    assert 400 * 400 < max(held) < 20 * 400 * 400


def test_threads_share_one_budget():
    budget, lock = Budget(100), threading.Lock()
    most = 0

    def work(size):
        nonlocal most
        with budget.hold(size):
            with lock:
                most = max(most, budget.used)
            time.sleep(0.002)

    threads = [
        threading.Thread(target=work, args=(size,)) for size in (40, 50, 60, 30) * 5
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (budget.used, most <= 100) == (0, True)


def test_what_is_larger_than_the_budget_runs_alone_and_an_error_gives_all_back():
    budget = Budget(100)

    def fail():
        with budget.hold(500):
            assert budget.used == 500
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with budget.hold(100):
        assert budget.used == 100


def test_laying_over_white_is_that_of_the_whole_image_in_a_tenth_of_its_memory():
    rng = np.random.default_rng(0)
    image = Image.fromarray(rng.integers(0, 256, (1500, 1500, 4), dtype=np.uint8))
    white = Image.new("RGBA", image.size, "white")
    expected = Image.alpha_composite(white, image).convert("RGB")
    assert np.array_equal(pixels._over_white(image), expected)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking beside threads
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not():
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    with images.DECODING.hold(2**29):
        child = os.fork()
        if not child:
            os._exit(images.DECODING.used != 0)
        assert os.waitpid(child, 0)[1] == 0
        assert images.DECODING.used == 2**29


@pytest.mark.parametrize(
    ("name", "codec", "share"),
    [
        ("a.mkv", "mpeg4", 0.6),
        ("a.mkv", "libx264", 0.5),
        ("a.webm", "libvpx-vp9", 0.7),
        ("a.mp4", "libx264", 0.9),
        ("a.mov", "mpeg4", 0.5),
        ("a.avi", "mpeg4", 0.7),
        ("a.flv", "flv1", 0.5),
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
