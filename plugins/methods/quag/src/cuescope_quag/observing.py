"""From the outcomes to arrays of right and wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Int

from cuescope_quag.answers import Measure, clusters, correctness, numbered, shared_choices
from cuescope_quag.conditions import Condition, asked, conditions
from cuescope_quag.losing import Loss, Rate, Rule, compared
from cuescope_sdk import Audit, Outcome, Sample

if TYPE_CHECKING:
    from cuescope_quag import QUAG

Found = tuple[Rate, dict[str, Loss]]


@dataclass(frozen=True, eq=False)
class Answered:
    """Right or wrong: each sample as it is (`before`) and under each condition (`after`).

    `plain` is what was answered to the samples as they are.
    """

    audit: Audit
    options: "QUAG.Options"
    samples: list[Sample]
    cluster: Int[np.ndarray, " sample"]
    conditions: list[Condition]
    plain: Sequence[Outcome]
    before: Bool[np.ndarray, " sample"]
    after: Bool[np.ndarray, "sample condition"]

    @property
    def columns(self) -> dict[str, Bool[np.ndarray, " sample"]]:
        """What is right by row of the tables, "baseline" first."""
        names = [one.key for one in self.conditions]
        return {"baseline": self.before, **dict(zip(names, self.after.T, strict=True))}

    @cached_property
    def given(self) -> Int[np.ndarray, " sample"] | None:
        """The answers to the samples as they are, numbered among those that all questions share."""
        choices = shared_choices(self.samples)
        return numbered([one.prediction for one in self.plain], choices) if choices else None

    @property
    def videos(self) -> int:
        """How many the questions are about."""
        return len(np.unique(self.cluster))

    @property
    def rule(self) -> Rule:
        """From when a loss counts."""
        chosen = self.options
        return Rule(chosen.margin, chosen.drop, chosen.confidence, chosen.resamples)

    def compared(self, by: Measure, kept: Int[np.ndarray, " kept"] | None = None) -> Found:
        """The plain rate and the losses by condition, of all samples or of those kept."""
        part = np.arange(len(self.before)) if kept is None else kept
        rate, losses = compared(
            self.before[part],
            self.after[part],
            by.of(part),
            self.cluster[part],
            self.audit.rng("bootstrap"),
            self.rule,
            None if self.given is None else self.given[part],
        )
        names = [one.key for one in self.conditions]
        return rate, dict(zip(names, losses, strict=True))


def observe(audit: Audit, options: "QUAG.Options", outcomes: Sequence[Outcome]) -> Answered:
    """The outcomes of `perturb`: all samples as they are, then all under each condition."""
    samples, changed = asked(audit), conditions(audit, options)
    right = correctness(outcomes).reshape(1 + len(changed), len(samples))
    return Answered(
        audit, options, samples, clusters(samples), changed, outcomes[: len(samples)], right[0],
        right[1:].T,
    )  # fmt: skip
