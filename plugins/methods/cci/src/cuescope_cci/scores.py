"""CCI's scores as functions of arrays and counts (sections 3 and 3.1)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.maths import (
    energy_share,
    exceeds_rate_p_value,
    iou,
    single_gap_p_value,
    soft_iou,
    upsample,
)

Region = Literal["foreground", "background"]
Mask = Bool[np.ndarray, "mask_row mask_col"]
HALF = 0.5  # of the errors: beyond it the background causes more than all objects together


def weights(
    drops: Float[np.ndarray, " cluster"], negative: Literal["keep", "zero"] = "keep"
) -> Float[np.ndarray, " cluster"]:
    """w_k = drop_k / sum of drops (section 3, "Importance Scoring"), whatever the drops' unit.

    The paper leaves open what a negative drop means. Deviates: the sum is of absolute values,
    which is the paper's where no drop is negative. Where nothing is lost by hiding anything, all
    weights are 0.
    """
    values = np.maximum(drops, 0) if negative == "zero" else np.asarray(drops, dtype=np.float64)
    # Divided by a sum of mixed signs that happens to be negative, the map would be turned over.
    total = np.abs(values).sum()
    return np.asarray(values / total if total > 0 else np.zeros(len(drops)))


def importance_map(
    cluster: Int[np.ndarray, "row col"],
    drops: Float[np.ndarray, " cluster"],
    negative: Literal["keep", "zero"] = "keep",
) -> Float[np.ndarray, "row col"]:
    """The map S = sum of w_k m_k: each patch has the weight of its cluster."""
    return np.asarray(weights(drops, negative)[cluster])


def region_of_map(
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
    # What speaks against the answer did not decide it.
    values = np.maximum(importance, 0)
    if values.max() <= 0 or foreground.all() or not foreground.any():
        return None
    fine = upsample(values / values.max(), foreground.shape)
    match overlap:
        case "iou":
            # IoU needs a set of pixels, and the paper does not say where it cuts its heatmaps.
            strong = fine >= strongest * fine.max()
            fore, back = iou(strong, foreground), iou(strong, ~foreground)
        case "soft-iou":
            fore, back = soft_iou(fine, foreground), soft_iou(fine, ~foreground)
        case "mass":
            fore = energy_share(fine, foreground)
            back = 1 - fore
    return "background" if back > fore else "foreground"


def background_clusters(
    cluster: Int[np.ndarray, "row col"], foreground: Mask
) -> Bool[np.ndarray, " cluster"]:
    """Clusters that lie on the foreground no more than the picture as a whole does."""
    numbers = range(int(cluster.max()) + 1)
    coverage = upsample(foreground.astype(np.float32), cluster.shape)
    # A fixed share would call every cluster background where the object is small.
    return np.array([coverage[cluster == number].mean() <= coverage.mean() for number in numbers])


def relative_drop(
    whole: Float[np.ndarray, " choice"], hidden: Float[np.ndarray, " choice"], choice: int
) -> float:
    """What the choice loses beyond what the choices lose on average; a lone one, what it loses."""
    # Hiding anything large lowers or lifts the similarity to all texts: that decides nothing.
    drops = np.asarray(whole, dtype=np.float64) - hidden
    return float(drops[choice] - (drops.mean() if len(drops) > 1 else 0.0))


def closest_pairs(
    similarity: Float[np.ndarray, "choice choice"], share: float
) -> Bool[np.ndarray, "choice choice"]:
    """Pairs whose similarity reaches the `share` quantile of all pairs; equals stand together."""
    pairs = similarity[np.triu_indices(len(similarity), k=1)]
    if len(pairs) == 0:
        return np.zeros(similarity.shape, dtype=bool)
    # Cosines of CLIP's texts are all high, so only a pair's rank among all pairs tells anything.
    return np.asarray(similarity >= np.quantile(pairs, share, method="higher") - 1e-12)


@dataclass(frozen=True)
class Tally:
    """Counts of a group of answers, all of which have a label and a region."""

    images: int
    errors: int
    background: int
    background_errors: int
    fine_errors: int

    @property
    def foreground_errors(self) -> int:
        """Wrong answers that looked at an object."""
        return self.errors - self.background_errors

    @property
    def bg_er(self) -> float | None:
        """Share of the errors that the background decided."""
        return self.background_errors / self.errors if self.errors else None

    @property
    def gap_counts(self) -> tuple[int, int, int, int]:
        """Correct and all of those that looked at an object, then at the background."""
        foreground = self.images - self.background
        return (
            foreground - self.foreground_errors,
            foreground,
            self.background - self.background_errors,
            self.background,
        )


def background_p_value(tally: Tally) -> float | None:
    """That the background misleads: of two tests the stronger, times the number of tests made.

    A model may err where it looks at the background and nowhere else, or look at nothing else:
    then there is no accuracy to compare with, and most of its errors come from there.
    """
    made = [p for p in (gap_p_value(tally), majority_p_value(tally)) if p is not None]
    # Bonferroni: the better of two tests is chosen after both were seen.
    return min(1.0, len(made) * min(made)) if made else None


def majority_p_value(tally: Tally) -> float | None:
    """That at most half of the errors come from the background (exact binomial, one-sided)."""
    if not tally.errors:
        return None
    return exceeds_rate_p_value(tally.background_errors, tally.errors, HALF)


def gap_p_value(tally: Tally) -> float | None:
    """That answers decided by the background are wrong no more often than the others."""
    _, foreground, _, background = tally.gap_counts
    return single_gap_p_value(*tally.gap_counts) if min(foreground, background) else None


def contrast_p_value(group: Tally, whole: Tally) -> float | None:
    """That errors come from the background no more often in the group than in all other images."""
    # Against the other images, not against chance: where the model leans on the background
    # everywhere, no factor is news.
    others = whole.errors - group.errors
    if min(group.errors, others) == 0:
        return None
    foreground = whole.foreground_errors - group.foreground_errors
    return single_gap_p_value(foreground, others, group.foreground_errors, group.errors)
