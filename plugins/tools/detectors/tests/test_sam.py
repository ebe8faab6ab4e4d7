"""SAM in the boxes of a detector, against the library's own processor and forward."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
import transformers
from pydantic import Field

from cuescope_detectors.grounded_sam import GroundedSam
from cuescope_sdk import Context, Detection, Frame, Options, Plugin, UserError
from cuescope_testing import FakeSegmenter, PluginShelf

BOXES = {
    "cat": [(0.9, (4.0, 5.0, 20.0, 25.0)), (0.4, (10.0, 2.0, 30.0, 12.0))],
    "caterpillar": [(0.8, (1.0, 1.0, 9.0, 30.0)), (0.2, (0.0, 0.0, 32.0, 32.0))],
}


class BoxerOptions(Options):
    fingerprint: str | None = Field("boxer", description="what it calls itself")


class Boxer(Plugin):
    """Finds the same boxes everywhere."""

    Options: ClassVar[type[Options]] = BoxerOptions

    @property
    def fingerprint(self) -> str | None:
        return str(self.options.fingerprint) if self.options.fingerprint else None

    def detect(
        self, frames: Sequence[Frame], names: Sequence[str]
    ) -> list[tuple[Detection, ...]]:
        found = (
            Detection(name=name, score=score, box=box)
            for name in names
            for score, box in BOXES.get(name, [])
        )
        return (
            [tuple(found)]
            if len(frames) == 1
            else [self.detect([f], names)[0] for f in frames]
        )


@pytest.fixture
def sam(folders: dict[str, Path], tmp_path: Path) -> Callable[..., GroundedSam]:
    """`sam(dtype=, **options)`: SAM in the boxer's boxes."""
    tools = {("tool", "boxer"): Boxer, ("tool", "painter"): FakeSegmenter}

    def made(dtype: str = "float32", **options: Any) -> GroundedSam:
        context = Context(PluginShelf(tools), tmp_path, device="cpu", dtype=dtype)
        given = {"model": str(folders["sam"]), "detector": "boxer", **options}
        return GroundedSam(GroundedSam.Options(**given), context)

    return made


def library(folder: Path, frame: Frame, box: tuple[float, ...]) -> np.ndarray:
    """The library's mask of one box, image and prompt in one call."""
    model = transformers.SamModel.from_pretrained(folder).eval()
    processor = transformers.SamProcessor.from_pretrained(folder)
    given = processor(frame.load(), input_boxes=[[list(box)]], return_tensors="pt")
    with torch.no_grad():
        said = model(
            pixel_values=given.pixel_values,
            input_boxes=given.input_boxes.float(),
            multimask_output=False,
        )
    (masks,) = processor.post_process_masks(
        said.pred_masks, given.original_sizes, given.reshaped_input_sizes
    )
    return np.asarray(masks[0, 0].numpy())


def test_a_mask_is_what_the_library_sees_in_the_boxes_of_a_name(
    sam: Callable[..., GroundedSam], frames: list[Frame], folders: dict[str, Path]
) -> None:
    names = ("caterpillar", "cat", "dog", "cat")
    for frame, masks in zip(frames, sam().segment(frames, names), strict=True):
        wide, *two = (
            library(folders["sam"], frame, box)
            for name in ("caterpillar", "cat")
            for score, box in BOXES[name]
            if score > 0.3
        )
        np.testing.assert_array_equal(masks[0], wide)
        np.testing.assert_array_equal(masks[1], two[0] | two[1])
        np.testing.assert_array_equal(masks[3], masks[1])
        assert not masks[2].any()
        assert 0 < masks[:2].mean() < 1
        assert (two[0] != two[1]).any()


def test_weak_boxes_are_outlined_on_demand(
    sam: Callable[..., GroundedSam], frames: list[Frame], folders: dict[str, Path]
) -> None:
    (masks,) = sam(threshold=0.1).segment(frames[:1], ["caterpillar"])
    both = [library(folders["sam"], frames[0], box) for _, box in BOXES["caterpillar"]]
    np.testing.assert_array_equal(masks[0], both[0] | both[1])


def test_an_image_is_encoded_once(
    sam: Callable[..., GroundedSam],
    frames: list[Frame],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []
    tower = transformers.models.sam.modeling_sam.SamVisionEncoder
    plain = tower.forward

    def counting(self: Any, pixels: Any, **given: Any) -> Any:
        seen.append(len(pixels))
        return plain(self, pixels, **given)

    monkeypatch.setattr(tower, "forward", counting)
    sam().segment(frames[:2], ("cat", "caterpillar"))
    sam().segment(frames, ("dog",))
    assert seen == [1, 1]


def test_half_precision_outlines_about_the_same(
    sam: Callable[..., GroundedSam], frames: list[Frame]
) -> None:
    full, half = (
        sam(dtype=dtype).segment(frames, ["cat"]) for dtype in ("float32", "bfloat16")
    )
    assert np.mean([(a != b).mean() for a, b in zip(full, half, strict=True)]) < 0.1


def test_the_fingerprint_holds_the_detectors(sam: Callable[..., GroundedSam]) -> None:
    other = sam(detector_options={"fingerprint": "other"})
    assert (
        len({sam().fingerprint, other.fingerprint, sam(threshold=0.1).fingerprint}) == 3
    )
    assert sam(detector_options={"fingerprint": None}).fingerprint is None


def test_what_cannot_detect_is_refused(sam: Callable[..., GroundedSam]) -> None:
    with pytest.raises(UserError, match="tool painter is no detector"):
        sam(detector="painter")
    with pytest.raises(UserError, match="Did you mean 'boxer'"):
        sam(detector="boxxer")
