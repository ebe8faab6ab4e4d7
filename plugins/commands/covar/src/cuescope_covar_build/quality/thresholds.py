"""From scores to a decision: limits are quantiles of clean composites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from pydantic import Field, FiniteFloat, NonNegativeInt, TypeAdapter

from cuescope_covar_build.quality.cases import Scores
from cuescope_covar_build.quality.measures import MEASURES
from cuescope_sdk import UserError

# share of clean images that may be dropped, over all scores together
FALSE_DROPS = 0.01
FOLDS = 5  # of sources
OF_ITS_OWN = 20  # clean images of a subset from which on it has limits of its own


@dataclass(frozen=True)
class Limit:
    """What is usual of a score on clean images, and one unit above it, which drops an image."""

    usual: FiniteFloat
    unit: Annotated[FiniteFloat, Field(gt=0)]
    images: NonNegativeInt


@dataclass(frozen=True)
class Thresholds:
    """Limits by subset ("" is all of them together) and score.

    An image is dropped where the largest excess of its scores is above 1. `factor` set the units so
    that a share of `false_drops` of the clean images is; `images` is how many there were.
    """

    limits: Mapping[str, Mapping[str, Limit]]
    false_drops: Annotated[float, Field(gt=0, lt=1)]
    images: NonNegativeInt

    @property
    def few(self) -> bool:
        """Too few clean images for the quantile: the limits are the largest of what was seen."""
        # with fewer the conformal rank lies beyond the largest value
        return self.images < 1 / self.false_drops - 1

    def excesses(self, subset: str, scores: Scores) -> dict[str, float]:
        """By score, above 1 where it drops the image; scores that have no limit are left out."""
        limits = {**self.limits.get("", {}), **self.limits.get(subset, {})}
        excesses = {}
        for name, value in scores.items():
            if value is not None and name in limits:
                limit = limits[name]
                excesses[name] = (value - limit.usual) / limit.unit
        return excesses

    def to_json(self) -> bytes:
        """For a file; `from_json` takes it back."""
        return TypeAdapter(Thresholds).dump_json(self, indent=1) + b"\n"

    @staticmethod
    def from_json(content: bytes) -> "Thresholds":
        """From what `to_json` returned; raises ValueError for anything else."""
        return TypeAdapter(Thresholds).validate_json(content)


def fit_thresholds(
    subsets: Sequence[str],
    scores: Sequence[Scores],
    sources: Sequence[str],
    false_drops: float = FALSE_DROPS,
) -> Thresholds:
    """Limits such that about `false_drops` of clean images of other sources would be dropped.

    Each score gets a unit from its own quantile 1 - `false_drops`. Then one factor for all units
    makes the share hold for all scores together: the conformal quantile (Vovk et al., 2005) of the
    images' largest excess, each over units from other sources than its own.
    """
    if not 0 < false_drops < 1:
        raise UserError(
            "The share of false drops lies between 0 and 1", got=f"{false_drops}"
        )
    if not scores:
        raise UserError("Thresholds need clean images", got="none")
    # by photo: its own images would make the limits too fit for it
    photos = dict.fromkeys(sources)
    fold_of = {photo: index % FOLDS for index, photo in enumerate(photos)}
    fold = np.array([fold_of[source] for source in sources])
    largest: list[float] = []
    for part in range(FOLDS):
        held_out = np.flatnonzero(fold == part).tolist()
        others = np.flatnonzero(fold != part).tolist()
        # the images of a single photo have no others
        limits = _all_limits(subsets, scores, others or held_out, false_drops)
        thresholds = Thresholds(limits, false_drops, len(others))
        for index in held_out:
            excesses = thresholds.excesses(subsets[index], scores[index])
            largest.append(max(excesses.values(), default=0.0))
    # not below 1: each score keeps at least its own quantile
    factor = max(1.0, conformal_quantile(largest, 1 - false_drops))
    # units from all images, their factor from held-out ones
    limits = _all_limits(subsets, scores, range(len(scores)), false_drops)
    for of_subset in limits.values():
        for name, limit in of_subset.items():
            of_subset[name] = replace(limit, unit=factor * limit.unit)
    return Thresholds(limits, false_drops, len(scores))


def _all_limits(
    subsets: Sequence[str],
    scores: Sequence[Scores],
    images: Sequence[int],
    false_drops: float,
) -> dict[str, dict[str, Limit]]:
    """Over all subsets (""), and of each that has images enough."""
    limits = {"": _limits([scores[index] for index in images], false_drops)}
    groups: dict[str, list[Scores]] = {}
    for index in images:
        groups.setdefault(subsets[index], []).append(scores[index])
    for subset, members in groups.items():
        if len(members) >= OF_ITS_OWN:
            of_subset = _limits(members, false_drops)
            # a blind measure compares an image with itself alone, whatever the subset
            limits[subset] = {
                name: limit
                for name, limit in of_subset.items()
                if not MEASURES[name].blind
            }
    return limits


def _limits(scores: Sequence[Scores], false_drops: float) -> dict[str, Limit]:
    limits = {}
    for name, measure in MEASURES.items():
        amounts = [row.get(name) for row in scores]
        known = [amount for amount in amounts if amount is not None]
        if known:
            usual = float(np.median(known))
            unit = conformal_quantile(known, 1 - false_drops) - usual
            # at least: where clean images hardly vary, a trifle would drop an image
            limits[name] = Limit(usual, max(unit, measure.least), len(known))
    return limits


def conformal_quantile(values: Sequence[float], level: float) -> float:
    """The value that a new draw stays at or below with probability `level` at least.

    Split conformal prediction (Vovk, Gammerman and Shafer, 2005), for values that are exchangeable
    with the new one. The largest where there are too few values for the level. Raises ValueError
    for no values.
    """
    if not len(values):
        raise ValueError("expected values to take a limit from, got none")
    # the new draw is one of n + 1, each of which is as likely to have any rank
    rank = min(len(values), int(np.ceil(level * (len(values) + 1))))
    return float(np.sort(values)[rank - 1])
