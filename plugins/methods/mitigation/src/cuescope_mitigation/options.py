"""What a user can set; `cuescope mitigate` fills the first ones."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, NonNegativeInt, PositiveInt

from cuescope_sdk import (
    Capabilities,
    Names,
    Options,
    Requirements,
    Tested,
    UserError,
    Words,
)

NOT_TRIED = "the remedy failed"  # a note of the report, which the command reads


class MitigationOptions(Options):
    """docs/mitigation.md tells the protocol."""

    run: Path = Field(description="run folder whose findings are the cues")
    folds: tuple[Path, ...] = Field(
        (),
        exclude_if=lambda folds: not folds,
        description="the run made again, each time without one part of its data: there the remedy "
        "that was learned of the others is measured (cross-fitting)",
    )
    mitigator: Annotated[str, Names.plugin()] = Field(
        description="SPEC of the mitigator"
    )
    mitigator_options: Annotated[dict[str, Any], Names.plugin()] = Field(
        default={}, description="its options"
    )
    names: Annotated[dict[str, str], Words()] = Field(
        {},
        exclude_if=lambda names: not names,
        description="a name for what a finding shows, by its key: {cluster-03: red corner}",
    )
    top: PositiveInt = Field(
        20, description="how many findings are mitigated: the first ones"
    )
    placebos: NonNegativeInt = Field(
        3, description="how often the mitigator is also fitted to random cues"
    )
    confidence: float = Field(
        0.95,
        gt=0,
        lt=1,
        description="confidence level of the intervals, for all cues together",
    )
    least: PositiveInt = Field(
        5, description="a group with fewer samples is not judged"
    )
    save: Path | None = Field(
        None, description="folder in which the fitted remedy is saved"
    )
    model: Annotated[dict[str, str], Words()] = Field(
        default={},
        description="fingerprint and SPEC of the model, for the stamp of that folder",
    )

    @property
    def tested(self) -> Tested:
        """What found the cues."""
        if not self.folds:
            return Tested(self.run)
        return Tested(self.folds[0], len(self.folds), whole=self.run)


def require_fit(mitigator: str, needs: Requirements, has: Capabilities) -> None:
    """Raise UserError where a model lacks what a mitigator needs."""
    missing = []
    # the engine checks what a method needs, and a mitigator is an option of one
    for field in ("outputs", "edits", "exposes"):
        missing += getattr(needs, field) - getattr(has, field)
    if missing:
        raise UserError(
            f"{mitigator} cannot mitigate this model",
            expected=f"a model with {' and '.join(sorted(missing))}",
            remedy="`cuescope plugins list` shows the other mitigators",
        )
