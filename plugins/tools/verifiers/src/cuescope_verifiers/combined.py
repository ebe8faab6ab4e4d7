"""Several verifiers in order: the first that can tell decides."""

from collections.abc import Sequence

from cuescope_sdk import Context, LazyWeights, Plugin, UserError, digest
from cuescope_sdk.grounding import Case, ClaimVerifier, Judgement
from cuescope_verifiers.options import CombinedOptions


class Combined(Plugin, LazyWeights):
    """Asks each verifier for what those before it left open; keeps the first reason else."""

    Options = CombinedOptions
    options: CombinedOptions

    def __init__(self, options: CombinedOptions, context: Context) -> None:
        super().__init__(options, context)
        if strangers := options.options.keys() - set(options.verifiers):
            raise UserError(
                f"combined: options for '{min(strangers)}', which is not asked",
                expected=f"one of {', '.join(options.verifiers)}",
            )
        self._verifiers = [self._build(spec) for spec in options.verifiers]
        fingerprints = []
        self.facts = {"evidence": ", then ".join(options.verifiers)}
        for spec, verifier in zip(options.verifiers, self._verifiers, strict=True):
            fingerprints.append(getattr(verifier, "fingerprint", None))
            # under its SPEC: two verifiers may have facts of one name
            for name, fact in getattr(verifier, "facts", {}).items():
                self.facts[f"{spec}: {name}"] = fact
        # one that cannot be remembered decides some of the claims
        remembered = all(fingerprints)
        self.fingerprint = digest("combined", 1, fingerprints) if remembered else None

    def open_weights(self) -> None:
        for verifier in self._verifiers:
            if isinstance(verifier, LazyWeights):
                verifier.open_weights()

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        # a list of its own, filled in below
        judgements = self._verifiers[0].judge(cases)
        for verifier in self._verifiers[1:]:
            _decide_open(judgements, verifier, cases)
        return judgements

    def _build(self, spec: str) -> ClaimVerifier:
        options = self.options.options.get(spec, {})
        tool = self.context.build("tool", spec, options)
        if not isinstance(tool, ClaimVerifier):
            raise UserError(
                f"combined: tool {spec} is no claim-verifier", expected="judge()"
            )
        return tool


def _decide_open(
    judgements: Sequence[list[Judgement]],
    verifier: ClaimVerifier,
    cases: Sequence[Case],
) -> None:
    """Replaces the judgements that are open still by what the verifier decides."""
    still_open = []
    waiting = []
    for of_case, (sample, claims) in zip(judgements, cases, strict=True):
        undecided = _undecided(of_case)
        if undecided:
            # a sample is shown again for these claims alone
            still_open.append((sample, [claims[index] for index in undecided]))
            waiting.append((of_case, undecided))
    answers = verifier.judge(still_open)
    for (of_case, undecided), answered in zip(waiting, answers, strict=True):
        for index, answer in zip(undecided, answered, strict=True):
            # else the first reason stays: it is of the verifier that was asked first
            if answer.reason is None:
                of_case[index] = answer


def _undecided(judgements: Sequence[Judgement]) -> list[int]:
    """The indices of claims that are open."""
    return [
        index
        for index, judgement in enumerate(judgements)
        if judgement.reason is not None
    ]
