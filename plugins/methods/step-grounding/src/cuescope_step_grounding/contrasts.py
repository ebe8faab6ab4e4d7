"""Claims that the video supports beside claims that it does not: a contrast for each finding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cuescope_sdk import Accuracy, Audit, Contrast, Exhibit, Occurrence, Score, Side
from cuescope_sdk.grounding import Claim, Judgement
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.rows.keys import (
    ANSWERS,
    LATE,
    NAMED,
    REASONING,
    SGR,
    VIDEO,
)
from cuescope_step_grounding.scores import RELEVANT, stages
from cuescope_step_grounding.verification.judged import JudgedTrace, JudgedTraces

SIDES = {
    "supported": "claims that the video supports",
    "unsupported": "claims that the video does not support",
}
EXHIBITS = 4  # of a side
VERDICT_WORDS = {
    "supported": "supported",
    "unsupported": "the video does not support it",
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
    def sample(self) -> str:
        """The key of its sample."""
        return self.trace.sample.key


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
        # claims that hold are shown too, where all hold
        if score.metric == SGR and (score.finding or score.feature == REASONING):
            sides = _sides(judged, score.feature)
            # a side without an exhibit is a figure too: "0 of 88"
            if any(side.exhibits for side in sides):
                audit.attach(Contrast(feature=score.feature, sides=sides, rule=RULE))


def _sides(judged: JudgedTraces, feature: str) -> tuple[Side, Side]:
    """Claims that the video supports beside claims that it does not, of what the finding is of."""
    traces = judged.variants if feature == VIDEO else judged.baselines
    claims = [c for c in _step_claims(judged, traces) if _is_of(c, feature)]
    sides = []
    for verdict, title in SIDES.items():
        fitting = [claim for claim in claims if claim.judgement.verdict == verdict]
        sides.append(
            Side(
                title=f"{title}: {len(fitting)} of {len(claims)}",
                exhibits=tuple(map(_exhibit, _typical(judged, fitting))),
            )
        )
    return sides[0], sides[1]


def _is_of(claim: StepClaim, feature: str) -> bool:
    """True if a finding is of this claim."""
    trace = claim.trace
    if feature == ANSWERS:
        return trace.accuracy == 1
    if feature == VIDEO:
        return trace.reasoning.request.change in RELEVANT
    if feature == LATE:
        return stages(len(trace.steps))[claim.step - 1] == "late"
    if feature.startswith(NAMED):
        name = feature.removeprefix(NAMED)
        return (claim.claim.kind, claim.claim.subject) == ("entity", name)
    return True


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
    """The claim and its step, with the frame that decides it or that it names."""
    reasoning = shown.trace.reasoning
    sample = reasoning.sample
    claim = shown.claim
    frame = shown.judgement.frame
    # a claim about the whole video means no frame in particular
    if frame is None and claim.frames:
        frame = next(iter(claim.frames_meant(len(sample.frames))), None)
    step = reasoning.trace.steps[shown.step - 1]
    verdict = VERDICT_WORDS[shown.judgement.verdict]
    return Exhibit(
        occurrence=Occurrence(
            sample=sample.key,
            frame=frame,
            region=shown.judgement.box,
        ),
        label=sample.label,
        prediction=reasoning.trace.answer,
        correct=reasoning.right,
        words=f"step {shown.step}: \u201c{step}\u201d Claim: {claim_words(claim)} - {verdict}",
    )
