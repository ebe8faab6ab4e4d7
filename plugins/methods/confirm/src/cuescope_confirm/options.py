"""What a user can set; `cuescope confirm` fills the first ones."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, NonNegativeInt, PositiveInt

from cuescope_sdk import Names, Options, Tested, Words


class ConfirmOptions(Options):
    """docs/confirm.md tells the rule."""

    run: Path = Field(
        description="run folder whose findings are tested, or a folder of runs by `investigate`"
    )
    others: tuple[Path, ...] = Field(
        (),
        description="more runs on the same model and data; their findings are tested too",
    )
    folds: bool = Field(
        False,
        description="each run left one part of the data out, and its findings are tested there; "
        "what several runs found is one cue (cross-fitting)",
    )
    whole: Path | None = Field(
        None,
        exclude_if=lambda whole: whole is None,
        description="with folds: the run of all samples that was made again",
    )
    merge: bool = Field(
        True, description="merge findings that are the same cue; not with --feature"
    )
    pairs: Path | None = Field(
        None,
        description="folder with `with/` and `without/`: the same scenes with the cue and without "
        "it, under the same names; they alone decide",
    )
    interventions: Annotated[tuple[str, ...], Names.plugin()] = Field(
        (), description="SPECs of interventions; by default all that are installed"
    )
    features: Annotated[tuple[str, ...], Words()] = Field(
        (),
        description="features to test, KEY or KEY@LABEL, in place of the run's findings",
    )
    top: PositiveInt = Field(
        10, description="how many findings are tested: the first ones"
    )
    samples: PositiveInt = Field(
        60,
        description="how many samples an intervention changes for a finding, at most",
    )
    max_calls: PositiveInt | None = Field(
        None,
        description="model calls that test cues, at most; with fewer than are planned, each "
        "intervention changes fewer samples",
    )
    confidence: float = Field(
        0.95,
        gt=0,
        lt=1,
        description="of all verdicts of a run at most 1 less this are expected to be false",
    )
    margin: float = Field(
        0.1,
        gt=0,
        lt=1,
        description="a cause moves the answer by more than this share of probability",
    )
    admitted: NonNegativeInt = Field(
        100,
        description="for each cause, how many answers are read for reasoning that names it",
    )
    least: PositiveInt = Field(
        10, description="fewest changed samples of an intervention that count"
    )

    @property
    def tested(self) -> Tested:
        """What found the cues."""
        folds = 1 + len(self.others) if self.folds else None
        return Tested(self.run, folds, self.whole)
