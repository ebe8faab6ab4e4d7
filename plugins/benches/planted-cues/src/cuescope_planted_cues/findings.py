"""Submissions: findings of other people's auditors, the format of the JSON, and its check."""

import json
from collections.abc import Collection
from pathlib import Path

from pydantic import (
    Field,
    FiniteFloat,
    NonNegativeInt,
    ValidationError,
    field_validator,
)

from cuescope.application import read_whole
from cuescope_sdk import Feature, Occurrence, Options, UserError
from cuescope_sdk.logs import parse_json

MOST_BYTES = 2**28  # of a submission


class StatedFinding(Options):
    """A feature that an auditor lists, the likeliest first."""

    name: str = Field(min_length=1)
    kind: str = "cluster"
    label: str | None = None
    # NaN has no place in a ranking
    score: FiniteFloat
    finding: bool = True
    occurrences: tuple[tuple[str, NonNegativeInt | None], ...] = ()

    def feature(self, number: int) -> Feature:
        """As a report has it."""
        shown = tuple(
            Occurrence(sample=sample, frame=frame) for sample, frame in self.occurrences
        )
        # clusters may share a name, for they are told by where they occur
        key = self.name if self.kind != "cluster" else f"stated-{number:02d}"
        return Feature(key=key, kind=self.kind, name=self.name, occurrences=shown)


class StatedConfiguration(Options):
    """What was found in one configuration, and how many model calls it took."""

    model_calls: NonNegativeInt
    features: tuple[StatedFinding, ...]

    @field_validator("features")
    @classmethod
    def _require_ranking(
        cls, features: tuple[StatedFinding, ...]
    ) -> tuple[StatedFinding, ...]:
        scores = [feature.score for feature in features]
        if scores != sorted(scores, reverse=True):
            raise ValueError("features with the highest score first")
        return features


class Zoo(Options):
    """Which zoo was looked at: as `--list` writes it."""

    version: int
    hash: str
    seed: NonNegativeInt


class Stated(Options):
    """The whole file. What it leaves out was not found."""

    auditor: str = Field(pattern=r"^[A-Za-z0-9][\w .+-]*$")
    zoo: Zoo
    configurations: dict[str, StatedConfiguration] = Field(min_length=1)

    def of(self, name: str) -> StatedConfiguration:
        """What is stated of a configuration."""
        nothing = StatedConfiguration(model_calls=0, features=())
        return self.configurations.get(name, nothing)


def read_findings(path: Path) -> Stated:
    """The findings of a file; raises UserError that says where it is wrong."""
    try:
        content = parse_json(read_whole(path, most=MOST_BYTES), str(path))
    except OSError as error:
        raise UserError(f"cannot read {path}", got=error.strerror) from error
    try:
        return Stated.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        # an empty place is the whole file
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UserError(
            f"{path}: {where}",
            expected=first["msg"],
            # the input may be as long as the file
            got=json.dumps(first["input"], default=str)[:80],
            remedy="the README of cuescope-planted-cues shows the format",
        ) from error


def require_fitting(
    stated: Stated, path: Path, zoo: Zoo, names: Collection[str]
) -> None:
    """Raises UserError where another zoo was looked at, or a configuration is not in it."""
    again = "`cuescope dev bench auditors --list FILE` writes the zoo of today"
    for field, expected in zoo:
        got = getattr(stated.zoo, field)
        if got != expected:
            raise UserError(
                f"{path}: zoo.{field}",
                expected=str(expected),
                got=str(got),
                remedy=again,
            )
    unknown = sorted(stated.configurations.keys() - set(names))
    if unknown:
        raise UserError(
            f"{path}: no configuration '{unknown[0]}'",
            expected="names as `cuescope dev bench auditors --list FILE` writes them",
        )
