"""Whether right answers could be luck: tests of a model that does not know what is right."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.stats import binomtest, hypergeom

from cuescope_quag.answers import Measure

Codes = Int[np.ndarray, " sample"]


def p_guessed(
    before: Bool[np.ndarray, " sample"],
    given: Codes | None,
    measure: Measure,
    rng: np.random.Generator,
    resamples: int,
) -> tuple[float, float]:
    """One-sided p-values of "the answers know nothing of what is right": as found, at the best.

    Where all questions share their answers, of the measure itself among all orders of the right
    ones, so that it holds however often each answer is given; else the binomial test against
    the measure's chance. The second is what the test gives where all is right: above the level
    there are too few samples to tell.
    """
    count = len(before)
    if measure.label is None or given is None:
        chance = measure.chance / 100
        right = binomtest(int(before.sum()), count, chance, "greater").pvalue
        return float(right), chance**count
    label = measure.label
    weight = 1 / np.bincount(measure.stratum)[measure.stratum]
    if max(label.max(), given.max()) <= 1:
        return p_of_two(given, label), p_of_two(label, label)
    found, best = (_weighing(answers, label, weight) for answers in (given, label))
    orders = [rng.permutation(count) for _ in range(resamples)]
    return _share_of(found, orders), _share_of(best, orders)


def p_of_two(given: Codes, label: Codes) -> float:
    """Fisher's exact one-sided p-value for answers 0 and 1 (Fisher, 1935).

    With both margins fixed all is decided by how many of label 1 are answered with 1, and with
    it rises every mean of the two recalls: it is exact for accuracy and for balanced accuracy.
    """
    both = int((given & label).sum())
    return float(hypergeom.sf(both - 1, len(label), int(label.sum()), int(given.sum())))


def _weighing(
    given: Codes, label: Codes, weight: Float[np.ndarray, " sample"]
) -> Callable[[Codes], float]:
    """The measure, but for a constant, after the right answers have changed places."""
    return lambda order: float(weight[order][given == label[order]].sum())


def _share_of(value: Callable[[Codes], float], orders: list[Codes]) -> float:
    """Of the orders, the one that is found among them (Davison and Hinkley, 1997, eq. 4.11)."""
    found = value(np.arange(len(orders[0]))) - 1e-9
    return (1 + sum(value(order) >= found for order in orders)) / (1 + len(orders))
