"""Explainers that hide parts at random, or one by one, and compare the answers."""

import numpy as np
from jaxtyping import Float

from cuescope_sdk.explain import Explained, RegionExplainer, Steps

PerPart = Float[np.ndarray, " part"]
# weight of the two subsets whose values are kept: infinite in Lundberg and Lee (2017, theorem 2)
WHOLE = 1e6


class Occlusion(RegionExplainer):
    """Hides each part alone (Zeiler and Fergus, 2014)."""

    title = "what the answer loses when a part alone is hidden"

    def explain(self, case: Explained) -> Steps:
        """The probability that is lost without each part."""
        left = yield ~np.eye(case.grid.count, dtype=bool)
        return case.intact - left

    def calls(self, parts: int, budget: int) -> int:
        """One a part."""
        return parts


class Rise(RegionExplainer):
    """Shows random halves of the parts (RISE; Petsiuk, Das and Saenko, 2018)."""

    title = "how much likelier the answer is in random halves that show a part"

    def explain(self, case: Explained) -> Steps:
        """Mean probability with a part, minus that without it."""
        shown = case.rng.random((case.budget, case.grid.count)) < 0.5
        values = yield shown
        return difference_of_means(shown, values)


def difference_of_means(shown: np.ndarray, values: np.ndarray) -> PerPart:
    """Mean value of the subsets that show a part, minus that of the others; 0 where one lacks."""
    shows = shown.astype(float)
    count = shows.sum(axis=0)
    lacking = len(shown) - count
    with_part = values @ shows / np.maximum(count, 1)
    without = values @ (1 - shows) / np.maximum(lacking, 1)
    return np.where((count > 0) & (lacking > 0), with_part - without, 0.0)


class Shapley(RegionExplainer):
    """Kernel SHAP (Lundberg and Lee, 2017): Shapley values by a weighted regression on subsets.

    Subsets are drawn by the kernel, each with its complement (Covert and Lee, 2021).
    """

    title = "each part's share of the answer's probability (Shapley values)"

    def explain(self, case: Explained) -> Steps:
        """Coefficients of the regression."""
        count = case.grid.count
        pairs = max((case.budget - 1) // 2, 1)
        drawn = np.stack([_subset(count, case.rng) for _ in range(pairs)])
        shown = np.concatenate([np.zeros((1, count), bool), drawn, ~drawn])
        values = yield shown
        return shapley_values(shown[1:], values[1:], values[0], case.intact)


def _subset(count: int, rng: np.random.Generator) -> np.ndarray:
    """Parts drawn by the kernel: a size by 1 / (size (count - size)), then any of this size."""
    shown = np.zeros(count, bool)
    if count > 1:
        sizes = np.arange(1, count)
        chances = 1 / (sizes * (count - sizes))
        size = rng.choice(sizes, p=chances / chances.sum())
        shown[rng.permutation(count)[:size]] = True
    return shown


def shapley_values(
    shown: np.ndarray, values: np.ndarray, empty: float, intact: float
) -> PerPart:
    """Least squares over subsets that were drawn by the kernel; the values add up to the whole.

    With a ridge of one subset, which few subsets of many parts need.
    """
    count = shown.shape[1]
    rows = np.concatenate([shown.astype(float), np.full((1, count), WHOLE**0.5)])
    targets = np.append(values - empty, (intact - empty) * WHOLE**0.5)
    gram = rows.T @ rows + np.eye(count)
    return np.asarray(np.linalg.solve(gram, rows.T @ targets))


class Random(RegionExplainer):
    """Draws a map by chance: what any explainer has to beat."""

    title = "chance"

    def explain(self, case: Explained) -> Steps:
        """Random numbers; nothing is asked."""
        yield from ()
        return case.rng.normal(size=case.grid.count)

    def calls(self, parts: int, budget: int) -> int:
        """None."""
        return 0
