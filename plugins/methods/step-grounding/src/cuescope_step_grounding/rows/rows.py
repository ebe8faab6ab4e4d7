"""The sentences of the report, each from a result, with "{feature}" where its name stands."""

from collections.abc import Iterator

from cuescope_sdk import Audit
from cuescope_sdk.report import interval, percent
from cuescope_step_grounding.analysis import Result
from cuescope_step_grounding.rows.keys import (
    ACC,
    ANSWERS,
    HR,
    NAMED,
    REASONING,
    SGR,
    VIDEO,
    VRS,
)
from cuescope_step_grounding.scores import mean
from cuescope_step_grounding.verification import summaries
from cuescope_step_grounding.verification.judged import JudgedTraces
from cuescope_step_grounding.verification.verdict import (
    BETTER,
    FITS,
    NO_BETTER,
    OPEN,
    Verdict,
)

# How the sentence of the verdict begins, after the feature's name.
OPENINGS = {
    BETTER: "is better than random and than the same model with the wrong video: it fits its video "
    "better than what the model says of that video when it is shown another one of the same kind "
    "of scene",
    FITS: "fits its own video better than others of the same kind of scene. Whether the model "
    "looked is not settled: it was not asked without the video, so a question that tells much of "
    "its own video may be the reason",
    NO_BETTER: "is no better than random: it fits other videos as well as its own",
    OPEN: "is open: these samples do not show whether it is better than random",
}


def statement_of(audit: Audit, judged: JudgedTraces, result: Result) -> str | None:
    """What a result says; None of one that is figures alone."""
    figures = result.figures
    told = result.told
    if result.feature == REASONING:
        if result.verdict is None:
            return f"{{feature}}: {summaries.why_unmeasured(audit, judged)}."
        return " ".join(_verdict_sentences(judged, result, result.verdict))
    if result.feature == ANSWERS:
        return (
            f"{{feature}}: {percent(*figures[ACC])} of the answers are right, but the video does "
            f"not support {percent(1 - figures[SGR].value)} of the claims in the steps before a "
            "right answer."
        )
    if result.feature == VIDEO:
        loss = percent(*told["loss"], unit=" points")
        vrs, low, high = figures[VRS]
        ends = interval(low, high, "{:.2f}".format)
        return (
            "{feature}: the reasoning does not change when the video does. When things are moved "
            f"or hidden, or the frames are reordered, support changes by only {loss} "
            f"(visual reliance, VRS: {vrs:.2f}{ends})."
        )
    if result.feature.startswith(NAMED):
        never = f"in {told['never'].value} of them the video never shows it"
        return f"{{feature}}: {result.n} traces name it, and {never}."
    if told:
        return (
            f"{{feature}}: support falls by {percent(*told['loss'], unit=' points')}, from "
            f"{percent(*told['early'])} of the claims in the first quarter of the steps to "
            f"{percent(*told['late'])} in the last quarter."
        )
    return None


def _verdict_sentences(
    judged: JudgedTraces,
    result: Result,
    verdict: Verdict,
) -> Iterator[str]:
    """The verdict, and the figures behind it, a sentence each."""
    because = "" if verdict.missing is None else f": {verdict.missing}"
    yield f"{{feature}} {OPENINGS[verdict.word]}{because}."
    yield f"{summaries.claim_shares(judged)}."
    support = percent(*result.figures[SGR])
    sentence = f"On average the video supports {support} of the claims in a step"
    if verdict.elsewhere is not None:
        elsewhere = percent(verdict.elsewhere)
        sentence += f"; of the same claims in other videos of its kind {elsewhere} hold"
    blind = mean(judged.blind_rates)
    if verdict.blind_p_value is not None and blind is not None:
        sentence += (
            f"; of what the model says of another video {percent(blind)} hold in this one "
            f"(p = {verdict.blind_p_value:.2g})"
        )
    yield f"{sentence}."
    share = verdict.share
    if share is not None:
        yield (
            f"Corrected for chance, {percent(share.value, share.low, share.high)} of the claims "
            "are grounded."
        )
    if HR in result.figures:
        yield f"{percent(*result.figures[HR])} of the steps make at least one unsupported claim."
    if judged.groups.few:
        yield f"These are few samples: {summaries.count_groups(judged.groups)}."
