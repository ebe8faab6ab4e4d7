"""Auditors that are no plugins: the ground truth, and a baseline that knows of no cue."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from cuescope_planted_cues.planted import WORD
from cuescope_sdk import (
    Audit,
    Feature,
    Metric,
    Occurrence,
    Options,
    Outcome,
    Plugin,
    Requirements,
    Score,
    Trial,
    hookimpl,
)
from cuescope_sdk.maths import softmax
from cuescope_testing import PluginShelf

SHEET = "answer-sheet"
ERRORS = "error-ranker"
LEAST_SAMPLES = 5  # of an error


class AnswerSheetOptions(Options):
    """Which planted cue is found, and on which label."""

    cue: str
    label: str


class Auditor(Plugin):
    """Changes nothing in the samples."""

    requires = Requirements(labels=0)
    is_control = True  # it tests nothing of what it finds

    @hookimpl
    def perturb(self, audit: Audit, features: Sequence[Feature]) -> Iterator[Trial]:
        """Each sample as it is."""
        return (Trial(sample=sample) for sample in audit.samples)


def accuracy_gap(right: Mapping[str, bool], shown: Set[str]) -> float | None:
    """Accuracy without a cue minus accuracy with it; None where all show it, or none."""
    inside = [right[key] for key in right.keys() & shown]
    outside = [right[key] for key in right.keys() - shown]
    if not inside or not outside:
        return None
    return float(np.mean(outside) - np.mean(inside))


class AnswerSheet(Auditor):
    """Finds a planted cue whatever the model does, so that only the test of causes is tested."""

    title = "Ground truth"
    metrics = (
        Metric(
            name="gap",
            title="Gap",
            meaning="accuracy without the cue minus accuracy with it",
        ),
    )
    Options = AnswerSheetOptions
    options: AnswerSheetOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """Where the answer sheet says that the cue is; a word is known by itself."""
        data: Any = audit.context.dataset
        cue = next(cue for cue in data.planted_cues if cue.key == self.options.cue)
        if cue.key == "question":
            yield Feature(key=WORD, kind="thing", name=WORD)
            return
        occurrences = []
        for sample in self._samples_of(audit):
            frames = np.flatnonzero(sample.annotations["cues"][cue.key]).tolist()
            occurrences += [
                Occurrence(sample=sample.key, frame=frame) for frame in frames
            ]
        yield Feature(
            key=cue.key,
            kind="cluster",
            name=cue.name,
            occurrences=tuple(occurrences),
        )

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterator[Score]:
        """The gap on the label."""
        label = self.options.label
        cue = self.options.cue
        samples = self._samples_of(audit)
        shown = {each.key for each in samples if any(each.annotations["cues"][cue])}
        right = {
            outcome.trial.sample.key: outcome.correct()
            for outcome in outcomes
            if outcome.trial.sample.label == label
        }
        # of few samples all may show the cue, or none
        gap = accuracy_gap(right, shown)
        for feature in features:
            # a finding however small the gap is: `confirm` tests nothing else
            yield Score(
                feature=feature.key,
                label=label,
                metric="gap",
                value=gap,
                finding=True,
            )

    def _samples_of(self, audit: Audit) -> Iterator[Any]:
        """The audited samples, with the sheet that a method is not shown."""
        # audited samples come without the sheet, the data set has it
        data: Any = audit.context.dataset
        keys = {sample.key for sample in audit.samples}
        every = map(data.__getitem__, range(len(data)))
        return (sample for sample in every if sample.key in keys)


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


OWN: dict[tuple[str, str], type[Plugin]] = {
    ("method", SHEET): AnswerSheet,
    ("method", ERRORS): ErrorRanker,
}


def shelf() -> PluginShelf:
    """The installed plugins, and what a bench has of its own."""
    return PluginShelf(OWN, installed=True)
