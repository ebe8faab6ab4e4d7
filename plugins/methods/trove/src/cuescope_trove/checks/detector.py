"""Pseudo-labels of a detector for a named feature (section 5.1 and appendix D.1)."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk import Audit, Detector, Evidence, Feature, Sample, Score, Verdict
from cuescope_sdk.statistics import Groups, mean_interval
from cuescope_sdk.stills import FrameId, samples_by_key
from cuescope_trove.checks.annotated_cues import costliest_gap
from cuescope_trove.options import TRoVeOptions
from cuescope_trove.report import Analysis

DETECTOR_BATCH = 64


def check_with_detector(
    audit: Audit,
    options: TRoVeOptions,
    features: Sequence[Feature],
    scores: Sequence[Score],
    analysis: Analysis,
) -> Iterator[Evidence]:
    """Is the named feature what costs the top label its accuracy, and is a still frame enough?

    The label was chosen by the same answers, as the best of all pairs that were tested: the
    p-value pays for each of them. Where cues were looked for in one part, the other is looked at.
    """
    label, name = scores[0].label, options.feature_name
    if label is None or name is None:
        yield Evidence(
            check="detector: accuracy lost",
            verdict="inconclusive",
            detail="the detector does not know what to look for: look at the frames of the first "
            "finding, and name what they share (-O feature_name='tree')",
        )
        return
    observations, part = analysis.observations, analysis.part
    ordered = samples_by_key(audit)
    fresh = np.ones(len(ordered), dtype=bool) if part is None else ~part
    samples = [s for s, chosen in zip(ordered, fresh, strict=True) if chosen and s.label == label]
    shows = detect(audit, samples, name, options.threshold)
    correct = {s.key: bool(c) for s, c in zip(ordered, observations.correct, strict=True)}
    tried = max(int(analysis.table.tried.sum()), 1)
    yield accuracy_evidence(samples, shows, correct, label, name, audit.rng("detector"), tried)
    frames = [(o.sample, o.frame or 0) for feature in features for o in feature.occurrences]
    # The rows of `frame_bias` are in the order of the features' occurrences.
    wrong = [row for row, frame in enumerate(frames) if frame in shows and not correct[frame[0]]]
    yield confidence_evidence(
        observations.frame_bias[wrong],
        np.array([shows[frames[row]] for row in wrong], dtype=bool),
        observations.groups.take(observations.frame_sample[wrong]),
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
    rng: np.random.Generator,
    tried: int = 1,
) -> Evidence:
    """Accuracy on the label without and with the feature in any frame."""
    check = f"detector: accuracy '{label}' loses with '{name}'"
    gap = costliest_gap(shows, samples, correct, rng, tried)
    if gap is None:
        where = "every sequence" if any(shows.values()) else "no sequence"
        return Evidence(
            check=check,
            verdict="inconclusive",
            detail=f"the detector finds '{name}' in {where} of '{label}': there is nothing to "
            "compare",
        )
    no_clear_loss: Verdict = "refuted" if gap.high <= 0 else "inconclusive"
    return Evidence(
        check=check,
        verdict="supported" if gap.costs(0.0) else no_clear_loss,
        detail=f"{gap.words} (p = {gap.p_value:.2g}, corrected for the {tried} pairs that the "
        "label was chosen from)",
        value=gap.value,
        threshold=0.0,
        n=gap.n_with,
        label=label,
    )


def confidence_evidence(
    bias: Float[np.ndarray, " frame"],
    present: Bool[np.ndarray, " frame"],
    groups: Groups,
    chance: float,
    label: str,
    name: str,
) -> Evidence:
    """How sure a still frame is of the wrong answer of its sequence, with and without the feature.

    The paper compares the highest probability of a frame with chance, below which it can never
    be. This takes the probability of what the sequence was mistaken for, which can.
    """
    check = f"detector: still-frame confidence with '{name}'"
    if not present.any():
        return Evidence(
            check=check,
            verdict="inconclusive",
            detail=f"the detector finds '{name}' in no frame of a misclassified '{label}'",
        )
    value = float(bias[present].mean())
    low, high = mean_interval(bias[present], groups.take(present))
    assert low is not None
    assert high is not None
    unclear: Verdict = "refuted" if high < chance else "inconclusive"
    without = f"; {bias[~present].mean():.2f} without" if (~present).any() else ""
    return Evidence(
        check=check,
        verdict="supported" if low > chance else unclear,
        detail=f"a single frozen frame with it gives the wrong answer of its sequence {value:.2f} "
        f"({low:.2f} to {high:.2f}){without}, over the frames of misclassified '{label}'; chance "
        f"is {chance:.2f}",
        value=value,
        threshold=chance,
        n=int(present.sum()),
        label=label,
    )
