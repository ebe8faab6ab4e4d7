"""All claims of an audit, judged in one call, so that a verifier looks at each frame once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from cuescope_sdk import PluginError, Sample
from cuescope_sdk.grounding import Case, Claim, ClaimVerifier, Judgement
from cuescope_step_grounding.scores import StepCounts


@dataclass
class ClaimBatch:
    """Claims by the sample that they are held against; each is judged once."""

    _claims: dict[str, tuple[Sample, dict[Claim, None]]] = field(default_factory=dict)

    def add(self, sample: Sample, claims: Sequence[Claim]) -> None:
        """Claims about a sample, for the next `judge`."""
        # Verifiers can take seconds a frame: what many traces claim alike is asked once. A dict
        # rather than a set, for a verifier's answers may depend on the order of the claims.
        known = self._claims.setdefault(sample.key, (sample, {}))[1]
        known.update(dict.fromkeys(claims))

    def judge(self, verifier: ClaimVerifier) -> "Judgements":
        """What the verifier says; raises PluginError unless it says one thing of each claim."""
        cases: list[Case] = [(sample, tuple(claims)) for sample, claims in self._claims.values()]
        judgements = verifier.judge(cases) if cases else []
        if list(map(len, judgements)) != [len(claims) for _, claims in cases]:
            raise PluginError(
                f"claim verifier {type(verifier).__name__} broke its contract",
                expected="one judgement a claim, for each sample",
                got=f"{sum(map(len, judgements))} for {sum(len(claims) for _, claims in cases)}",
            )
        return Judgements(
            {
                (sample.key, claim): judgement
                for (sample, claims), of_sample in zip(cases, judgements, strict=True)
                for claim, judgement in zip(claims, of_sample, strict=True)
            }
        )


@dataclass(frozen=True)
class Judgements:
    """What a verifier said, by sample and claim; a verifier itself, which says it once more."""

    by_claim: dict[tuple[str, Claim], Judgement]

    def of(self, sample: Sample, claim: Claim) -> Judgement:
        """One judgement."""
        return self.by_claim[sample.key, claim]

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """The judgements of these claims again."""
        return [[self.of(sample, claim) for claim in claims] for sample, claims in cases]

    def count(self, sample: Sample, claims: Sequence[Claim]) -> StepCounts:
        """How many of these claims are supported, unsupported, unverifiable."""
        verdicts = [self.of(sample, claim).verdict for claim in claims]
        count = Counter(verdicts)
        return StepCounts(count["supported"], count["unsupported"], count["unverifiable"])

    def count_steps(self, sample: Sample, claims: Sequence[Sequence[Claim]]) -> list[StepCounts]:
        """The same for each step of a trace."""
        return [self.count(sample, step) for step in claims]
