"""What `cuescope cue` prints with `--json`."""

from pathlib import Path
from typing import Self

from cuescope.application import JsonOutput, Value
from cuescope_sdk.cues import Cue


class CueFacts(JsonOutput):
    """`cuescope cue make`, `show`, and `ask` with answers: a cue and its file.

    `told` of its examples are a person's word; `auroc` is that of held-out examples. `chosen` says
    how samples chose it.
    """

    file: str
    name: str
    identity: str
    origin: str
    answer: str | None
    with_cue: int
    without_cue: int
    told: int
    auroc: float | None
    embedder: str | None
    chosen: str | None = None

    @classmethod
    def of(cls, file: Path, cue: Cue, chosen: str | None = None) -> Self:
        """Of a cue in a file."""
        shown, others = cue.sides()
        return cls(
            file=str(file),
            name=cue.name,
            identity=cue.identity,
            origin=cue.origin,
            answer=cue.answer,
            with_cue=shown,
            without_cue=others,
            told=sum(example.told for example in cue.examples),
            auroc=cue.recogniser.auroc,
            embedder=cue.recogniser.embedder,
            chosen=chosen,
        )


class Recognised(Value):
    """A sample and the probability that it shows the cue."""

    sample: str
    probability: float


class CueQuestions(JsonOutput):
    """`cuescope cue ask`: the samples that the recogniser is least sure of."""

    file: str
    samples: tuple[Recognised, ...]


class AppliedCue(JsonOutput):
    """`cuescope cue apply`: the table, and how many of its samples are expected to show the cue."""

    table: str
    identity: str
    samples: int
    expected: float
