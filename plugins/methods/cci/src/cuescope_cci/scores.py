"""CCI's scores as functions of arrays and counts (sections 3 and 3.1)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_sdk.maths import upsample
from cuescope_sdk.statistics import Groups, mean_interval

Region = Literal["foreground", "background"]
Mask = Bool[np.ndarray, "mask_row mask_col"]
PerCluster = Float[np.ndarray, " cluster"]
ClusterMap = Int[np.ndarray, "row col"]
LEVEL = 0.05  # of what gets a star, corrected (Fisher, 1925)


def weights(drops: PerCluster, *, signed: bool = False) -> PerCluster:
    """Return w_k = drop_k / sum of drops (section 3, "Importance Scoring").

    Deviates: the sum is of absolute values, which is the paper's where no drop is negative;
    `signed` is the paper's. Where nothing is lost by hiding anything, all weights are 0.
    """
    values = np.asarray(drops, dtype=np.float64)
    # Divided by a sum of mixed signs that happens to be negative, the map would be turned over.
    total = values.sum() if signed else np.abs(values).sum()
    # nothing was lost by hiding anything: 0 / 0 would make the map NaN
    if total == 0:
        return np.zeros(len(values))
    return np.asarray(values / total)


def importance_map(
    cluster: ClusterMap, drops: PerCluster, *, signed: bool = False
) -> Float[np.ndarray, "row col"]:
    """Return the map S = sum of w_k m_k: each patch has the weight of its cluster."""
    return np.asarray(weights(drops, signed=signed)[cluster])


def region_of_map(
    importance: Float[np.ndarray, "row col"], foreground: Mask
) -> Region | None:
    """Return which of foreground and background the map's strongest half overlaps more, by IoU.

    `importance` (row, col) is upsampled to the mask. None where nothing can be said: a map without
    any positive importance, or a mask that leaves no foreground or no background. Of equals the
    foreground has it.
    """
    # What speaks against the answer is not what it relies on.
    values = np.maximum(importance, 0)
    if values.max() <= 0 or not is_mixed(foreground):
        return None
    fine = upsample(values, foreground.shape)
    # a set of pixels for IoU; the paper does not say where it cuts its heatmaps
    shown = fine >= fine.max() / 2
    is_background = iou(shown, ~foreground) > iou(shown, foreground)
    return "background" if is_background else "foreground"


def iou(shown: Mask, mask: Mask) -> float:
    """Return the intersection over union; 1 for two empty masks."""
    union = int((shown | mask).sum())
    return float((shown & mask).sum() / union) if union else 1.0


def is_mixed(mask: Bool[np.ndarray, "..."]) -> bool:
    """Whether something is inside of a mask, and something outside."""
    return bool(mask.any() and not mask.all())


def background_clusters(
    cluster: ClusterMap, foreground: Mask
) -> Bool[np.ndarray, " cluster"]:
    """Clusters that lie on the foreground no more than the picture as a whole does."""
    # the mask has the pixels and the clusters the patches: a patch has a share
    coverage = upsample(foreground.astype(np.float32), cluster.shape)
    count = int(cluster.max()) + 1
    background = np.zeros(count, dtype=bool)
    for number in range(count):
        # A fixed share would call every cluster background where the object is small.
        background[number] = coverage[cluster == number].mean() <= coverage.mean()
    return background


def relative_drop(
    whole: Float[np.ndarray, " choice"],
    hidden: Float[np.ndarray, " choice"],
    choice: int,
) -> float:
    """What the choice loses beyond what the choices lose on average; a lone one, what it loses."""
    # Hiding anything large lowers or lifts the similarity to all texts: that tells nothing.
    drops = np.asarray(whole, dtype=np.float64) - hidden
    # less its own mean a lone drop would always be 0
    if len(drops) == 1:
        return float(drops[choice])
    return float(drops[choice] - drops.mean())


@dataclass(frozen=True)
class Figure:
    """A share or a change between two, with its interval and its p-value; None where unknown.

    `few` says that fewer than 20 groups stand behind it. `q_value` is corrected for all that is
    tried together.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    images: int = 0
    few: bool = False
    p_value: float | None = None
    q_value: float | None = None

    def __str__(self) -> str:
        if self.points is None:
            return "none"
        few = " few" if self.few else ""
        return "{:.0f} [{:.0f}, {:.0f}]".format(*self.points) + few

    @property
    def points(self) -> tuple[float, float, float] | None:
        """Value, low and high times 100; None where they are unknown."""
        if self.value is None or self.low is None or self.high is None:
            return None
        return 100 * self.value, 100 * self.low, 100 * self.high

    @property
    def star(self) -> bool:
        """Whether it differs from 0 after correction; never where its interval holds 0."""
        if self.q_value is None or self.low is None or self.high is None:
            return False
        # test and interval are of other kinds, and a star beside an interval with 0 would confuse
        return self.q_value <= LEVEL and not self.low <= 0 <= self.high


MISSING = Figure()


def share(
    holds: Bool[np.ndarray, " image"],
    groups: Groups,
    *,
    confidence: float = 0.95,
) -> Figure:
    """The share of images for which something holds; its interval draws whole groups."""
    # the mean of no image would be NaN
    if not len(holds):
        return MISSING
    values = holds.astype(np.float64)
    low, high = mean_interval(values, groups, confidence=confidence)
    return Figure(float(values.mean()), low, high, len(values), groups.few)
