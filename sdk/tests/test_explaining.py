"""Canvases and masks through a model that crops, and the annotated foreground in all its forms."""

from typing import Any

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import Audit, Context, Frame, Outcome, Response, Sample, UserError
from cuescope_sdk.explain._canvas import Canvas, foreground_of


class Cropping:
    """Sees the left half."""

    def canvas(self, frames: Any) -> list[np.ndarray]:
        return [
            np.asarray(frame.load())[:, : frame.load().width // 2] for frame in frames
        ]


@pytest.fixture
def audit() -> Audit:
    def respond(trials: Any) -> list[Outcome]:
        return [
            Outcome(t, Response(readout=t.readout.read(Cropping(), [t])[0]))
            for t in trials
        ]

    return Audit(labels=("a",), options=None, respond=respond, context=Context())


def sample(frames: int = 1, **annotations: Any) -> Sample:
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    shown = (Frame.from_array(pixels),) * frames
    return Sample(
        key="x", frames=shown, choices=("a",), label="a", annotations=annotations
    )


def test_canvas_is_what_the_network_sees(audit: Audit) -> None:
    (seen,) = Canvas.samples(audit, [sample()])
    assert (seen.key, seen.label) == ("x/canvas", "a")
    expected = np.asarray(sample().frames[0].load())[:, :4]
    np.testing.assert_array_equal(np.asarray(seen.frames[0].load()), expected)


def test_a_mask_is_cropped_with_its_frame(audit: Audit) -> None:
    mask = np.random.default_rng(1).random((6, 8)) < 0.5
    (seen,) = Canvas.masks(audit, [sample()], [mask])
    np.testing.assert_array_equal(seen, mask[:, :4])


def test_a_mask_of_another_size_is_told(audit: Audit) -> None:
    with pytest.raises(UserError, match=r"'x'.*expected 6 x 8.*got 8 x 6"):
        Canvas.masks(audit, [sample()], [np.ones((8, 6), bool)])


def test_sequences_are_told(audit: Audit) -> None:
    with pytest.raises(UserError, match="got 3 frames"):
        Canvas.samples(audit, [sample(frames=3)])
    assert Canvas.frame(sample()).key == sample().frames[0].key


def test_foreground_is_a_mask_or_a_drawing_of_it() -> None:
    mask = np.eye(6, 8, dtype=bool)
    drawn = Frame.from_array(np.asarray(Image.fromarray(mask).convert("RGB")))
    for annotated in (mask, drawn):
        np.testing.assert_array_equal(foreground_of(sample(foreground=annotated)), mask)
    assert foreground_of(sample()) is None
    with pytest.raises(
        UserError, match=r"expected a bool array.*got float64 of shape \(6, 8\)"
    ):
        foreground_of(sample(foreground=mask.astype(float)))
    with pytest.raises(UserError, match="got str"):
        foreground_of(sample(foreground="mask.png"))
