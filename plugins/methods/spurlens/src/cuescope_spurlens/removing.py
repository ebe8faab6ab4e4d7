"""Images of an object without the object: its tokens dropped, or blackened (section 6.1)."""

from functools import partial
from typing import Literal

import numpy as np
from jaxtyping import Bool
from PIL import Image

from cuescope_sdk import Audit, Edit, Frame, HideTokens, Sample, UserError, digest

Removal = Literal["drop", "mask"]
Shown = tuple[Sample, Edit | None]


def check_can_remove(audit: Audit, how: Removal) -> None:
    """Raises UserError where the model cannot drop tokens."""
    if how == "drop" and "hide-tokens" not in audit.capabilities.edits:
        raise UserError(
            "artificial negatives by 'drop'", expected="a model that takes the edit 'hide-tokens'",
            remedy="-O artificial=mask blackens the object instead",
        )  # fmt: skip


def has_mask(audit: Audit, sample: Sample, label: str) -> bool:
    """Whether the object's outline is annotated, or a segmenter can draw it."""
    return label in sample.annotations.get("masks", {}) or "segmenter" in audit.tools


def removed(audit: Audit, sample: Sample, label: str, how: Removal) -> Shown:
    """The sample with the object taken out, as it is shown to the model."""
    masks = [mask_of(audit, sample, place, label) for place in range(len(sample.frames))]
    if how == "drop":
        return sample, HideTokens.from_mask(np.stack(masks))
    frames = tuple(
        frame.derive(f"spurlens-mask {digest(mask)}", partial(blackened, mask))
        for frame, mask in zip(sample.frames, masks, strict=True)
    )
    return sample.with_frames(frames, f"without-{label}"), None


def mask_of(audit: Audit, sample: Sample, place: int, label: str) -> Bool[np.ndarray, "row col"]:
    """The object in a frame: what is annotated, else what the segmenter outlines."""
    annotated = sample.annotations.get("masks", {}).get(label)
    if annotated is not None:
        return np.asarray(annotated.load().convert("L")) > 0
    found = audit.tools["segmenter"].segment([sample.frames[place]], [label])
    return np.asarray(found[0][0], dtype=bool)


def blackened(mask: Bool[np.ndarray, "row col"], image: Image.Image) -> Image.Image:
    """The image, black under the mask, which is stretched to its size."""
    size = image.size
    over = Image.fromarray(mask.astype(np.uint8) * 255).resize(size, Image.Resampling.NEAREST)
    return Image.composite(Image.new("RGB", size), image, over)


def blank(sample: Sample) -> Sample:
    """A wholly black image of the same size."""
    frames = tuple(Frame.from_array(np.zeros_like(np.asarray(f.load()))) for f in sample.frames)
    return sample.with_frames(frames, "blank")
