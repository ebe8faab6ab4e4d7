"""The effect of each cue by one model of every row, and the verdict that follows from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from operator import itemgetter

import numpy as np
from jaxtyping import Bool

from cuescope_confirm.asking import is_of_label
from cuescope_confirm.experiment.arms import AS_IS, CHANGED, CONTROL, Arm, Experiment
from cuescope_confirm.experiment.as_they_are import gap_as_they_are
from cuescope_confirm.experiment.doses import UNKNOWN, Dose, dose_of, spread_of_controls
from cuescope_confirm.locating import Target
from cuescope_confirm.study import Study, roots
from cuescope_sdk.statistics import (
    DoseResponse,
    Estimate,
    Groups,
    Observed,
    PrognosticGap,
    Shift,
    Verdict,
    change_interval,
    decide,
    dose_response,
)

# spread of what pairs of the user's own do beside the cue, which is nothing
ALONE = 1e-3


@dataclass(frozen=True, eq=False)
class Row:
    """A cue with all that was measured of it.

    `posterior` is what the model says of its effect on the probability of the answer, None where
    nothing could be changed; `lost` the accuracy that a cause costs over all samples. `error` is
    the share of false ones that is expected among the verdicts that are at least as sure.
    """

    target: Target
    measured: Mapping[Arm, Dose]
    unmeasured: Sequence[Arm]
    posterior: DoseResponse | None = None
    beside: PrognosticGap | None = None
    lost: Estimate[float] | None = None
    verdict: Verdict = "inconclusive"
    error: float | None = None

    @property
    def draws_answers(self) -> bool:
        """Whether what is tested is that the cue makes its label a likelier answer to others."""
        return self.target.direction.toward == "the label"

    @property
    def fullest(self) -> Arm | None:
        """The arm that takes out, or puts in, most of the cue."""
        return max(
            self.measured,
            key=lambda arm: (self.measured[arm].share, arm.removes),
            default=None,
        )

    @property
    def samples(self) -> int:
        """How many samples with the cue an arm has changed at most."""
        counts = [int(arm.answers.with_cue.sum()) for arm in self.measured]
        return max(counts, default=0)

    def rank(self, margin: float) -> tuple[bool, float, float]:
        """The lower, the earlier in a report: causes by what they cost, then the likeliest."""
        lost = self.lost.value if self.lost else 0.0
        above = -1.0 if self.posterior is None else self.posterior.above(margin)
        return self.verdict != "cause", -lost, -above


@dataclass(frozen=True, eq=False)
class Results:
    """All cues, the worst first."""

    study: Study
    rows: Sequence[Row]

    def name_of(self, row: Row) -> str:
        """The cue's name, with what it is about where several have this name."""
        names = [other.target.cue.name for other in self.rows]
        cue = row.target.cue
        if names.count(cue.name) > 1:
            return f"{cue.name} on {cue.about or 'any'}"
        return cue.name

    def count(self, verdict: Verdict) -> int:
        """How many cues have this verdict."""
        return [row.verdict for row in self.rows].count(verdict)


def measure(experiment: Experiment) -> Results:
    """Each cue's effect, then the verdicts on all of them together."""
    study = experiment.study
    margin = study.options.margin
    rows = []
    targets = experiment.targets
    with study.audit.context.progress("weighing the evidence", len(targets)) as advance:
        for target in targets:
            rows.append(_row(experiment, target))
            advance(1)
    above = [
        None if row.posterior is None else row.posterior.above(margin) for row in rows
    ]
    verdicts = decide(above, 1 - study.options.confidence)
    rows = [
        replace(row, verdict=verdict, error=error)
        for row, (verdict, error) in zip(rows, verdicts, strict=True)
    ]
    rows = [replace(row, lost=_accuracy_lost(experiment, row)) for row in rows]
    rows.sort(key=lambda row: row.rank(margin))
    return Results(study, rows)


def estimate_of(arm: Arm, confidence: float) -> Estimate[float]:
    """What an arm does to samples with the cue beyond its control, or beyond no change."""
    beyond = CONTROL if arm.plugin.placebo != "none" else AS_IS
    shows = arm.answers.with_cue
    change = arm.beyond(beyond)[shows]
    samples = [pair.case.sample for pair in compress(arm.answers.pairs, shows)]
    low, high = change_interval(change, Groups.of(samples), confidence=confidence)
    value = float(change.mean())
    return Estimate(
        value, value if low is None else low, value if high is None else high
    )


def _row(experiment: Experiment, target: Target) -> Row:
    study = experiment.study
    doses = {}
    for arm in experiment.arms_of(target):
        if arm.answers.with_cue.sum() >= study.options.least:
            doses[arm] = dose_of(study, arm)
    measured = known_doses(doses)
    unmeasured = [arm for arm in experiment.arms_of(target) if arm not in measured]
    row = Row(target, measured, unmeasured)
    if not measured:
        return row
    if study.options.pairs is None:
        with study.audit.spare(f"what else correlates with {target.cue.name}"):
            row = replace(row, beside=gap_as_they_are(experiment, target))
    with study.audit.spare(f"dose-response model of {target.cue.name}"):
        shifts = list(_shifts(row, study.options.least))
        return replace(row, posterior=_posterior(study, row, shifts, _observed(row)))
    return row


