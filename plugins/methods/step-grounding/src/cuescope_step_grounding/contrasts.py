"""Claims that the video supports beside claims that it does not: a contrast for each finding."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
from cuescope_sdk.report import draw_beside, percent
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.rows.keys import (
    ANSWERS,
    LATE,
    NAMED,
    OF_STAGE,
    REASONING,
    SGR,
    VIDEO,
)
from cuescope_step_grounding.scores import RELEVANT, stages, sum_counts
from cuescope_step_grounding.trials import Reasoning
from cuescope_step_grounding.verification.judged import JudgedTrace, JudgedTraces
from cuescope_step_grounding.verification.judging import verdicts_on_thing
from cuescope_step_grounding.verification.labelling import spread

HELD = "supported"
FAILED = "unsupported"
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


Wanted = Callable[[StepClaim], bool]


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
            sides = _sides(judged, score.feature, scores)
            # A side without an exhibit is a figure too: "claims that hold: 0 of 88".
            if sides is not None and any(side.exhibits for side in sides):
                audit.attach(Contrast(feature=score.feature, sides=sides, rule=RULE))


def _sides(
    judged: JudgedTraces,
    feature: str,
    scores: Sequence[Score],
) -> tuple[Side, Side] | None:
    """Claims that the video supports beside claims that it does not, of what the finding is of."""
    rates = {}
    for score in scores:
        if score.metric == SGR and score.value is not None:
            rates[score.feature] = score.value
    if feature == REASONING:
        return _verdict_sides(judged)
    if feature == ANSWERS:
        return _answer_sides(judged)
    if feature == VIDEO:
        return _video_sides(judged, rates)
    if feature == LATE:
        title = "{} quarter of the steps: {} of the claims hold"
        return (
            _side(
                judged,
                title.format("first", percent(rates[OF_STAGE + "early"])),
                lambda c: (c.stage, c.verdict) == ("early", HELD),
            ),
            _side(
                judged,
                title.format("last", percent(rates[feature])),
                lambda c: (c.stage, c.verdict) == ("late", FAILED),
            ),
        )
    if not feature.startswith(NAMED):
        return None
    return _thing_sides(judged, feature.removeprefix(NAMED))


def _verdict_sides(judged: JudgedTraces) -> tuple[Side, Side]:
    counts = judged.counts
    held = f"claims that the video supports: {counts.supported} of {counts.claims}"
    other = f"claims that the video does not support: {counts.unsupported} of {counts.claims}"
    verdict = FAILED
    # what could not be checked tells more than an empty side
    if counts.unverifiable and not counts.unsupported:
        other = (
            f"claims that cannot be checked: {counts.unverifiable} of {counts.claims}"
        )
        verdict = "unverifiable"
    return (
        _side(judged, held, lambda c: c.verdict == HELD),
        _side(judged, other, lambda c: c.verdict == verdict),
    )


def _answer_sides(judged: JudgedTraces) -> tuple[Side, Side]:
    """Of the right answers, those whose steps hold and those whose steps do not."""
    sound: set[str] = set()
    flawed: set[str] = set()
    for trace in judged.answered:
        if trace.accuracy:
            fails = sum_counts(trace.steps).unsupported
            (flawed if fails else sound).add(trace.sample.key)
    n = len(sound) + len(flawed)
    return (
        _side(
            judged,
            f"right answers whose claims all hold: {len(sound)} of {n}",
            lambda c: c.sample in sound and c.verdict == HELD,
        ),
        _side(
            judged,
            f"right answers after a claim that no frame supports: {len(flawed)} of {n}",
            lambda c: c.sample in flawed and c.verdict == FAILED,
        ),
    )


def _thing_sides(judged: JudgedTraces, name: str) -> tuple[Side, Side]:
    """Videos that show a thing that is named, and those that never do; or what else they show."""
    verdicts = {
        sample.key: verdict for sample, verdict in verdicts_on_thing(judged, name)
    }
    count = Counter(verdicts.values())
    shown = count["supported"]
    never = count["unsupported"]

    def is_named(claim: StepClaim, verdict: str) -> bool:
        same = claim.claim.kind == "entity" and claim.claim.subject == name
        return same and verdicts.get(claim.sample) == verdict

    title = f"the video shows it: {shown} of {shown + never}"
    seen = _side(judged, title, lambda c: is_named(c, "supported"))
    # no video of the run shows it
    if not seen.exhibits:
        title += "; what it shows instead"
        seen = _side(
            judged,
            title,
            lambda c: c.sample in verdicts and c.verdict == HELD,
        )
    title = f"the video never shows it: {never} of {shown + never}"
    return seen, _side(judged, title, lambda c: is_named(c, "unsupported"))


def _video_sides(
    judged: JudgedTraces, rates: dict[str, float]
) -> tuple[Side, Side] | None:
    """The same step of the same sample, before and after the video was changed."""
    if not {REASONING, VIDEO} <= rates.keys():
        return None
    changed: dict[str, JudgedTrace] = {}
    for trace in judged.variants:
        # one exhibit a sample, though it may be changed in several ways
        if trace.reasoning.request.change in RELEVANT and trace.reasoning.trace.steps:
            changed.setdefault(trace.sample.key, trace)
    before = []
    after = []
    for claim in _typical(judged, lambda c: c.sample in changed):
        trace = changed[claim.sample]
        # the new trace may have fewer steps
        if claim.step <= len(trace.reasoning.trace.steps):
            before.append(_exhibit(claim))
            after.append(_exhibit_after(trace, claim.step))
    title = "the video {}: {} of the claims in a step hold"
    return (
        Side(
            title=title.format("as it is", percent(rates[REASONING])),
            exhibits=tuple(before),
        ),
        Side(
            title=title.format("changed", percent(rates[VIDEO])),
            exhibits=tuple(after),
        ),
    )


def _exhibit_after(trace: JudgedTrace, step: int) -> Exhibit:
    """The same step after the change, beside the frames that were shown then."""
    request = trace.reasoning.request
    return Exhibit(
        occurrence=Occurrence(sample=trace.sample.key),
        label=trace.sample.label,
        prediction=trace.reasoning.trace.answer,
        correct=trace.reasoning.right,
        words=f"changed ({request.change}), as drawn. Step {step} now says: "
        f"\u201c{_short(trace.reasoning, step)}\u201d",
        drawing=_strip(request.trial.sample.frames),
    )


def _short(reasoning: Reasoning, step: int) -> str:
    return shorten(
        reasoning.trace.steps[step - 1],
        EXHIBITED_STEP,
        placeholder=" ...",
    )


def _side(judged: JudgedTraces, title: str, wanted: Wanted) -> Side:
    return Side(title=title, exhibits=tuple(map(_exhibit, _typical(judged, wanted))))


def _typical(judged: JudgedTraces, wanted: Wanted) -> list[StepClaim]:
    """By `RULE`."""
    rates = [trace.grounding or 0.0 for trace in judged.answered]
    middle = float(np.median(rates or [0.0]))
    first = {}
    for claim in _step_claims(judged):
        if claim.sample not in first and wanted(claim):
            first[claim.sample] = claim

    def rank(claim: StepClaim) -> tuple[float, str]:
        return abs((claim.trace.grounding or 0.0) - middle), claim.sample

    return sorted(first.values(), key=rank)[:EXHIBITS]


def _step_claims(judged: JudgedTraces) -> Iterator[StepClaim]:
    for trace in judged.baselines:
        for number, claims in enumerate(trace.reasoning.claims, start=1):
            for claim in claims:
                yield StepClaim(
                    trace,
                    number,
                    claim,
                    judged.judgements.of(trace.sample, claim),
                )


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
