"""All claims of an audit, judged in one call, so that a verifier looks at each frame once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cuescope_sdk import PluginError, Sample
from cuescope_sdk.grounding import Case, Claim, ClaimVerifier, Judgement
from cuescope_step_grounding.metrics import Step

Entry = tuple[str, Claim]  # the key of the sample, what is claimed of it


@dataclass
class Docket:
    """Claims by the sample that they are held against; each is judged once."""

    _cases: dict[str, tuple[Sample, dict[Claim, None]]] = field(default_factory=dict)

    def add(self, sample: Sample, claims: Sequence[Claim]) -> None:
        """Claims about a sample, for the next `judge`."""
        known = self._cases.setdefault(sample.key, (sample, {}))[1]
        known.update(dict.fromkeys(claims))

    def judge(self, verifier: ClaimVerifier) -> "Verdicts":
        """What the verifier says; raises PluginError unless it says one thing of each claim."""
        cases: list[Case] = [(sample, tuple(claims)) for sample, claims in self._cases.values()]
        said = verifier.judge(cases) if cases else []
        if list(map(len, said)) != [len(claims) for _, claims in cases]:
            raise PluginError(
                f"claim verifier {type(verifier).__name__} broke its contract",
                expected="one judgement a claim, for each sample",
                got=f"{sum(map(len, said))} for {sum(len(claims) for _, claims in cases)}",
            )
        return Verdicts({
            (sample.key, claim): judgement
            for (sample, claims), of_sample in zip(cases, said, strict=True)
            for claim, judgement in zip(claims, of_sample, strict=True)
        })  # fmt: skip


@dataclass(frozen=True)
class Verdicts:
    """What a verifier said, by sample and claim."""

    found: dict[Entry, Judgement]

    def of(self, sample: Sample, claim: Claim) -> Judgement:
        """One judgement."""
        return self.found[sample.key, claim]

    def counted(self, sample: Sample, claims: Sequence[Claim]) -> Step:
        """How many of these claims are supported, unsupported, unverifiable."""
        said = [self.of(sample, claim).verdict for claim in claims]
        return Step(*(said.count(v) for v in ("supported", "unsupported", "unverifiable")))

    def steps(self, sample: Sample, claims: Sequence[Sequence[Claim]]) -> list[Step]:
        """The same for each step of a trace."""
        return [self.counted(sample, step) for step in claims]
