"""How much of the gap is in the vision encoder alone (section 6.3, appendix M)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from cuescope_sdk import Audit, Cell, Evidence, Picture, Readout, Table, Trial
from cuescope_sdk.report import Line, line_chart
from cuescope_sdk.statistics import pearson_interval, student_interval
from cuescope_spurlens.scores import CaseResult, Results
from cuescope_spurlens.spuriosity.detections import objects_of, samples_by_key
from cuescope_spurlens.tables import make_table

REPEATS, RATIO, SHARE, LEAST = 10, 2, 0.9, 10
SHARES, RATIOS = (0.1, 0.3, 0.9), (1, 2, 5)  # of the sweep: the paper's own are lost from its text
CLASSES = 12  # with a line in the picture
COLUMNS = ("class", "cue", "model's gap", "probe's gap", "probe with it", "probe without")


class MeanPatches(Readout):
    """The mean patch embedding of a sample's frames after a layer."""

    name: ClassVar[str] = "spurlens-mean-patches"
    layer: int = -1

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """A vector a trial."""
        means = []
        for trial in trials:
            # Frames may have grids of different sizes, so patches are joined before the mean.
            grids = model.patch_features(trial.sample.frames, self.layer)
            rows = np.concatenate([grid.reshape(-1, grid.shape[-1]) for grid in grids])
            means.append(np.asarray(rows.mean(axis=0)))
        return means


SWEEP_COLUMNS = (
    "positives",
    "negatives a positive",
    "images trained on",
    "probe with it",
    "probe without",
    "gap",
    "accuracy",
)


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
    positives: Float[np.ndarray, "positive dim"],
    negatives: Float[np.ndarray, "negative dim"],
    top: Int[np.ndarray, " k"],
    bottom: Int[np.ndarray, " k"],
    rng: np.random.Generator,
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

    rest = np.setdiff1d(np.arange(len(positives)), np.concatenate([top, bottom]))
    if len(rest) < LEAST or len(negatives) < LEAST:
        return None
    size = max(2, int(share * len(rest)))
    rates, accuracies, trained = [], [], 0
    for _ in range(REPEATS):
        own = rng.choice(rest, size, replace=False)
        others = rng.choice(len(negatives), min(ratio * size, len(negatives)), replace=False)
        rows = np.concatenate([positives[own], negatives[others]])
        is_class = np.arange(len(rows)) < size
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        classifier.fit(rows, is_class)
        rates.append([classifier.predict(positives[side]).mean() for side in (top, bottom)])
        trained = len(rows)
        unseen = np.setdiff1d(rest, own), np.setdiff1d(np.arange(len(negatives)), others)
        if min(map(len, unseen)):
            right = (
                classifier.predict(positives[unseen[0]]),
                ~classifier.predict(negatives[unseen[1]]),
            )
            accuracies.append(float(np.mean([side.mean() for side in right])))
    with_cue, without = np.mean(rates, axis=0).tolist()
    accuracy = float(np.mean(accuracies)) if accuracies else None
    return ProbeRates(with_cue, without, accuracy, trained)


def check_encoder(audit: Audit, results: Results) -> Iterator[Evidence]:
    """The probe's gap for the strongest cue of each class, beside the model's own."""
    if "patches" not in audit.capabilities.exposes:
        return
    cases = [result for result in results.cases if result.case.task == "recognition"]
    rows = [(result, *_embeddings(audit, result)) for result in cases]
    probes = [(result, _probe_case(result, pair, rng)) for result, pair, rng in rows]
    pairs = [(result, rates) for result, rates in probes if rates is not None]
    if not pairs:
        return
    audit.attach(_table(pairs))
    if audit.options.probe_sweep:
        swept = _sweep(audit, [(result, pair) for result, pair, _ in rows])
        audit.attach(_sweep_table(swept))
        audit.attach(_sweep_picture(swept))
    # Of findings alone: the strongest of many null cues has the hard images at its bottom, and what
    # is hard for the model is hard for a probe.
    found = [(result, rates) for result, rates in pairs if result.finding]
    own = [float(result.gap[result.strongest]) for result, _ in found]
    yield _compare_gaps(own, [rates.gap for _, rates in found])


Embeddings = tuple[Float[np.ndarray, "positive dim"], Float[np.ndarray, "negative dim"]]


def _embeddings(audit: Audit, result: CaseResult) -> tuple[Embeddings, np.random.Generator]:
    """Of the images of the class, and of a draw of others; and the generator that drew them."""
    case, rng = result.case, audit.rng("probe", result.case.label)
    without = [sample for sample in samples_by_key(audit) if case.label not in objects_of(sample)]
    # No more than a probe can use: each image is a pass of the encoder.
    most = max(RATIOS if audit.options.probe_sweep else (RATIO,)) * len(case.samples)
    if len(without) > most:
        without = [without[row] for row in sorted(rng.choice(len(without), most, replace=False))]
    outcomes = audit.respond(MeanPatches().of(sample) for sample in (*case.samples, *without))
    rows = np.array([outcome.response.readout for outcome in outcomes], dtype=np.float64)
    return (rows[: len(case.samples)], rows[len(case.samples) :]), rng


