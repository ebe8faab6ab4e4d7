"""Verifier noise, put in on purpose: what a metric makes of a verifier that errs."""

from collections.abc import Sequence

from cuescope.seeds import generator
from cuescope_sdk.grounding._claims import Case, ClaimVerifier, Judgement
from cuescope_sdk.grounding._judging import negate


def noisy(verifier: ClaimVerifier, rate: float, seed: int) -> "NoisyVerifier":
    """The verifier with each decided judgement turned round at this rate (0.1: one in ten)."""
    return NoisyVerifier(verifier, rate, seed)


class NoisyVerifier:
    """Whether a judgement is turned depends on the seed, the sample and the claim's place alone."""

    def __init__(self, verifier: ClaimVerifier, rate: float, seed: int) -> None:
        if not 0 <= rate <= 1:
            raise ValueError(f"expected a rate within 0 and 1, got {rate}")
        self._verifier, self._rate, self._seed = verifier, rate, seed

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        found = self._verifier.judge(cases)
        return [self._turned(case[0].key, said) for case, said in zip(cases, found, strict=True)]

    def _turned(self, key: str, said: Sequence[Judgement]) -> list[Judgement]:
        drawn = generator(self._seed, "noise", key).random(len(said)) < self._rate
        return [negate(one) if turn else one for one, turn in zip(said, drawn, strict=True)]
