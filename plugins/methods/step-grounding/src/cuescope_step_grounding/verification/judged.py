"""What a verifier said, and the traces with how much of each step it supports."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, product
from operator import attrgetter

from cuescope_sdk import PluginError, Sample
from cuescope_sdk.grounding import Claim, ClaimVerifier, Judgement
from cuescope_sdk.statistics import Groups
from cuescope_step_grounding import scores
from cuescope_step_grounding.options import Policy
from cuescope_step_grounding.scores import StepCounts, sum_counts
from cuescope_step_grounding.trials import Claims, Reasoning
from cuescope_step_grounding.verification.swaps import Deal, Swaps


@dataclass(frozen=True)
class Judgements:
    """What a verifier said, by sample and claim."""

    by_claim: dict[tuple[str, Claim], Judgement]

    def of(self, sample: Sample, claim: Claim) -> Judgement:
        return self.by_claim[sample.key, claim]

    def count(self, sample: Sample, claims: Sequence[Claim]) -> StepCounts:
        """How many of these claims are supported, unsupported, unverifiable."""
        judgements = map(partial(self.of, sample), claims)
        return StepCounts(**Counter(map(attrgetter("verdict"), judgements)))

    def count_steps(
        self,
        sample: Sample,
        claims: Sequence[Sequence[Claim]],
    ) -> list[StepCounts]:
        """The same for each step of a trace."""
        return list(map(partial(self.count, sample), claims))

    def rate(self, sample: Sample, claims: Claims, policy: Policy) -> float | None:
        """SGR of a trace."""
        return scores.step_grounding_rate(self.count_steps(sample, claims), policy)


def judge_claims(
    verifier: ClaimVerifier, asked: Iterable[tuple[Sample, Iterable[Claim]]]
) -> Judgements:
    """What the verifier says of claims about samples, each judged once.

    Raises PluginError unless it says one thing of each claim.
    """
    # Verifiers can take seconds a frame: what many traces claim alike is asked once. A dict rather
    # than a set, for a verifier's answers may depend on the order of the claims.
    distinct: dict[str, tuple[Sample, dict[Claim, None]]] = {}
    for sample, claims in asked:
        _, known = distinct.setdefault(sample.key, (sample, {}))
        known |= dict.fromkeys(claims)
    cases = [(sample, tuple(known)) for sample, known in distinct.values()]
    sizes = [len(claims) for _, claims in cases]
    judgements = verifier.judge(cases) if cases else []
    if list(map(len, judgements)) != sizes:
        raise PluginError(
            f"claim verifier {type(verifier).__name__} broke its contract",
            expected="one judgement a claim, for each sample",
            got=f"{sum(map(len, judgements))} for {sum(sizes)}",
        )
    by_claim: dict[tuple[str, Claim], Judgement] = {}
    for (sample, said), answers in zip(cases, judgements, strict=True):
        by_claim |= zip(product([sample.key], said), answers, strict=True)
    return Judgements(by_claim)


@dataclass(frozen=True)
class JudgedTrace:
    """A trace with how many claims of each step are supported."""

    reasoning: Reasoning
    steps: tuple[StepCounts, ...]
    policy: Policy
    consistency: float | None = None
    over_all: bool = False

    @property
    def sample(self) -> Sample:
        return self.reasoning.sample

    @cached_property
    def grounding(self) -> float | None:
        return scores.step_grounding_rate(self.steps, self.policy)

    @cached_property
    def hallucination(self) -> float | None:
        return scores.hallucination_rate(
            self.steps,
            self.policy,
            over_all=self.over_all,
        )

    @property
    def accuracy(self) -> float | None:
        """1 for a right answer, 0 for a wrong one; None where that is not known."""
        return None if self.reasoning.right is None else float(self.reasoning.right)


@dataclass(frozen=True)
class JudgedTraces:
    """All that was judged of an audit.

    `baselines` are the traces of the samples as they are, `variants` those of other styles and
    changed samples. By sample, in the order of `baselines`: `random_rates` has the SGR of random
    traces, `counterfactual_rates` the SGR of the counterfactual ones by change, `blind_rates` the
    SGR of what was said of other videos. `swaps` are the same claims in other places by deal.
    `random_wordings` counts what random traces say, without when.
    """

    baselines: tuple[JudgedTrace, ...]
    variants: tuple[JudgedTrace, ...]
    random_rates: tuple[float | None, ...]
    counterfactual_rates: Mapping[str, tuple[float | None, ...]]
    judgements: Judgements
    swaps: Mapping[Deal, Swaps]
    blind_rates: tuple[float | None, ...] = ()
    random_wordings: int = 0

    @cached_property
    def groups(self) -> Groups:
        """Which of the baselines' samples were drawn together."""
        return Groups.of(self.samples)

    @cached_property
    def samples(self) -> list[Sample]:
        """Those of the baselines."""
        return [trace.sample for trace in self.baselines]

    @property
    def counts(self) -> StepCounts:
        """The claims of all baselines."""
        steps = map(attrgetter("steps"), self.baselines)
        return sum_counts(chain.from_iterable(steps))

    @property
    def answered(self) -> tuple[JudgedTrace, ...]:
        """The baseline's traces of which an SGR is known."""
        return tuple(trace for trace in self.baselines if trace.grounding is not None)

    def mean_rate(self, judgements: Judgements) -> float | None:
        """SGR of the baselines by these judgements."""
        rates = []
        for trace in self.baselines:
            claims = trace.reasoning.claims
            rates.append(
                judgements.rate(
                    trace.sample,
                    claims,
                    trace.policy,
                )
            )
        return scores.mean(rates)

    def claims(self) -> Iterator[tuple[Sample, Claim, Judgement]]:
        """Every claim of the baselines, with what the verifier says of it."""
        for trace in self.baselines:
            for claim in chain.from_iterable(trace.reasoning.claims):
                yield trace.sample, claim, self.judgements.of(trace.sample, claim)

    def in_style(self, style: str) -> list[JudgedTrace]:
        traces = []
        for trace in self.variants:
            request = trace.reasoning.request
            if request.change is None and request.style == style:
                traces.append(trace)
        return traces
