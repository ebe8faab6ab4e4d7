"""How much of the gap is in the vision encoder alone (section 6.3, appendix M)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from cuescope_sdk import Audit, Cell, Evidence, Readout, Table, Trial
from cuescope_spurlens.scores import CaseResult, Results
from cuescope_spurlens.spuriosity.detections import objects_of, samples_by_key
from cuescope_spurlens.tables import make_table

REPEATS, RATIO, SHARE, LEAST = 10, 2, 0.9, 10
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


@dataclass(frozen=True)
class ProbeRates:
    """Share of the images with and without the cue that a linear probe takes for the class."""

    with_cue: float
    without: float

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
) -> ProbeRates | None:
    """Logistic regression of class or not, tested on the top and bottom, which it never saw.

    Mean of REPEATS draws of SHARE of the other positives and RATIO times as many negatives.
    None where fewer than LEAST positives are left. Deviates: standardised first, for the mean
    embeddings of models differ in scale.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rest = np.setdiff1d(np.arange(len(positives)), np.concatenate([top, bottom]))
    if len(rest) < LEAST or len(negatives) < LEAST:
        return None
    size = int(SHARE * len(rest))
    rates = []
    for _ in range(REPEATS):
        own = rng.choice(rest, size, replace=False)
        others = rng.choice(len(negatives), min(RATIO * size, len(negatives)), replace=False)
        rows = np.concatenate([positives[own], negatives[others]])
        is_class = np.arange(len(rows)) < size
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        classifier.fit(rows, is_class)
        rates.append([classifier.predict(positives[side]).mean() for side in (top, bottom)])
    with_cue, without = np.mean(rates, axis=0).tolist()
    return ProbeRates(with_cue, without)


def check_encoder(audit: Audit, results: Results) -> Iterator[Evidence]:
    """The probe's gap for the strongest cue of each class, beside the model's own."""
    if "patches" not in audit.capabilities.exposes:
        return
    pairs = [
        (result, rates)
        for result in results.cases
        if result.case.task == "recognition" and (rates := _probe_case(audit, result)) is not None
    ]
    if not pairs:
        return
    audit.attach(_table(pairs))
    # Of findings alone: the strongest of many null cues has the hard images at its bottom, and what
    # is hard for the model is hard for a probe.
    found = [(result, rates) for result, rates in pairs if result.finding]
    own = [float(result.gap[result.strongest]) for result, _ in found]
    yield _compare_gaps(own, [rates.gap for _, rates in found])


def _probe_case(audit: Audit, result: CaseResult) -> ProbeRates | None:
    case, cue = result.case, result.strongest
    rng = audit.rng("probe", case.label)
    without = [sample for sample in samples_by_key(audit) if case.label not in objects_of(sample)]
    # No more than a probe can use: each image is a pass of the encoder.
    most = RATIO * len(case.samples)
    if len(without) > most:
        without = [without[row] for row in sorted(rng.choice(len(without), most, replace=False))]
    outcomes = audit.respond(MeanPatches().of(sample) for sample in (*case.samples, *without))
    rows = np.array([outcome.response.readout for outcome in outcomes], dtype=np.float64)
    count = len(case.samples)
    top, bottom = (np.array(case.rows(side[cue])) for side in (case.top, case.bottom))
    return probe_rates(rows[:count], rows[count:], top, bottom, rng)


def _compare_gaps(own: Sequence[float], of_probe: Sequence[float]) -> Evidence:
    check = "vision encoder alone: a linear probe has the gap too"
    # A t-test over the classes needs a spread; three is the least that tells anything.
    if len(of_probe) < 3 or np.ptp(of_probe) == 0:
        detail = f"{len(own)} classes have a finding in recognition; 3 are needed"
        return Evidence(check=check, verdict="inconclusive", detail=detail, n=len(own))
    mean = float(np.mean(of_probe))
    low, high = stats.ttest_1samp(of_probe, 0).confidence_interval()
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
    )
