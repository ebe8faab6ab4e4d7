"""Whether models that are grounded better keep more of their accuracy on other data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter

import numpy as np
from jaxtyping import Bool, Int
from numpy.random import Generator

from cuescope_sdk import Picture, Table
from cuescope_sdk.statistics import Correlation
from cuescope_step_grounding.law.pairs import Pair, correlation_cells, matched_pairs

LEVEL = 0.025  # one-sided: as the 95 % interval beside it (Fisher, 1925)
WITHIN = 0.01  # share of right answers: section 5.2, accuracy-matched pairs
COLUMNS = ("SGR and retention", "r", "interval", "p", "models")


@dataclass(frozen=True)
class MeasuredModel:
    """A model on data like that it knows, and on other data; all shares from 0 to 1.

    `group` names models of the same capacity; `benchmark` what they were measured on; `figures`
    what else was measured of them (`components`).
    """

    model: str
    sgr: float
    accuracy: float
    ood_accuracy: float
    group: str = ""
    benchmark: str = ""
    figures: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def retention(self) -> float:
        """Accuracy on other data over accuracy."""
        # nothing right leaves nothing to keep: the floor only saves the division
        return self.ood_accuracy / max(self.accuracy, 1e-9)


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
        if self.plain is None or self.given_accuracy is None:
            return "Too few models, or models too similar, to tell whether grounding matters."
        r = f"r {self.plain.r:.2f} [{self.plain.low:.2f}, {self.plain.high:.2f}]"
        alone = f"{self.given_accuracy.r:.2f} given accuracy"
        if self.holds:
            return (
                f"Better grounded models among these keep more accuracy: {r}, {alone}."
            )
        return f"These do not show that better grounded models keep more: {r}, {alone}."

    def table(self) -> Table:
        """The figures behind the verdict."""
        correlations = {
            "all models": self.plain,
            "given accuracy": self.given_accuracy,
            "same capacity": self.matched,
        }
        rows = [(name, *correlation_cells(r)) for name, r in correlations.items()]
        better = sum(pair.more_kept > 0 for pair in self.pairs)
        return Table.of(
            "Does grounding correlate with out-of-distribution retention?",
            COLUMNS,
            rows,
            self.sentence,
            f"Of {len(self.pairs)} pairs within {100 * WITHIN:g} point of accuracy, the better "
            f"grounded model keeps more in {better}.",
            "Retention: accuracy on other data over accuracy. Interval: Fisher, 95 %, over "
            "models. p: one-sided, by permutation of whole models, for what makes a model "
            "robust on one benchmark does so on the next. The verdict needs "
            f"p <= {LEVEL} for all models, and again given accuracy. It is an association: "
            "what these models share beside their grounding is not held fixed.",
            decimals=2,
        )


def law(models: Sequence[MeasuredModel], rng: Generator, *, draws: int = 9_999) -> Law:
    """The verdict over models; those without a right answer have nothing to keep, and no part."""
    models = [model for model in models if model.accuracy > 0]
    figures = list(map(attrgetter("sgr", "accuracy", "retention"), models))
    sgr, accuracy, retention = np.array(figures, float).reshape(-1, 3).T
    names = list(map(attrgetter("benchmark"), models))
    benchmarks, benchmark = np.unique(names, return_inverse=True)
    several = len(benchmarks) > 1
    # how much a benchmark leaves to all models says nothing of one: compared within each
    strata = benchmark if several else None
    whole = _whole_models(models) if several else None
    related = partial(Correlation.of, rng=rng, draws=draws)
    plain = related(sgr, retention, strata=strata, units=whole)
    # A better model may be both better grounded and more robust: accuracy must not explain it.
    given = related(sgr, retention, given=accuracy, strata=strata, units=whole)
    same = _in_largest_group(models)
    matched = None
    if same.any():
        of_same = None if strata is None else strata[same]
        units = None if whole is None else whole[same]
        matched = related(sgr[same], retention[same], strata=of_same, units=units)
    p_values = [result.p_value for result in (plain, given) if result]
    holds = len(p_values) == 2 and max(p_values) <= LEVEL
    pairs = matched_pairs(sgr, retention, accuracy, within=WITHIN, strata=strata)
    return Law(plain, given, matched, tuple(pairs), holds)


def _in_largest_group(models: Sequence[MeasuredModel]) -> Bool[np.ndarray, " row"]:
    groups = [model.group for model in models]
    largest = max(groups, key=groups.count, default="")
    # without names of groups no two models are known to be alike in capacity
    return np.asarray((np.array(groups, str) == largest) & bool(largest))


def _whole_models(models: Sequence[MeasuredModel]) -> Int[np.ndarray, " row"]:
    """Which rows are of one model: the first of its name on each benchmark, the second, and so on.

    Two runs of one name on one benchmark are two models, for nothing tells which belongs to which.
    """
    count: Counter[tuple[str, str]] = Counter()
    names = []
    for model in models:
        run = (model.model, model.benchmark)
        count[run] += 1
        names.append(f"{model.model} {count[run]}")
    return np.unique(names, return_inverse=True)[1].ravel()


def figure(models: Sequence[MeasuredModel], result: Law) -> Picture:
    """Figure 2b of the paper: what is kept out of distribution, over grounding."""
    from cuescope_sdk.report import scatter_plot

    groups: dict[str, tuple[list[float], list[float]]] = {}
    for model in models:
        if model.accuracy > 0:
            x, y = groups.setdefault(model.group or "models", ([], []))
            x.append(100 * model.sgr)
            y.append(100 * model.retention)
    return Picture(
        title="Grounding and retention",
        caption=f"A point a model, and the line of least squares. {result.sentence}",
        image=scatter_plot(
            groups,
            "SGR in distribution (%)",
            "retention out of distribution (%)",
        ),
    )
