"""TRoVe's ranking against annotated cues: Precision@K and R-Precision (section 4.2)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cuescope_sdk import Audit, Evidence, Feature, Sample, Score, UserError, Verdict
from cuescope_sdk.maths import (
    accuracy_gap_p_value,
    exceeds_rate_p_value,
    precision_at_k,
    r_precision,
    rank_frames,
)
from cuescope_trove.observing import OUTPUTS, baseline_trials

if TYPE_CHECKING:
    from cuescope_trove import TRoVe

Place = tuple[str, int]
KS = (10, 25, 100)
SIGNIFICANT = 0.05
NAMING_SHARE = 0.8


@dataclass(frozen=True)
class Gap:
    """How many of a label's sequences are right, without and with the annotated cue.

    `tried` counts the labels (and cues) among which this one was chosen.
    """

    label: str
    correct_without: int
    n_without: int
    correct_with: int
    n_with: int
    tried: int = 1

    @property
    def accuracy_without(self) -> float:
        """Accuracy where the cue is never on screen."""
        return self.correct_without / self.n_without

    @property
    def accuracy_with(self) -> float:
        """Accuracy where any frame shows the cue."""
        return self.correct_with / self.n_with

    @property
    def value(self) -> float:
        """Accuracy lost where the cue is on screen."""
        return self.accuracy_without - self.accuracy_with

    @property
    def p_value(self) -> float:
        """Exact permutation p-value of the loss, times what was tried (Bonferroni)."""
        counts = (self.correct_without, self.n_without, self.correct_with, self.n_with)
        single = float(accuracy_gap_p_value(*(np.array([count]) for count in counts))[0])
        return min(1.0, self.tried * single)

    def costs(self, least: float) -> bool:
        """Whether the loss is more than `least`, and more than chance explains."""
        return self.value > least and self.p_value < SIGNIFICANT


def check_against_annotation(
    audit: Audit, options: "TRoVe.Options", features: Sequence[Feature], scores: Sequence[Score]
) -> Iterator[Evidence]:
    """For each annotated cue: what it costs, whether the ranking shows it, whether it was found."""
    sheet = answer_sheet(audit.samples)
    if not sheet:
        return
    own = any(feature.kind == "cluster" for feature in features)
    asked = baseline_trials(audit.samples, OUTPUTS if own else frozenset({"logits"}))
    right = {
        outcome.trial.sample.key: outcome.correct(options.top_k) for outcome in audit.respond(asked)
    }
    findings = [score for score in scores if score.finding]
    for cue, shown in sheet.items():
        gap = costliest_gap(shown, audit.samples, right, len(sheet))
        costs = gap is not None and gap.costs(options.min_error_contribution)
        if gap is not None:
            yield _gap_evidence(cue, gap, costs)
        if gap is not None and costs:
            yield from _precision_evidence(cue, shown, gap.label, features, scores)
        yield from _naming_evidence(cue, shown, costs, features, findings)


def answer_sheet(samples: Sequence[Sample]) -> dict[str, dict[Place, bool]]:
    """Cue -> (sample, frame) -> whether it shows; only what is annotated."""
    sheet: dict[str, dict[Place, bool]] = {}
    for sample in samples:
        for cue, shown in sample.annotations.get("cues", {}).items():
            if len(shown) != len(sample.frames):
                raise UserError(
                    f"sample '{sample.key}' annotates cue '{cue}'",
                    expected=f"{len(sample.frames)} values, one a frame",
                    got=str(len(shown)),
                )
            places = {(sample.key, frame): bool(seen) for frame, seen in enumerate(shown)}
            sheet.setdefault(cue, {}).update(places)
    return sheet


def costliest_gap(
    shown: Mapping[Place, bool], samples: Sequence[Sample], right: Mapping[str, bool], cues: int = 1
) -> Gap | None:
    """The label that loses most accuracy where the cue shows in any frame; ties go to the first.

    `cues` is how many annotated cues are looked at in all.

    None where no label has annotated sequences both with and without the cue.
    """
    counts: dict[str, list[list[int]]] = {}
    for sample in samples:
        if (sample.key, 0) in shown and sample.label is not None:
            seen = any(shown[sample.key, frame] for frame in range(len(sample.frames)))
            cell = counts.setdefault(sample.label, [[0, 0], [0, 0]])[seen]
            cell[0] += right[sample.key]
            cell[1] += 1
    gaps = [
        Gap(label, *without, *with_it)
        for label, (without, with_it) in counts.items()
        if without[1] and with_it[1]
    ]
    worst = max(gaps, key=lambda gap: gap.value, default=None)
    return worst and replace(worst, tried=len(gaps) * cues)


def ranked_places(features: Sequence[Feature], scores: Sequence[Score], label: str) -> list[Place]:
    """Frames for a label: features by headline score, then occurrences by strength, each once."""
    value = {
        score.feature: score.value
        for score in scores
        if score.metric == scores[0].metric and score.label == label and score.value is not None
    }
    found = [
        (feature, (occurrence.sample, occurrence.frame), occurrence.strength)
        for feature, words in enumerate(features)
        for occurrence in words.occurrences
        if occurrence.frame is not None
    ]
    order = rank_frames(
        np.array([feature for feature, _, _ in found], dtype=np.int64),
        np.array([strength for _, _, strength in found]),
        np.array([value.get(feature.key, -np.inf) for feature in features]),
    )
    return list(dict.fromkeys(found[index][1] for index in order.tolist()))


def _gap_evidence(cue: str, gap: Gap, costs: bool) -> Evidence:
    verdict: Verdict = "supported" if costs else "inconclusive"
    consequence = "" if costs else "; that is no clear cost, so there is no bias to rank"
    return Evidence(
        check=f"annotated cue '{cue}': accuracy lost",
        verdict=verdict,
        detail=f"no label loses more than '{gap.label}': {gap.accuracy_with:.0%} of "
        f"{gap.n_with} right with it, {gap.accuracy_without:.0%} of {gap.n_without} without "
        f"(corrected p = {gap.p_value:.2g}){consequence}",
        value=gap.value,
        n=gap.n_with,
        label=gap.label,
    )


def _precision_evidence(
    cue: str,
    shown: Mapping[Place, bool],
    label: str,
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterator[Evidence]:
    """Precision@K and R-Precision of the label's ranked frames against the cue's base rate."""
    ranking = [place for place in ranked_places(features, scores, label) if place in shown]
    if not ranking:
        return
    found = {score.feature for score in scores if score.finding and score.label == label}
    claimed = sum(len(feature.occurrences) for feature in features if feature.key in found)
    relevant = np.array([shown[place] for place in ranking], dtype=bool)
    base_rate = float(np.mean(list(shown.values())))
    total = sum(shown.values())
    measured = [(f"Precision@{k}", k, precision_at_k(relevant, k)) for k in KS]
    measured.append(("R-Precision", total, r_precision(relevant, total)))
    for name, k, value in measured:
        if value is not None:
            verdict = against_base_rate(value, k, base_rate)
            beyond = verdict == "refuted" and k > claimed
            yield Evidence(
                check=f"{name} for '{cue}'",
                verdict="inconclusive" if beyond else verdict,
                detail=f"{round(value * k)} of the first {k} frames ranked for '{label}' show it; "
                f"{base_rate:.0%} of all {len(shown)} frames do"
                + (f"; but its findings hold {claimed} frames only" if beyond else ""),
                value=value,
                threshold=base_rate,
                n=k,
                label=label,
            )


def against_base_rate(value: float, n: int, base_rate: float) -> Verdict:
    """Supported where `value` of `n` is clearly more than chance gives, refuted where no more."""
    if exceeds_rate_p_value(round(value * n), n, base_rate) < SIGNIFICANT:
        return "supported"
    return "refuted" if value <= base_rate else "inconclusive"


def _naming_evidence(
    cue: str,
    shown: Mapping[Place, bool],
    costs: bool,
    features: Sequence[Feature],
    findings: Sequence[Score],
) -> Iterator[Evidence]:
    """Which findings' frames show the cue; that none do counts against TRoVe if the cue costs."""
    base_rate = float(np.mean(list(shown.values())))
    named = False
    for feature in features:
        if not any(score.feature == feature.key for score in findings):
            continue
        seen = [shown[p] for o in feature.occurrences if (p := (o.sample, o.frame or 0)) in shown]
        share = float(np.mean(seen)) if seen else 0.0
        enriched = exceeds_rate_p_value(sum(seen), len(seen), base_rate) < SIGNIFICANT
        if share >= NAMING_SHARE and enriched:
            named = True
            yield Evidence(
                check=f"what {feature.key} shows",
                verdict="supported",
                detail=f"'{cue}' in {sum(seen)} of its {len(seen)} annotated frames; "
                f"{base_rate:.0%} of all frames show it",
                value=share,
                threshold=NAMING_SHARE,
                n=len(seen),
                feature=feature.key,
                name=cue,
            )
    if costs and not named:
        yield Evidence(
            check=f"annotated cue '{cue}': found",
            verdict="refuted",
            detail=f"it costs accuracy, but no finding has it in {NAMING_SHARE:.0%} of its frames",
            value=0.0,
            threshold=NAMING_SHARE,
        )
