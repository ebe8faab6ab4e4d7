"""Checks of what TRoVe found: annotated cues, a detector's pseudo-labels, and the null."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk import Audit, Detector, Evidence, Feature, Sample, Score, UserError, Verdict
from cuescope_sdk.maths import (
    exceeds_rate_p_value,
    precision_at_k,
    r_precision,
    rank_frames,
    single_gap_p_value,
)
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.report import CALIBRATION, observe
from cuescope_trove.scores import Observations, score, shuffle_within_labels
from cuescope_trove.trials import FrameId, ask, baseline_trials, samples_by_key

KS = (10, 25, 100)
SIGNIFICANT = 0.05
NAMING_SHARE = 0.8
DETECTOR_BATCH = 64


def evidence(
    audit: Audit, options: TRoVeOptions, features: Sequence[Feature], scores: Sequence[Score]
) -> Iterator[Evidence]:
    """Every check that the data and the tools allow; nothing where nothing was scored.

    The annotation speaks about any method's features. The null and the detector's check need
    TRoVe's own clusters.
    """
    if not scores:
        return
    own = any(score.metric == "trove_score" for score in scores)
    yield from check_against_annotation(audit, options, features, scores, own)
    if own:
        observations, _ = audit.once(observe, audit, features, options.top_k, CALIBRATION)
        if "detector" in audit.tools:
            yield from check_with_detector(audit, options, features, scores, observations)
        if options.null_shuffles:
            yield check_null(audit, options, observations, len(features))


def check_null(
    audit: Audit, options: TRoVeOptions, observations: Observations, clusters: int
) -> Evidence:
    """Answers dealt anew within each label know nothing of clusters: findings should vanish."""
    rng, shuffles = audit.rng("null"), options.null_shuffles
    shuffled = (shuffle_within_labels(observations, rng) for _ in range(shuffles))
    counts = [int(score(null, clusters, options).finding.sum()) for null in shuffled]
    alarms = sum(count > 0 for count in counts)
    # Some alarms are promised: only more of them than the rate explains speak against the method.
    excessive = exceeds_rate_p_value(alarms, shuffles, options.fdr) < SIGNIFICANT
    return Evidence(
        check="null: answers shuffled within each label",
        verdict="refuted" if excessive else "supported",
        detail=f"in {alarms} of {shuffles} shuffles TRoVe found something ({sum(counts)} false "
        f"findings in all); {options.fdr:.0%} of the shuffles may do so",
        value=alarms / shuffles,
        threshold=options.fdr,
        n=shuffles,
    )


# ------------------------------------------------------- annotated cues (section 4.2, Precision@K)


@dataclass(frozen=True)
class Gap:
    """How many of a label's sequences are right, without and with a cue.

    `tried` counts the labels (and cues) among which this one was chosen.
    """

    label: str
    correct_without: int
    n_without: int
    correct_with: int
    n_with: int
    tried: int = 1

    @property
    def value(self) -> float:
        """Accuracy where the cue is never on screen, less that where any frame shows it."""
        return self.correct_without / self.n_without - self.correct_with / self.n_with

    @property
    def p_value(self) -> float:
        """Exact permutation p-value of the loss, times what was tried (Bonferroni)."""
        counts = (self.correct_without, self.n_without, self.correct_with, self.n_with)
        return min(1.0, self.tried * single_gap_p_value(*counts))

    @property
    def words(self) -> str:
        """Both accuracies, with how many sequences they come from."""
        return (
            f"with it {self.correct_with / self.n_with:.0%} of {self.n_with} sequences are right, "
            f"without it {self.correct_without / self.n_without:.0%} of {self.n_without}"
        )

    def costs(self, least: float) -> bool:
        """Whether the loss is more than `least`, and more than chance explains."""
        return self.value > least and self.p_value < SIGNIFICANT


def check_against_annotation(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
    scores: Sequence[Score],
    own: bool,
) -> Iterator[Evidence]:
    """For each annotated cue: what it costs, whether the ranking shows it, whether it was found.

    `own` says that the features and scores are TRoVe's, else they are another method's.
    """
    cues = annotated_cues(audit.samples)
    if not cues:
        return
    if own:
        outcomes = audit.once(ask, audit).outcomes
    else:  # another method need not have asked the sequences as they are
        outcomes = audit.respond(baseline_trials(samples_by_key(audit), frozenset({"logits"})))
    correct = {outcome.trial.sample.key: outcome.correct(options.top_k) for outcome in outcomes}
    findings = [score for score in scores if score.finding]
    for cue, shows in cues.items():
        gap = costliest_gap(shows, audit.samples, correct, len(cues))
        costs = gap is not None and gap.costs(options.min_error_contribution)
        if gap is not None:
            yield _gap_evidence(cue, gap, costs)
        if gap is not None and costs:
            yield from _precision_evidence(cue, shows, gap.label, features, scores)
        yield from _naming_evidence(cue, shows, costs, features, findings)


def annotated_cues(samples: Sequence[Sample]) -> dict[str, dict[FrameId, bool]]:
    """Cue -> frame -> whether it shows the cue; only what is annotated."""
    cues: dict[str, dict[FrameId, bool]] = {}
    for sample in samples:
        for cue, shows in sample.annotations.get("cues", {}).items():
            if len(shows) != len(sample.frames):
                raise UserError(
                    f"sample '{sample.key}' annotates cue '{cue}'",
                    expected=f"{len(sample.frames)} values, one a frame",
                    got=str(len(shows)),
                )
            of_sample = {(sample.key, frame): bool(flag) for frame, flag in enumerate(shows)}
            cues.setdefault(cue, {}).update(of_sample)
    return cues


def costliest_gap(
    shows: Mapping[FrameId, bool],
    samples: Sequence[Sample],
    correct: Mapping[str, bool],
    cues: int = 1,
) -> Gap | None:
    """The label that loses most accuracy where the cue shows in any frame; ties go to the first.

    `cues` is how many annotated cues are looked at in all.

    None where no label has annotated sequences both with and without the cue.
    """
    counts: dict[str, list[list[int]]] = {}
    for sample in samples:
        if (sample.key, 0) in shows and sample.label is not None:
            with_cue = any(shows[sample.key, frame] for frame in range(len(sample.frames)))
            # Per label: right and all of those without the cue, then of those with it.
            cell = counts.setdefault(sample.label, [[0, 0], [0, 0]])[with_cue]
            cell[0] += correct[sample.key]
            cell[1] += 1
    gaps = [
        Gap(label, *without, *with_cue)
        for label, (without, with_cue) in counts.items()
        if without[1] and with_cue[1]
    ]
    worst = max(gaps, key=lambda gap: gap.value, default=None)
    # The largest of many gaps is large by luck alone: its p-value pays for all that were compared.
    return worst and replace(worst, tried=len(gaps) * cues)


def rank_annotated_frames(
    features: Sequence[Feature], scores: Sequence[Score], label: str, metric: str
) -> list[FrameId]:
    """Frames for a label: features by score, then occurrences by strength, each frame once."""
    value = {
        score.feature: score.value
        for score in scores
        if score.metric == metric and score.label == label and score.value is not None
    }
    occurrences = [
        (number, (occurrence.sample, occurrence.frame), occurrence.strength)
        for number, feature in enumerate(features)
        for occurrence in feature.occurrences
        if occurrence.frame is not None
    ]
    # A frame may occur in several features of another method: its best rank counts.
    order = rank_frames(
        np.array([number for number, _, _ in occurrences], dtype=np.int64),
        np.array([strength for _, _, strength in occurrences]),
        np.array([value.get(feature.key, -np.inf) for feature in features]),
    )
    return list(dict.fromkeys(occurrences[index][1] for index in order.tolist()))


def _gap_evidence(cue: str, gap: Gap, costs: bool) -> Evidence:
    consequence = "" if costs else "; that is no clear loss, so there is no bias to rank"
    return Evidence(
        check=f"annotated cue '{cue}': accuracy lost",
        verdict="supported" if costs else "inconclusive",
        detail=f"'{gap.label}' loses most: {gap.words} (corrected p = {gap.p_value:.2g})"
        f"{consequence}",
        value=gap.value,
        n=gap.n_with,
        label=gap.label,
    )


def _precision_evidence(
    cue: str,
    shows: Mapping[FrameId, bool],
    label: str,
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterator[Evidence]:
    """Precision@K and R-Precision of the label's ranked frames against the cue's base rate."""
    frames = rank_annotated_frames(features, scores, label, scores[0].metric)
    relevant = np.array([shows[frame] for frame in frames if frame in shows], dtype=bool)
    if not relevant.size:
        return
    finding_keys = {s.feature for s in scores if s.finding and s.label == label}
    claimed = sum(len(f.occurrences) for f in features if f.key in finding_keys)
    base_rate = float(np.mean(list(shows.values())))
    total = sum(shows.values())
    measures = [(f"Precision@{k}", k, precision_at_k(relevant, k)) for k in KS]
    measures.append(("R-Precision", total, r_precision(relevant, total)))
    for name, k, value in measures:
        if value is not None:
            significant = exceeds_rate_p_value(round(value * k), k, base_rate) < SIGNIFICANT
            not_clear: Verdict = "refuted" if value <= base_rate else "inconclusive"
            verdict = "supported" if significant else not_clear
            # Beyond the frames of its findings TRoVe claims nothing, so nothing refutes it there.
            beyond = verdict == "refuted" and k > claimed
            yield Evidence(
                check=f"{name} for '{cue}'",
                verdict="inconclusive" if beyond else verdict,
                detail=f"{round(value * k)} of the first {k} frames ranked for '{label}' show it; "
                f"{base_rate:.0%} of all {len(shows)} frames do"
                + (f"; but its findings have only {claimed} frames" if beyond else ""),
                value=value,
                threshold=base_rate,
                n=k,
                label=label,
            )


def _naming_evidence(
    cue: str,
    shows: Mapping[FrameId, bool],
    costs: bool,
    features: Sequence[Feature],
    findings: Sequence[Score],
) -> Iterator[Evidence]:
    """Which findings' frames show the cue; that none do counts against TRoVe if the cue costs."""
    base_rate = float(np.mean(list(shows.values())))
    finding_keys = {score.feature for score in findings}
    named = False
    for feature in (feature for feature in features if feature.key in finding_keys):
        frames = [(occurrence.sample, occurrence.frame or 0) for occurrence in feature.occurrences]
        flags = [shows[frame] for frame in frames if frame in shows]
        share = float(np.mean(flags)) if flags else 0.0
        # A cue that is nearly everywhere fills any cluster: its share must also beat its rate.
        enriched = exceeds_rate_p_value(sum(flags), len(flags), base_rate) < SIGNIFICANT
        if share >= NAMING_SHARE and enriched:
            named = True
            yield Evidence(
                check=f"what {feature.key} shows",
                verdict="supported",
                detail=f"'{cue}' in {sum(flags)} of its {len(flags)} annotated frames; "
                f"{base_rate:.0%} of all frames show it",
                value=share,
                threshold=NAMING_SHARE,
                n=len(flags),
                feature=feature.key,
                name=cue,
            )
    if costs and not named:
        yield Evidence(
            check=f"annotated cue '{cue}': found",
            verdict="refuted",
            detail=f"it costs accuracy, but no finding shows it in {NAMING_SHARE:.0%} of its "
            "frames",
            value=0.0,
            threshold=NAMING_SHARE,
        )


