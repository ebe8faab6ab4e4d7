"""What a user can set; `cuescope confirm` fills the first ones."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveInt

from cuescope_sdk import NamesPlugin, Options, Words


class ConfirmOptions(Options):
    """docs/confirm.md tells the rule."""

    run: Path = Field(
        description="run folder whose findings are tested, or a folder of runs by `investigate`"
    )
    others: tuple[Path, ...] = Field(
        (), description="more runs on the same model and data, whose findings are tested with it"
    )
    merge: bool = Field(
        True, description="take findings that are one cue as one, where --feature names none"
    )
    interventions: Annotated[tuple[str, ...], NamesPlugin()] = Field(
        (), description="SPECs of interventions; without any, all that are installed"
    )
    features: Annotated[tuple[str, ...], Words()] = Field(
        (), description="features of the run, KEY or KEY@LABEL, in place of its findings"
    )
    top: PositiveInt = Field(10, description="most findings that are tested, the first ones")
    samples: PositiveInt = Field(
        200, description="most samples that an intervention changes for a finding"
    )
    confidence: float = Field(
        0.95, gt=0, lt=1, description="level of all decisions together (Holm)"
    )
    margin: float = Field(
        0.1,
        gt=0,
        lt=1,
        description="an effect counts as none if it is surely smaller: share of probability",
    )
    admitted: NonNegativeInt = Field(
        100, description="samples of a cause whose reasoning is read, where the model writes any"
    )
    least: PositiveInt = Field(10, description="with fewer changed samples nothing is decided")
