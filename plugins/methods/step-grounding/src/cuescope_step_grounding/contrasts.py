"""Claims that the video supports beside claims that it does not: a contrast for each finding."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import shorten

import numpy as np

from cuescope_sdk import (
    Accuracy,
    Audit,
    Contrast,
    Exhibit,
    Frame,
    Occurrence,
    Score,
    Side,
)
from cuescope_sdk.grounding import Claim, Judgement
from cuescope_sdk.report import draw_beside
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.rows.keys import ANSWERS, LATE, NAMED, SGR, VIDEO
from cuescope_step_grounding.scores import RELEVANT, stages
from cuescope_step_grounding.trials import Reasoning
from cuescope_step_grounding.verification.judged import JudgedTrace, JudgedTraces
from cuescope_step_grounding.verification.labelling import spread

HELD = "supported"
FAILED = "unsupported"
UNKNOWN = "unverifiable"
SIDES = {
    HELD: "claims that the video supports",
    FAILED: "claims that the video does not support",
    UNKNOWN: "claims that cannot be checked",
}
EXHIBITS = 4  # of a side
EXHIBITED_FRAMES = 4  # of a claim
EXHIBITED_STEP = 160  # characters
VERDICT_WORDS = {
    "supported": "supported",
    "unsupported": "the video does not support it",
    "unverifiable": "cannot be checked",
}
RULE = (
    "One claim of a sample, its first that fits the title. Samples come first whose share of "
    "supported claims is nearest to the middle of all."
)


@dataclass(frozen=True)
class StepClaim:
    """A claim of a step of a trace, with what the verifier says of it; steps count from 1."""

    trace: JudgedTrace
    step: int
    claim: Claim
    judgement: Judgement

    @property
    def verdict(self) -> str:
        return self.judgement.verdict

    @property
    def sample(self) -> str:
        """The key of its sample."""
        return self.trace.sample.key

    @property
    def stage(self) -> str:
        return stages(len(self.trace.steps))[self.step - 1]


def attach_evidence(
    audit: Audit,
    judged: JudgedTraces,
    scores: Sequence[Score],
) -> None:
    """How often the answers are right among their choices, and a contrast for each finding."""
    marked = [trace for trace in judged.baselines if trace.accuracy is not None]
    choices = np.array([len(trace.sample.choices) for trace in marked])
    if marked and choices.all():
        # questions may differ in their number of choices
        right = sum(trace.accuracy == 1 for trace in marked)
        audit.attach(
            Accuracy(
                correct=right,
                answered=len(marked),
                chance=float(np.mean(1 / choices)),
            )
        )
    for score in scores:
        if score.finding and score.metric == SGR:
            sides = _sides(judged, score.feature)
            # a side without an exhibit is a figure too: "0 of 88"
            if any(side.exhibits for side in sides):
                audit.attach(Contrast(feature=score.feature, sides=sides, rule=RULE))


def _sides(judged: JudgedTraces, feature: str) -> tuple[Side, Side]:
    """Claims that the video supports beside claims that it does not, of what the finding is of."""
    traces = judged.variants if feature == VIDEO else judged.baselines
    claims = [c for c in _step_claims(judged, traces) if _is_of(judged, c, feature)]
    count = Counter(claim.verdict for claim in claims)
    # what could not be checked says more than an empty side
    other = FAILED if count[FAILED] else UNKNOWN if count[UNKNOWN] else FAILED
    sides = []
    for verdict in (HELD, other):
        fitting = [claim for claim in claims if claim.verdict == verdict]
        sides.append(
            Side(
                title=f"{SIDES[verdict]}: {count[verdict]} of {len(claims)}",
                exhibits=tuple(map(_exhibit, _typical(judged, fitting))),
            )
        )
    return sides[0], sides[1]


def _is_of(judged: JudgedTraces, claim: StepClaim, feature: str) -> bool:
    """True if a finding is of this claim."""
    if feature == ANSWERS:
        return claim.trace.accuracy == 1
    if feature == VIDEO:
        return claim.trace.reasoning.request.change in RELEVANT
    if feature == LATE:
        return claim.stage == "late"
    if feature.startswith(NAMED):
        name = feature.removeprefix(NAMED)
        return (claim.claim.kind, claim.claim.subject) == ("entity", name)
    return True


def _short(reasoning: Reasoning, step: int) -> str:
    return shorten(
        reasoning.trace.steps[step - 1],
        EXHIBITED_STEP,
        placeholder=" ...",
    )


def _typical(judged: JudgedTraces, claims: Sequence[StepClaim]) -> list[StepClaim]:
    """By `RULE`."""
    rates = [trace.grounding or 0.0 for trace in judged.answered]
    middle = float(np.median(rates or [0.0]))
    first: dict[str, StepClaim] = {}
    for claim in claims:
        first.setdefault(claim.sample, claim)

    def rank(claim: StepClaim) -> tuple[float, str]:
        return abs((claim.trace.grounding or 0.0) - middle), claim.sample

    return sorted(first.values(), key=rank)[:EXHIBITS]


def _step_claims(
    judged: JudgedTraces, traces: Sequence[JudgedTrace]
) -> Iterator[StepClaim]:
    for trace in traces:
        for number, claims in enumerate(trace.reasoning.claims, start=1):
            for claim in claims:
                judgement = judged.judgements.of(trace.sample, claim)
                yield StepClaim(trace, number, claim, judgement)


def _exhibit(shown: StepClaim) -> Exhibit:
    """The claim and its step, with the frame that decides it, or all that were looked at."""
    reasoning = shown.trace.reasoning
    sample = reasoning.sample
    # a claim about the whole video means no frame in particular
    claim = shown.claim
    meant = claim.frames_meant(len(sample.frames)) if claim.frames else ()
    decided = shown.judgement.frame
    frame = next(iter(meant), None) if decided is None else decided
    frames = [sample.frames[index] for index in meant] or sample.frames
    return Exhibit(
        occurrence=Occurrence(
            sample=sample.key,
            frame=frame,
            region=shown.judgement.box,
        ),
        label=sample.label,
        prediction=reasoning.trace.answer,
        correct=reasoning.right,
        words=f"step {shown.step}: \u201c{_short(reasoning, shown.step)}\u201d "
        f"Claim: {claim_words(shown.claim)} - "
        f"{VERDICT_WORDS[shown.verdict]}",
        drawing=_strip(frames) if decided is None and len(frames) > 1 else None,
    )


def _strip(frames: Sequence[Frame]) -> bytes | None:
    """Some of the frames in their order, small."""
    return draw_beside(spread(frames, EXHIBITED_FRAMES)) if frames else None
