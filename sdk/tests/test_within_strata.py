"""A difference within strata: what stratified regression gives, with an interval that covers."""

import numpy as np
import pytest

from cuescope_sdk.statistics import Estimate, Groups

TRUE = 0.2


def draw(seed: int, count: int = 300, effect: float = TRUE) -> tuple[np.ndarray, ...]:
    """Something goes with a companion, which moves the values by itself."""
    rng = np.random.default_rng(seed)
    companion = rng.random(count) < 0.4
    shows = np.where(companion, rng.random(count) < 0.8, rng.random(count) < 0.15)
    noise = rng.normal(0, 0.2, count)
    return effect * shows + 0.5 * companion + noise, shows, companion.astype(int)


def test_it_is_the_coefficient_of_least_squares_with_strata() -> None:
    values, shows, strata = draw(0)
    found = Estimate.within(values, shows, strata, Groups.single(len(values)))
    columns = np.stack([shows, strata == 0, strata == 1], axis=1).astype(float)
    coefficients, *_ = np.linalg.lstsq(columns, values, rcond=None)
    assert found is not None
    assert found.value == pytest.approx(coefficients[0])
    apart = values[shows].mean() - values[~shows].mean()
    # what goes with it is not held alike there
    assert apart > found.value + 0.2


@pytest.mark.parametrize("effect", [0.0, TRUE])
def test_its_interval_holds_the_truth(effect: float) -> None:
    held = 0
    for seed in range(300):
        values, shows, strata = draw(seed, 60, effect)
        found = Estimate.within(values, shows, strata, Groups.single(60))
        assert found is not None
        held += found.low <= effect <= found.high
    assert held >= 275


def test_groups_count_once_and_what_never_comes_apart_is_not_compared() -> None:
    values, shows, strata = draw(1, 80)
    single = Estimate.within(values, shows, strata, Groups.single(80))
    three = Groups(np.tile(np.arange(80), 3), 80, declared=True)
    copies = [np.tile(column, 3) for column in (values, shows, strata)]
    grouped = Estimate.within(*copies, three)
    assert single is not None
    assert grouped is not None
    assert grouped.high - grouped.low > 0.9 * (single.high - single.low)
    alike = Estimate.within(values, shows, shows.astype(int), Groups.single(80))
    assert alike is None
