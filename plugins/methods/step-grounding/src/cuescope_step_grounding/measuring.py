"""From traces to figures: everything that a trace says, held against the evidence in one call."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from cuescope_sdk import Audit, Sample, SentenceEncoder
from cuescope_sdk.grounding import SCENE, Claim, ClaimVerifier
from cuescope_step_grounding.asking import Claims, Reasoning
from cuescope_step_grounding.beliefs import Transition, recalled, similarities, transitions
from cuescope_step_grounding.counterfactual import CHANGES, Change, counterfactual
from cuescope_step_grounding.docket import Docket, Verdicts
from cuescope_step_grounding.metrics import (
    Step,
    hallucination_rate,
    justified,
    step_grounding_rate,
    temporal_consistency,
    upheld,
)
from cuescope_step_grounding.naming import Policy
from cuescope_step_grounding.random_reasoning import random_trace
from cuescope_step_grounding.vocabulary import of_steps, vocabulary

if TYPE_CHECKING:
    from cuescope_step_grounding import StepGrounding

ALL = "all"  # of the counterfactual changes together


@dataclass(frozen=True)
class MeasuredTrace:
    """A trace with how many claims of each step are supported."""

    reasoning: Reasoning
    steps: tuple[Step, ...]
    policy: Policy
    consistency: float | None = None

    @cached_property
    def grounding(self) -> float | None:
        """SGR of this trace."""
        return step_grounding_rate(self.steps, self.policy)

    @cached_property
    def hallucination(self) -> float | None:
        """HR of this trace."""
        return hallucination_rate(self.steps, self.policy)


@dataclass(frozen=True)
class Findings:
    """All that was judged of an audit.

    `plain` are the baseline's traces, `variants` those of other styles and changed samples. By
    sample, in the order of `plain`: `random` has the SGR of random traces, `wrong` the SGR of the
    counterfactual ones by change.
    """

    plain: tuple[MeasuredTrace, ...]
    variants: tuple[MeasuredTrace, ...]
    random: tuple[tuple[float | None, ...], ...]
    wrong: Mapping[str, tuple[float | None, ...]]
    random_claims: tuple[tuple[Claims, ...], ...]
    verdicts: Verdicts

    @property
    def answered(self) -> tuple[MeasuredTrace, ...]:
        """The baseline's traces of which an SGR is known."""
        return tuple(one for one in self.plain if one.grounding is not None)


def evidence(reasoning: Reasoning, source: str) -> Sample:
    """What a trace is held against: the sample, or the frames that it was shown.

    Annotations of a scene are of the original, and left behind where other frames are looked at.
    """
    shown = reasoning.asked_for.trial.sample
    if source == "original" or reasoning.asked_for.change in (None, "paraphrase"):
        return reasoning.sample
    kept = {key: value for key, value in reasoning.sample.annotations.items() if key != SCENE}
    return reasoning.sample.model_copy(
        update={"key": shown.key, "frames": shown.frames, "annotations": kept}
    )


