"""Candidates, and what a method is that yields them."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field

from cuescope_core.auditing import Audit
from cuescope_core.capabilities import Requirements
from cuescope_core.types import Options, Sample

Box = tuple[float, float, float, float]
# the words of a candidate, where in the picture it is, and how strongly each sample shows it
Candidate = tuple[str, Box | None, np.ndarray]
Shares = Float[np.ndarray, " sample"]
Codes = Int[np.ndarray, " sample"]


class Known(NamedTuple):
    """What is known of the samples, which `find` is given without `samples` and `answers`.

    Of those that are held out for the test `wrong` is NaN and the answer None.
    """

    seen: Any
    wrong: Shares
    labels: np.ndarray
    groups: Codes
    rng: np.random.Generator
    samples: Sequence[Sample]
    answers: Sequence[str | None]


class AssociationOptions(Options):
    """What counts as a finding."""

    fdr: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="false discovery rate over all candidates and labels",
    )
    confidence: float = Field(0.95, gt=0, lt=1, description="level of the intervals")


class Finder(Protocol):
    """A method of association, as its study sees it."""

    title: ClassVar[str]
    sees: ClassVar[Literal["images", "embeddings"]]
    requires: ClassVar[Requirements]
    options: AssociationOptions

    def candidates(self, audit: Audit, known: Known) -> Iterable[Candidate]:
        """Yield candidates."""
