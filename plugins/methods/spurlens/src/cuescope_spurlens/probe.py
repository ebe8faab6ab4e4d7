"""How much of the gap is in the vision encoder alone (section 6.3, appendix M)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from scipy import stats

from cuescope_sdk import Audit, Cell, Evidence, Readout, Sample, Table, Trial
from cuescope_spurlens.pools import by_key, objects_of
from cuescope_spurlens.scoring import Heard, Scored

REPEATS, RATIO, SHARE, LEAST = 10, 2, 0.9, 10
COLUMNS = ("class", "cue", "model's gap", "probe's gap", "probe with it", "probe without")


class MeanPatches(Readout):
    """The mean patch embedding of a sample's frames after a layer."""

    name: ClassVar[str] = "spurlens-mean-patches"
    layer: int = -1

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """A vector a trial."""
        return [self._mean(model, trial.sample) for trial in trials]

    def _mean(self, model: Any, sample: Sample) -> np.ndarray:
        patches = model.patch_features(sample.frames, self.layer)
        rows = [of_frame.reshape(-1, of_frame.shape[-1]) for of_frame in patches]
        return np.asarray(np.concatenate(rows).mean(axis=0))


@dataclass(frozen=True)
class Probed:
    """Share of the images with and without the cue that a linear probe takes for the class."""

    with_cue: float
    without: float

    @property
    def gap(self) -> float:
        """The probe's own Spurious Gap."""
        return self.with_cue - self.without


def probe(
    positives: Float[np.ndarray, "positive dim"],
    negatives: Float[np.ndarray, "negative dim"],
    top: Int[np.ndarray, " k"],
    bottom: Int[np.ndarray, " k"],
    rng: np.random.Generator,
) -> Probed | None:
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
    found = []
    for _ in range(REPEATS):
        own = rng.choice(rest, size, replace=False)
        others = rng.choice(len(negatives), min(RATIO * size, len(negatives)), replace=False)
        rows = np.concatenate([positives[own], negatives[others]])
        truth = np.arange(len(rows)) < size
        fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        fitted.fit(rows, truth)
        found.append([fitted.predict(positives[side]).mean() for side in (top, bottom)])
    with_cue, without = np.mean(found, axis=0).tolist()
    return Probed(with_cue, without)


def check_encoder(audit: Audit, heard: Heard) -> Iterator[Evidence]:
    """The probe's gap for the strongest cue of each class, beside the model's own."""
    if "patches" not in audit.capabilities.exposes:
        return
    cases = [one for one in heard.cases if one.case.task == "recognition"]
    pairs = [(one, found) for one in cases if (found := _probed(audit, one)) is not None]
    if not pairs:
        return
    audit.attach(_table(pairs))
    own = [float(one.gap.max()) for one, _ in pairs]
    theirs = [found.gap for _, found in pairs]
    yield _judged(own, theirs)


def _probed(audit: Audit, one: Scored) -> Probed | None:
    case, cue = one.case, one.strongest
    rng = audit.rng("probe", case.label)
    without = [sample for sample in by_key(audit) if case.label not in objects_of(sample)]
    most = RATIO * len(case.samples)
    if len(without) > most:
        without = [without[n] for n in sorted(rng.choice(len(without), most, replace=False))]
    outcomes = audit.respond(MeanPatches().of(sample) for sample in (*case.samples, *without))
    rows = np.array([outcome.response.readout for outcome in outcomes], dtype=np.float64)
    count = len(case.samples)
    return probe(rows[:count], rows[count:], case.top[cue], case.bottom[cue], rng)


def _judged(own: Sequence[float], theirs: Sequence[float]) -> Evidence:
    mean = float(np.mean(theirs))
    spread = len(theirs) >= 3 and np.ptp(theirs) > 0
    p_value = float(stats.ttest_1samp(theirs, 0, alternative="greater").pvalue) if spread else 1.0
    told = f"mean gap {mean:.2f} over {len(own)} classes, and {np.mean(own):.2f} of the model"
    if spread and np.ptp(own) > 0:
        told += f"; their correlation is {stats.pearsonr(own, theirs).statistic:.2f}"
    return Evidence(
        check="vision encoder alone: a linear probe has the gap too",
        verdict="supported" if p_value < 0.05 else "inconclusive", detail=told,
        value=mean, threshold=0.0, n=len(own),
    )  # fmt: skip


def _table(pairs: Sequence[tuple[Scored, Probed]]) -> Table:
    rows: list[dict[str, Cell]] = []
    for one, found in pairs:
        figures = (float(one.gap.max()), found.gap, found.with_cue, found.without)
        cells: list[Cell] = [one.case.label, one.cue, *(100 * figure for figure in figures)]
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    note = "In percent: images of the class that a logistic regression on mean patches takes for it"
    title = "Vision encoder: the gap of a linear probe"
    return Table(title=title, columns=COLUMNS, rows=tuple(rows), notes=(note,))