def findings_of(
    audit: Audit,
    options: "StepGrounding.Options",
    traces: Sequence[Reasoning],
    variants: Sequence[Reasoning],
    verifier: ClaimVerifier,
    encoder: SentenceEncoder,
    tau: float,
) -> Findings:
    """Everything is judged in one call; then it is counted."""
    policy, docket = options.unverifiable, Docket()
    random, wrong = _invented(audit, options, traces)
    for place, one in enumerate(traces):
        there = [existence(name) for name in named(one.claims)]
        invented = [*random[place], *(of[place] for of in wrong.values())]
        docket.add(one.sample, [*of_steps([one.claims]), *recalled(one.claims), *there])
        docket.add(one.sample, of_steps(invented))
    for one in variants:
        docket.add(evidence(one, options.evidence), of_steps([one.claims]))
    found = docket.judge(verifier)

    def rate(one: Reasoning, claims: Claims) -> float | None:
        return step_grounding_rate(found.steps(one.sample, claims), policy)

    def lapses(sample: Sample, claim: Claim) -> bool:
        return found.of(sample, claim).verdict == "unsupported"

    def right(sample: Sample, t: Transition, near: float) -> float | None:
        if options.belief == "state":
            return upheld(found.counted(sample, t.new), policy)
        before, after = (found.counted(sample, claims) for claims in (t.kept, t.new))
        return justified(near, before, after, tau, policy)

    passed = [
        transitions(c.claims, partial(lapses, c.sample) if options.belief == "state" else None)
        for c in traces
    ]
    near = iter(similarities([(t.before, t.after) for of in passed for t in of], encoder).tolist())
    plain = []
    for one, of in zip(traces, passed, strict=True):
        like = [next(near) for _ in of]
        why = [right(one.sample, *pair) for pair in zip(of, like, strict=True)]
        steps = tuple(found.steps(one.sample, one.claims))
        plain.append(MeasuredTrace(one, steps, policy, temporal_consistency(like, why)))
    return Findings(
        plain=tuple(plain),
        variants=tuple(
            MeasuredTrace(
                one, tuple(found.steps(evidence(one, options.evidence), one.claims)), policy
            )
            for one in variants
        ),
        random=tuple(tuple(rate(one, t) for t in random[i]) for i, one in enumerate(traces)),
        wrong={
            change: tuple(rate(one, of[i]) for i, one in enumerate(traces))
            for change, of in wrong.items()
        },
        random_claims=random,
        verdicts=found,
    )


def _invented(
    audit: Audit, options: "StepGrounding.Options", traces: Sequence[Reasoning]
) -> tuple[tuple[tuple[Claims, ...], ...], dict[str, tuple[Claims, ...]]]:
    """Random traces of each sample, and by change the counterfactual trace of each."""
    words = vocabulary((one.sample for one in traces), of_steps([one.claims for one in traces]))
    random, wrong = [], {}
    for one in traces:
        rng, frames = audit.rng("random reasoning", one.sample.key), len(one.sample.frames)
        random.append(
            tuple(random_trace(one.claims, words, frames, rng) for _ in range(options.draws))
        )
    variants: dict[str, tuple[Change, ...]] = {name: (name,) for name in CHANGES}
    for name, changes in (variants | {ALL: CHANGES}).items():
        made = []
        for one in traces:
            rng, frames = audit.rng("counterfactual", name, one.sample.key), len(one.sample.frames)
            turned = partial(
                counterfactual, changes=frozenset(changes), words=words, frames=frames, rng=rng
            )
            made.append(tuple(tuple(map(turned, step)) for step in one.claims))
        wrong[name] = tuple(made)
    return tuple(random), wrong


def named(claims: Claims) -> tuple[str, ...]:
    """The things that a trace says are there, each once."""
    entities = (claim for step in claims for claim in step)
    there = (c.subject for c in entities if c.kind == "entity" and not c.negated)
    return tuple(dict.fromkeys(there))


def existence(name: str) -> Claim:
    """That a thing is anywhere in the video."""
    return Claim(kind="entity", text=name, subject=name)


def known(values: Iterator[float | None] | Sequence[float | None]) -> list[float]:
    """Those that are not None."""
    return [value for value in values if value is not None]


def restricted(one: MeasuredTrace, kind: str, found: Verdicts) -> MeasuredTrace:
    """The trace by its claims of one kind alone."""
    steps = [tuple(c for c in step if c.kind == kind) for step in one.reasoning.claims]
    return replace(one, steps=tuple(found.steps(one.reasoning.sample, steps)))


def random_rates(found: Findings, place: int) -> np.ndarray | None:
    """SGR of a sample's random traces, an unknown one at the mean of the others."""
    rates = known(found.random[place])
    if not rates:
        return None
    middle = float(np.mean(rates))
    return np.array([middle if rate is None else rate for rate in found.random[place]])
