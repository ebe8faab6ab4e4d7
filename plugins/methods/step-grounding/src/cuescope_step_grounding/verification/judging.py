"""From traces to judged traces: everything that is claimed, held against the video in one call."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from operator import attrgetter

from cuescope_sdk import Audit, LazyWeights, Sample, SentenceEncoder, UserError
from cuescope_sdk.grounding import SCENE, Claim, ClaimVerifier, SceneVerifier
from cuescope_sdk.language import BagOfWords
from cuescope_step_grounding import beliefs, scores, trials
from cuescope_step_grounding.claims.contents import claim_words
from cuescope_step_grounding.options import StepGroundingOptions
from cuescope_step_grounding.perturbations import magnitudes
from cuescope_step_grounding.trials import Claims, Reasoning
from cuescope_step_grounding.verification import blind, controls
from cuescope_step_grounding.verification.judged import (
    JudgedTrace,
    JudgedTraces,
    Judgements,
    judge_claims,
)
from cuescope_step_grounding.verification.strata import TraceClaims, by_group, strata
from cuescope_step_grounding.verification.swaps import BlindTrace, Deal, Plan, plans
from cuescope_step_grounding.verification.verdict import Verdict, verdict

ALL = "all"  # of the counterfactual changes together
SCENES = "the annotated scenes"
Case = tuple[Sample, Iterable[Claim]]

# ------------------------------------------------------------------------------------------ tools


def other_verifiers(audit: Audit) -> dict[str, ClaimVerifier]:
    """The verifiers to compare with, by SPEC, ready to judge."""
    verifiers = {}
    for spec in audit.options.other_verifiers:
        tool = audit.context.build("tool", spec)
        if not hasattr(tool, "judge"):
            raise UserError(
                f"step-grounding: tool {spec} is no claim-verifier",
                expected="one with judge()",
            )
        # a plan must cost nothing, and weights may be large
        if isinstance(tool, LazyWeights) and not audit.context.planning:
            tool.open_weights()
        verifiers[spec] = tool
    return verifiers


def has_no_evidence(audit: Audit) -> bool:
    """Whether there is neither a verifier nor an annotated scene."""
    if "claim-verifier" in audit.tools:
        return False
    return not any(SCENE in sample.annotations for sample in audit.samples)


# ----------------------------------------------------------------------------------------- judging


@dataclass(frozen=True)
class _Claimed:
    """All that is judged: traces of the model, and those that are made beside them."""

    traces: Sequence[Reasoning]
    variants: Sequence[Reasoning]
    blind: Mapping[str, BlindTrace]  # by sample
    random: Sequence[Claims]  # one of each trace
    counterfactual: Mapping[str, Sequence[Claims]]  # by change, one of each trace
    deals: Mapping[Deal, Plan]

    def cases(self) -> Iterator[Case]:
        """Each claim with the sample that it is held against."""
        changed = self.counterfactual.values()
        for trace, *made in zip(self.traces, self.random, *changed, strict=True):
            blind_trace = self.blind.get(trace.sample.key)
            blind_claims = blind_trace.claims if blind_trace else ()
            yield _case(trace, chain(*made, blind_claims))
        # changed videos are held against the original (Table 3 of the paper)
        for trace in self.variants:
            yield trace.sample, chain.from_iterable(trace.claims)
        # claims of one video held against another
        for plan in self.deals.values():
            yield from plan.cases()


def judge_traces(audit: Audit) -> JudgedTraces:
    """Everything is judged in one call; then it is counted."""
    options: StepGroundingOptions = audit.options
    policy = options.unverifiable
    claimed = _claimed(audit)
    # one call, so that a detector sees each frame once, whatever is asked of it
    verifier = audit.tools.get("claim-verifier") or SceneVerifier()
    judgements = judge_claims(verifier, claimed.cases())

    def count(
        trace: Reasoning,
        sample: Sample,
        consistency: float | None = None,
    ) -> JudgedTrace:
        return JudgedTrace(
            trace,
            tuple(judgements.count_steps(sample, trace.claims)),
            policy,
            consistency,
            options.paper,
        )

    def rate(sample: Sample, claims: Claims) -> float | None:
        return judgements.rate(sample, claims, policy)

    samples = [trace.sample for trace in claimed.traces]
    consistencies = _consistencies(audit, claimed.traces, judgements)
    blind_rates = []
    for sample in samples:
        other = claimed.blind.get(sample.key)
        blind_rates.append(None if other is None else rate(sample, other.claims))
    wrong_rates = {}
    for change, claims in claimed.counterfactual.items():
        wrong_rates[change] = tuple(map(rate, samples, claims))
    swaps = {}
    for deal, plan in claimed.deals.items():
        held = plan.swaps(judgements.of)
        if held is not None:
            swaps[deal] = held
    return JudgedTraces(
        baselines=tuple(map(count, claimed.traces, samples, consistencies)),
        variants=tuple(count(trace, trace.sample) for trace in claimed.variants),
        random_rates=tuple(map(rate, samples, claimed.random)),
        counterfactual_rates=wrong_rates,
        judgements=judgements,
        swaps=swaps,
        blind_rates=tuple(blind_rates),
        random_wordings=len(_wordings(claimed.random)),
    )


def _claimed(audit: Audit) -> _Claimed:
    """What the model has answered, and the controls that are made of it."""
    options: StepGroundingOptions = audit.options
    traces = audit.once(trials.baseline_traces, audit)
    requests = audit.once(trials.variant_requests, audit)
    blind_requests = audit.once(blind.blind_requests, audit)
    asked = trials.read_traces(audit, [*requests, *blind_requests], audit.outcomes)
    variants = asked[: len(requests)]
    blindly = blind.blind_traces(audit, asked[len(requests) :])
    groups = by_group(TraceClaims(trace.sample, trace.claims) for trace in traces)
    encoder = audit.tools.get("sentence-encoder")
    deals = plans(strata(groups, options.partners, encoder), blindly)
    return _Claimed(
        traces,
        variants,
        blindly,
        _random_traces(audit, traces),
        _counterfactual_traces(audit, traces),
        deals,
    )


def _case(trace: Reasoning, made: Iterable[Iterable[Claim]]) -> Case:
    """All that is judged of a sample: what its trace claims, and the claims `made` beside it."""
    # what is named at one moment is also looked for in the whole video
    things = map(existence, named_things(trace.claims))
    # a belief is judged again at the time of each later step
    recalled = beliefs.recalled_claims(trace.claims)
    steps = chain(trace.claims, [recalled, things], made)
    return trace.sample, chain.from_iterable(steps)


def _wordings(traces: Iterable[Claims]) -> set[str]:
    """The different claims of some traces."""
    steps = chain.from_iterable(traces)
    return set(map(claim_words, chain.from_iterable(steps)))


def verdict_of(audit: Audit, judged: JudgedTraces) -> Verdict:
    """The verdict on the reasoning as a whole."""
    counts = judged.counts
    return verdict(
        judged.swaps,
        # where nothing is claimed nothing is decided, and the verdict is open
        counts.decided / counts.claims if counts.claims else 0.0,
        audit.rng,
        margin=audit.options.margin,
        level=audit.options.level,
    )


def _consistencies(
    audit: Audit,
    traces: Sequence[Reasoning],
    judgements: Judgements,
) -> Iterator[float | None]:
    options: StepGroundingOptions = audit.options
    policy = options.unverifiable
    of_states = not options.paper

    def lapses(sample: Sample, claim: Claim) -> bool:
        # what cannot be verified is not contradicted: it stands
        return judgements.of(sample, claim).verdict == "unsupported"

    def justification(
        sample: Sample,
        pair: beliefs.Transition,
        similarity: float,
    ) -> float | None:
        after = judgements.count(sample, pair.new)
        if of_states:
            return scores.state_justification(after, policy)
        return scores.transition_justification(
            similarity,
            judgements.count(sample, pair.kept),
            after,
            beliefs.TAU,
            policy,
        )

    pairs_of = []
    for trace in traces:
        lapsed = partial(lapses, trace.sample) if of_states else None
        pairs_of.append(beliefs.transitions(trace.claims, lapsed))
    # One call of the encoder for all traces, as networks encode far faster in batches.
    texts = list(map(attrgetter("before", "after"), chain.from_iterable(pairs_of)))
    encoder: SentenceEncoder = audit.tools.get("sentence-encoder") or BagOfWords()
    values = iter(beliefs.similarities(texts, encoder).tolist())
    for trace, pairs in zip(traces, pairs_of, strict=True):
        similarities = list(islice(values, len(pairs)))
        yield scores.temporal_consistency(
            similarities,
            list(map(partial(justification, trace.sample), pairs, similarities)),
        )


def _random_traces(audit: Audit, traces: Sequence[Reasoning]) -> list[Claims]:
    return [
        _maker(audit, trace.sample, "random reasoning").random_trace(trace.claims)
        for trace in traces
    ]


def _counterfactual_traces(
    audit: Audit, traces: Sequence[Reasoning]
) -> dict[str, list[Claims]]:
    """By change the counterfactual trace of each sample."""
    wrong = defaultdict(list)
    every = frozenset(controls.CHANGES)
    for name in (*controls.CHANGES, ALL):
        changes = every if name == ALL else every & {name}
        for trace in traces:
            maker = _maker(audit, trace.sample, "counterfactual", name)
            spoil = partial(maker.counterfactual, changes=changes)
            steps = (tuple(map(spoil, step)) for step in trace.claims)
            wrong[name].append(tuple(steps))
    return wrong


def _maker(audit: Audit, sample: Sample, *names: str) -> controls.Maker:
    # by sample, so that other samples leave its draws as they are
    return controls.Maker(
        audit.once(_words, audit),
        len(sample.frames),
        audit.rng(*names, sample.key),
    )


def _words(audit: Audit) -> controls.Vocabulary:
    traces = audit.once(trials.baseline_traces, audit)
    steps = chain.from_iterable(trace.claims for trace in traces)
    samples = [trace.sample for trace in traces]
    return controls.vocabulary(samples, chain.from_iterable(steps))


# ------------------------------------------------------------------------------- parts of a trace


def named_things(claims: Claims) -> tuple[str, ...]:
    names = [
        claim.subject
        for claim in chain.from_iterable(claims)
        if claim.kind == "entity" and not claim.negated
    ]
    return tuple(dict.fromkeys(names))


def verdicts_on_thing(judged: JudgedTraces, name: str) -> list[tuple[Sample, str]]:
    """Of each trace that names a thing, whether its video shows it."""
    verdicts: list[tuple[Sample, str]] = []
    for trace in judged.baselines:
        if name in named_things(trace.reasoning.claims):
            judgement = judged.judgements.of(trace.sample, existence(name))
            verdicts.append((trace.sample, judgement.verdict))
    return verdicts


def existence(name: str) -> Claim:
    """That a thing is anywhere in the video."""
    return Claim(kind="entity", text=name, subject=name)


def claims_of_kind(
    trace: JudgedTrace,
    kind: str,
    judgements: Judgements,
) -> JudgedTrace:
    """The trace by its claims of one kind alone."""
    steps = []
    for step in trace.reasoning.claims:
        of_kind = [claim for claim in step if claim.kind == kind]
        steps.append(judgements.count(trace.sample, of_kind))
    return replace(trace, steps=tuple(steps))


# ---------------------------------------------------------------------------------- changed videos


def change_costs(judged: JudgedTraces) -> list[scores.ChangeCost]:
    """All changed traces beside those of the samples as they are."""
    baselines = {trace.sample.key: trace for trace in judged.baselines}
    by_sample = defaultdict(list)
    for trace in judged.variants:
        # another style of asking is no change of the video
        if trace.reasoning.request.change is not None:
            by_sample[trace.sample.key].append(trace)
    costs: list[scores.ChangeCost] = []
    for key, changed in by_sample.items():
        costs += _costs(baselines[key], changed)
    return costs


def _costs(
    baseline: JudgedTrace, changed: Sequence[JudgedTrace]
) -> Iterator[scores.ChangeCost]:
    sizes = magnitudes(
        baseline.sample.frames,
        list(map(attrgetter("reasoning.request.trial.sample.frames"), changed)),
    )
    before = baseline.grounding
    for trace, size in zip(changed, sizes, strict=True):
        kind = trace.reasoning.request.change
        after = trace.grounding
        lost = None if before is None or after is None else before - after
        right = (baseline.reasoning.right, trace.reasoning.right)
        # A change that no pixel shows has no cost per change; a paraphrase is not meant to show.
        if kind is not None and (size > 0 or kind == "paraphrase"):
            yield scores.ChangeCost(baseline.sample, kind, lost, right, size)


def reliance_of(
    audit: Audit, costs: Sequence[scores.ChangeCost]
) -> scores.Reliance | None:
    """VRS; None where nothing was changed."""
    if not costs:
        return None
    return scores.reliance(costs, audit.rng("reliance"), audit.options)
