"""What a reasoning step claims of a video, and what the evidence says of it.

Step-Level Visual Grounding Faithfulness (Rahman et al.), section 3.2.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol, Self, get_args, runtime_checkable

from pydantic import FiniteFloat

from cuescope.capabilities import ToolRole
from cuescope.types import Sample
from cuescope_sdk.grounding._kinds import KINDS, Claim, Copied
from cuescope_sdk.language._words import (
    IDEAS,
    MENTAL,
    STATES,
    UNCLEAR,
    head_noun,
    normalise_words,
)

Verdict = Literal["supported", "unsupported", "unverifiable"]
Reason = Literal[  # the most telling first
    "abstract",
    "unclear reference",
    "occluded",
    "complex relation",
    "out of vocabulary",
    "no evidence",
]


class Judgement(Copied):
    """A verdict: whether a claim is consistent with what can be seen, not whether it is true.

    `reason` says why nothing can be said (only then), `score` is the verifier's own figure, `frame`
    and `box` (x0, y0, x1, y1, pixels) where it was seen. `general` says that what was seen is known
    by a more general word than was claimed: a "person" for "a woman".
    """

    verdict: Verdict
    reason: Reason | None = None
    score: FiniteFloat | None = None
    frame: int | None = None
    box: tuple[float, float, float, float] | None = None
    general: bool = False

    @classmethod
    def of(cls, holds: bool, negated: bool = False, **evidence: object) -> Self:
        """Supported where the claim holds, or does not and denies it."""
        verdict = "supported" if holds != negated else "unsupported"
        return cls.model_validate({"verdict": verdict, **evidence})

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


CLAIM_VERIFIER = ToolRole("claim-verifier", ClaimVerifier)


# ----------------------------------------------------------------------------------------- judging


Look = Callable[[Claim, Sequence[int]], Judgement]
REASONS: tuple[Reason, ...] = get_args(Reason)
ORDERS = ("before", "after", "while")
_DENIED = {"supported": "unsupported", "unsupported": "supported"}


def judge_claim(claim: Claim, frames: int, look: Look) -> Judgement:
    """The judgement of a claim about a video of so many frames.

    It is supported where it holds in any of the frames that it means, and unsupported where it
    holds in none. A denial is the opposite: it must hold in all of them. Of two things in order the
    first frame decides in which each is seen to hold.
    """
    if reason := why_unverifiable(claim):
        return Judgement.open(reason)
    meant = frames_meant(claim, frames)  # none: "frame 40" of a video of 8
    if not meant:
        return Judgement.open("unclear reference")
    if claim.kind == "temporal":
        judgement = _in_order(claim, frames, look)
    else:
        judgement = look(claim.replace(negated=False), meant)
    return negate(judgement) if claim.negated else judgement


def why_unverifiable(claim: Claim) -> Reason | None:
    """Why no picture could tell: it is about a thought, or about nothing in particular."""
    nouns = [
        head_noun(normalise_words(noun))
        for noun in (claim.subject, claim.object)
        if noun
    ]
    predicate = normalise_words(claim.predicate or "")
    if (
        any(noun in IDEAS for noun in nouns)
        or (claim.kind == "attribute" and not STATES.isdisjoint(predicate.split()))
        or (claim.kind == "action" and predicate.partition(" ")[0] in MENTAL)
    ):
        return "abstract"
    # parsers of free text leave gaps
    whole = all(getattr(claim, part) for part in KINDS[claim.kind].needs)
    return None if whole and UNCLEAR.isdisjoint(nouns) else "unclear reference"


def frames_meant(claim: Claim, frames: int) -> tuple[int, ...]:
    """The frames that a claim means, of those that there are."""
    if claim.frames is None:
        return tuple(range(frames))
    # a model may speak of frames that it was not shown
    return tuple(frame for frame in claim.frames if 0 <= frame < frames)


def best_judgement(judgements: Iterable[Judgement]) -> Judgement:
    """Of several chances the first that is supported; else the most telling of the open ones."""
    chances = list(judgements)
    for judgement in chances:
        if judgement.verdict == "supported":
            return judgement
    left_open = [chance for chance in chances if chance.reason is not None]
    if left_open:
        # before any no: what could not be seen may hold
        return min(
            left_open, key=lambda chance: REASONS.index(chance.reason or "no evidence")
        )
    return chances[0] if chances else Judgement.open("no evidence")


def judge_count(claim: Claim, seen: int, **evidence: Any) -> Judgement:
    """Whether so many are claimed as are seen.

    More may be seen than are meant where only those are counted of which more is said.
    """
    if not (claim.predicate or "").isdecimal():
        return Judgement.open("out of vocabulary")
    if claim.parts and seen > int(claim.predicate or 0):
        return Judgement.open("complex relation")
    return Judgement.of(seen == int(claim.predicate or 0), **evidence)


def per_frame(at: Callable[[Claim, int], Judgement]) -> Look:
    """Looks at each frame by itself."""
    return lambda claim, frames: best_judgement(at(claim, frame) for frame in frames)


def negate(judgement: Judgement) -> Judgement:
    """The opposite verdict; what is open stays so."""
    opposite = _DENIED.get(judgement.verdict, judgement.verdict)
    return judgement.replace(verdict=opposite)


def _in_order(claim: Claim, frames: int, look: Look) -> Judgement:
    """Whether `parts[0]` comes before or after `parts[1]`, or shares a frame with it."""
    if len(claim.parts) != 2 or claim.predicate not in ORDERS:
        return Judgement.open("complex relation")
    parts: Sequence[Claim] = claim.parts
    if parts[0].frames == parts[1].frames:  # the time of the whole step orders nothing
        parts = [part.replace(frames=None) for part in parts]
    held: list[list[int]] = []
    for part in parts:
        judged = [
            (frame, judge_claim(part.replace(frames=(frame,)), frames, look))
            for frame in frames_meant(part, frames)
        ]
        held.append(
            [frame for frame, judgement in judged if judgement.verdict == "supported"]
        )
        if not held[-1]:  # what never happens has no time
            return best_judgement(judgement for _, judgement in judged)
    first, second = held
    if claim.predicate == "while":
        return Judgement.of(not set(first).isdisjoint(second), frame=first[0])
    in_order = (
        first[0] < second[0] if claim.predicate == "before" else first[0] > second[0]
    )
    return Judgement.of(in_order, frame=first[0])