def known_doses(doses: Mapping[Arm, Dose | None]) -> dict[Arm, Dose]:
    """Those that pictures show; where they show none, each is unknown.

    What has no dose tells nothing beside what has one.
    """
    known = {arm: dose for arm, dose in doses.items() if dose is not None}
    return known or dict.fromkeys(doses, UNKNOWN)


def _posterior(
    study: Study, row: Row, shifts: Sequence[Shift], observed: Observed | None
) -> DoseResponse:
    rng = study.rng("one effect", row.target.cue.id)
    if study.options.pairs is not None:
        return dose_response(shifts, rng, spread=ALONE)
    return dose_response(shifts, rng, observed)


def _observed(row: Row) -> Observed | None:
    """What samples as they are say of the effect; None where they do not tell."""
    if row.beside is None:
        return None
    return Observed(row.beside.alike, row.beside.bias, _purity(row.target))


def _shifts(row: Row, least: int, *, right: bool = False) -> Iterator[Shift]:
    """Of each arm the change, its control, and both in samples without the cue.

    By the probability of the answer that the cue moves, or by whether the answer is `right`.
    """
    off = spread_of_controls(list(row.measured.values()))
    purity = _purity(row.target)
    for arm, dose in row.measured.items():
        share, error = dose.share, dose.error
        if not arm.is_exact:
            # samples that are taken for the cue's and are not cannot be moved by it
            share, error = purity * share, purity * float(np.hypot(error, off))
        shows = arm.answers.with_cue
        sides = [(shows, CHANGED, share, error)]
        if arm.plugin.placebo != "none":
            sides.append((shows, CONTROL, 0.0, 0.0))
            if (~shows).sum() >= least:
                sides += [(~shows, CHANGED, 0.0, 0.0), (~shows, CONTROL, 0.0, 0.0)]
        for rows, column, of_dose, of_error in sides:
            yield _shift(arm, rows, column, of_dose, of_error, right=right)


def _shift(
    arm: Arm,
    rows: Bool[np.ndarray, " pair"],
    column: int,
    dose: float,
    error: float,
    *,
    right: bool,
) -> Shift:
    answers = arm.answers
    figures = answers.right if right else answers.values
    moved = arm.turned(figures[:, column] - figures[:, AS_IS])[rows]
    samples = [pair.case.sample for pair in compress(answers.pairs, rows)]
    # as `Groups` does: a key could be the name of another sample's group
    groups = [(one.key, None) if one.group is None else one.group for one in samples]
    return Shift([arm.spec], arm.kind, moved, groups, dose, error)


def _purity(target: Target) -> float:
    """Of the samples that are taken for the cue's, the share that shows it."""
    return 1.0 if target.located is None else target.located.purity


def _accuracy_lost(experiment: Experiment, row: Row) -> Estimate[float] | None:
    """What a cause does to right answers, times how often it is there.

    The population-attributable risk (Levin, 1953), by the same model of right answers.
    """
    study = experiment.study
    # right answers and wrong ones alike; and of pairs alone nobody knows how common the cue is
    is_of_both = row.target.direction.toward == "its own answer"
    if row.verdict != "cause" or is_of_both or row.target.located is None:
        return None
    shifts = list(_shifts(row, study.options.least, right=True))
    effect = _posterior(study, row, shifts, None).effect
    # right answers are won where the cue goes, whichever answer the cue pulls to
    share = row.target.direction.sign * _share_showing(row.target)
    # that share counts samples that are taken for the cue's and do not show it
    share *= _purity(row.target)
    low, high = sorted((share * effect.low, share * effect.high))
    return Estimate(share * effect.value, low, high)


def _share_showing(target: Target) -> float:
    """Of the held-out samples, the share that is judged and shows the cue."""
    located = target.located
    if located is None:
        return 0.0
    judged = {key for key, sample in target.samples.items() if target.is_judged(sample)}
    showing = judged & located.places.keys()
    without = judged & located.without
    # of a sample in neither nobody knows
    share = len(showing) / max(len(showing | without), 1)
    # the pool may hold more judged samples than the data: their share is put right
    return share * len(judged) / len(target.samples)


def rarest_finding(study: Study) -> tuple[int, str] | None:
    """In how many held-out samples the rarest finding probably is, and its name.

    None where no finding says where it occurs.
    """
    counts = []
    for cue in study.cues:
        if cue.feature.occurrences:
            shown = roots(cue.feature.occurrences, study.seen)
            of_label = [key for key in shown if is_of_label(cue, study.seen[key])]
            share = len(of_label or shown) / max(len(study.seen), 1)
            counts.append((round(share * len(study.held)), cue.name))
    return min(counts, key=itemgetter(0), default=None)
