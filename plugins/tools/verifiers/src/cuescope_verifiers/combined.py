"""Several verifiers in order: the first that can tell decides."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from cuescope_sdk import Context, LazyWeights, Options, Plugin, UserError, digest
from cuescope_sdk.grounding import Case, ClaimVerifier, Judgement


class CombinedOptions(Options):
    """Options of `combined`."""

    argument: ClassVar[str | None] = "verifiers"

    verifiers: tuple[str, ...] = Field(
        ("scene-graph", "camera"), min_length=1,
        description="SPECs in order: scene-graph,tracks:owl,image-text:open-clip:ViT-B-16/openai",
    )  # fmt: skip
    options: Mapping[str, Mapping[str, Any]] = Field(
        {}, description="options of each, under its SPEC"
    )


class Combined(Plugin, LazyWeights):
    """Asks each verifier for what those before it left open; keeps the first reason else."""

    Options: ClassVar[type[Options]] = CombinedOptions
    options: CombinedOptions

    def __init__(self, options: CombinedOptions, context: Context) -> None:
        super().__init__(options, context)
        if strangers := options.options.keys() - set(options.verifiers):
            raise UserError(
                f"combined: options for '{min(strangers)}', which is not asked",
                expected=f"one of {', '.join(options.verifiers)}",
            )
        self._verifiers = [self._built(spec) for spec in options.verifiers]
        known = [getattr(one, "fingerprint", None) for one in self._verifiers]
        self.fingerprint = digest("combined", 1, known) if all(known) else None
        self.facts = {"evidence": ", then ".join(options.verifiers)} | {
            f"{spec}: {name}": said
            for spec, one in zip(options.verifiers, self._verifiers, strict=True)
            for name, said in getattr(one, "facts", {}).items()
        }

    def open_weights(self) -> None:
        """Open the weights of those that open them late."""
        for one in self._verifiers:
            if isinstance(one, LazyWeights):
                one.open_weights()

    def judge(self, cases: Sequence[Case]) -> list[list[Judgement]]:
        """A judgement a claim, for each sample with its claims."""
        found = self._verifiers[0].judge(cases)
        for verifier in self._verifiers[1:]:
            asked = [
                (place, [index for index, one in enumerate(said) if one.reason is not None])
                for place, said in enumerate(found)
            ]
            asked = [(place, indices) for place, indices in asked if indices]
            left = [(cases[at][0], [cases[at][1][i] for i in indices]) for at, indices in asked]
            for (place, indices), said in zip(asked, verifier.judge(left), strict=True):
                for index, one in zip(indices, said, strict=True):
                    if one.reason is None:
                        found[place][index] = one
        return found

    def _built(self, spec: str) -> ClaimVerifier:
        tool = self.context.build("tool", spec, self.options.options.get(spec, {}))
        if not isinstance(tool, ClaimVerifier):
            raise UserError(f"combined: tool {spec} is no claim-verifier", expected="judge()")
        return tool
