"""Files that change during an audit: named, and no answer about them is kept."""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from media_files import MediaFile
from PIL import Image

from cuescope_core.respond import ModelRunner
from cuescope_core.store import ResponseCache
from cuescope_sdk import BadDataError, Context, Frame, Response, Sample, Trial, digest
from cuescope_sdk.data import probe_all
from cuescope_sdk.data._image_folders import mask_frame
from cuescope_sdk.data._media import content
from cuescope_sdk.data._media.survey import probe

MAX = 10**6
CHANGED = r"has changed since it was listed: expected the file as it was listed"


def write_png(path: Path, level: int) -> Path:
    Image.new("RGB", (8, 8), (level, level, level)).save(path)
    return path


def write_gif(path: Path, levels: tuple[int, ...]) -> Path:
    images = [Image.new("L", (16, 12), level) for level in levels]
    images[0].save(path, save_all=True, append_images=images[1:], duration=100)
    return path


class Brightness:
    """Answers how bright a frame is; `meddle` is called before each batch but the first."""

    def __init__(self, meddle=lambda: None) -> None:
        self.meddle, self.batches = meddle, 0

    def respond(self, trials):
        if self.batches:
            self.meddle()
        self.batches += 1
        return [
            Response(logits=[float(np.asarray(t.sample.frames[0].load()).mean()), 0.0])
            for t in trials
        ]


def ask(frames, cache_file, meddle=lambda: None) -> str:
    """The digest of all answers."""
    trials = [
        Trial(sample=Sample(key=str(i), frames=(frame,), choices=("a", "b")))
        for i, frame in enumerate(frames)
    ]
    cache = ResponseCache(cache_file)
    try:
        outcomes = ModelRunner("m", partial(Brightness, meddle), cache, batch_size=10)(
            trials
        )
    finally:
        cache.close()
    return digest([outcome.response.logits for outcome in outcomes])


@pytest.mark.parametrize("make", ["from_file", "of_a_probe"])
def test_forty_files_swapped_and_restored_leave_no_wrong_answer(tmp_path, make):
    paths = [write_png(tmp_path / f"{i}.png", i) for i in range(80)]
    original = {path: path.read_bytes() for path in paths}

    def listed():
        probes = probe_all(paths, Context(cache=tmp_path / "cache"))
        return [
            Frame.from_file(p) if make == "from_file" else probes[p].image()
            for p in paths
        ]

    def swap():
        for path in paths[30:70]:
            times = path.stat()
            write_png(path, 250)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    right = ask(listed(), tmp_path / "clean.sqlite")
    with pytest.raises(
        BadDataError, match=rf"30\.png {CHANGED}.*run the same command again"
    ):
        ask(listed(), tmp_path / "dirty.sqlite", swap)
    for path, bytes_before in original.items():
        path.write_bytes(bytes_before)
    assert ask(listed(), tmp_path / "dirty.sqlite") == right


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.gif", lambda path, level: write_gif(path, (level, level + 9))),
        ("a.mp4", lambda path, level: MediaFile.video(path, 3 + level // 100)),
        ("a.mkv", lambda path, level: MediaFile.video(path, 3 + level // 100)),
    ],
)
@pytest.mark.parametrize("in_memory", [0, 2**26])
def test_clips_that_change_are_named(tmp_path, monkeypatch, name, write, in_memory):
    monkeypatch.setattr(content, "IN_MEMORY", in_memory)
    path = write(tmp_path / name, 0)
    probed = probe(path, MAX)
    first = probed.clip(2)
    assert first[0].load().mode == "RGB"
    write(path, 200)
    other = probed.clip(3)  # not decoded before
    with pytest.raises(BadDataError, match=CHANGED):
        other[0].load()
    with pytest.raises(BadDataError, match=CHANGED):
        probed.times()


def test_a_large_clip_that_changes_while_it_is_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(content, "IN_MEMORY", 0)
    path = MediaFile.video(tmp_path / "a.mp4", 3)
    probed = probe(path, MAX)
    bytes_before = path.read_bytes()

    def swap_and_restore():
        with content.listed_bytes(path, probed.digest):
            path.write_bytes(bytes_before[:-1] + b"x")
            path.write_bytes(bytes_before)

    with pytest.raises(BadDataError, match=CHANGED):
        swap_and_restore()


@pytest.mark.parametrize("how", ["link", "rename", "folder"])
def test_another_file_in_its_place_is_not_decoded(tmp_path, how):
    """What a path leads to may change without any file being written to."""
    for folder, level in (("a", 10), ("b", 200)):
        (tmp_path / folder).mkdir()
        write_png(tmp_path / folder / "1.png", level)
    shown = tmp_path / "a" / "1.png"
    if how == "link":
        shown = tmp_path / "link.png"
        shown.symlink_to(tmp_path / "a" / "1.png")
    frame = probe(shown, MAX).image()
    if how == "link":
        shown.unlink()
        shown.symlink_to(tmp_path / "b" / "1.png")
    elif how == "rename":
        (tmp_path / "b" / "1.png").replace(shown)
    else:
        (tmp_path / "a").rename(tmp_path / "c")
        (tmp_path / "b").rename(tmp_path / "a")
    with pytest.raises(BadDataError, match=CHANGED):
        frame.load()


def test_masks_that_change_are_named(tmp_path):
    path = write_png(tmp_path / "m.png", 255)
    frame = mask_frame(probe(path, MAX))
    assert np.asarray(frame.load()).min() == 255
    write_png(path, 0)
    with pytest.raises(BadDataError, match=CHANGED):
        frame.load()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    path = write_png(tmp_path / "a.png", 1)
    frame = probe(path, MAX).image()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(BadDataError, match=r"can no longer be read: got no such file"):
        frame.load()


def test_a_change_that_keeps_size_and_mtime_is_seen_at_the_next_listing(tmp_path):
    path, context = write_png(tmp_path / "a.png", 10), Context(cache=tmp_path / "cache")
    before = probe_all([path], context)[path]
    times, size = path.stat(), path.stat().st_size
    write_png(path, 11)
    path.write_bytes(path.read_bytes().ljust(size, b"\0")[:size])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.stat().st_mtime_ns == times.st_mtime_ns
    after = probe_all([path], context)[path]
    assert after.digest != before.digest


def test_a_frame_from_a_file_that_went_away(tmp_path):
    path = write_png(tmp_path / "a.png", 10)
    frame = Frame.from_file(path)
    path.unlink()
    with pytest.raises(
        BadDataError, match=r"a\.png can no longer be read: got No such file"
    ):
        frame.load()