def _probe_case(
    result: CaseResult,
    embeddings: Embeddings,
    rng: np.random.Generator,
    share: float = SHARE,
    ratio: int = RATIO,
) -> ProbeRates | None:
    case, cue = result.case, result.strongest
    top, bottom = (np.array(case.rows(side[cue])) for side in (case.top, case.bottom))
    return probe_rates(*embeddings, top, bottom, rng, share, ratio)


def _compare_gaps(own: Sequence[float], of_probe: Sequence[float]) -> Evidence:
    check = "vision encoder alone: a linear probe has the gap too"
    # A t-test over the classes needs a spread; three is the least that tells anything.
    if len(of_probe) < 3 or np.ptp(of_probe) == 0:
        detail = f"{len(own)} classes have a finding in recognition; 3 are needed"
        return Evidence(check=check, verdict="inconclusive", detail=detail, n=len(own))
    mean = float(np.mean(of_probe))
    low, high = student_interval(np.array(of_probe))
    detail = (
        f"the probe's mean gap is {mean:.2f} [{low:.2f}, {high:.2f}] over the {len(own)} classes "
        f"with a finding, the model's is {np.mean(own):.2f}; refuted where the probe's is surely "
        "less than half of it"
    )
    refuted = high < np.mean(own) / 2
    return Evidence(
        check=check,
        verdict="supported" if low > 0 else "refuted" if refuted else "inconclusive",
        detail=detail,
        value=mean,
        threshold=0.0,
        n=len(own),
    )


def _table(pairs: Sequence[tuple[CaseResult, ProbeRates]]) -> Table:
    rows: list[list[Cell]] = []
    for result, rates in pairs:
        shares = (float(result.gap[result.strongest]), rates.gap, rates.with_cue, rates.without)
        rows.append([result.case.label, result.cue, *(100 * share for share in shares)])
    return make_table(
        "Vision encoder: the gap of a linear probe",
        COLUMNS,
        rows,
        "The probe is a logistic regression on mean patch embeddings. In percent: images of the "
        "class that it takes for the class.",
        *_correlation(pairs),
    )


def _correlation(pairs: Sequence[tuple[CaseResult, ProbeRates]]) -> list[str]:
    """Between the gaps of model and probe, where there is one."""
    gaps = np.array([(result.gap[result.strongest], rates.gap) for result, rates in pairs])
    if len(gaps) < 3 or np.ptp(gaps, axis=0).min() == 0:
        return []
    r, low, high = pearson_interval(*gaps.T)
    return [f"Correlation of the gaps of model and probe: {r:.2f} [{low:.2f}, {high:.2f}]."]


Sweep = Mapping[tuple[float, int], Sequence[tuple[CaseResult, ProbeRates]]]


def _sweep(audit: Audit, rows: Sequence[tuple[CaseResult, Embeddings]]) -> Sweep:
    """A probe a class for each size and balance of what it is trained on (appendix M)."""
    swept = {}
    for share in SHARES:
        for ratio in RATIOS:
            swept[share, ratio] = [
                (result, rates)
                for result, pair in rows
                if (rates := _probe_case(result, pair, _rng(audit, result), share, ratio))
            ]
    return swept


def _rng(audit: Audit, result: CaseResult) -> np.random.Generator:
    return audit.rng("sweep", result.case.label)


def _sweep_table(swept: Sweep) -> Table:
    """Means over the classes."""
    table: list[list[Cell]] = []
    scales = {"trained": 1, "with_cue": 100, "without": 100, "gap": 100}
    for (share, ratio), probes in swept.items():
        known = [rates for _, rates in probes]
        accuracies = [100 * rates.accuracy for rates in known if rates.accuracy is not None]
        means = [
            float(np.mean([getattr(rates, name) for rates in known])) * scale
            for name, scale in scales.items()
        ]
        accuracy = float(np.mean(accuracies)) if accuracies else None
        table.append([f"{share:.0%}", ratio, *means, accuracy])
    return make_table(
        "Vision encoder: the probe by what it is trained on",
        SWEEP_COLUMNS,
        table,
        "Means over the classes, in percent. Positives: share of the images of the class, without "
        "those that show the cue most and least. Accuracy: of images that it was neither trained "
        f"nor tested on, half of them of the class. {REPEATS} draws each.",
    )


def _sweep_picture(swept: Sweep) -> Picture:
    """The gap class by class (figure 17), at one balance."""
    by_class: dict[str, list[ProbeRates]] = {}
    for (_, ratio), probes in swept.items():
        for result, rates in probes if ratio == RATIO else ():
            by_class.setdefault(result.case.label, []).append(rates)
    lines = [
        Line(label, *np.array([(rates.trained, rates.gap) for rates in of_class], float).T)
        for label, of_class in list(by_class.items())[:CLASSES]
    ]
    title = "Vision encoder: the probe's gap, class by class"
    return Picture(
        title=title,
        caption=f"The gap of a linear probe that is trained on more and more images, {RATIO} "
        "without the class for each with it. Lines that stay high are classes whose cue lies in "
        "the encoder itself.",
        image=line_chart(lines, title, "images trained on", "gap"),
    )
