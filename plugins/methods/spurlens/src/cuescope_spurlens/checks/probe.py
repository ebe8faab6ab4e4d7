"""How much of the gap is in the vision encoder alone (section 6.3, appendix M)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from cuescope_sdk import Audit, Picture, Readout, Table, Trial
from cuescope_sdk.report import line_chart
from cuescope_sdk.statistics import Correlation
from cuescope_spurlens.analysis import CaseResult, Results
from cuescope_spurlens.spuriosity.detections import draw_samples, objects_of
from cuescope_spurlens.spuriosity.shapes import IntPerK
from cuescope_spurlens.tables import Rows

REPEATS = 10  # draws of what a probe is trained on
RATIO = 2  # negatives for a positive
SHARE = 0.9  # of the positives
LEAST = 10  # of either, for a probe
# Of the sweep: the paper's own are lost from its text.
SHARES = (0.1, 0.3, 0.9)
RATIOS = (1, 2, 5)
CLASSES = 12  # with a line in the picture
COLUMNS = (
    "class",
    "cue",
    "model's gap",
    "probe's gap",
    "probe with it",
    "probe without",
)
SWEEP_COLUMNS = (
    "positives",
    "negatives a positive",
    "images trained on",
    "probe with it",
    "probe without",
    "gap",
    "accuracy",
)
Positives = Float[np.ndarray, "positive dim"]
Negatives = Float[np.ndarray, "negative dim"]


class MeanPatches(Readout):
    """The mean patch embedding of a sample's frames after a layer."""

    name: ClassVar[str] = "spurlens-mean-patches"
    gives: ClassVar[Any] = Float[np.ndarray, " dim"]
    layer: int = -1

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """A vector a trial."""
        means = []
        for trial in trials:
            # Frames may have grids of different sizes, so patches are joined before the mean.
            grids = model.patch_features(trial.sample.frames, self.layer)
            rows = [grid.reshape(-1, grid.shape[-1]) for grid in grids]
            means.append(np.concatenate(rows).mean(axis=0))
        return means

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A row."""
        return super().accepts(array, trial) and array.size > 0


@dataclass(frozen=True)
class ProbeRates:
    """Share of the images with and without the cue that a linear probe takes for the class.

    `accuracy` is of the images that it was neither trained nor tested on, both kinds alike; None
    where there are none. `trained` is the number of images that it was trained on.
    """

    with_cue: float
    without: float
    accuracy: float | None
    trained: int

    @property
    def gap(self) -> float:
        """The probe's own Spurious Gap."""
        return self.with_cue - self.without


