"""A detector's answers are kept: what was asked is never asked again."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuescope_core.store import CacheFile
from cuescope_sdk import Context, Detection, Frame
from cuescope_sdk.tools._cached_detector import CachedDetector

NAMES = ("cat", "dog")


def shown(count: int, first: int = 0) -> list[Frame]:
    """Frames of one colour each."""
    return [
        Frame.from_array(np.full((2, 2, 3), value, np.uint8))
        for value in range(first, first + count)
    ]


@dataclass
class Counting:
    """Says a box for every frame and name, and keeps what it was asked."""

    fingerprint: str | None = "v1"
    joint: bool = False
    calls: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        self.calls.append((len(frames), tuple(names)))
        return [tuple(self.said(frame, name) for name in names) for frame in frames]

    def said(self, frame: Frame, name: str) -> Detection:
        value = int(frame.load().getpixel((0, 0))[0])  # type: ignore[index]
        score = (value + len(name) / 7) / 300
        return Detection(name=name, score=score, box=(0, 0, 1 / 3, value + 1))


def context(folder: Path, batch_size: int = 4) -> Context:
    return Context(cache=folder, batch_size=batch_size)


FORGED = (
    b"null",
    b'"x"',
    b"[1]",
    b'[["a", 0, 0, 1, 1]]',
    b"[[NaN, 0, 0, 1, 1]]",
    b"[[2, 0, 0, 1, 1]]",
    b"[[0.5, 0, 0, 1e308, 1]]",
    b"[[0.5, -1e6, 0, 1, 1]]",
    b"[[0.5, 3, 0, 1, 1]]",
    b"[" * 100_000,
    b"\xff",
)


@pytest.mark.parametrize("value", FORGED)
def test_a_kept_row_that_holds_no_boxes_is_asked_again(
    tmp_path: Path, value: bytes
) -> None:
    """Its seal fits, which whoever mails a cache can compute."""
    [frame] = shown(1)
    sound = CachedDetector(Counting(), context(tmp_path)).detect([frame], NAMES)
    cache = CacheFile(tmp_path / "detections.sqlite")
    cache.write(dict.fromkeys(cache.scan(""), value))
    cache.close()
    again = Counting()
    finder = CachedDetector(again, context(tmp_path))
    assert finder.detect([frame], NAMES) == sound
    assert again.calls == [(1, NAMES)]


def test_a_second_time_nothing_is_asked(tmp_path: Path) -> None:
    frames, first, again = shown(10), Counting(), Counting()
    finder = CachedDetector(first, context(tmp_path))
    cold = finder.detect(frames, NAMES)
    assert first.calls == [(4, NAMES), (4, NAMES), (2, NAMES)]
    assert finder.passes == 10
    warm = CachedDetector(again, context(tmp_path, batch_size=64))
    assert warm.detect(frames[::-1], NAMES) == cold[::-1]
    assert (again.calls, warm.passes) == ([], 0)
    assert cold[3] == tuple(
        sorted((first.said(frames[3], name) for name in NAMES), key=lambda d: -d.score)
    )
    assert warm.facts["detections are kept"] == "in the user's cache"


def test_only_what_is_missing_is_asked(tmp_path: Path) -> None:
    frames, detector = shown(4), Counting()
    finder = CachedDetector(detector, context(tmp_path))
    finder.detect(frames[:2], ["cat"])
    assert finder.passes_to_come(frames, NAMES) == 4
    assert finder.passes_to_come(frames, ["cat"]) == 2
    finder.detect(frames, ["cat"])
    finder.detect(frames, ["dog", "cat", "dog"])
    finder.detect([frames[0], frames[0]], NAMES)
    assert detector.calls == [(2, ("cat",)), (2, ("cat",)), (4, ("dog",))]
    assert finder.passes_to_come(frames, NAMES) == 0


def test_a_batch_is_one_call_with_the_union_of_its_missing_names(
    tmp_path: Path,
) -> None:
    frames, detector = shown(2), Counting()
    finder = CachedDetector(detector, context(tmp_path))
    finder.detect(frames[:1], ["cat"])
    finder.detect(frames[1:], ["dog"])
    found = finder.detect(frames, NAMES)
    assert detector.calls[2:] == [(2, ("cat", "dog"))]
    assert found == [
        tuple(sorted((detector.said(f, n) for n in NAMES), key=lambda d: -d.score))
        for f in frames
    ]


def test_nothing_found_is_remembered_too(tmp_path: Path) -> None:
    class Blind(Counting):
        def detect(self, frames: Sequence[Frame], names: Sequence[str]) -> list[Any]:
            super().detect(frames, names)
            return [() for _ in frames]

    detector = Blind()
    finder = CachedDetector(detector, context(tmp_path))
    assert finder.detect(shown(2), NAMES) == finder.detect(shown(2), NAMES) == [(), ()]
    assert len(detector.calls) == 1


def test_another_fingerprint_is_another_detector(tmp_path: Path) -> None:
    CachedDetector(Counting("v1"), context(tmp_path)).detect(shown(1), NAMES)
    other = Counting("v2")
    CachedDetector(other, context(tmp_path)).detect(shown(1), NAMES)
    assert other.calls == [(1, NAMES)]


def test_a_joint_detector_is_asked_for_each_list_of_names(tmp_path: Path) -> None:
    detector = Counting(joint=True)
    finder = CachedDetector(detector, context(tmp_path))
    for names in (NAMES, NAMES, ("cat",), NAMES):
        finder.detect(shown(1), names)
    assert detector.calls == [(1, NAMES), (1, ("cat",))]


def test_without_a_fingerprint_nothing_outlives_the_run(tmp_path: Path) -> None:
    for _ in range(2):
        detector = Counting(fingerprint=None)
        finder = CachedDetector(detector, context(tmp_path))
        assert finder.detect(shown(2), NAMES) == finder.detect(shown(2), NAMES)
        assert len(detector.calls) == 1
        assert "no fingerprint" in finder.facts["detections are kept"]
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    CachedDetector(Counting(), context(tmp_path)).detect(shown(1), NAMES)
    for file in tmp_path.iterdir():
        file.write_bytes(b"no database" * 1000)
    detector = Counting()
    with pytest.warns(UserWarning, match="kept as"):
        finder = CachedDetector(detector, context(tmp_path))
    assert finder.detect(shown(1), NAMES)
    assert detector.calls == [(1, NAMES)]
    assert (
        CachedDetector(Counting(), context(tmp_path)).passes_to_come(shown(1), NAMES)
        == 0
    )


def test_a_kill_costs_the_batch_in_flight(tmp_path: Path) -> None:
    script = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from test_remembering import Counting, NAMES, context, CachedDetector, shown

class Killed(Counting):
    def detect(self, frames, names):
        if len(self.calls) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().detect(frames, names)

CachedDetector(Killed(), context(Path({str(tmp_path)!r}))).detect(shown(12), NAMES)
"""
    ended = subprocess.run([sys.executable, "-c", script], check=False)
    assert ended.returncode == -signal.SIGKILL
    detector = Counting()
    CachedDetector(detector, context(tmp_path)).detect(shown(12), NAMES)
    assert detector.calls == [(4, NAMES)]


def test_the_bar_moves_frame_by_frame(tmp_path: Path) -> None:
    steps: list[object] = []

    @contextmanager
    def bar(description: str, total: int) -> Iterator[Any]:
        steps.append((description, total))
        yield steps.append

    frames = shown(5)
    finder = CachedDetector(Counting(), replace(context(tmp_path), progress=bar))
    finder.detect([*frames, frames[0]], NAMES)
    assert steps == [("finding objects", 5), 4, 1]
