"""Where a map lies: on the foreground or on the background (section 3.1, appendix A.3)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk import Audit, Sample, UserError
from cuescope_sdk.explain import canvas_masks, foreground_of, single_frame
from cuescope_sdk.maths import energy_share, iou, soft_iou, upsample

Region = Literal["foreground", "background"]
Mask = Bool[np.ndarray, "mask_row mask_col"]


def region_of(
    importance: Float[np.ndarray, "row col"],
    foreground: Mask,
    overlap: Literal["iou", "soft-iou", "mass"] = "iou",
    strongest: float = 0.5,
) -> Region | None:
    """Which of foreground and background the positive importance overlaps more.

    `importance` (row, col) is upsampled to the mask. None where nothing can be said: a map without
    any positive importance, or a mask that leaves no foreground or no background. Of equals the
    foreground has it.
    """
    values = np.maximum(importance, 0)
    if values.max() <= 0 or foreground.all() or not foreground.any():
        return None
    fine = upsample(values / values.max(), foreground.shape)
    match overlap:
        case "iou":
            strong = fine >= strongest * fine.max()
            fore, back = iou(strong, foreground), iou(strong, ~foreground)
        case "soft-iou":
            fore, back = soft_iou(fine, foreground), soft_iou(fine, ~foreground)
        case "mass":
            fore = energy_share(fine, foreground)
            back = 1 - fore
    return "background" if back > fore else "foreground"


def foregrounds(audit: Audit, samples: Sequence[Sample]) -> list[Mask] | None:
    """Foreground masks on the model's canvas, from a segmenter or from the annotations.

    None where there is neither. Raises UserError where only some samples are annotated, or where a
    mask does not fit its frame.
    """
    if "segmenter" in audit.tools:
        masks = [_segmented(audit, sample) for sample in samples]
    else:
        known = [foreground_of(sample) for sample in samples]
        if all(mask is None for mask in known):
            return None
        masks = [_present(*pair) for pair in zip(samples, known, strict=True)]
    return canvas_masks(audit, samples, masks)


def _segmented(audit: Audit, sample: Sample) -> Mask:
    """Whatever is the label or another object in front (the prompt of appendix A.3)."""
    names = [name for name in (sample.label, "foreground objects") if name]
    [masks] = audit.tools["segmenter"].segment([single_frame(sample)], names)
    return np.asarray(np.asarray(masks, dtype=bool).any(axis=0))


def _present(sample: Sample, mask: Mask | None) -> Mask:
    if mask is None:
        raise UserError(
            f"cci: sample '{sample.key}' has no foreground mask, and others have",
            expected="a mask for each sample, or for none",
            remedy="Complete the annotation, or name a tool: --tool segmenter=SPEC",
        )
    return mask