# ------------------------------------- pseudo-labels of a detector (section 5.1 and appendix D.1)


def check_with_detector(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
    scores: Sequence[Score],
    observations: Observations,
) -> Iterator[Evidence]:
    """Is the named feature what costs the top label its accuracy, and is a still frame enough?"""
    label, name = scores[0].label, options.feature_name
    if label is None or name is None:
        yield Evidence(
            check="detector: accuracy lost",
            verdict="inconclusive",
            detail="the detector does not know what to look for: look at the frames of the first "
            "finding, and name what they share (-O feature_name='tree')",
        )
        return
    ordered = samples_by_key(audit)
    samples = [sample for sample in ordered if sample.label == label]
    shows = detect(audit, samples, name, options.threshold)
    correct = {s.key: bool(c) for s, c in zip(ordered, observations.correct, strict=True)}
    yield accuracy_evidence(samples, shows, correct, label, name)
    frames = [(o.sample, o.frame or 0) for feature in features for o in feature.occurrences]
    # The rows of `frame_static` are in the order of the features' occurrences.
    wrong = [row for row, frame in enumerate(frames) if frame in shows and not correct[frame[0]]]
    yield confidence_evidence(
        observations.frame_static[wrong].max(axis=1, initial=0.0),
        np.array([shows[frames[row]] for row in wrong], dtype=bool),
        1 / observations.classes,
        label,
        name,
    )


