"""One effect behind what several changes do: against closed forms, nulls and planted effects."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import norm, t as student

from cuescope_sdk.statistics import Estimate, Observed, Shift, dose_response
from cuescope_sdk.statistics._dose_response import EFFECT

SAMPLES = 60
NOISE = 0.3
MARGIN = 0.1


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def shift(
    name: str,
    mean: float,
    *,
    dose: float = 1.0,
    error: float = 0.03,
    kind: str | None = None,
    dose_error: float = 0.0,
) -> Shift:
    """Samples of their own with just this mean and this standard error."""
    values = np.resize([1.0, -1.0], SAMPLES) * error * np.sqrt(SAMPLES)
    groups = [f"{name} {mean} {number}" for number in range(SAMPLES)]
    return Shift([name], kind or name, mean + values, groups, dose, dose_error)


def drawn(
    generator: np.random.Generator,
    effect: float,
    doses: Sequence[float],
    spread: float,
    freedom: int | None = None,
) -> list[Shift]:
    """Interventions that do something of their own beside the cue, each with its control."""

    def beside() -> float:
        if freedom is None:
            return float(spread * generator.standard_normal())
        return float(spread * generator.standard_t(freedom))

    shifts = []
    for number, dose in enumerate(doses):
        damage = beside()
        for own in (dose, 0.0):
            of_kind = beside() if own else 0.0
            mean = damage + own * effect + of_kind + beside()
            values = mean + NOISE * generator.standard_normal(SAMPLES)
            groups = [(number, own, sample) for sample in range(SAMPLES)]
            shifts.append(Shift([number], number, values, groups, own))
    return shifts


def test_one_without_spread_is_the_mean_by_precision() -> None:
    """Where changes do nothing beside the cue: the closed form of normal means."""
    shifts = [
        shift("a", 0.30, dose=1.0, error=0.02),
        shift("b", 0.12, dose=0.5, error=0.04),
        shift("c", 0.05, dose=0.0, error=0.02),
    ]
    found = dose_response(shifts, rng(), spread=1e-4)

    # three more degrees are lost, and no error is below that of a third of an answer
    errors = np.array([0.02, 0.04]) * np.sqrt(SAMPLES / (SAMPLES - 3))
    variances = errors**2 + (1 / 3 / SAMPLES) ** 2
    doses = np.array([1.0, 0.5])
    precision = (doses**2 / variances).sum() + 1 / EFFECT**2
    mean = (doses * [0.30, 0.12] / variances).sum() / precision
    ends = norm.interval(0.95, mean, precision**-0.5)

    assert found.effect.value == pytest.approx(mean, abs=2e-3)
    assert (found.effect.low, found.effect.high) == pytest.approx(ends, abs=4e-3)
    assert found.above(0.25) == pytest.approx(
        norm.sf(0.25, mean, precision**-0.5), abs=0.02
    )


def test_whole_doses_are_a_meta_analysis() -> None:
    """`combine_effects(..., method_re="iterated", use_t=True)` of statsmodels 0.15.0.

    Paule and Mandel's variance, Hartung and Knapp's interval.
    """
    means = [0.30, 0.22, 0.35, 0.10, 0.28, 0.41, 0.25, 0.18]
    shifts = [shift(f"{number}", mean) for number, mean in enumerate(means)]
    found = dose_response(shifts, rng())
    assert found.heterogeneity == pytest.approx(0.896698, abs=1e-4)
    assert found.effect.value == pytest.approx(0.26125, abs=0.02)
    assert found.effect.low == pytest.approx(0.179895, abs=0.03)
    assert found.effect.high == pytest.approx(0.342605, abs=0.03)


def test_draws_agree_with_weights_of_the_prior() -> None:
    """Another way to the same posterior: draws of the prior, each weighed by its likelihood."""
    shifts = [
        shift("a", 0.35, dose=1.0),
        shift("b", 0.05, dose=0.6),
        shift("b", 0.10, dose=0.0),
    ]
    found = dose_response(shifts, rng())

    generator = rng(1)
    count = 400_000
    wherever, apart = np.abs(0.2 * generator.standard_normal((2, count, 1)))
    error = 0.03 * np.sqrt(SAMPLES / (SAMPLES - 3))
    variance = error**2 + (1 / 3 / SAMPLES) ** 2
    spreads = np.hstack([apart, apart, wherever, wherever, apart, apart, apart])
    # kinds a and b; interventions a and b; each shift alone
    columns = np.array(
        [
            [1, 0, 1, 0, 1, 0, 0],
            [0, 1, 0, 1, 0, 1, 0],
            [0, 0, 0, 1, 0, 0, 1],
        ]
    )
    beside = student.rvs(4, size=(count, 7), random_state=generator)
    left = np.array([0.35, 0.05, 0.10]) - (spreads * beside) @ columns.T
    doses = np.array([1.0, 0.6, 0.0])
    # given all else the effect is normal
    precision = doses @ doses / variance + 1 / EFFECT**2
    middles = left @ doses / variance / precision
    log = middles**2 * precision / 2 - (left**2).sum(axis=1) / variance / 2
    weights = np.exp(log - log.max())
    weights /= weights.sum()

    def above(value: float) -> float:
        return float(weights @ norm.sf(value, middles, precision**-0.5))

    assert above(found.effect.low) == pytest.approx(0.975, abs=0.01)
    assert above(found.effect.value) == pytest.approx(0.5, abs=0.03)
    assert above(found.effect.high) == pytest.approx(0.025, abs=0.01)
    assert above(MARGIN) == pytest.approx(found.above(MARGIN), abs=0.02)
    assert found.mixing < 1.1


def test_what_its_control_does_is_not_the_cue() -> None:
    """A change that damages answers, and as much where the cue stays, says nothing of the cue."""
    damage = [shift(name, 0.3) for name in "ab"]
    controls = [shift(f"{name}", 0.29, dose=0.0) for name in "ab"]
    assert dose_response(damage, rng()).above(MARGIN) > 0.8
    beside = dose_response([*damage, *controls], rng())
    assert beside.effect.value < MARGIN
    assert beside.above(MARGIN) < 0.5


def test_one_unlike_the_others_says_little() -> None:
    shifts = [shift(name, 0.0, error=0.02) for name in "abcd"]
    with_one = dose_response([*shifts, shift("odd", 0.7, error=0.02)], rng())
    assert with_one.effect.value < MARGIN
    assert with_one.heterogeneity > 0.9
    assert dose_response(shifts, rng()).heterogeneity == 0


def test_two_of_one_kind_are_no_two_kinds() -> None:
    alike = [shift("a", 0.3, kind="region"), shift("b", 0.3, kind="region")]
    unlike = [shift("a", 0.3), shift("b", 0.3)]
    width = [
        dose_response(shifts, rng()).effect.high
        - dose_response(shifts, rng()).effect.low
        for shifts in (alike, unlike)
    ]
    assert width[0] > width[1]


def test_samples_that_are_drawn_together_count_once() -> None:
    generator = rng()
    values = np.repeat(0.3 + 0.3 * generator.standard_normal(20), 10)
    apart = Shift(["a"], "a", values, list(range(200)), 1.0)
    together = Shift(["a"], "a", values, np.repeat(range(20), 10).tolist(), 1.0)
    ends = [
        dose_response([one], rng(), spread=1e-3).effect for one in (apart, together)
    ]
    assert ends[1].high - ends[1].low > 2 * (ends[0].high - ends[0].low)


def test_the_same_samples_are_not_two_looks() -> None:
    """A change and its control: what both share in the same samples is no error of a difference."""
    generator = rng()
    own = 0.4 * generator.standard_normal(SAMPLES)
    little = 0.02 * generator.standard_normal((2, SAMPLES))
    treated = Shift(["a"], "a", 0.2 + own + little[0], list(range(SAMPLES)), 1.0)
    same = Shift(["a"], "a", own + little[1], list(range(SAMPLES)))
    others = Shift(["a"], "a", own + little[1], list(range(SAMPLES, 2 * SAMPLES)))
    widths = []
    for control in (same, others):
        effect = dose_response([treated, control], rng(), spread=1e-3).effect
        widths.append(effect.high - effect.low)
    assert widths[0] < 0.9 * widths[1]


def test_what_is_observed_counts_as_far_as_it_may_not_be_wrong() -> None:
    shifts = [shift(name, 0.0) for name in "ab"]
    seen = Estimate(0.4, 0.35, 0.45)
    values = [
        dose_response(shifts, rng(), Observed(seen, bias)).effect.value
        for bias in (0.0, 1.0)
    ]
    assert values[0] > values[1] + 0.03
    assert abs(values[1]) < 0.05


def test_an_unsure_dose_makes_the_effect_unsure() -> None:
    sure = dose_response([shift("a", 0.3, dose=0.5)], rng(), spread=1e-3).effect
    unsure = shift("a", 0.3, dose=0.5, dose_error=0.2)
    wide = dose_response([unsure], rng(), spread=1e-3).effect
    assert wide.high - wide.low > 1.5 * (sure.high - sure.low)


def test_nothing_to_go_by() -> None:
    with pytest.raises(ValueError, match="one shift or more"):
        dose_response([], rng())


def test_intervals_and_nulls_keep_their_promise() -> None:
    """Of 12 cues with effects from the prior most intervals hold it; no null is a cause."""
    generator = rng(3)
    inside = 0
    for _ in range(12):
        effect = 0.4 * generator.standard_normal()
        shifts = drawn(generator, effect, (1.0, 0.8, 0.5), 0.05)
        found = dose_response(shifts, generator).effect
        inside += found.low <= effect <= found.high
    assert inside >= 10
    nulls = [
        dose_response(drawn(generator, 0.0, (1.0, 0.8, 0.5), 0.05), generator)
        for _ in range(12)
    ]
    assert sum(null.above(MARGIN) >= 0.95 for null in nulls) == 0


@pytest.mark.long
@pytest.mark.parametrize("spread", [0.02, 0.2])
@pytest.mark.parametrize("freedom", [None, 4])
def test_intervals_of_many(spread: float, freedom: int | None) -> None:
    """Of 100 intervals as many hold the truth as are said to, whatever else changes do."""
    generator = rng(4)
    inside = 0
    for _ in range(100):
        effect = 0.4 * generator.standard_normal()
        shifts = drawn(generator, effect, (1.0, 0.9, 0.6, 0.4), spread, freedom=freedom)
        found = dose_response(shifts, generator).effect
        inside += found.low <= effect <= found.high
    assert inside >= 0.9 * 100


@pytest.mark.long
@pytest.mark.parametrize("spread", [0.02, 0.2])
def test_nulls_of_many(spread: float) -> None:
    """Of 100 cues without an effect no more are causes than the level says."""
    generator = rng(5)
    called = 0
    for _ in range(100):
        shifts = drawn(generator, 0.0, (1.0, 0.9, 0.6, 0.4), spread)
        called += dose_response(shifts, generator).above(MARGIN) >= 0.95
    assert called <= 0.05 * 100


def test_an_effect_on_a_probability_is_1_at_most() -> None:
    # a dose that is told too small makes the effect seem larger than any can be
    shifts = [shift(name, 0.9, dose=0.6) for name in "abcd"]
    found = dose_response(shifts, rng(), spread=1e-3)
    assert found.effect.value == found.effect.high == 1
    assert found.error > 0
