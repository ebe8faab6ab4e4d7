"""What an annotated cue costs, whether the ranking shows it, and whether it was found (4.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from cuescope_sdk import (
    Audit,
    Evidence,
    Feature,
    Outcome,
    Sample,
    Score,
    Trial,
    UserError,
    Verdict,
)
from cuescope_sdk.report import count_of, with_sign
from cuescope_sdk.statistics import Estimate, Groups, gap_intervals, gap_p_values
from cuescope_sdk.stills import Answers, FrameId
from cuescope_trove.maths.ranking import precision_at_k, r_precision, rank_frames
from cuescope_trove.options import TRoVeOptions

# of Precision@K, as in the paper's Table 1
KS = (10, 25, 100)
SIGNIFICANT = 0.05
NAMING_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class Gap:
    """Which of a label's sequences are right (1, 0), `without` and `shown` a cue, with an interval.

    `p_value` is corrected for `tried`: the labels (and cues) among which this one was chosen.
    """

    label: str
    without: np.ndarray
    shown: np.ndarray
    low: float
    high: float
    p_value: float

    @property
    def value(self) -> float:
        """Accuracy where the cue is never on screen, less that where any frame shows it."""
        return float(self.without.mean() - self.shown.mean())

    @property
    def words(self) -> str:
        """Both accuracies, with how many sequences they come from."""
        return (
            f"with it {self.shown.mean():.0%} of {len(self.shown)} sequences are right, "
            f"without it {self.without.mean():.0%} of {len(self.without)}: "
            f"{with_sign(100 * self.low, 0)} to {with_sign(100 * self.high, 0)} points lost"
        )

    def costs(self, least: float) -> bool:
        """Whether the loss is more than `least`, and more than chance explains."""
        return self.value > least and self.p_value < SIGNIFICANT


@dataclass(frozen=True)
class Cue:
    """An annotated cue: which frames show it, and the group of each sequence."""

    name: str
    shows: Mapping[FrameId, bool]
    groups: Mapping[str, int]

    @property
    def base_rate(self) -> float:
        """Share of all annotated frames that show it."""
        return float(np.mean(list(self.shows.values())))


def check_against_annotation(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
    scores: Sequence[Score],
    ranked: Callable[[str], Sequence[FrameId]],
) -> Iterator[Evidence]:
    """For each annotated cue: what it costs, whether the ranking shows it, whether it was found.

    `ranked` gives the frames for a label, those first that show what costs it accuracy.
    """
    cues = annotated_cues(audit.samples)
    if not cues:
        return
    correct = {}
    for outcome in sequences(audit):
        correct[outcome.trial.sample.key] = outcome.correct(options.top_k)
    findings = {score.feature for score in scores if score.finding}
    # of all samples at once: a group then has the same number in every check
    codes = Groups.of(audit.samples).codes.tolist()
    groups = {
        sample.key: code for sample, code in zip(audit.samples, codes, strict=True)
    }
    for name, shows in cues.items():
        cue = Cue(name, shows, groups)
        rng = audit.rng("annotated", name)
        gap = costliest_gap(shows, audit.samples, correct, rng, len(cues))
        costs = gap is not None and gap.costs(options.min_error_contribution)
        if gap is not None:
            yield _gap_evidence(name, gap, costs)
            if costs:
                frames = ranked(gap.label)
                yield from _precision_evidence(cue, gap.label, frames, features, scores)
        yield from _naming_evidence(
            cue, costs, [f for f in features if f.key in findings]
        )


def sequences(audit: Audit) -> list[Outcome]:
    """The sequences as they are; those are asked that the audited method has not asked."""
    left = {sample.key: sample for sample in audit.samples_by_key()}
    answered = [outcome for outcome in audit.outcomes if _is_asked(outcome.trial, left)]
    for outcome in answered:
        # what is answered is not asked again: a model's time is dear
        left.pop(outcome.trial.sample.key, None)
    trials = Answers.trials(left.values(), frozenset({"logits"}))
    return [*answered, *audit.respond(trials)]


def _is_asked(trial: Trial, samples: Mapping[str, Sample]) -> bool:
    """Whether it asks one of the samples, unchanged, for its logits."""
    asked = trial.sample
    sample = samples.get(asked.key)
    if sample is None or "logits" not in trial.outputs:
        return False
    shown = (asked.frames, asked.question, asked.choices)
    same = shown == (sample.frames, sample.question, sample.choices)
    # an edited, probed or repeated answer is not the model's answer to the sample
    return same and (trial.edit, trial.readout, trial.repeat) == (None, None, 0)


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
            of_cue = cues.setdefault(cue, {})
            for frame, flag in enumerate(shows):
                of_cue[sample.key, frame] = bool(flag)
    return cues


def costliest_gap(
    shows: Mapping[FrameId, bool],
    samples: Sequence[Sample],
    correct: Mapping[str, bool],
    rng: np.random.Generator,
    tried: int = 1,
) -> Gap | None:
    """The label that loses most accuracy where the cue shows in any frame; ties go to the first.

    The largest of many gaps is large by luck alone, so its p-value pays (Bonferroni) for every
    label that was compared, times `tried`: how many cues were looked at, or labels to choose from.
    None where no label has annotated sequences both with and without the cue.
    """
    compared = []
    for label in dict.fromkeys(sample.label for sample in samples):
        # frame 0 stands for all of them: a cue is annotated for every frame or for none
        mine = [
            sample
            for sample in samples
            if sample.label == label and (sample.key, 0) in shows
        ]
        # any frame, as eq. 1 counts a cluster: a cue in one frame is on screen
        present = np.array(
            [_shows_anywhere(sample, shows) for sample in mine], dtype=bool
        )
        right = np.array([correct[sample.key] for sample in mine], dtype=float)
        if label is not None and present.any() and not present.all():
            loss = right[~present].mean() - right[present].mean()
            compared.append((loss, label, right, present, Groups.of(mine)))
    if not compared:
        return None
    _, label, right, present, groups = max(compared, key=itemgetter(0))
    # of the costliest label only: draws for the others would be thrown away
    [low], [high] = gap_intervals(right, present[:, None], groups)
    [p_value] = gap_p_values(right, present[:, None], groups, rng)
    return Gap(
        label=label,
        without=right[~present],
        shown=right[present],
        low=float(low),
        high=float(high),
        p_value=min(1.0, float(p_value) * len(compared) * tried),
    )


def _shows_anywhere(sample: Sample, shows: Mapping[FrameId, bool]) -> bool:
    return any(shows[sample.key, frame] for frame in range(len(sample.frames)))


def rank_annotated_frames(
    features: Sequence[Feature],
    scores: Sequence[Score],
    label: str,
    metric: str,
) -> list[FrameId]:
    """Frames for a label: features by score, then occurrences by strength, each frame once."""
    # of one metric: scores of another one would mix scales in the ranking
    value = {}
    for score in scores:
        if (score.metric, score.label) == (metric, label) and score.value is not None:
            value[score.feature] = score.value
    frames = []
    numbers = []
    strengths = []
    for number, feature in enumerate(features):
        for occurrence in feature.occurrences:
            if occurrence.frame is not None:
                frames.append((occurrence.sample, occurrence.frame))
                numbers.append(number)
                strengths.append(occurrence.strength)
    # A frame may occur in several features of another method: its best rank counts.
    order = rank_frames(
        np.array(numbers, dtype=np.int64),
        np.array(strengths),
        np.array([value.get(feature.key, -np.inf) for feature in features]),
    )
    return list(dict.fromkeys(frames[index] for index in order))


def _gap_evidence(cue: str, gap: Gap, costs: bool) -> Evidence:
    consequence = "" if costs else "; the loss is not clear, so no ranking is checked"
    return Evidence(
        check=f"annotated cue '{cue}': accuracy lost",
        verdict="supported" if costs else "inconclusive",
        detail=f"'{gap.label}' loses most: {gap.words} (corrected p = {gap.p_value:.2g})"
        f"{consequence}",
        value=gap.value,
        n=len(gap.shown),
        label=gap.label,
    )


def _precision_evidence(
    cue: Cue,
    label: str,
    ranked: Sequence[FrameId],
    features: Sequence[Feature],
    scores: Sequence[Score],
) -> Iterator[Evidence]:
    """Precision@K and R-Precision of the label's ranked frames against the cue's base rate."""
    # a frame that nobody annotated is neither a hit nor a miss
    frames = [frame for frame in ranked if frame in cue.shows]
    if not frames:
        return
    relevant = np.array([cue.shows[frame] for frame in frames])
    finding_keys = {s.feature for s in scores if s.finding and s.label == label}
    claimed = sum(len(f.occurrences) for f in features if f.key in finding_keys)
    base_rate = cue.base_rate
    total = sum(cue.shows.values())
    measures = [(f"Precision@{k}", k, precision_at_k(relevant, k)) for k in KS]
    measures.append(("R-Precision", total, r_precision(relevant, total)))
    for name, k, value in measures:
        # fewer ranked frames than k: there is no such precision
        if value is None:
            continue
        share = share_of(frames[:k], relevant[:k], cue.groups)
        verdict: Verdict = "inconclusive"
        words = ""
        if share.low > base_rate:
            verdict = "supported"
        elif share.high < base_rate and k <= claimed:
            verdict = "refuted"
        elif share.high < base_rate:
            # Beyond the frames of its findings TRoVe claims nothing, so nothing refutes it there.
            words = f"; but its findings have only {count_of(claimed, 'frames')}"
        yield Evidence(
            check=f"{name} for '{cue.name}'",
            verdict=verdict,
            detail=f"{round(value * k)} of the first {k} frames ranked for '{label}' show it "
            f"({share.low:.0%} to {share.high:.0%}); {base_rate:.0%} of all {len(cue.shows)} "
            f"frames do{words}",
            value=value,
            threshold=base_rate,
            n=k,
            label=label,
        )


def share_of(
    frames: Sequence[FrameId],
    flags: np.ndarray,
    groups: Mapping[str, int],
) -> Estimate[float]:
    """The share of frames with a flag; frames of a group were drawn together."""
    codes, inverse = np.unique(
        [groups[sample] for sample, _ in frames], return_inverse=True
    )
    # frames of one sequence were drawn together, so they count as one group
    return Estimate.of_mean(flags.astype(float), Groups(inverse, len(codes), True))


def _naming_evidence(
    cue: Cue,
    costs: bool,
    found: Sequence[Feature],
) -> Iterator[Evidence]:
    """Which findings' frames show the cue; that none do counts against TRoVe if the cue costs."""
    base_rate = cue.base_rate
    named = False
    for feature in found:
        occurrences = [(seen.sample, seen.frame or 0) for seen in feature.occurrences]
        frames = [frame for frame in occurrences if frame in cue.shows]
        flags = np.array([cue.shows[frame] for frame in frames])
        # a cluster that shows the cue now and then would get a name that misleads
        if not len(flags) or flags.mean() < NAMING_SHARE:
            continue
        # A cue that is nearly everywhere fills any cluster: its share must also beat its rate.
        share = share_of(frames, flags, cue.groups)
        if share.low > base_rate:
            named = True
            yield Evidence(
                check=f"what {feature.key} shows",
                verdict="supported",
                detail=f"'{cue.name}' in {flags.sum()} of its {len(flags)} annotated frames; "
                f"{base_rate:.0%} of all frames show it",
                value=share.value,
                threshold=NAMING_SHARE,
                n=len(flags),
                feature=feature.key,
                name=cue.name,
            )
    if costs and not named:
        yield Evidence(
            check=f"annotated cue '{cue.name}': found",
            verdict="refuted",
            detail=f"it costs accuracy, but no finding shows it in {NAMING_SHARE:.0%} of its "
            "frames",
            value=0.0,
            threshold=NAMING_SHARE,
        )
