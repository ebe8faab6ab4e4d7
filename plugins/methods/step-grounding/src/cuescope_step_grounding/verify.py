"""Checks that what was measured is grounding, and no accident of the verifier (section 7.3)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cuescope_sdk import Audit, Evidence
from cuescope_sdk.grounding import Case, ClaimVerifier, Judgement
from cuescope_step_grounding.chance import exchanged_p_value
from cuescope_step_grounding.counterfactual import in_other_words
from cuescope_step_grounding.docket import Docket, Verdicts
from cuescope_step_grounding.measuring import ALL, Findings, MeasuredTrace, known, random_rates
from cuescope_step_grounding.metrics import mean, step_grounding_rate
from cuescope_step_grounding.perturbing import RELEVANT
from cuescope_step_grounding.reliance import ChangeCost
from cuescope_step_grounding.rows import REASONING
from cuescope_step_grounding.saying import percent

if TYPE_CHECKING:
    from cuescope_step_grounding import StepGrounding

LOST = 0.25  # of SGR that counterfactual traces should lose at least (paper: 0.26)
RANDOM = 0.25  # SGR that random traces should not reach (paper: 0.18)
APART = 0.08  # by which verifiers differ in the paper (section 3.2)
ABLE = 0.5  # SGR from which so much can be lost; false claims turned round may become true
STYLES = 0.1  # SGR by which styles may differ


def evidence(
    audit: Audit,
    options: "StepGrounding.Options",
    found: Findings,
    changes: Sequence[ChangeCost],
    verifiers: Mapping[str, ClaimVerifier],
) -> Iterator[Evidence]:
    """All checks that this audit allows; `verifiers` by SPEC are compared with."""
    sgr = mean([one.grounding for one in found.plain]) or 0.0
    yield from counterfactual_traces(found, sgr)
    yield from random_reasoning(audit, options, found, sgr)
    yield from noise(audit, options, found, sgr)
    yield from sight_and_words(options, changes)
    yield from styles(options, found, sgr)
    for spec, verifier in verifiers.items():
        yield another_verifier(found, spec, verifier, sgr)


def counterfactual_traces(found: Findings, sgr: float) -> Iterator[Evidence]:
    """Traces made wrong lose their support; else the verifier likes anything grammatical."""
    lost = {
        change: drop for change, rates in found.wrong.items()
        if (drop := _lost(found.plain, rates)) is not None
    }  # fmt: skip
    if ALL not in lost:
        return
    parts = ", ".join(f"{name} {percent(drop)}" for name, drop in lost.items() if name != ALL)
    step = next(
        (s for one in found.plain for s in one.reasoning.trace.steps if in_other_words(s) != s), ""
    )
    as_in = f"; as in \u201c{in_other_words(step)}\u201d" if step else ""
    able = sgr >= ABLE
    yield Evidence(
        check="counterfactual traces", feature=REASONING, value=lost[ALL], threshold=LOST,
        n=len(found.answered),
        verdict="supported" if lost[ALL] >= LOST else "refuted" if able else "inconclusive",
        detail=f"{percent(lost[ALL])} of support is lost when relations, things and times are "
        f"turned round (alone: {parts}){as_in}",
    )  # fmt: skip


def _lost(plain: Sequence[MeasuredTrace], rates: Sequence[float | None]) -> float | None:
    return mean([
        one.grounding - rate for one, rate in zip(plain, rates, strict=True)
        if one.grounding is not None and rate is not None
    ])  # fmt: skip


def random_reasoning(
    audit: Audit, options: "StepGrounding.Options", found: Findings, sgr: float
) -> Iterator[Evidence]:
    """Sampled claims hold by luck alone, and the model's hold more often."""
    able = [
        (one.grounding, rates) for place, one in enumerate(found.plain)
        if one.grounding is not None and (rates := random_rates(found, place)) is not None
    ]  # fmt: skip
    if not able:
        return
    random = np.stack([rates for _, rates in able])
    own = np.array([rate for rate, _ in able])
    p_value = exchanged_p_value(own, random, audit.rng("against random"))
    share = float(random.mean())
    spread = float(random.mean(axis=0).std())
    above = p_value <= options.level
    yield Evidence(
        check="random reasoning", feature=REASONING, value=share, threshold=RANDOM, n=len(able),
        verdict="supported" if above and share < RANDOM else
        "inconclusive" if above or len(able) < 5 else "refuted",
        detail=f"{percent(share)} (\u00b1 {100 * spread:.1f}) of claims drawn from the data's "
        f"words are supported, {percent(sgr)} of the model's (p = {p_value:.2g})",
    )  # fmt: skip


