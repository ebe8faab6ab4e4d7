"""Two auditors that are no plugins: the answer sheet itself, and findings read from a file."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from cuescope_planted_cues.findings import StatedConfiguration
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

SHEET = "answer-sheet"
STATED = "stated-findings"


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


def accuracy_gap(
    right: Mapping[str, bool], shown: Set[str], least: int = 1
) -> float | None:
    """Accuracy without a cue minus accuracy with it; None of fewer than `least` of either."""
    inside = [right[key] for key in right.keys() & shown]
    outside = [right[key] for key in right.keys() - shown]
    if min(len(inside), len(outside)) < least:
        return None
    return float(np.mean(outside) - np.mean(inside))


class AnswerSheet(Auditor):
    """Finds a planted cue whatever the model does, so that only the test of causes is tested."""

    title = "Answer sheet"
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


class StatedOptions(Options):
    """Whose findings."""

    stated: StatedConfiguration


class StatedFindings(Auditor):
    """What another auditor says that it found (the README has the format)."""

    title = "Stated findings"
    metrics = (Metric(name="score", title="Score", meaning="as the auditor gave it"),)
    Options = StatedOptions
    options: StatedOptions

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """Each feature once."""
        for number, finding in enumerate(self.options.stated.features):
            yield finding.feature(number)

    @hookimpl
    def compute_scores(
        self,
        audit: Audit,
        features: Sequence[Feature],
        outcomes: Sequence[Outcome],
    ) -> Iterator[Score]:
        """The stated scores, in their order."""
        for number, finding in enumerate(self.options.stated.features):
            yield Score(
                feature=finding.feature(number).key,
                label=finding.label,
                metric="score",
                value=finding.score,
                finding=finding.finding,
            )
