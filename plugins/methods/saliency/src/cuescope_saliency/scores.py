"""Figures of each text: where the maps lie, and whether that is more than chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_saliency.trials import ExplainedImage
from cuescope_sdk.maths import energy_share, iou_at_area
from cuescope_sdk.statistics import Groups, change_interval, detectable, smallest_effect

BISECTIONS = 12  # of a p-value, on a scale of powers of ten
LEAST_P = 1e-6
PLANTED = 50  # draws of a planted lean
TIE = 1e-9


@dataclass(frozen=True)
class TextFigures:
    """The figures of one text, an entry an image; the last three over images with a mask.

    `groups` and `masked_groups` say which of them were drawn together.
    """

    text: str
    correct: Float[np.ndarray, " image"]
    share: Float[np.ndarray, " masked"]
    area: Float[np.ndarray, " masked"]
    iou: Float[np.ndarray, " masked"]
    groups: Groups
    masked_groups: Groups

    @property
    def lean(self) -> Float[np.ndarray, " masked"]:
        """Importance on the background, less the background's share of the picture."""
        # (1 - share) - (1 - area): what a map that knows nothing would have there is taken off.
        return np.asarray(self.area - self.share)

    @property
    def strength(self) -> float:
        """Mean lean on the background; -1 without masks."""
        return float(self.lean.mean()) if len(self.lean) else -1.0


def measure_text(images: Sequence[ExplainedImage]) -> TextFigures:
    """The figures of the images in which one text is explained."""
    # A mask that is empty or fills the picture leaves nothing to compare with.
    kept = [
        (image, image.foreground)
        for image in images
        if image.foreground is not None and image.foreground.any() and not image.foreground.all()
    ]
    masked = [(image.importance, mask) for image, mask in kept]
    return TextFigures(
        text=images[0].text,
        correct=np.array([image.is_right for image in images], dtype=np.float64),
        share=np.array([energy_share(*pair) for pair in masked]),
        area=np.array([mask.mean() for _, mask in masked]),
        iou=np.array([iou_at_area(*pair) for pair in masked]),
        groups=Groups.of([image.sample for image in images]),
        masked_groups=Groups.of([image.sample for image, _ in kept]),
    )


def lean_p_value(lean: Float[np.ndarray, " masked"], groups: Groups) -> float | None:
    """Of no lean on the background on average; None for fewer than two groups with a mask.

    The smallest level whose one-sided interval lies above 0. Not by flipping signs: a map that puts
    all on one spot at random misses a small object nearly always, by little, and hits it rarely, by
    much. Its mean lean is 0, and signs flipped would call a row of misses a lean.
    """
    if groups.count < 2:
        return None
    if leans(lean, groups, LEAST_P):
        return LEAST_P
    # on a scale of powers: between LEAST_P and 1 / 2, beyond which nothing is a lean
    low, high = np.log(LEAST_P), np.log(0.5)
    if not leans(lean, groups, 0.5 - TIE):
        return 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if leans(lean, groups, float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))


def leans(lean: Float[np.ndarray, " masked"], groups: Groups, level: float) -> bool:
    """Whether the mean is above 0 at a one-sided level."""
    low, _ = change_interval(lean, groups, confidence=1 - 2 * level)
    return low is not None and low > 0


def smallest_lean(
    lean: Float[np.ndarray, " masked"],
    groups: Groups,
    level: float,
    rng: np.random.Generator,
    *,
    power: float = 0.8,
) -> float | None:
    """The mean lean that would be found at a level with `power`, as much as these maps scatter.

    None where even maps that lie on the background alone would be missed.
    """
    if groups.count < 2:
        return None
    scatter, members = (
        lean - lean.mean(),
        [np.flatnonzero(groups.codes == code) for code in range(groups.count)],
    )
    limits = []
    for _ in range(PLANTED):
        drawn = rng.integers(groups.count, size=groups.count)
        values = np.concatenate([scatter[members[code]] for code in drawn])
        sizes = [len(members[code]) for code in drawn]
        again = Groups(np.repeat(np.arange(len(sizes)), sizes), len(sizes), groups.declared)
        limits.append(_smallest(values, again, level))
    return detectable(limits, power)


def _smallest(values: Float[np.ndarray, " masked"], groups: Groups, level: float) -> float:
    def is_found(shift: float) -> bool:
        return leans(np.clip(values + shift, -1, 1), groups, level)

    return smallest_effect(is_found)
