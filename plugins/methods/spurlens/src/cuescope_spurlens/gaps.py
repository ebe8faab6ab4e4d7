"""Spurious Gaps, their intervals, and what the largest of many would be by chance."""

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

TIE = 1e-9
BATCH = 4_000_000  # numbers that are dealt at a time


def ranked(
    scores: Float[np.ndarray, "sample cue"], k: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "cue k"], Int[np.ndarray, "cue k"]]:
    """Places of the k highest (best first) and k lowest K-scores of each cue.

    Ties are broken by `rng`. No sample is in both where 2 k is no more than there are.
    """
    noise = rng.random(scores.shape)
    order = np.lexsort((noise, -scores), axis=0).T
    return order[:, :k], order[:, order.shape[1] - k :]


def gaps(
    rates: Float[np.ndarray, " sample"],
    top: Int[np.ndarray, "cue k"],
    bottom: Int[np.ndarray, "cue k"],
) -> Float[np.ndarray, " cue"]:
    """Mean rate of the top minus that of the bottom (SpurLens eq. 6), from -1 to 1."""
    return np.asarray(rates[top].mean(axis=1) - rates[bottom].mean(axis=1))


def gap_interval(
    top: Float[np.ndarray, " k"],
    bottom: Float[np.ndarray, " k"],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
) -> tuple[float, float]:
    """Percentile bootstrap interval of a gap; images are drawn, each with all its answers."""
    drawn = _resampled_means(top, rng, resamples) - _resampled_means(bottom, rng, resamples)
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail)).tolist()
    gap = float(top.mean() - bottom.mean())
    return min(low, gap), max(high, gap)


def _resampled_means(
    rates: Float[np.ndarray, " k"], rng: np.random.Generator, resamples: int
) -> Float[np.ndarray, " resample"]:
    """Means of resamples. Rates have few levels, and how often each is drawn is all that counts."""
    levels, counts = np.unique(rates, return_counts=True)
    drawn = rng.multinomial(len(rates), counts / len(rates), size=resamples)
    return np.asarray(drawn @ levels / len(rates))


def shuffled_maxima(
    rates: Float[np.ndarray, " sample"],
    top: Int[np.ndarray, "cue k"],
    bottom: Int[np.ndarray, "cue k"],
    draws: int,
    rng: np.random.Generator,
) -> Float[np.ndarray, " draw"]:
    """Largest gap of all cues once the rates are dealt anew among the samples, `draws` times.

    `rates` are of the samples in some top or bottom, numbered as there. Which samples these are
    depends on K-scores alone, so without any reliance every deal is as likely as the answers as
    they are: the test is exact, whatever the cues have in common (Westfall and Young, 1993).
    """
    cues, k = top.shape
    weights = np.zeros((cues, len(rates)))
    np.put_along_axis(weights, top, 1 / k, axis=1)
    np.put_along_axis(weights, bottom, -1 / k, axis=1)
    maxima = np.empty(draws)
    size = max(1, BATCH // len(rates))
    for start in range(0, draws, size):
        count = min(size, draws - start)
        dealt = rng.permuted(np.tile(rates, (count, 1)), axis=1)
        maxima[start : start + count] = (dealt @ weights.T).max(axis=1)
    return maxima


def random_maxima(
    rates: Float[np.ndarray, " sample"], cues: int, k: int, draws: int, rng: np.random.Generator
) -> Float[np.ndarray, " draw"]:
    """Largest gap of as many random rankings as there are cues, `draws` times (appendix N).

    A ranking draws k samples for its top and k others for its bottom; only how many of each rate
    are drawn matters, and these counts are drawn at once. `rates` are of at least 2 k samples.
    """
    levels, counts = np.unique(rates, return_counts=True)
    left = np.tile(counts, (draws * cues, 1))
    means = []
    for _ in range(2):
        drawn = _drawn(left, k, rng)
        left = left - drawn
        means.append(drawn @ levels / k)
    return np.asarray((means[0] - means[1]).reshape(draws, cues).max(axis=1))


def _drawn(
    counts: Int[np.ndarray, "row level"], k: int, rng: np.random.Generator
) -> Int[np.ndarray, "row level"]:
    """How many of each level are among k drawn without replacement, row by row."""
    drawn, wanted = np.zeros_like(counts), np.full(len(counts), k)
    for level in range(counts.shape[1]):
        others = counts[:, level + 1 :].sum(axis=1)
        drawn[:, level] = rng.hypergeometric(counts[:, level], others, wanted)
        wanted = wanted - drawn[:, level]
    return drawn


def p_values(
    gap: Float[np.ndarray, " cue"], maxima: Float[np.ndarray, " draw"]
) -> Float[np.ndarray, " cue"]:
    """Share of draws whose largest gap reaches a cue's, the answers as they are counted in.

    That of the largest gap is the p-value of the class; all are corrected for the choice of one
    cue out of many.
    """
    reached = (maxima[:, None] >= gap - TIE).sum(axis=0)
    return np.asarray((1 + reached) / (1 + len(maxima)))


def corrected(p_values: list[float], how: str) -> list[float]:
    """Over the classes: `holm` bounds the chance of any false finding, `bh` their share."""
    if not p_values:
        return []
    if how == "bh":
        return [float(q) for q in stats.false_discovery_control(p_values, method="bh")]
    order = np.argsort(p_values, kind="stable")
    steps = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps))
    return [float(q) for q in adjusted]


def draws_for(tests: int, level: float, least: int) -> int:
    """Draws of which the smallest p-value stays well below `level` after Holm's correction."""
    return max(least, round(4 * tests / level))
