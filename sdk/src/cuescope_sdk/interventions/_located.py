"""Where a cue is in each sample, and how well it was located."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Bool

GOOD_AUROC = 0.75  # a localisation that ranks worse than this decides nothing
Knowledge = Literal["region", "frames", "words", "modality", "question", "name"]


@dataclass(frozen=True, eq=False)
class Place:
    """Where a cue is in one sample.

    `masks`, one a frame in the frame's own pixels (row, col), are () where the region is unknown.
    `frames` are the numbers of the frames that show the cue, `spans` the (start, end) characters
    of the question that name it, `modality` is what carries it where it is all of a modality.
    """

    masks: tuple[Bool[np.ndarray, "_row _col"], ...] = ()
    frames: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    modality: Literal["video", "text"] | None = None

    @property
    def area(self) -> float:
        """Share of the pixels, of the frames that show the cue, that the region covers; 0 to 1."""
        # frames without the cue would make a region small that is not
        shown = [mask for mask in self.masks if mask.any()]
        return float(np.mean([mask.mean() for mask in shown])) if shown else 0.0

    @property
    def known(self) -> frozenset[Knowledge]:
        """What is known of it."""
        has: dict[Knowledge, bool] = {
            "region": any(mask.any() for mask in self.masks),
            "frames": bool(self.frames),
            "words": bool(self.spans),
            "modality": self.modality is not None,
            "question": self.modality == "text",
        }
        return frozenset(name for name, there in has.items() if there)


@dataclass(frozen=True)
class Localisation:
    """How a cue was located, and how well.

    `auroc` is how well the localiser tells samples with the cue from others that it has not learned
    from, None where places are annotated. `area` is the mean share of the pixels, `n` how many
    samples show the cue.
    """

    by: str
    auroc: float | None = None
    area: float | None = None
    n: int = 0

    @property
    def good(self) -> bool:
        """Whether what is done at these places is done to the cue."""
        return self.auroc is None or self.auroc >= GOOD_AUROC


@dataclass(frozen=True, eq=False)
class LocatedCue:
    """A cue and its places, by the keys of the samples that show it.

    `label` is the label that it is about, None for all. `without` are the samples that do not show
    it; of a sample in neither nobody knows. `word` is what a person calls the cue, None where it
    has no such name. `objects` are the masks of what is asked for, where known. `likest` is where a
    localiser would see the cue in samples without it: what is done there is no more than chance.
    """

    key: str
    name: str
    label: str | None
    places: Mapping[str, Place]
    without: frozenset[str]
    quality: Localisation
    word: str | None = None
    objects: Mapping[str, tuple[np.ndarray, ...]] = field(default_factory=dict)
    likest: Mapping[str, Place] = field(default_factory=dict)

    @property
    def known(self) -> frozenset[Knowledge]:
        """What is known in at least one sample."""
        named: frozenset[Knowledge] = frozenset({"name"}) if self.word else frozenset()
        return named.union(*(cell.known for cell in self.places.values()))
