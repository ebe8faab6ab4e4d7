"""The paper's check with a detector's pseudo-labels (section 5.1, appendix D.1)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool

from cuescope_sdk import Audit, Detector, Evidence, Feature, Sample, Score, Verdict
from cuescope_trove.answers import Gap, Place
from cuescope_trove.observing import by_key
from cuescope_trove.scoring import Observed

if TYPE_CHECKING:
    from cuescope_trove import TRoVe

BATCH = 64


def check_with_detector(
    audit: Audit,
    options: "TRoVe.Options",
    features: Sequence[Feature],
    scores: Sequence[Score],
    observed: Observed,
) -> Iterator[Evidence]:
    """Is the named feature what costs the top label its accuracy, and is a still frame enough?"""
    label, name = scores[0].label, options.feature_name
    if label is None or name is None:
        yield Evidence(
            check="detector: accuracy lost",
            verdict="inconclusive",
            detail="the detector was not told what to look for: look at the frames, then name "
            "what they share, -O feature_name='tree'",
        )
        return
    samples = [sample for sample in by_key(audit) if sample.label == label]
    seen = seen_by(audit, samples, name, options.threshold)
    correct = {s.key: bool(c) for s, c in zip(by_key(audit), observed.correct, strict=True)}
    yield accuracy_check(samples, seen, correct, label, name)
    places = [(o.sample, o.frame or 0) for feature in features for o in feature.occurrences]
    wrong = [frame for frame, place in enumerate(places)
             if place in seen and not correct[place[0]]]  # fmt: skip
    present = np.array([seen[places[frame]] for frame in wrong], dtype=bool)
    yield confidence_check(observed.frame_static[wrong].max(axis=1, initial=0.0), present,
                           1 / observed.classes, label, name)  # fmt: skip


def seen_by(
    audit: Audit, samples: Sequence[Sample], name: str, threshold: float
) -> dict[Place, bool]:
    """Per frame: whether the detector finds `name` with at least `threshold`."""
    detector: Detector = audit.tools["detector"]
    frames = [(sample, index) for sample in samples for index in range(len(sample.frames))]
    seen: dict[Place, bool] = {}
    with audit.context.progress("detecting", len(frames)) as done:
        for start in range(0, len(frames), BATCH):
            batch = frames[start : start + BATCH]
            found = detector.detect([sample.frames[index] for sample, index in batch], [name])
            for (sample, index), boxes in zip(batch, found, strict=True):
                seen[sample.key, index] = any(box.score >= threshold for box in boxes)
            done(len(batch))
    return seen


def accuracy_check(
    samples: Sequence[Sample],
    seen: dict[Place, bool],
    correct: dict[str, bool],
    label: str,
    name: str,
) -> Evidence:
    """Accuracy on the label without and with the feature in any frame."""
    with_it = [any(seen[s.key, frame] for frame in range(len(s.frames))) for s in samples]
    right = [correct[sample.key] for sample in samples]
    groups = [[r for r, w in zip(right, with_it, strict=True) if w is side]
              for side in (False, True)]  # fmt: skip
    check = f"detector: accuracy '{label}' loses with '{name}'"
    if not all(groups):
        where = "every sequence" if groups[1] else "no sequence"
        return Evidence(
            check=check,
            verdict="inconclusive",
            detail=f"the detector sees '{name}' in {where} of '{label}': nothing to compare",
        )
    without, present = groups
    gap = Gap(label, sum(without), len(without), sum(present), len(present))
    verdict: Verdict = "inconclusive"
    if gap.costs(0.0):
        verdict = "supported"
    elif gap.value <= 0:
        verdict = "refuted"
    return Evidence(
        check=check,
        verdict=verdict,
        detail=f"{gap.accuracy_with:.0%} of {gap.n_with} right with it, "
        f"{gap.accuracy_without:.0%} of {gap.n_without} without (p = {gap.p_value:.2g})",
        value=gap.value,
        threshold=0.0,
        n=gap.n_with,
        label=label,
    )


def confidence_check(
    confidence: np.ndarray,
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
            detail=f"the detector sees '{name}' in no frame of a misclassified '{label}'",
        )
    value = float(confidence[present].mean())
    apart = f", {confidence[~present].mean():.2f} without" if (~present).any() else ""
    return Evidence(
        check=check,
        verdict="supported" if value > chance else "refuted",
        detail=f"{value:.2f} with it{apart}, over frames of misclassified '{label}'; "
        f"chance is {chance:.2f}",
        value=value,
        threshold=chance,
        n=int(present.sum()),
        label=label,
    )
