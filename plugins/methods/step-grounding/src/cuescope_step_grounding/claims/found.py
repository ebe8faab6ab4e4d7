"""What is found in a sentence: a claim still without its time."""

from dataclasses import dataclass

from cuescope_sdk.grounding import Claim, ClaimKind
from cuescope_step_grounding.claims.times import Frames
from cuescope_step_grounding.claims.words import Word


@dataclass(frozen=True, slots=True)
class Found:
    """A claim as it is said; `word` is the word that says it."""

    word: Word
    kind: ClaimKind
    subject: str = ""
    predicate: str | None = None
    object: str | None = None
    negated: bool = False

    @property
    def happens(self) -> bool:
        """Whether it can come before or after something else."""
        return self.kind in {"action", "ego-motion", "attribute"}

    def claim(self, text: str, frames: Frames | None) -> Claim:
        """The claim, with its words and its moments."""
        return Claim(
            kind=self.kind, text=text, subject=self.subject, predicate=self.predicate,
            object=self.object, negated=self.negated, frames=frames,
        )  # fmt: skip
