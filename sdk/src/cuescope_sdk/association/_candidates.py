"""Candidates, and what a method is that yields them."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from jaxtyping import Float, Int

from cuescope_core.auditing import Audit
from cuescope_core.capabilities import Requirements
from cuescope_core.types import Sample
from cuescope_sdk._shared_options import FindingOptions

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


class AssociationOptions(FindingOptions):
    """What counts as a finding."""


class Finder(Protocol):
    """A method of association, as its study sees it."""

    title: ClassVar[str]
    sees: ClassVar[Literal["images", "embeddings"]]
    requires: ClassVar[Requirements]
    options: AssociationOptions

    def candidates(self, audit: Audit, known: Known) -> Iterable[Candidate]:
        """Yield candidates."""
