"""Pseudo-labels of a detector for a named feature (section 5.1 and appendix D.1)."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float

from cuescope_sdk import (
    Audit,
    Detector,
    Evidence,
    Feature,
    Frame,
    Sample,
    Score,
    Verdict,
)
from cuescope_sdk.statistics import Estimate, Groups
from cuescope_sdk.stills import Answers, FrameId
from cuescope_trove.analysis import Analysis
from cuescope_trove.checks.annotated_cues import costliest_gap
from cuescope_trove.options import TRoVeOptions

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
    p-value pays for each of them.
    """
    # scores come ranked, findings first: this is the label of the best pair
    label = scores[0].label
    name = options.feature_name
    if label is None or name is None:
        yield Evidence(
            check="detector: accuracy lost",
            verdict="inconclusive",
            detail="the detector does not know what to look for: look at the frames of the first "
            "finding, and name what they share (-O feature_name='tree')",
        )
        return
    observations = analysis.observations
    ordered = audit.samples_by_key()
    # of this label only: frames of others would be looked through for nothing
    samples = [sample for sample in ordered if sample.label == label]
    shows = detect(audit, samples, name, options.threshold)
    keys = [sample.key for sample in ordered]
    correct = dict(zip(keys, observations.correct.tolist(), strict=True))
    tried = len(analysis.table.pairs)
    yield accuracy_evidence(
        samples, shows, correct, label, name, audit.rng("detector"), tried
    )
    wrong = []
    present = []
    # the rows of `frame_bias` are those of the still clips
    for (sample, frame), row in audit.once(Answers.ask, audit).row.items():
        shown = shows.get((sample, frame))
        # the static bias is of wrong answers: a right sequence has none to repeat
        if shown is not None and not correct[sample]:
            wrong.append(row)
            present.append(shown)
    yield confidence_evidence(
        observations.frame_bias[wrong],
        np.array(present, dtype=bool),
        observations.groups.take(observations.frame_sample[wrong]),
        1 / observations.classes,
        label,
        name,
    )


def detect(
    audit: Audit,
    samples: Sequence[Sample],
    name: str,
    threshold: float,
) -> dict[FrameId, bool]:
    """Per frame: whether the detector finds `name` with at least `threshold`."""
    detector: Detector = audit.tools["detector"]
    frames: dict[FrameId, Frame] = {}
    for sample in samples:
        for number, frame in enumerate(sample.frames):
            frames[sample.key, number] = frame
    names = list(frames)
    shows: dict[FrameId, bool] = {}
    with audit.context.progress("detecting", len(frames)) as advance:
        for start in range(0, len(frames), DETECTOR_BATCH):
            batch = names[start : start + DETECTOR_BATCH]
            answers = detector.detect(
                [frames[frame_name] for frame_name in batch], [name]
            )
            for frame_name, boxes in zip(batch, answers, strict=True):
                shows[frame_name] = any(box.score >= threshold for box in boxes)
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
    verdict: Verdict = "inconclusive"
    if gap.costs(0.0):
        verdict = "supported"
    # only an interval without any loss refutes; a small sample leaves it open
    elif gap.high <= 0:
        verdict = "refuted"
    return Evidence(
        check=check,
        verdict=verdict,
        detail=f"{gap.words} (p = {gap.p_value:.2g}, corrected for the {tried} pairs that the "
        "label was chosen from)",
        value=gap.value,
        threshold=0.0,
        n=len(gap.shown),
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
    sure = Estimate.of_mean(bias[present], groups.take(present))
    verdict: Verdict = "inconclusive"
    # a frame that tells nothing gives any answer 1 in |Y|
    if sure.low > chance:
        verdict = "supported"
    elif sure.high < chance:
        verdict = "refuted"
    without = "" if present.all() else f"; {bias[~present].mean():.2f} without"
    return Evidence(
        check=check,
        verdict=verdict,
        detail="a single frozen frame with it gives the wrong answer of its sequence "
        f"{sure.value:.2f} ({sure.low:.2f} to {sure.high:.2f}){without}, over the frames of "
        f"misclassified '{label}'; chance is {chance:.2f}",
        value=sure.value,
        threshold=chance,
        n=int(present.sum()),
        label=label,
    )
