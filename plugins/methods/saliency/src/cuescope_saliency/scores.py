"""Figures of each text: where the maps lie."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from cuescope_saliency.trials import Images
from cuescope_sdk.statistics import Groups

PerMasked = Float[np.ndarray, " masked"]


@dataclass(frozen=True)
class TextFigures:
    """The figures of one text, an entry an image; all but `correct` over those with a mask.

    `preferred` is the lean that maps have whatever is there (`preferred_leans`). `groups` and
    `masked_groups` say which of them were drawn together.
    """

    text: str
    correct: Float[np.ndarray, " image"]
    share: PerMasked
    area: PerMasked
    iou: PerMasked
    preferred: PerMasked
    groups: Groups
    masked_groups: Groups

    @property
    def lean(self) -> PerMasked:
        """Importance on the background, less the background's share of the picture."""
        # (1 - share) - (1 - area): what a map that knows nothing would have there is taken off.
        return np.asarray(self.area - self.share)

    @property
    def own_lean(self) -> PerMasked:
        """The lean beyond what the maps prefer whatever is there."""
        # two leans may differ by 2, and the tests reckon with values from -1 to 1
        return np.asarray(np.clip(self.lean - self.preferred, -1, 1))

    @property
    def strength(self) -> float:
        """Mean lean on the background; -1 without masks."""
        return float(self.lean.mean()) if len(self.lean) else -1.0


def measure_text(images: Images, preferred: Mapping[str, float]) -> TextFigures:
    """The figures of the images in which one text is explained; `preferred` leans are by sample."""
    share = []
    area = []
    iou = []
    masked = []
    for image in images:
        mask = image.usable_mask
        # a mask that is empty or whole has only one side to lean on
        if mask is not None:
            masked.append(image.sample)
            share.append(image.foreground_share)
            area.append(mask.mean())
            iou.append(iou_at_area(image.importance, mask))
    return TextFigures(
        text=images[0].text,
        correct=np.array([image.is_right for image in images], dtype=np.float64),
        share=np.array(share),
        area=np.array(area),
        iou=np.array(iou),
        preferred=np.array([preferred[sample.key] for sample in masked]),
        groups=Groups.of([image.sample for image in images]),
        masked_groups=Groups.of(masked),
    )


def iou_at_area(
    importance: Float[np.ndarray, "row col"], mask: Bool[np.ndarray, "row col"]
) -> float:
    """IoU of the mask with as many of the most important pixels as the mask has.

    Of pixels that tie for the last places each is taken by the same share, so that a map of few
    values is judged without chance.
    """
    values = np.asarray(importance, dtype=np.float64)
    area = int(mask.sum())
    if area == 0:
        return 0.0
    place = values.size - area
    last = np.partition(values, place, axis=None)[place]
    above = values > last
    tied = values == last
    share = (area - above.sum()) / tied.sum()
    common = float(above[mask].sum() + share * tied[mask].sum())
    return common / (2 * area - common)
