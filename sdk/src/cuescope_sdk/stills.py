"""Clips and each of their frames held still: what methods ask that look for static cues."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from jaxtyping import Float

from cuescope_core.auditing import Audit
from cuescope_core.conclusions import Feature, Occurrence
from cuescope_core.types import Outcome, Output, Sample, Trial

__all__ = [
    "Answers",
    "FrameId",
]

RANKED = 0.4  # of all frames: a feature that lists more ranks them
LEAST = 24  # of these: from fewer nothing can be learned
FrameId = tuple[str, int]  # the key of a sample, and the number of a frame in it


@dataclass(frozen=True, eq=False)
class Answers:
    """The model's answers to the sequences, and to every frame of them held still.

    `row` says which row of `stills`, `embedding` (still, dim) and `static_logits` (still, class) a
    frame has.
    """

    outputs: ClassVar[frozenset[Output]] = frozenset({"logits", "embedding"})
    outcomes: Sequence[Outcome]
    stills: Sequence[Outcome]
    row: Mapping[FrameId, int]
    embedding: np.ndarray
    static_logits: np.ndarray

    @classmethod
    def ask(cls, audit: Audit) -> Self:
        """Ask the sequences, and each frame as long as its sequence (TRoVe, section 3.2).

        For `audit.once`: the embeddings of all still clips are needed to propose anything, so
        proposing asks all that is ever asked, and the other hooks find it here.
        """
        samples = audit.samples_by_key()
        row: dict[FrameId, int] = {}
        trials = list(cls.trials(samples))
        for sample in samples:
            for frame in range(len(sample.frames)):
                row[sample.key, frame] = len(row)
                still = sample.static(frame)
                trials.append(
                    Trial(sample=still, condition="static", outputs=cls.outputs)
                )
        # the pairs are all that is asked from here on, where the method doesn't say more
        audit.expect_more(audit.more_trials or 0)
        # In one go: the batches are full, and a plan, which ends at its first question, counts all.
        outcomes = audit.respond(trials)
        stills = outcomes[len(samples) :]
        return cls(
            outcomes=outcomes[: len(samples)],
            stills=stills,
            row=row,
            embedding=cls.stack_embeddings(stills),
            static_logits=cls.stack_logits(stills, audit.labels),
        )

    @staticmethod
    def trials(
        samples: Iterable[Sample], outputs: frozenset[Output] = outputs
    ) -> Iterator[Trial]:
        """The sequences as they are."""
        return (Trial(sample=sample, outputs=outputs) for sample in samples)

    @staticmethod
    def stack_embeddings(
        outcomes: Sequence[Outcome],
    ) -> Float[np.ndarray, "outcome dim"]:
        """The embeddings, one a row."""
        return np.stack(
            [np.asarray(outcome.response.embedding) for outcome in outcomes]
        )

    @staticmethod
    def stack_logits(
        outcomes: Sequence[Outcome], labels: tuple[str, ...]
    ) -> Float[np.ndarray, "outcome class"]:
        """Logits with one column a label, whatever the order of each sample's choices."""
        columns: dict[tuple[str, ...], list[int]] = {}
        rows = []
        for outcome in outcomes:
            choices = outcome.trial.sample.choices
            logits = outcome.response.logits
            if logits is None:
                raise ValueError(f"no logits for sample {outcome.trial.sample.key}")
            # a question may list the same labels in an order of its own
            if choices not in columns:
                columns[choices] = [choices.index(label) for label in labels]
            rows.append(logits[columns[choices]])
        return np.stack(rows) if rows else np.empty((0, len(labels)), dtype=np.float32)


def typical_occurrences(feature: Feature, frames: int) -> tuple[Occurrence, ...]:
    """Where a feature is, of so many frames: of one that ranks most of them its first tenth.

    One that lists most of them alike, without an order, is taken as it is.
    """
    listed = feature.occurrences
    strengths = {occurrence.strength for occurrence in listed}
    if len(listed) <= RANKED * frames or len(strengths) < 2:
        return listed
    return listed[: max(len(listed) // 10, LEAST)]
