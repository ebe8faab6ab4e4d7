"""An explainer that searches for the smallest region that carries the answer."""

import numpy as np

from cuescope_sdk.explain import Explained, RegionExplainer, Steps

AT_ONCE = 4  # candidates a step


class Greedy(RegionExplainer):
    """Grows a region whose parts alone keep the answer and without which it is lost.

    The objective is that of EAGLE (Chen and others, 2025): insight, the probability with the region
    alone, plus necessity, what is lost without it. Both are taken as submodular: a part gains most
    while few are chosen, so that old gains are bounds, and only the best of them are asked anew
    (lazy greedy; Minoux, 1978).
    """

    title = "a search for the smallest region that keeps the answer alone, and loses it when hidden"

    def explain(self, case: Explained) -> Steps:
        """The gain of each part when it was chosen; of the others at most the last such gain."""
        count = case.grid.count
        alone = np.eye(count, dtype=bool)
        gains = yield from _objective(alone, case.intact)
        region = np.zeros(count, bool)
        importance = np.zeros(count)
        nothing = yield region[None]
        value = float(nothing[0])
        gains = gains - value
        asked = 2 * count + 1
        last = np.inf
        while not region.all() and asked + 2 * AT_ONCE <= case.budget:
            open_gains = np.where(region, -np.inf, gains)
            candidates = np.argsort(-open_gains, kind="stable")[:AT_ONCE]
            candidates = candidates[~region[candidates]]
            values = yield from _objective(region | alone[candidates], case.intact)
            asked += 2 * len(candidates)
            gains[candidates] = values - value
            best = candidates[int(values.argmax())]
            last = min(last, float(gains[best]))
            importance[best] = last
            region[best] = True
            value = float(values.max())
        rest = np.minimum(gains, last if np.isfinite(last) else gains.max())
        return np.asarray(np.where(region, importance, rest))

    def calls(self, parts: int, budget: int) -> int:
        """Each part alone and hidden, none at all, and so many steps as the budget allows."""
        first = 2 * parts + 1
        steps = max(budget - first, 0) // (2 * AT_ONCE)
        return first + min(steps, parts) * 2 * AT_ONCE


def _objective(regions: np.ndarray, intact: float) -> Steps:
    """Insight plus necessity of each region (subset, part)."""
    values = yield np.concatenate([regions, ~regions])
    alone, without = np.split(values, 2)
    return np.asarray(alone + intact - without)
