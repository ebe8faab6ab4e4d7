"""Methods of association: one function that yields candidates; tests and report are given.

Candidates are looked for in half of the groups and measured in the other half. All labels of a
candidate are estimated together, each compared with itself (`LabelEffects`): what helps one label
and hurts another is not pooled away. False discoveries are controlled over all candidates and
labels (Benjamini and Hochberg, 1995).
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from cuescope_core.auditing import Audit
from cuescope_core.capabilities import Requirements
from cuescope_core.conclusions import Evidence, Feature, Metric, Score
from cuescope_core.hookspecs import hookimpl
from cuescope_core.plugin import Plugin
from cuescope_core.types import Outcome
from cuescope_sdk.association._candidates import (
    AssociationOptions as AssociationOptions,
    Candidate as Candidate,
    Codes,
    Known as Known,
    Shares,
)

__all__ = [
    "AssociationMethod",
    "AssociationOptions",
    "Candidate",
    "CandidateMethod",
    "Known",
]


class CandidateMethod(Plugin):
    """Base of a method whose candidates are tested for it; its four hooks are below.

    `sees` is what it is given of each sample: "images", the PIL image of its middle frame, or
    "embeddings", the model's vector of it.
    """

    title: ClassVar[str]
    sees: ClassVar[Literal["images", "embeddings"]] = "images"
    requires: ClassVar[Requirements] = Requirements()
    no_effect = 0.0
    metrics = (
        Metric(
            name="accuracy_lost",
            title="Accuracy lost",
            meaning="accuracy on this label without the cue, minus accuracy with it (-1 to 1)",
            unit="proportion",
            accuracy_cost=True,
        ),
    )
    Options = AssociationOptions
    options: AssociationOptions

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        if cls.sees == "embeddings" and "requires" not in vars(cls):
            cls.requires = Requirements(outputs=frozenset({"logits", "embedding"}))

    @abstractmethod
    def candidates(self, audit: Audit, known: Known) -> Iterable[Candidate]:
        """Yield candidates by what is known of the samples; see `AssociationMethod.find`."""

    @hookimpl
    def propose_features(self, audit: Audit) -> Iterator[Feature]:
        """The candidates, and the samples that show each."""
        # imported in the hooks: a list of plugins must not pay for scipy
        from cuescope_sdk.association._study import Study

        study = audit.once(Study.make, audit, self)
        for tested in study.tested:
            yield tested.feature

    @hookimpl
    def perturb(self, audit: Audit) -> Sequence[Outcome]:
        """Nothing is changed: each sample as it is, which proposing has asked."""
        from cuescope_sdk.association._study import ask

        return audit.once(ask, audit, self.requires)

    @hookimpl
    def compute_scores(self, audit: Audit) -> list[Score]:
        """What each candidate costs each label, findings first."""
        from cuescope_sdk.association._study import Study

        study = audit.once(Study.make, audit, self)
        study.note(audit)
        for tested in study.tested:
            if found := [row for row in tested.rows if row.finding]:
                audit.attach(study.finding(tested))
                for row in found:
                    if shown := study.contrast(tested, row):
                        audit.attach(shown)
        rows = [row for tested in study.tested for row in tested.rows]
        return sorted(rows, key=lambda row: (not row.finding, -(row.value or 0)))

    @hookimpl
    def verify(
        self, audit: Audit, features: Sequence[Feature], scores: Sequence[Score]
    ) -> Iterator[Evidence]:
        """How samples were drawn."""
        from cuescope_sdk.data import independent_samples

        if audit.options is self.options:  # else another method's audit
            yield from independent_samples(audit)


class AssociationMethod(CandidateMethod):
    """Base of a method that has a title and `find`."""

    def candidates(self, audit: Audit, known: Known) -> Iterable[Candidate]:
        """Yield what `find` does."""
        seen, wrong, labels, groups, rng, *_ = known
        return self.find(seen, wrong, labels, groups, rng)

    @abstractmethod
    def find(
        self,
        seen: Any,
        wrong: Shares,
        labels: np.ndarray,
        groups: Codes,
        rng: np.random.Generator,
    ) -> Iterable[Candidate]:
        """Yield candidates as (words, box, shows).

        `seen` has an item for each sample. `wrong` is 1 where the model errs, 0 where it is
        correct, and NaN where that is held out for the test. `labels` are words, and samples of
        one number in `groups` were drawn together. Yield the box of the cue as shares of width
        and height (x0, y0, x1, y1), or None, and from 0 to 1 how probably each sample shows it.
        Yield the strongest first: of candidates that the same samples show the first one counts.
        """
