"""Which frames a clip shows: of the whole, of a range of time, in any order."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from media_files import RATE, MediaFile
from PIL import Image

from cuescope_sdk import BadDataError
from cuescope_sdk.data._media import frames as media
from cuescope_sdk.data._media.frames import Probe, frames_between
from cuescope_sdk.data._media.survey import probe

MAX = 10**6


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 300])
@pytest.mark.parametrize("wanted", [1, 2, 5, 8])
def test_sample_indices_are_the_middles_of_equal_parts(count, wanted):
    indices = Probe.sample_indices(count, wanted)
    assert indices == tuple(
        int((part + 0.5) * count / wanted) for part in range(wanted)
    )
    assert list(indices) == sorted(indices)
    assert 0 <= indices[0] <= indices[-1] < count


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        (0, None, range(5)),
        (0.1, 0.3, range(1, 3)),
        (0.1 + 1e-9, 0.3 - 1e-9, range(1, 3)),  # as rounded as times are
        (0.11, 0.31, range(2, 4)),
        (0.3, None, range(3, 5)),
        (0.3, 99, range(3, 5)),
        (0.12, 0.18, range(1, 2)),  # within the second frame's time on screen
        (0.2, 0.2, range(2, 3)),
        (9, 12, range(4, 5)),
        (-3, 0.1, range(1)),
        (-3, -2, range(1)),
    ],
)
def test_frames_between(start, end, shown):
    assert frames_between(np.arange(5) / 10, start, end) == shown


def test_frames_between_follows_uneven_times():
    times = np.array([0, 0.1, 0.2, 5, 5.1])
    assert frames_between(times, 0.15, 5.05) == range(2, 4)
    assert frames_between(times, 1, 4) == range(2, 3)


def test_a_range_ends_after_it_starts():
    with pytest.raises(ValueError, match="got 3 s to 2 s"):
        frames_between(np.arange(5.0), 3, 2)


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("c.mp4", "libx264"),
        ("c.avi", "mpeg4"),
        ("c.mkv", "mpeg4"),
        ("c.webm", "libvpx-vp9"),
    ],
)
def test_a_range_of_a_video_shows_what_is_on_screen_then(tmp_path, name, codec):
    path = MediaFile.video(tmp_path / name, 12, codec)
    probed = probe(path, MAX)
    assert np.allclose(probed.times(), np.arange(12) / RATE, atol=1e-3)
    assert probed.steady
    assert MediaFile.grey_levels(probed.clip(3, 0.3, 0.9)) == [4, 6, 8]
    assert MediaFile.grey_levels(probed.clip(2, end=0.4)) == [1, 3]
    assert MediaFile.grey_levels(probed.clip(2, start=0.8)) == [9, 11]


def test_times_follow_the_packets_and_not_the_rate(tmp_path):
    """A phone writes frames when it has them: here the clip halts for a second."""
    import av

    path = tmp_path / "uneven.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        for index in range(6):
            frame = av.VideoFrame.from_ndarray(
                np.full((32, 48, 3), 20 * index, np.uint8), "rgb24"
            )
            frame.pts = index + 10 * (index >= 3)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    probed = probe(path, MAX)
    assert np.allclose(probed.times(), [0, 0.1, 0.2, 1.3, 1.4, 1.5], atol=2e-3)
    assert MediaFile.grey_levels(probed.clip(3, 1.25, 1.6)) == [3, 4, 5]
    assert MediaFile.grey_levels(probed.clip(2, 0.5, 1.0)) == [2, 2]
    # half of the frames stand in a sixth of its time
    assert not probed.steady
    assert probed.indices(4) == (2, 2, 2, 5)
    assert MediaFile.grey_levels(probed.clip(4)) == [2, 2, 2, 5]


def test_animations_have_times(tmp_path):
    path = tmp_path / "a.gif"
    images = [Image.new("L", (16, 12), 20 * index) for index in range(4)]
    images[0].save(
        path, save_all=True, append_images=images[1:], duration=[100, 300, 50, 50]
    )
    probed = probe(path, MAX)
    assert np.allclose(probed.times(), [0, 0.1, 0.4, 0.45])
    assert MediaFile.grey_levels(probed.clip(1, 0.2, 0.3)) == [1]
    assert MediaFile.grey_levels(probed.clip(3)) == [1, 1, 3]


def test_a_frame_has_one_key_however_it_was_chosen(tmp_path):
    path = MediaFile.video(tmp_path / "c.mp4", 12)
    probed = probe(path, MAX)
    every = probed.clip(12)
    assert len({frame.key for frame in every}) == 12
    chosen = probed.frames_at((7, 2, 7))
    assert [frame.key for frame in chosen] == [every[i].key for i in (7, 2, 7)]
    assert MediaFile.grey_levels(chosen) == [7, 2, 7]
    ranged = probed.clip(2, 0.5, 0.7)
    assert [frame.key for frame in ranged] == [every[5].key, every[6].key]


def test_an_image_is_known_by_its_bytes(tmp_path):
    for name in ("a.png", "b.png"):
        Image.new("RGB", (4, 3), "red").save(tmp_path / name)
    one, two = (probe(path, MAX).image() for path in sorted(tmp_path.iterdir()))
    assert one.key == two.key
    assert one.load().getpixel((0, 0)) == (255, 0, 0)


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "avi"])
def test_a_video_without_frames_is_a_problem(tmp_path, suffix):
    assert probe(MediaFile.video(tmp_path / f"empty.{suffix}", 0), MAX).problem


def test_times_of_a_file_that_has_gone(tmp_path):
    path = MediaFile.video(tmp_path / "c.mp4", 2)
    probed = probe(path, MAX)
    Path(path).unlink()
    with pytest.raises(BadDataError, match=r"c\.mp4 can no longer be read"):
        probed.clip(2, 0.1, 0.2)


def test_threads_that_load_ahead_decode_a_clip_once(tmp_path, monkeypatch):
    path = MediaFile.video(tmp_path / "clip.avi", 8, "mpeg4")
    frames = probe(path, MAX).clip(8)
    decoded, real = [], media.decode_video

    def slow(*given):
        decoded.append(given)
        time.sleep(0.1)
        return real(*given)

    monkeypatch.setattr(media, "decode_video", slow)
    with ThreadPoolExecutor(8) as pool:
        images = list(pool.map(lambda frame: frame.load(), frames))
    assert len(images) == 8
    assert len(decoded) == 1
