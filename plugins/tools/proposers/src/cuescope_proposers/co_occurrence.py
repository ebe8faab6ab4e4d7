"""Cues that the data set itself names beside a class; no language model is asked."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from math import log, sqrt
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveInt
from scipy.special import ndtri

from cuescope_proposers.samples import classes_of
from cuescope_sdk import (
    Context,
    Dataset,
    HasSplits,
    Names,
    Options,
    Plugin,
    Sample,
    UserError,
    digest,
    nearest,
)
from cuescope_sdk.report import count_of
from cuescope_sdk.tools import normalise_name

OWNER = "co-occurrence"
REMEDY = "Use the proposer llm or cues."


class CoOccurrenceOptions(Options):
    """Options of `co-occurrence`."""

    split: Annotated[str | None, Names.part()] = Field(
        None, description="count in this split (`train`); default: the audited one"
    )
    least: PositiveInt = Field(
        5, description="images of the class with the name, or more"
    )
    most: PositiveInt = Field(32, description="names a class")


@dataclass
class Counts:
    """Images by what they show: all of them, each class, each name, and both together."""

    images: int = 0
    of_class: Counter[str] = field(default_factory=Counter)
    of_name: Counter[str] = field(default_factory=Counter)
    together: defaultdict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )

    def add(self, classes: Set[str], names: Set[str]) -> None:
        """An image that belongs to these classes and shows these names."""
        self.images += 1
        self.of_class.update(classes)
        self.of_name.update(names)
        for name in classes:
            self.together[name].update(names)

    def rank(self, label: str, least: int) -> list[str]:
        """The names in `least` images of a class or more, those of the strongest bond first."""
        bonds = []
        of_class = self.of_class[label]
        for name, both in self.together[label].items():
            # few images give a wide interval, and chance finds
            if both >= least and name != label:
                bonds.append(
                    (-bond(both, of_class, self.of_name[name], self.images), name)
                )
        # equal bonds by name, whatever the order of the data
        return [name for _, name in sorted(bonds)]


class CoOccurrence(Plugin):
    """Proposes names of the data set's own boxes, objects and captions, strongest bond first."""

    Options = CoOccurrenceOptions
    options: CoOccurrenceOptions

    def __init__(self, options: CoOccurrenceOptions, context: Context) -> None:
        super().__init__(options, context)
        data = context.dataset
        if data is None:
            raise UserError(
                f"{OWNER} counts in a data set, and there is no data set here",
                remedy=REMEDY,
            )
        if options.split is not None:
            if not isinstance(data, HasSplits):
                raise UserError(
                    f"{OWNER}: the data set has no split '{options.split}'",
                    remedy="Leave it out.",
                )
            data = data.split(options.split)
        self._data: Dataset = data
        self.fingerprint = digest(
            OWNER, 1, self._data.fingerprint, options.model_dump()
        )

    @property
    def facts(self) -> Mapping[str, str]:
        split = f", split {self.options.split}" if self.options.split else ""
        return {"counted in": f"{count_of(len(self._data), 'samples')}{split}"}

    def propose(self, label: str) -> list[str]:
        """The names that go with a class; raises UserError for one that no image shows."""
        name = normalise_name(label)
        if name not in self._counts.of_class:
            raise UserError(
                f"{OWNER}: no image of '{label}'",
                expected="a class that images show",
                remedy=nearest(name, self._counts.of_class),
            )
        return self._counts.rank(name, self.options.least)[: self.options.most]

    @cached_property
    def _counts(self) -> Counts:
        counts = Counts()
        with self.context.progress("counting names", len(self._data)) as advance:
            for index in range(len(self._data)):
                sample = self._data[index]
                classes = set(map(normalise_name, classes_of(sample)))
                counts.add(classes, names_in(sample))
                advance(1)
        if not counts.of_name:
            raise UserError(
                f"{OWNER}: the data set names nothing beside its labels",
                expected="'boxes', 'objects' or 'captions' among a sample's annotations",
                remedy=REMEDY,
            )
        return counts


def names_in(sample: Sample) -> set[str]:
    annotations = sample.annotations
    boxes = (box.name for box in annotations.get("boxes", ()))
    names = set(map(normalise_name, (*annotations.get("objects", ()), *boxes)))
    if annotations.get("captions"):
        # imported here: only captions need the word forms of simplemma
        from cuescope_proposers.captions import nouns

        names.update(*map(nouns, annotations["captions"]))
    return names


def bond(both: int, of_class: int, of_name: int, images: int) -> float:
    """Log odds ratio of a name and a class over images, at the lower end of its 95% interval.

    One half is added to each of the four counts (Haldane, 1956), so that none is zero.
    """
    # the four cells: with the name and of the class, of the class alone, the name alone, neither
    # + both: they were subtracted twice
    neither = images - of_class - of_name + both
    cells = np.array([both, of_class - both, of_name - both, neither]) + 0.5
    ratio = log(cells[0] * cells[3] / (cells[1] * cells[2]))
    return ratio + float(ndtri(0.025)) * sqrt((1 / cells).sum())
