"""The samples of an audit as arrays: unit embeddings, answers, labels and groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from jaxtyping import Bool, Float, Int

from cuescope_core.auditing import Audit
from cuescope_core.types import Outcome, Output, Sample, Trial
from cuescope_sdk.cues._cue import content_of
from cuescope_sdk.maths import normalise
from cuescope_sdk.statistics import Groups
from cuescope_sdk.stills import Answers

Points = Float[np.ndarray, "sample dim"]


@dataclass(frozen=True, eq=False)
class Embedded:
    """Samples by key, each with its plain answer, if it was asked, and its unit embedding."""

    outcomes: Sequence[Outcome]
    labels: tuple[str, ...]
    points: Points

    @classmethod
    def ask(cls, audit: Audit) -> Self:
        """Ask each sample as it is; for `audit.once`. Answers are asked where there are labels."""
        outputs: frozenset[Output] = frozenset({"embedding"})
        if audit.labels and "logits" in audit.capabilities.outputs:
            outputs |= {"logits"}
        trials = Answers.trials(audit.samples_by_key(), outputs)
        return cls.of(audit, audit.respond(list(trials)))

    @classmethod
    def of(cls, audit: Audit, outcomes: Sequence[Outcome]) -> Self:
        """Build it of what was answered."""
        samples = [outcome.trial.sample for outcome in outcomes]
        others = {str(sample.label) for sample in samples} - set(audit.labels)
        labels = (*audit.labels, *sorted(others))
        return cls(outcomes, labels, _unit(Answers.stack_embeddings(outcomes)))

    @cached_property
    def samples(self) -> list[Sample]:
        """The samples."""
        return [outcome.trial.sample for outcome in self.outcomes]

    @cached_property
    def label(self) -> Int[np.ndarray, " sample"]:
        """The number of each one's label."""
        numbers = {label: number for number, label in enumerate(self.labels)}
        return np.array([numbers[str(sample.label)] for sample in self.samples])

    @cached_property
    def prediction(self) -> list[str | None]:
        """Answer to each sample; None where it was not asked."""
        return [outcome.prediction for outcome in self.outcomes]

    @cached_property
    def groups(self) -> Groups:
        """Groups of samples that were drawn together."""
        return Groups.of(self.samples)

    @cached_property
    def number(self) -> dict[str, int]:
        """The place of each sample, by key."""
        return {sample.key: place for place, sample in enumerate(self.samples)}

    @cached_property
    def contents(self) -> dict[str, int]:
        """The place of each sample, by the digest of its frames."""
        return {content_of(sample): place for place, sample in enumerate(self.samples)}

    def listed(self, keys: Sequence[str]) -> Bool[np.ndarray, " sample"]:
        """Which samples these keys name; others are passed over."""
        shows = np.zeros(len(self.outcomes), dtype=bool)
        shows[[self.number[key] for key in keys if key in self.number]] = True
        return shows


def embed(audit: Audit, samples: Sequence[Sample]) -> Points:
    """Unit embeddings of samples that were made up."""
    outputs: frozenset[Output] = frozenset({"embedding"})
    trials = [
        Trial(sample=sample, condition="example", outputs=outputs) for sample in samples
    ]
    return _unit(Answers.stack_embeddings(audit.respond(trials)))


def _unit(rows: np.ndarray) -> Points:
    return normalise(rows).astype(np.float64)
