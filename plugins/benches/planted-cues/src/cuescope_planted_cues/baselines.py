"""Two auditors that know of no cue: what a bench must not take for a find."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float
from PIL import Image
from scipy.cluster.vq import kmeans2

from cuescope_planted_cues.sheet_methods import Auditor, accuracy_gap
from cuescope_sdk import (
    Audit,
    Feature,
    Metric,
    Occurrence,
    Outcome,
    Sample,
    Score,
    Trial,
    hookimpl,
)
from cuescope_sdk.maths import softmax

ERRORS = "error-ranker"
GAPS = "gap-ranker"
LEAST_GAP = 0.1
LEAST_SAMPLES = 5  # of a label, with a group and without it
GROUPS = 16
SIDE = 8  # of the thumbnails that are grouped


class ErrorRanker(Auditor):
    """Lists the wrong answers of each label, those given most often first, the surest first."""

    title = "Ranks errors"
    metrics = (
        Metric(name="errors", title="Errors", meaning="share of the label's samples"),
    )

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """A feature for each label and wrong answer to it."""
        wrong: dict[str, list[Occurrence]] = defaultdict(list)
        trials = [Trial(sample=sample) for sample in audit.samples]
        for outcome in audit.respond(trials):
            sample = outcome.trial.sample
            if not outcome.correct():
                chances = softmax(outcome.logits[None])
                wrong[f"{sample.label} taken for {outcome.prediction}"].append(
                    Occurrence(sample=sample.key, strength=float(chances.max()))
                )
        for key, occurrences in wrong.items():
            occurrences.sort(key=lambda occurrence: -occurrence.strength)
            yield Feature(key=key, kind="cluster", occurrences=tuple(occurrences))

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterator[Score]:
        """How often each error is made."""
        labels = {sample.key: sample.label for sample in audit.samples}
        for feature in features:
            label = labels[feature.occurrences[0].sample]
            share = len(feature.occurrences) / list(labels.values()).count(label)
            yield Score(
                feature=feature.key,
                label=label,
                metric="errors",
                value=share,
                finding=len(feature.occurrences) >= LEAST_SAMPLES,
            )


class GapRanker(Auditor):
    """Groups pictures that look alike, and ranks the groups by their gap in accuracy.

    It has neither a test nor a control: a group that goes with what is hard has a gap too.
    """

    title = "Ranks gaps"
    metrics = (
        Metric(
            name="gap",
            title="Gap",
            meaning="accuracy without the group minus accuracy with it",
        ),
    )

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """Frames whose thumbnails are alike."""
        places = [
            Occurrence(sample=sample.key, frame=number)
            for sample in audit.samples
            for number in range(len(sample.frames))
        ]
        # questions come without frames
        if len(places) < GROUPS:
            return
        rows = np.concatenate([thumbnails(sample) for sample in audit.samples])
        rng = audit.rng("gap-ranker")
        _, group = kmeans2(rows, GROUPS, minit="++", seed=rng, missing="warn")
        for number in range(GROUPS):
            occurrences = [places[row] for row in np.flatnonzero(group == number)]
            if occurrences:
                yield Feature(
                    key=f"group-{number:02d}",
                    kind="cluster",
                    occurrences=tuple(occurrences),
                )

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterator[Score]:
        """The gap of each group on each label that has samples of both kinds."""
        right: dict[str | None, dict[str, bool]] = defaultdict(dict)
        for outcome in outcomes:
            sample = outcome.trial.sample
            right[sample.label][sample.key] = outcome.correct()
        for feature in features:
            held = {occurrence.sample for occurrence in feature.occurrences}
            for label, answers in right.items():
                gap = accuracy_gap(answers, held, LEAST_SAMPLES)
                if gap is None:
                    continue
                yield Score(
                    feature=feature.key,
                    label=label,
                    metric="gap",
                    value=gap,
                    finding=gap >= LEAST_GAP,
                )


def thumbnails(sample: Sample) -> Float[np.ndarray, "frame cell"]:
    """Mean colours of a coarse grid over each frame, between 0 and 1."""
    rows = []
    for frame in sample.frames:
        small = frame.load().resize((SIDE, SIDE), Image.Resampling.BOX)
        rows.append(np.asarray(small, dtype=float).ravel() / 255)
    return np.stack(rows) if rows else np.empty((0, SIDE * SIDE * 3))
