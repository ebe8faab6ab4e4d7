"""Whether models that are grounded better keep more of their accuracy on other data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_sdk import Cell, Table
from cuescope_step_grounding.across.statistics import Correlation, Pair, correlation, matched_pairs

LEVEL = 0.025  # one-sided: what the 95 % interval beside it says too
WITHIN = 0.01  # share of right answers: accuracy that counts as the same
COLUMNS = ("SGR and retention", "r", "interval", "p", "models")


@dataclass(frozen=True, slots=True)
class Measured:
    """A model on data like that it knows, and on other data; all shares from 0 to 1.

    `group` names models of the same capacity; `benchmark` what they were measured on.
    """

    model: str
    sgr: float
    accuracy: float
    ood_accuracy: float
    group: str = ""
    benchmark: str = ""


@dataclass(frozen=True)
class Law:
    """The correlation, given accuracy, and within the largest group of equal capacity."""

    plain: Correlation | None
    given_accuracy: Correlation | None
    matched: Correlation | None
    pairs: tuple[Pair, ...]
    holds: bool

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.plain is None or self.given_accuracy is None:
            return (
                "Too few models, or too much alike, to tell whether grounding goes with anything."
            )
        r = f"r {self.plain.r:.2f} [{self.plain.low:.2f}, {self.plain.high:.2f}]"
        alone = f"{self.given_accuracy.r:.2f} given accuracy"
        if self.holds:
            return f"A model that is grounded better keeps more of its accuracy: {r}, {alone}."
        return f"These models do not show that grounding keeps accuracy: {r}, {alone}."

    def table(self) -> Table:
        """The figures behind the verdict."""
        named = (
            ("all models", self.plain), ("given accuracy", self.given_accuracy),
            ("same capacity", self.matched),
        )  # fmt: skip
        rows = [dict(zip(COLUMNS, _row(name, found), strict=True)) for name, found in named]
        better = sum(pair.more_kept > 0 for pair in self.pairs)
        pairs = (
            f"Of {len(self.pairs)} pairs within {100 * WITHIN:g} point of accuracy, the better "
            f"grounded keeps more in {better}."
        )
        return Table(
            title="Does grounding go with out-of-distribution retention?", columns=COLUMNS,
            rows=tuple(rows), decimals=2,
            notes=(
                self.sentence, pairs,
                "Retention: accuracy on other data over accuracy. Interval: Fisher, 95 %. "
                "p: one-sided, by permutation. The verdict needs "
                f"p <= {LEVEL} plainly and given accuracy.",
            ),
        )  # fmt: skip


def law(measured: Sequence[Measured], rng: np.random.Generator, *, draws: int = 9_999) -> Law:
    """The verdict over models; those without a right answer have nothing to keep, and no part."""
    models = [one for one in measured if one.accuracy > 0]
    sgr, accuracy, other = (
        np.array([getattr(one, name) for one in models])
        for name in ("sgr", "accuracy", "ood_accuracy")
    )
    kept = other / accuracy
    strata = np.unique([one.benchmark for one in models], return_inverse=True)[1]
    several = strata if len(set(strata.tolist())) > 1 else None
    plain = correlation(sgr, kept, rng, strata=several, draws=draws)
    given = correlation(sgr, kept, rng, given=accuracy, strata=several, draws=draws)
    same = _largest_group(models)
    matched = correlation(
        sgr[same], kept[same], rng, strata=None if several is None else several[same], draws=draws
    )
    pairs = tuple(matched_pairs(sgr, kept, accuracy, within=WITHIN, strata=several))
    holds = all(found is not None and found.p_value <= LEVEL for found in (plain, given))
    return Law(plain, given, matched, pairs, holds)


def _largest_group(models: Sequence[Measured]) -> np.ndarray:
    names = [one.group for one in models]
    largest = max(names, key=names.count, default="")
    return np.array([bool(name) and name == largest for name in names], bool)


def _row(name: str, found: Correlation | None) -> tuple[Cell, ...]:
    if found is None:
        return (name, None, None, None, None)
    p = "< 0.001" if found.p_value < 0.001 else f"{found.p_value:.3f}"
    return (name, found.r, f"{found.low:.2f} to {found.high:.2f}", p, found.n)
