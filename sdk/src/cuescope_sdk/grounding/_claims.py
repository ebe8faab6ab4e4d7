"""Claims of a reasoning step about a video, and judgements by the evidence.

Step-Level Visual Grounding Faithfulness (Rahman et al.), section 3.2.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol, Self, get_args, runtime_checkable

from pydantic import FiniteFloat

from cuescope_core.capabilities import ToolRole
from cuescope_core.types import Sample
from cuescope_sdk.grounding._kinds import Claim, Copied, Reason
from cuescope_sdk.grounding._relations import Box, box_centre

Verdict = Literal["supported", "unsupported", "unverifiable"]
REASONS: tuple[Reason, ...] = get_args(Reason)
ORDERS = ("before", "after", "while")


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
    box: Box | None = None
    general: bool = False

    @classmethod
    def of(cls, holds: bool, **evidence: object) -> Self:
        """Supported where the claim holds."""
        verdict = "supported" if holds else "unsupported"
        return cls.model_validate({"verdict": verdict, **evidence})

    @classmethod
    def open(cls, reason: Reason) -> Self:
        """Nothing can be said, and why."""
        return cls(verdict="unverifiable", reason=reason)

    @classmethod
    def of_count(cls, claim: Claim, seen: int) -> Self:
        """Judge if so many are claimed as are seen.

        More may be seen than are meant where only those are counted of which more is said.
        """
        if not (claim.predicate or "").isdecimal():
            return cls.open("out of vocabulary")
        claimed = int(claim.predicate or 0)
        if claim.parts and seen > claimed:
            return cls.open("complex relation")
        return cls.of(seen == claimed)

    @classmethod
    def best(cls, judgements: Iterable[Self]) -> Self:
        """Choose the first supported judgement; else the most telling of the open ones."""
        chances: list[Self] = []
        for judgement in judgements:
            # no other chance is taken
            if judgement.verdict == "supported":
                return judgement
            chances.append(judgement)
        # before any no: what could not be seen may hold
        for reason in REASONS:
            for judgement in chances:
                if judgement.reason == reason:
                    return judgement
        return chances[0] if chances else cls.open("no evidence")

    def seen_from_agent(self, side: str, width: float) -> Self:
        """Judge if a thing is on a side of the agent, given if and where it is in the picture.

        What is in the picture, `width` pixels wide, is not behind the agent; what is not may be.
        """
        if side not in ("in front of", "behind", "left of", "right of"):
            return self.open("complex relation")
        there = self.verdict == "supported"
        if side == "behind":
            return self.of(False, box=self.box) if there else self.open("no evidence")
        if side == "in front of" or not there:
            return self
        if self.box is None:
            return self.open("no evidence")
        off = box_centre(self.box)[0] - width / 2
        holds = off < 0 if side == "left of" else off > 0
        return self.of(holds, box=self.box, score=self.score)


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


At = Callable[[Claim, int], Judgement]
Look = Callable[[Claim, Sequence[int]], Judgement]


def no_evidence(claim: Claim, frame: int) -> Judgement:
    """Judgement of every frame where nothing is known."""
    return Judgement.open("no evidence")


def judge_claims(
    claims: Iterable[Claim],
    frames: int,
    at: At = no_evidence,
    *,
    look: Look | None = None,
) -> list[Judgement]:
    """The judgements of claims about a video of so many frames.

    `at` judges an undenied claim in one frame; or `look` does in all frames that it means. A claim
    is supported where it holds in any of the frames that it means, and unsupported where it holds
    in none. A denial is the opposite: it must hold in all of them. Of two things in order the first
    frame decides in which each is seen to hold.
    """

    def look_at_each(claim: Claim, meant: Sequence[int]) -> Judgement:
        return Judgement.best(at(claim, frame) for frame in meant)

    return [_judge(claim, frames, look or look_at_each) for claim in claims]


def _judge(claim: Claim, frames: int, look: Look) -> Judgement:
    if reason := claim.why_unverifiable:
        return Judgement.open(reason)
    meant = claim.frames_meant(frames)  # none: "frame 40" of a video of 8
    if not meant:
        return Judgement.open("unclear reference")
    if claim.kind == "temporal":
        judgement = _in_order(claim, frames, look)
    else:
        judgement = look(claim.replace(negated=False), meant)
    if not claim.negated or judgement.reason is not None:
        return judgement
    opposite = "unsupported" if judgement.verdict == "supported" else "supported"
    return judgement.replace(verdict=opposite)


def _in_order(claim: Claim, frames: int, look: Look) -> Judgement:
    """Judge if `parts[0]` comes before or after `parts[1]`, or shares a frame with it."""
    if len(claim.parts) != 2 or claim.predicate not in ORDERS:
        return Judgement.open("complex relation")
    parts: Sequence[Claim] = claim.parts
    if parts[0].frames == parts[1].frames:  # the time of the whole step orders nothing
        parts = [part.replace(frames=None) for part in parts]
    held: list[list[int]] = []
    for part in parts:
        judgements = {}
        for frame in part.frames_meant(frames):
            judgements[frame] = _judge(part.replace(frames=(frame,)), frames, look)
        supported = [f for f, seen in judgements.items() if seen.verdict == "supported"]
        if not supported:  # what never happens has no time
            return Judgement.best(judgements.values())
        held.append(supported)
    first, second = held
    if claim.predicate == "while":
        in_order = not set(first).isdisjoint(second)
    elif claim.predicate == "before":
        in_order = first[0] < second[0]
    else:
        in_order = first[0] > second[0]
    return Judgement.of(in_order, frame=first[0])