def detect(
    audit: Audit, samples: Sequence[Sample], name: str, threshold: float
) -> dict[FrameId, bool]:
    """Per frame: whether the detector finds `name` with at least `threshold`."""
    detector: Detector = audit.tools["detector"]
    frames = [(sample, index) for sample in samples for index in range(len(sample.frames))]
    shows: dict[FrameId, bool] = {}
    with audit.context.progress("detecting", len(frames)) as advance:
        for start in range(0, len(frames), DETECTOR_BATCH):
            batch = frames[start : start + DETECTOR_BATCH]
            answers = detector.detect([sample.frames[index] for sample, index in batch], [name])
            for (sample, index), boxes in zip(batch, answers, strict=True):
                shows[sample.key, index] = any(box.score >= threshold for box in boxes)
            advance(len(batch))
    return shows


def accuracy_evidence(
    samples: Sequence[Sample],
    shows: Mapping[FrameId, bool],
    correct: Mapping[str, bool],
    label: str,
    name: str,
) -> Evidence:
    """Accuracy on the label without and with the feature in any frame."""
    check = f"detector: accuracy '{label}' loses with '{name}'"
    gap = costliest_gap(shows, samples, correct)
    if gap is None:
        where = "every sequence" if any(shows.values()) else "no sequence"
        return Evidence(
            check=check,
            verdict="inconclusive",
            detail=f"the detector finds '{name}' in {where} of '{label}': there is nothing to "
            "compare",
        )
    no_clear_loss: Verdict = "refuted" if gap.value <= 0 else "inconclusive"
    return Evidence(
        check=check,
        verdict="supported" if gap.costs(0.0) else no_clear_loss,
        detail=f"{gap.words} (p = {gap.p_value:.2g})",
        value=gap.value,
        threshold=0.0,
        n=gap.n_with,
        label=label,
    )


def confidence_evidence(
    confidence: Float[np.ndarray, " frame"],
    present: Bool[np.ndarray, " frame"],
    chance: float,
    label: str,
    name: str,
) -> Evidence:
    """Mean highest still-clip confidence over misclassified sequences' frames, with and without."""
    check = f"detector: still-frame confidence with '{name}'"
    if not present.any():
        return Evidence(
            check=check,
            verdict="inconclusive",
            detail=f"the detector finds '{name}' in no frame of a misclassified '{label}'",
        )
    value = float(confidence[present].mean())
    without = f", {confidence[~present].mean():.2f} without" if (~present).any() else ""
    return Evidence(
        check=check,
        # The paper's test is against chance, not against frames without the feature: these may
        # show another cue (appendix D.1: "significantly larger than ... random chance").
        verdict="supported" if value > chance else "refuted",
        detail=f"a single frozen frame gets {value:.2f} confidence with it{without}, over the "
        f"frames of misclassified '{label}'; chance is {chance:.2f}",
        value=value,
        threshold=chance,
        n=int(present.sum()),
        label=label,
    )
