"""What predicts retention: the parts of step grounding alone and together, and what needs none.

The paper's supplement, which defines its components, is not published. Here each component is the
figure that it yields: claims verified (SGR), beliefs tracked (TCS), videos changed (VRS).
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter, itemgetter

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_sdk import Report, Table, UserError
from cuescope_sdk.statistics import Correlation
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.law.pairs import correlation_cells
from cuescope_step_grounding.rows.keys import ACC, HR, REASONING, SGR, TCS, VRS
from cuescope_step_grounding.scores import RELEVANT

VERIFIED = "SGR"
TRACKED = "TCS"
CHANGED = "VRS"
UNFLAWED = "1 - HR"
RIGHT = "accuracy"
LOST = "accuracy lost in changed videos"
PARTS = (VERIFIED, TRACKED, CHANGED)
# Each row's name, the figures that it is the mean of, and the paper's r where it prints one.
ROWS: tuple[tuple[str, tuple[str, ...], float | None], ...] = (
    ("all three", PARTS, None),
    ("without verified claims", (TRACKED, CHANGED), None),
    ("without tracked beliefs", (VERIFIED, CHANGED), None),
    ("without changed videos", (VERIFIED, TRACKED), None),
    ("verified claims alone", (VERIFIED,), 0.83),
    ("steps without a false claim alone", (UNFLAWED,), None),
    ("tracked beliefs alone", (TRACKED,), None),
    ("changed videos alone", (CHANGED,), None),
    ("no reasoning: accuracy alone", (RIGHT,), None),
    ("no reasoning: answers to changed videos", (LOST,), None),
)
COLUMNS = ("predicted by", "of", "r", "interval", "p", "models", "paper")


def figures_of(report: Report) -> dict[str, float]:
    """What a report measures of a model, by the names above; what it lacks is left out."""
    measured = {
        score.metric: score.value
        for score in report.scores
        if score.feature == REASONING
    }
    hallucination = measured.get(HR)
    figures = {
        VERIFIED: measured.get(SGR),
        TRACKED: measured.get(TCS),
        CHANGED: measured.get(VRS),
        UNFLAWED: None if hallucination is None else 1 - hallucination,
        RIGHT: measured.get(ACC),
        LOST: _answers_lost(report),
    }
    return {name: value for name, value in figures.items() if value is not None}


def _answers_lost(report: Report) -> float | None:
    """Mean loss of accuracy over the relevant changes, from the report's own table."""
    lost = []
    for row in chain.from_iterable(table.rows for table in report.tables):
        points = row.get("Acc lost")
        if row.get("changed") in RELEVANT and isinstance(points, int | float):
            lost.append(float(points))
    # the table has points, all else here is shares
    return float(np.mean(lost)) / 100 if lost else None


def figures_of_maps(report: Report) -> dict[str, float]:
    """Of a run of `saliency`: how much of its explainer's maps lies on the object, by its name.

    The mean over images with masks, whatever text they are about. Raises UserError for a run of
    another method.
    """
    run = report.provenance
    shares = []
    for score in report.scores:
        # of no images the weight would be 0
        weighs = score.metric == "foreground_share" and score.n
        if weighs and score.value is not None:
            shares.append((score.value, score.n))
    if run.method.dist != "cuescope-saliency" or not shares:
        raise UserError(
            f"a run of {run.method.spec}",
            expected="runs of saliency on data with masks of the objects",
            remedy="`cuescope audit saliency:rollout ...` makes them",
        )
    values, images = np.array(shares).T
    # each figure is a mean over its own number of images
    share = float(np.average(values, weights=images))
    return {f"map of {run.method.options['explainer']}": share}


def maps_of_models(reports: Sequence[Report], models: int) -> list[dict[str, float]]:
    """The figures of each model's maps: runs of all models by one explainer, then by the next.

    Raises UserError unless there are as many runs of each explainer as models.
    """
    figures: list[dict[str, float]] = [{} for _ in range(models)]
    runs = list(map(figures_of_maps, reports))
    for start in range(0, len(runs), models):
        of_explainer = runs[start : start + models]
        names = [*chain.from_iterable(of_explainer)]
        if len(names) != models or len(set(names)) > 1:
            raise UserError(
                "bench step-grounding: saliency",
                expected=f"of each explainer a run for each of the {models} models, in their order",
                got=", ".join(names),
            )
        for merged, run in zip(figures, of_explainer, strict=True):
            merged |= run
    return figures


def components(models: Sequence[MeasuredModel], rng: Generator) -> Table:
    """How well each part, and each baseline, goes with what models keep out of distribution."""
    # nothing right leaves nothing to keep
    models = [model for model in models if model.accuracy > 0]
    figures = list(map(attrgetter("figures"), models))
    retention = np.array(list(map(attrgetter("retention"), models)))
    names = list(map(attrgetter("benchmark"), models))
    benchmarks, strata = np.unique(names, return_inverse=True)
    # which explainers there are is known from the runs alone
    rows = list(ROWS)
    for name in sorted(set().union(*figures)):
        if name.startswith("map of "):
            title = f"no reasoning: {name}"
            rows.append((title, (name,), None))
    lines = []
    missing = []
    for title, parts, paper in rows:
        # rows over different models could not be compared
        if not all(of_model.keys() >= set(parts) for of_model in figures):
            missing.append(title)
            continue
        within = strata if len(benchmarks) > 1 else None
        result = Correlation.of(
            _standardised_mean(figures, parts, strata),
            retention,
            rng,
            strata=within,
        )
        lines.append(
            (
                title,
                ", ".join(parts),
                *correlation_cells(result),
                paper,
            )
        )
    notes = [
        "Several figures count by their mean, each in standard deviations of its benchmark. r, "
        "interval and p as in the table above, of rows. The paper's supplement, which defines its "
        "components, is not published; it prints 0.41 without verification, 0.53 without "
        "extraction and 0.34 to 0.56 for attention, gradients and perturbations."
    ]
    if missing:
        notes.append(f"Not measured for all models: {'; '.join(missing)}.")
    title = "What predicts retention: components and baselines"
    return Table.of(title, COLUMNS, lines, *notes, decimals=2)


def _standardised_mean(
    figures: Sequence[Mapping[str, float]],
    parts: Sequence[str],
    strata: np.ndarray,
) -> Float[np.ndarray, " model"]:
    values = np.array(
        list(
            map(
                itemgetter(*parts),
                figures,
            )
        )
    ).reshape(len(figures), -1)
    for stratum in np.unique(strata):
        # how high a benchmark's figures are says nothing of a model
        mine = strata == stratum
        # a figure that is the same for all tells nothing: 0, and no division by 0
        spread = values[mine].std(axis=0)
        spread[spread == 0] = 1.0
        middle = values[mine].mean(axis=0)
        values[mine] = (values[mine] - middle) / spread
    return np.asarray(values.mean(axis=1))