class _Recorded:
    """What a verifier said, once more."""

    def __init__(self, verdicts: Verdicts) -> None:
        self.verdicts = verdicts

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        return [[self.verdicts.of(sample, c) for c in claims] for sample, claims in cases]


def noise(
    audit: Audit, options: "StepGrounding.Options", found: Findings, sgr: float
) -> Iterator[Evidence]:
    """Whether the steps still stand out from random ones where the verifier errs more."""
    from cuescope_sdk.grounding import noisy

    rate = options.noise
    random = mean([share for rates in found.random for share in rates])
    if not rate or random is None:
        return
    rates = _rates(found, noisy(_Recorded(found.verdicts), rate, audit.derive_seed("noise")))
    after, luck = mean(rates) or 0.0, random * (1 - rate) + (1 - random) * rate
    yield Evidence(
        check="verifier noise", feature=REASONING, value=after, threshold=luck,
        n=len(known(rates)), verdict="supported" if after > luck else "refuted",
        detail=f"with {percent(rate)} of the judgements turned round SGR goes from {percent(sgr)} "
        f"to {percent(after)}, that of random steps from {percent(random)} to {percent(luck)}",
    )  # fmt: skip


def sight_and_words(
    options: "StepGrounding.Options", changes: Sequence[ChangeCost]
) -> Iterator[Evidence]:
    """The counter-causal control: other pictures cost more than other words (section 3.5)."""
    seen, said = (
        mean([one.lost for one in changes if one.kind in kinds])
        for kinds in (RELEVANT, ("paraphrase",))
    )
    if seen is None or said is None:
        return
    yield Evidence(
        check="pictures against words", feature=REASONING, value=seen - said,
        threshold=options.margin, n=sum(one.lost is not None for one in changes),
        verdict="supported" if seen - said > options.margin else "refuted",
        detail=f"{percent(seen)} of support is lost when the video changes, {percent(said)} when "
        "the question is paraphrased (paper: 18.2 and 3.1)",
    )  # fmt: skip


def styles(options: "StepGrounding.Options", found: Findings, sgr: float) -> Iterator[Evidence]:
    """Whether another way of asking finds another support."""
    for style in dict.fromkeys(options.also):
        rates = [
            one.grounding for one in found.variants
            if one.reasoning.asked_for.style == style and one.reasoning.asked_for.change is None
        ]  # fmt: skip
        other = mean(rates)
        if other is None:
            continue
        yield Evidence(
            check=f"asked in the style {style}", feature=REASONING, value=abs(other - sgr),
            threshold=STYLES, n=len(known(rates)),
            verdict="supported" if abs(other - sgr) <= STYLES else "refuted",
            detail=f"SGR {other:.1%} instead of {sgr:.1%}",
        )  # fmt: skip


def another_verifier(found: Findings, spec: str, verifier: ClaimVerifier, sgr: float) -> Evidence:
    """The same claims before another verifier."""
    rates = _rates(found, verifier)
    other = mean(rates)
    if other is None:
        return Evidence(
            check=f"verifier {spec}", feature=REASONING, verdict="inconclusive",
            detail="it could verify no claim",
        )  # fmt: skip
    return Evidence(
        check=f"verifier {spec}", feature=REASONING, value=abs(other - sgr), threshold=APART,
        n=len(known(rates)), verdict="supported" if abs(other - sgr) <= APART else "refuted",
        detail=f"SGR {other:.1%} instead of {sgr:.1%}",
    )  # fmt: skip


def _rates(found: Findings, verifier: ClaimVerifier) -> list[float | None]:
    """SGR of the baseline's traces by another verifier."""
    docket = Docket()
    for one in found.plain:
        docket.add(one.reasoning.sample, [claim for step in one.reasoning.claims for claim in step])
    said = docket.judge(verifier)
    return [
        step_grounding_rate(said.steps(one.reasoning.sample, one.reasoning.claims), one.policy)
        for one in found.plain
    ]
