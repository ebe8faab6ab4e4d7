"""The data set's own boxes and masks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from cuescope_detectors.annotated import AnnotatedBoxes, AnnotatedMasks
from cuescope_sdk import Context, Detection, Frame, Options, Sample, UserError
from cuescope_sdk.tools import CachedDetector

CAT, WIDE = (1.0, 2.0, 3.0, 4.0), (0.0, 0.0, 6.0, 5.0)


def plain(value: int, width: int = 6, height: int = 5) -> Frame:
    return Frame.from_array(np.full((height, width, 3), value, np.uint8))


def drawn(*places: tuple[int, int]) -> Frame:
    """A mask that is white at these (row, col)."""
    pixels = np.zeros((5, 6, 3), np.uint8)
    for place in places:
        pixels[place] = 255
    return Frame.from_array(pixels)


def box(name: str, at: tuple[float, float, float, float]) -> Detection:
    return Detection(name=name, score=1.0, box=at)


class Shelf:
    """A data set of given samples."""

    Options: ClassVar[type[Options]] = Options
    labels: tuple[str, ...] = ()
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, samples: Sequence[Sample], fingerprint: str = "shelf") -> None:
        self.samples, self.fingerprint, self.reads = samples, fingerprint, 0

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        self.reads += 1
        return self.samples[index]


def sample(key: str, *frames: Frame, label: str | None = None, **known: Any) -> Sample:
    return Sample(key=key, frames=frames, label=label, annotations=known)


def boxes(tmp_path: Path, *samples: Sample) -> AnnotatedBoxes:
    return AnnotatedBoxes(
        Options(), Context(cache=tmp_path).for_dataset(Shelf(samples))
    )


def masks(tmp_path: Path, *samples: Sample) -> AnnotatedMasks:
    return AnnotatedMasks(
        Options(), Context(cache=tmp_path).for_dataset(Shelf(samples))
    )


def test_boxes_are_found_by_the_frame(tmp_path: Path) -> None:
    tool = boxes(
        tmp_path,
        sample(
            "a",
            plain(1),
            boxes=(box("Water Ouzel", WIDE), box("cat", CAT), box("cat", WIDE)),
        ),
        sample("b", plain(2), plain(3), boxes=(box("caterpillar", CAT),)),
        sample("c", plain(4)),
        sample("asked twice", plain(1), boxes=(box("cat", CAT), box("dog", CAT))),
    )
    frames = [plain(4), plain(3), plain(1)]
    assert tool.detect(frames, ("cat", "water  ouzel", "cat", "no such thing")) == [
        (),
        (),
        (box("cat", CAT), box("cat", WIDE), box("water  ouzel", WIDE)),
    ]
    assert tool.detect(frames[1:], ("dog", "caterpillar")) == [
        (box("caterpillar", CAT),),
        (box("dog", CAT),),
    ]


def test_the_data_set_is_read_once_and_not_before(tmp_path: Path) -> None:
    data = Shelf([sample("a", plain(1), boxes=()), sample("b", plain(2), boxes=())])
    tool = AnnotatedBoxes(Options(), Context(cache=tmp_path).for_dataset(data))
    assert data.reads == 0
    for _ in range(2):
        assert tool.detect([plain(1)], ["cat"]) == [()]
    assert data.reads == 2


def test_masks_are_white_on_black_or_arrays(tmp_path: Path) -> None:
    foreground = np.zeros((5, 6), dtype=bool)
    foreground[4, 5] = True
    tool = masks(
        tmp_path,
        sample(
            "a",
            plain(1),
            label="Cat",
            masks={"dog": drawn((0, 1), (2, 3))},
            foreground=foreground,
        ),
        sample(
            "b",
            plain(2),
            label="cat",
            masks={"cat": drawn((0, 0))},
            foreground=drawn((1, 1)),
        ),
        sample("no label", plain(3), foreground=foreground),
    )
    one, two, three = tool.segment(
        [plain(1), plain(2), plain(3)], ("cat", "dog", "catfish")
    )
    assert [np.argwhere(mask).tolist() for mask in one] == [
        [[4, 5]],
        [[0, 1], [2, 3]],
        [],
    ]
    assert [np.argwhere(mask).tolist() for mask in two] == [[[0, 0], [1, 1]], [], []]
    assert (three.shape, three.dtype, three.any()) == ((3, 5, 6), bool, False)
    assert tool.segment([plain(1)], ())[0].shape == (0, 5, 6)


def test_what_cannot_be_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no data set here"):
        AnnotatedBoxes(Options(), Context(cache=tmp_path))
    bare = sample("a", plain(1))
    for tool, ask in (
        (boxes(tmp_path, bare), "detect"),
        (masks(tmp_path, bare), "segment"),
    ):
        with pytest.raises(UserError, match="the data set has none: expected '"):
            getattr(tool, ask)([plain(1)], ["cat"])
    known = boxes(tmp_path, sample("a", plain(1), boxes=()))
    with pytest.raises(UserError, match="an image that is not of the data set"):
        known.detect([plain(9)], ["cat"])
    small = sample("a", plain(1, width=9), masks={"cat": drawn()})
    line = "'cat' in sample a: expected 9 x 5 pixels, as its image, got 6 x 5"
    with pytest.raises(UserError, match=line):
        masks(tmp_path, small).segment(small.frames, ["cat"])


def test_the_fingerprint_is_the_data_sets(tmp_path: Path) -> None:
    context = Context(cache=tmp_path)
    found = {
        tool(Options(), context.for_dataset(Shelf([], said))).fingerprint
        for tool in (AnnotatedBoxes, AnnotatedMasks)
        for said in ("one", "other")
    }
    assert len(found) == 4
    tool = boxes(tmp_path, sample("a", plain(1), boxes=(box("cat", CAT),)))
    finder = CachedDetector(tool, context)
    assert finder.detect([plain(1)], ["cat"]) == [(box("cat", CAT),)]
    assert finder.passes_to_come([plain(1)], ["cat"]) == 0


def test_names_are_compared_without_number(tmp_path: Path) -> None:
    """COCO calls them "skis"; who proposes cues says "ski"."""
    tool = boxes(
        tmp_path, sample("a", plain(1), boxes=(box("skis", CAT), box("bus", WIDE)))
    )
    found = tool.detect([plain(1)], ["ski", "buses", "bu"])[0]
    assert {one.name for one in found} == {"ski", "buses"}