def probe_rates(
    positives: Positives,
    negatives: Negatives,
    top: IntPerK,
    bottom: IntPerK,
    rng: Generator,
    share: float = SHARE,
    ratio: int = RATIO,
) -> ProbeRates | None:
    """Logistic regression of class or not, tested on the top and bottom, which it never saw.

    Mean of REPEATS draws of `share` of the other positives and `ratio` times as many negatives.
    None where fewer than LEAST positives are left. Deviates: standardised first, for the mean
    embeddings of models differ in scale.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # appendix M: the images that test the gap train no probe
    rest = np.setdiff1d(np.arange(len(positives)), (top, bottom))
    if len(rest) < LEAST or len(negatives) < LEAST:
        return None
    size = max(2, int(share * len(rest)))
    opposed = min(ratio * size, len(negatives))
    is_class = np.arange(size + opposed) < size
    rates = []
    accuracies = []
    for _ in range(REPEATS):
        chosen = rng.choice(rest, size, replace=False)
        others = rng.choice(len(negatives), opposed, replace=False)
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        classifier.fit(np.concatenate([positives[chosen], negatives[others]]), is_class)
        with_cue = classifier.predict(positives[top]).mean()
        rates.append((with_cue, classifier.predict(positives[bottom]).mean()))
        unseen = np.setdiff1d(rest, chosen)
        unseen_others = np.setdiff1d(np.arange(len(negatives)), others)
        if len(unseen) and len(unseen_others):
            right = classifier.predict(positives[unseen]).mean()
            rejected = ~classifier.predict(negatives[unseen_others])
            # both kinds weigh alike: a probe that always says no would look good
            accuracies.append((right + rejected.mean()) / 2)
    with_rate, without = np.mean(rates, axis=0).tolist()
    accuracy = float(np.mean(accuracies)) if accuracies else None
    return ProbeRates(with_rate, without, accuracy, trained=len(is_class))


def attach_encoder(audit: Audit, results: Results) -> None:
    """The probe's gap for the strongest cue of each class, beside the model's own."""
    if "patches" not in audit.capabilities.exposes:
        return
    cases = [_embed(audit, result) for result in results.by_task.get("recognition", ())]
    probes = _probe_all(cases)
    if not probes:
        return
    audit.attach(_table(probes))
    if audit.options.probe_sweep:
        # a probe a class for each size and balance of what it is trained on (appendix M)
        swept = {
            (share, ratio): _probe_all(cases, share, ratio, sweep=audit)
            for share, ratio in product(SHARES, RATIOS)
        }
        audit.attach(_sweep_table(swept))
        audit.attach(_sweep_picture(swept))


@dataclass(frozen=True, eq=False)
class EmbeddedCase:
    """A class with the embeddings of its images and of a draw of others, and what drew them."""

    result: CaseResult
    positives: Positives
    negatives: Negatives
    rng: Generator


Probes = Sequence[tuple[CaseResult, ProbeRates]]
Sweep = dict[tuple[float, int], Probes]


def _embed(audit: Audit, result: CaseResult) -> EmbeddedCase:
    case = result.case
    rng = audit.rng("probe", case.label)
    without = [
        sample
        for sample in audit.samples_by_key()
        if case.label not in objects_of(sample)
    ]
    # No more than a probe can use: each image is a pass of the encoder.
    ratio = max(RATIOS) if audit.options.probe_sweep else RATIO
    most = ratio * len(case.samples)
    if len(without) > most:
        without = draw_samples(without, most, rng)
    outcomes = audit.respond(map(MeanPatches().of, (*case.samples, *without)))
    # the model's own dtype may be too coarse to fit a probe on
    rows = np.array(
        [outcome.response.readout for outcome in outcomes], dtype=np.float64
    )
    positives, negatives = np.split(rows, [len(case.samples)])
    return EmbeddedCase(result, positives, negatives, rng)


def _probe_all(
    cases: Sequence[EmbeddedCase],
    share: float = SHARE,
    ratio: int = RATIO,
    *,
    sweep: Audit | None = None,
) -> Probes:
    """A probe for the strongest cue of each class that has the images for it."""
    probes = []
    for case in cases:
        label = case.result.case.label
        # A sweep draws the same in each of its cells, so that only size and balance differ.
        rng = case.rng if sweep is None else sweep.rng("sweep", label)
        top, bottom = map(np.array, case.result.case.side_rows(case.result.strongest))
        rates = probe_rates(
            case.positives, case.negatives, top, bottom, rng, share, ratio
        )
        if rates is not None:
            probes.append((case.result, rates))
    return probes


def _gaps(probes: Probes) -> Float[np.ndarray, "class 2"]:
    """Of each class the gap of the model, and that of the probe."""
    gaps = [(result.strongest_gap, rates.gap) for result, rates in probes]
    # without any class the second axis must be there to unpack
    return np.array(gaps, dtype=float).reshape(-1, 2)


def _table(probes: Probes) -> Table:
    rows: Rows = []
    for result, rates in probes:
        shares = np.array(
            [result.strongest_gap, rates.gap, rates.with_cue, rates.without]
        )
        percent = (100 * shares).tolist()
        rows.append((result.case.label, result.cue, *percent))
    notes = [
        "The probe is a logistic regression on mean patch embeddings. In percent: images of the "
        "class that it takes for the class."
    ]
    gaps = _gaps(probes)
    if len(gaps) >= 3 and np.ptp(gaps, axis=0).min() > 0:
        r, low, high = Correlation.pearson_interval(*gaps.T)
        correlation = f"{r:.2f} [{low:.2f}, {high:.2f}]"
        notes.append(f"Correlation of the gaps of model and probe: {correlation}.")
    return Table.of("Vision encoder: the gap of a linear probe", COLUMNS, rows, *notes)


def _sweep_table(swept: Sweep) -> Table:
    """Means over the classes."""
    rows: Rows = []
    for (share, ratio), probes in swept.items():
        figures = []
        accuracies = []
        for _, rates in probes:
            figures.append((rates.trained, rates.with_cue, rates.without, rates.gap))
            if rates.accuracy is not None:
                accuracies.append(100 * rates.accuracy)
        # the first figure is a count of images, the others are shares
        means = (np.mean(figures, axis=0) * (1, 100, 100, 100)).tolist()
        accuracy = float(np.mean(accuracies)) if accuracies else None
        rows.append((f"{share:.0%}", ratio, *means, accuracy))
    return Table.of(
        "Vision encoder: the probe by what it is trained on",
        SWEEP_COLUMNS,
        rows,
        "Means over the classes, in percent. Positives: share of the images of the class, without "
        "those that show the cue most and least. Accuracy: of images that it was neither trained "
        f"nor tested on, half of them of the class. {REPEATS} draws each.",
    )


def _sweep_picture(swept: Sweep) -> Picture:
    """The gap class by class (figure 17), at one balance."""
    by_class: dict[str, list[tuple[float, float]]] = {}
    for share in SHARES:
        for result, rates in swept[share, RATIO]:
            by_class.setdefault(result.case.label, []).append(
                (rates.trained, rates.gap)
            )
    lines = {}
    for label, points in list(by_class.items())[:CLASSES]:
        lines[label] = tuple(np.array(points, dtype=float).T)
    title = "Vision encoder: the probe's gap, class by class"
    return Picture(
        title=title,
        caption=f"The gap of a linear probe that is trained on more and more images, {RATIO} "
        "without the class for each with it. Lines that stay high are classes whose cue lies in "
        "the encoder itself.",
        image=line_chart(lines, title, "images trained on", "gap"),
    )
