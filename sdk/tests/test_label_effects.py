"""Effects of a cue on labels: against numerical integration, by coverage, and under the null."""

import numpy as np
import pytest
from scipy import special, stats

from cuescope_sdk.statistics import Groups, LabelEffects
from cuescope_sdk.statistics._label_effects import INTERCEPT, SLOPE, SPREAD

SIGN = np.array([1.0, -1.0, -1.0, -1.0])


def by_integration(correct: list[int], samples: list[int]) -> np.ndarray:
    """Quantiles (2.5, 50, 97.5%) of one label's change, from a grid of intercept and slope."""
    intercept, slope = np.meshgrid(
        np.linspace(-8, 12, 1201), np.linspace(-14, 14, 1401)
    )
    rates = special.expit(intercept), special.expit(intercept - slope)
    log_posterior = stats.norm.logpdf(intercept, 0, INTERCEPT)
    log_posterior += stats.norm.logpdf(slope, 0, np.hypot(SLOPE, SPREAD))
    for rate, right, of in zip(rates, correct, samples, strict=True):
        log_posterior += stats.binom.logpmf(right, of, rate)
    weight = np.exp(log_posterior - log_posterior.max()).ravel()
    change = (rates[1] - rates[0]).ravel()
    order = np.argsort(change)
    share = np.cumsum(weight[order]) / weight.sum()
    return np.asarray(change[order][np.searchsorted(share, [0.025, 0.5, 0.975])])


@pytest.mark.parametrize(
    ("correct", "samples"),
    [([170, 9], [200, 30]), ([95, 1], [100, 12]), ([50, 24], [100, 50])],
)
def test_one_label_is_what_integration_gives(
    correct: list[int], samples: list[int]
) -> None:
    shows = np.repeat([0.0, 1.0], samples)
    values = np.concatenate(
        [np.arange(of) < right for right, of in zip(correct, samples, strict=True)]
    ).astype(float)
    effects = LabelEffects.of(
        shows,
        values,
        np.zeros(len(shows), dtype=int),
        np.array([-1.0]),
        Groups.single(len(shows)),
        np.random.default_rng(0),
    )
    low, high = effects.interval(0.95)
    # Laplace's approximation at one right answer of twelve, and 4,000 draws
    assert [low[0], effects.value[0], high[0]] == pytest.approx(
        by_integration(correct, samples), abs=0.08
    )


def world(
    rng: np.random.Generator, slope: float, spread: float = 0.5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which of 800 samples show a cue, their answers, labels, and the true changes."""
    label = np.arange(800) % 4
    shows = rng.random(800) < np.array([0.8, 0.05, 0.1, 0.2])[label]
    without = rng.uniform(1, 3, 4)
    slopes = slope + spread * rng.standard_normal(4) * (slope != 0)
    logit = without[label] + SIGN[label] * slopes[label] * shows
    correct = (rng.random(800) < special.expit(logit)).astype(float)
    true = special.expit(without + SIGN * slopes) - special.expit(without)
    return shows.astype(float), correct, label, true


@pytest.mark.parametrize("slope", [1.0, 4.0])
def test_intervals_cover_the_true_change(slope: float) -> None:
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shows, correct, label, true = world(rng, slope)
        effects = LabelEffects.of(shows, correct, label, SIGN, Groups.single(800), rng)
        low, high = effects.interval(0.95)
        inside.append((low <= true) & (true <= high))
    # 240 rows: 215 is the binomial 0.1th percentile of 95%
    assert np.sum(inside) >= 215


def test_a_probability_dilutes_no_effect() -> None:
    """Half of the samples are as likely as not to show it, by a recogniser that is calibrated."""
    rng = np.random.default_rng(0)
    changes = []
    for _ in range(20):
        shows, _, label, _ = world(rng, 3.0)
        blurred = np.where(rng.random(800) < 0.5, shows, 0.0)
        # what is blurred shows it as often as its probability says
        hidden = (blurred != shows) | (rng.random(800) < 0.1)
        rates = np.array([shows[hidden & (label == code)].mean() for code in range(4)])
        probability = np.where(hidden, rates[label], shows)
        correct = (rng.random(800) < np.where(probability > 0.5, 0.3, 0.9)).astype(
            float
        )
        exact = LabelEffects.of(
            (probability > 0.5).astype(float),
            correct,
            label,
            -np.ones(4),
            Groups.single(800),
            rng,
        )
        weighed = LabelEffects.of(
            probability, correct, label, -np.ones(4), Groups.single(800), rng
        )
        observed = []
        for code in range(4):
            mine = label == code
            shown, beside = probability[mine], 1 - probability[mine]
            observed.append(
                shown @ correct[mine] / shown.sum()
                - beside @ correct[mine] / beside.sum()
            )
        changes.append(weighed.value - observed)
        assert (exact.value < -0.3).all()
    assert np.abs(np.mean(changes, axis=0)).max() < 0.06


def test_answers_tell_what_a_coarse_recogniser_does_not() -> None:
    """By its probabilities alone the effects are too small, and nearly all intervals miss them."""
    share = np.array([0.6, 0.2, 0.2, 0.2])
    without, slope = np.array([1.0, 2.5, 2.0, 2.5]), np.array([2.0, 3.0, 2.0, 2.5])
    true = special.expit(without + SIGN * slope) - special.expit(without)
    inside = {True: 0, False: 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        label = np.arange(800) % 4
        shows = rng.random(800) < share[label]
        # two normal distributions, 2 standard deviations apart: an AUROC of 0.92
        score = 2.0 * shows + rng.normal(size=800)
        probability = special.expit(special.logit(share)[label] + 2 * score - 2)
        logit = without[label] + SIGN[label] * slope[label] * shows
        correct = (rng.random(800) < special.expit(logit)).astype(float)
        for tell in inside:
            effects = LabelEffects.of(
                probability,
                correct,
                label,
                SIGN,
                Groups.single(800),
                rng,
                answers_tell=tell,
            )
            low, high = effects.interval(0.95)
            inside[tell] += int(((low <= true) & (true <= high)).sum())
    # of 48: 40 is the binomial 0.1th percentile of 95%
    assert inside[True] >= 40
    assert inside[False] < 28


@pytest.mark.parametrize("copies", [1, 5])
def test_no_slope_is_found_no_more_often_than_promised(copies: int) -> None:
    """Also where each answer comes five times, in a group."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        shows, correct, label, _ = world(rng, 0.0)
        codes = np.repeat(np.arange(800), copies)
        effects = LabelEffects.of(
            shows[codes],
            correct[codes],
            label[codes],
            SIGN,
            Groups(codes, 800, copies > 1),
            rng,
        )
        alarms += effects.p_value <= 0.05
    # 20: the binomial 99.9th percentile of 200 at 5%
    assert alarms <= 20


def test_copies_in_groups_make_no_interval_narrower() -> None:
    rng = np.random.default_rng(1)
    shows, correct, label, _ = world(rng, 2.0)
    codes = np.repeat(np.arange(800), 4)
    widths = []
    for groups in (Groups(codes, 800, True), Groups.single(3200)):
        effects = LabelEffects.of(
            shows[codes], correct[codes], label[codes], SIGN, groups, rng
        )
        low, high = effects.interval(0.95)
        widths.append(high - low)
    alone = LabelEffects.of(shows, correct, label, SIGN, Groups.single(800), rng)
    low, high = alone.interval(0.95)
    assert widths[0] == pytest.approx(high - low, abs=0.04)
    assert (widths[1] < 0.8 * widths[0]).all()
