"""What a reasoning step claims of a video, and what the evidence says of it.

Step-Level Visual Grounding Faithfulness (Rahman et al.), section 3.2.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, Self, runtime_checkable

from pydantic import FiniteFloat

from cuescope.capabilities import ToolRole
from cuescope.types import Sample, Value

ClaimKind = Literal["entity", "attribute", "action", "relation", "temporal", "ego-motion"]
Verdict = Literal["supported", "unsupported", "unverifiable"]
Reason = Literal[
    "abstract",
    "occluded",
    "unclear reference",
    "complex relation",
    "out of vocabulary",
    "no evidence",
]


class Claim(Value):
    """One thing that a step says can be seen.

    A noun phrase is written as its adjectives and its head, lower case, singular, without article:
    "red chair". By kind:

    - entity: `subject` is on screen
    - attribute: `subject` has the attribute `predicate` ("open", "red")
    - action: `subject` does `predicate`, a verb's lemma with its particle ("pick up"), to `object`
    - relation: `subject` is `predicate` ("left of", see `relations`) `object`
    - ego-motion: the camera or agent does `predicate` ("turn left", see `scenes.MOTIONS`)
    - temporal: `parts[0]` happens `predicate` ("before", "after", "while") `parts[1]`

    `frames` are the moments meant, indices into the sample's frames: None where nothing is said of
    time, () where what is said points outside the video. `text` is the words of the step.
    """

    kind: ClaimKind
    text: str
    subject: str = ""
    predicate: str | None = None
    object: str | None = None
    negated: bool = False
    frames: tuple[int, ...] | None = None
    parts: tuple["Claim", ...] = ()


class Judgement(Value):
    """A verdict: whether a claim is consistent with what can be seen, not whether it is true.

    `reason` says why nothing can be said (only then), `score` is the verifier's own figure, `frame`
    and `box` (x0, y0, x1, y1, pixels) where it was seen.
    """

    verdict: Verdict
    reason: Reason | None = None
    score: FiniteFloat | None = None
    frame: int | None = None
    box: tuple[float, float, float, float] | None = None

    @classmethod
    def of(cls, holds: bool, negated: bool = False, **seen: object) -> Self:
        """Supported where the claim holds, or does not and denies it."""
        verdict = "supported" if holds != negated else "unsupported"
        return cls.model_validate({"verdict": verdict, **seen})

    @classmethod
    def open(cls, reason: Reason) -> Self:
        """Nothing can be said, and why."""
        return cls(verdict="unverifiable", reason=reason)


Case = tuple[Sample, Sequence[Claim]]


@runtime_checkable
class ClaimVerifier(Protocol):
    """A tool in the role `claim-verifier`.

    All claims of all samples come in one call, so that each frame is looked at once. With a
    `fingerprint` its judgements can be remembered.
    """

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        ...


CLAIM_VERIFIER = ToolRole("claim-verifier", ClaimVerifier)
