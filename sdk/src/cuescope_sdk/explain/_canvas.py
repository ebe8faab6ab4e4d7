"""Shared parts of explainers: the protocol, the pixels that the network sees, and masks on them."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from cuescope_core.amounts import count_of
from cuescope_core.auditing import Audit
from cuescope_core.errors import UserError
from cuescope_core.types import Frame, Readout, Sample, Trial


@runtime_checkable
class Explainer(Protocol):
    """A method that tells where in an image the similarity to a text comes from."""

    def maps(
        self,
        audit: Audit,
        samples: Sequence[Sample],
        choices: Sequence[str],
    ) -> Iterator[np.ndarray]:
        """One importance map (row, col) a sample, with respect to the text beside it.

        The samples are those of `Canvas.samples`. A map may be coarser than the canvas, over
        which it spans. It is made through `audit.respond` alone.
        """


class Canvas(Readout):
    """The pixels that the network sees of a single frame: uint8 (row, col, 3)."""

    name: ClassVar[str] = "canvas"
    gives: ClassVar[Any] = UInt8[np.ndarray, "row col 3"]

    def read(
        self,
        model: Any,
        trials: Sequence[Trial],
    ) -> list[UInt8[np.ndarray, "row col 3"]]:
        """By the model's own `canvas`."""
        return list(model.canvas([Canvas.frame(trial.sample) for trial in trials]))

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """Pixels of an image."""
        return super().accepts(array, trial) and array.size > 0

    @staticmethod
    def frame(sample: Sample) -> Frame:
        """The frame of a sample; raises UserError for one with several."""
        if len(sample.frames) != 1:
            raise UserError(
                f"an image is explained, and sample '{sample.key}' is a sequence",
                expected="one frame a sample",
                got=f"{count_of(len(sample.frames), 'frames')}",
                remedy="Take image data.",
            )
        return sample.frames[0]

    @staticmethod
    def samples(audit: Audit, samples: Sequence[Sample]) -> list[Sample]:
        """The same samples, their frame resized and cropped to what the network sees.

        Raises UserError for a sample of several frames.
        """
        # before the model is asked
        for sample in samples:
            Canvas.frame(sample)
        # as trials: cached, and answered by workers too
        outcomes = audit.respond([Canvas().of(sample) for sample in samples])
        seen = []
        for sample, outcome in zip(samples, outcomes, strict=True):
            frame = Frame.from_array(np.asarray(outcome.response.readout))
            seen.append(sample.with_frames((frame,), "canvas"))
        return seen

    @staticmethod
    def masks(
        audit: Audit,
        samples: Sequence[Sample],
        masks: Sequence[Bool[np.ndarray, "_row _col"]],
    ) -> list[Bool[np.ndarray, "_row _col"]]:
        """Masks over the samples' frames as the network sees them, resized and cropped alike.

        Raises UserError for a mask of another size than its frame.
        """
        trials = []
        for sample, mask in zip(samples, masks, strict=True):
            masked = sample.with_frames((_mask_frame(mask, sample),), "mask")
            trials.append(Canvas().of(masked))
        outcomes = audit.respond(trials)
        # resizing blurs an edge: half way is inside
        return [
            np.asarray(outcome.response.readout)[..., 0] > 127 for outcome in outcomes
        ]


def foreground_of(sample: Sample) -> Bool[np.ndarray, "row col"] | None:
    """The mask in `annotations["foreground"]`, in the frame's pixels; None where there is none.

    It is a bool array, or a Frame whose pixels are black on the background.
    """
    match sample.annotations.get("foreground"):
        case None:
            return None
        case Frame() as frame:
            return np.asarray(np.asarray(frame.load()).any(axis=2))
        # 0 and 255 would be read the wrong way round by some
        case np.ndarray() as mask if mask.dtype == bool and mask.ndim == 2:
            return mask
        case other:
            shape = (
                f"{other.dtype} of shape {other.shape}"
                if hasattr(other, "dtype")
                else None
            )
            raise UserError(
                f"the foreground of sample '{sample.key}'",
                expected="a bool array (row, col), or a frame that is black on the background",
                got=shape or type(other).__name__,
            )


def _mask_frame(mask: Bool[np.ndarray, "row col"], sample: Sample) -> Frame:
    """White on black."""
    width, height = Canvas.frame(sample).load().size
    if mask.shape != (height, width):
        raise UserError(
            f"the mask of sample '{sample.key}' does not fit its frame",
            expected=f"{height} x {width} (rows x columns)",
            got=" x ".join(map(str, mask.shape)),
        )
    return Frame.from_array(np.asarray(Image.fromarray(mask).convert("RGB")))
