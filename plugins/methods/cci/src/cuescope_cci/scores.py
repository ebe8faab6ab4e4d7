"""CCI's scores as functions of arrays and counts (sections 3 and 3.1)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.maths import energy_share, iou, soft_iou, upsample

Region = Literal["foreground", "background"]
Mask = Bool[np.ndarray, "mask_row mask_col"]


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
    # What speaks against the answer is not what it leans on.
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
    # Hiding anything large lowers or lifts the similarity to all texts: that tells nothing.
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
        """Wrong answers that lean on an object."""
        return self.errors - self.background_errors

    @property
    def bg_er(self) -> float | None:
        """Share of the errors that lean on the background."""
        return self.background_errors / self.errors if self.errors else None
