"""What foretells retention: the parts of step grounding alone and together, and what needs none.

The paper's supplement, which defines its components, is not published. Here each component is the
figure that it yields: claims verified (SGR), beliefs tracked (TCS), videos changed (VRS).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_sdk import Report, Table, UserError
from cuescope_sdk.statistics import correlation
from cuescope_step_grounding.law.law import MeasuredModel
from cuescope_step_grounding.law.pairs import correlation_cells
from cuescope_step_grounding.rows.keys import ACC, HR, REASONING, SGR, TCS, VRS
from cuescope_step_grounding.scores import RELEVANT

VERIFIED, TRACKED, CHANGED, UNFLAWED = "SGR", "TCS", "VRS", "1 - HR"
RIGHT, LOST = "accuracy", "accuracy lost in changed videos"
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
COLUMNS = ("foretold by", "of", "r", "interval", "p", "models", "paper")


def figures_of(report: Report) -> dict[str, float]:
    """What a report measures of a model, by the names above; what it lacks is left out."""
    own = {s.metric: s.value for s in report.scores if s.feature == REASONING}
    hallucination = own.get(HR)
    found: dict[str, float | None] = {
        VERIFIED: own.get(SGR),
        TRACKED: own.get(TCS),
        CHANGED: own.get(VRS),
        UNFLAWED: None if hallucination is None else 1 - hallucination,
        RIGHT: own.get(ACC),
        LOST: _answers_lost(report),
    }
    return {name: value for name, value in found.items() if value is not None}


def _answers_lost(report: Report) -> float | None:
    """Mean loss of accuracy over the relevant changes, from the report's own table."""
    lost = [
        row["Acc lost"]
        for table in report.tables
        if "Acc lost" in table.columns
        for row in table.rows
        if row["changed"] in RELEVANT
    ]
    known = [float(value) for value in lost if isinstance(value, int | float)]
    return float(np.mean(known)) / 100 if known else None


def figures_of_maps(report: Report) -> dict[str, float]:
    """Of a run of `saliency`: how much of its explainer's maps lies on the object, by its name.

    The mean over images with masks, whatever text they are about. Raises UserError for a run of
    another method.
    """
    run = report.provenance
    shares = [
        (s.value, s.n)
        for s in report.scores
        if s.metric == "foreground_share" and s.value is not None and s.n
    ]
    if run.method.dist != "cuescope-saliency" or not shares:
        raise UserError(
            f"a run of {run.method.spec}",
            expected="runs of saliency on data with masks of the objects",
            remedy="`cuescope audit saliency:rollout ...` makes them",
        )
    values, images = zip(*shares, strict=True)
    share = float(np.average(values, weights=images))
    return {f"map of {run.method.options['explainer']}": share}


def maps_of_models(reports: Sequence[Report], models: int) -> list[dict[str, float]]:
    """The figures of each model's maps: runs of all models by one explainer, then by the next.

    Raises UserError unless there are as many runs of each explainer as models.
    """
    runs = [figures_of_maps(report) for report in reports]
    by_explainer = [runs[start : start + models] for start in range(0, len(runs), models)]
    for own in by_explainer:
        if len(own) != models or len({*map(frozenset, own)}) > 1:
            raise UserError(
                "bench step-grounding: saliency",
                expected=f"of each explainer a run for each of the {models} models, in their order",
                got=", ".join(name for run in own for name in run),
            )
    figures: list[dict[str, float]] = [{} for _ in range(models)]
    for own in by_explainer:
        for merged, run in zip(figures, own, strict=True):
            merged.update(run)
    return figures


def components(models: Sequence[MeasuredModel], rng: Generator) -> Table:
    """How well each part, and each baseline, goes with what models keep out of distribution."""
    models = [model for model in models if model.accuracy > 0]
    retention = np.array([model.ood_accuracy / model.accuracy for model in models])
    strata = np.unique([model.benchmark for model in models], return_inverse=True)[1].ravel()
    names = {name for model in models for name in model.figures}
    maps = sorted(name for name in names if name.startswith("map of "))
    rows = [*ROWS, *((f"no reasoning: {name}", (name,), None) for name in maps)]
    lines, missing = [], []
    for title, parts, paper in rows:
        if any(part not in model.figures for model in models for part in parts):
            missing.append(title)
            continue
        foretold = _standardised_mean([model.figures for model in models], parts, strata)
        several = len(set(strata.tolist())) > 1
        found = correlation(foretold, retention, rng, strata=strata if several else None)
        cells = (*correlation_cells(found), found.n) if found else (None, None, None, None)
        values = (title, ", ".join(parts), *cells, paper)
        lines.append(dict(zip(COLUMNS, values, strict=True)))
    notes = [
        "Several figures count by their mean, each in standard deviations of its benchmark. r, "
        "interval and p as in the table above, of rows. The paper's supplement, which defines its "
        "components, is not published; it prints 0.41 without verification, 0.53 without "
        "extraction and 0.34 to 0.56 for attention, gradients and perturbations."
    ]
    if missing:
        notes.append(f"Not measured for all models: {'; '.join(missing)}.")
    return Table(
        title="What foretells retention: components and baselines",
        columns=COLUMNS,
        rows=tuple(lines),
        decimals=2,
        notes=tuple(notes),
    )


def _standardised_mean(
    figures: Sequence[Mapping[str, float]], parts: Sequence[str], strata: np.ndarray
) -> Float[np.ndarray, " model"]:
    columns = []
    for part in parts:
        values = np.array([own[part] for own in figures], np.float64)
        for stratum in np.unique(strata):
            mine = strata == stratum
            spread = values[mine].std()
            values[mine] = (values[mine] - values[mine].mean()) / (spread or 1.0)
        columns.append(values)
    return np.asarray(np.mean(columns, axis=0))
