"""Cues that the data set itself names beside a class; no language model is asked."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from math import log, sqrt
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from cuescope_sdk import (
    Context,
    Dataset,
    HasSplits,
    NamesPart,
    Options,
    Plugin,
    Sample,
    UserError,
    digest,
    nearest,
)
from cuescope_sdk.tools import normalise_name

OWNER = "co-occurrence"
REMEDY = "Use the proposer llm or cues."
Z = 1.96  # of a two-sided 95% interval
Source = Literal["all", "annotations", "captions"]


class CoOccurrenceOptions(Options):
    """Options of `co-occurrence`."""

    source: Source = Field(
        "all", description="names of `annotations` (boxes and objects), of `captions`, or `all`"
    )
    split: Annotated[str | None, NamesPart()] = Field(
        None, description="count in this split (`train`); default: the audited one"
    )
    least: PositiveInt = Field(5, description="images of the class with the name, or more")
    most: PositiveInt = Field(32, description="names a class")


@dataclass
class Counts:
    """Images by what they show: all of them, each class, each name, and both together."""

    images: int = 0
    of_class: Counter[str] = field(default_factory=Counter)
    of_name: Counter[str] = field(default_factory=Counter)
    together: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, classes: Set[str], names: Set[str]) -> None:
        """An image that belongs to these classes and shows these names."""
        self.images += 1
        self.of_class.update(classes)
        self.of_name.update(names)
        for name in classes:
            self.together[name].update(names)

    def rank(self, label: str, least: int) -> list[str]:
        """The names in `least` images of a class or more, those of the strongest bond first."""
        return [
            name
            for _, name in sorted(
                (-bond(both, self.of_class[label], self.of_name[name], self.images), name)
                for name, both in self.together[label].items()
                # few images give a wide interval, and chance finds
                if both >= least and name != label
            )
        ]


class CoOccurrence(Plugin):
    """Proposes names of the data set's own boxes, objects and captions, strongest bond first."""

    Options = CoOccurrenceOptions
    options: CoOccurrenceOptions

    def __init__(self, options: CoOccurrenceOptions, context: Context) -> None:
        super().__init__(options, context)
        if context.dataset is None:
            raise UserError(
                f"{OWNER} counts in a data set, and there is no data set here", remedy=REMEDY
            )
        self._data: Dataset = context.dataset
        if options.split is not None:
            if not isinstance(context.dataset, HasSplits):
                raise UserError(
                    f"{OWNER}: the data set has no split '{options.split}'", remedy="Leave it out."
                )
            self._data = context.dataset.split(options.split)
        self.fingerprint = digest(OWNER, 1, self._data.fingerprint, options.model_dump())

    @property
    def facts(self) -> Mapping[str, str]:
        split = f", split {self.options.split}" if self.options.split else ""
        return {"counted in": f"{len(self._data):,} samples{split}"}

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
                label = () if sample.label is None else (sample.label,)
                classes = {*map(normalise_name, (*sample.annotations.get("objects", ()), *label))}
                counts.add(classes, names_in(sample, self.options.source))
                advance(1)
        if not counts.of_name:
            raise UserError(
                f"{OWNER}: the data set names nothing beside its labels",
                expected="'boxes', 'objects' or 'captions' among a sample's annotations",
                remedy=REMEDY,
            )
        return counts


def names_in(sample: Sample, source: Source) -> set[str]:
    annotations = sample.annotations
    names: set[str] = set()
    if source != "captions":
        names |= {normalise_name(name) for name in annotations.get("objects", ())}
        names |= {normalise_name(box.name) for box in annotations.get("boxes", ())}
    if source != "annotations" and annotations.get("captions"):
        from cuescope_proposers.captions import nouns

        names.update(*map(nouns, annotations["captions"]))
    return names


def bond(both: int, of_class: int, of_name: int, images: int) -> float:
    """Log odds ratio of a name and a class over images, at the lower end of its 95% interval.

    One half is added to each of the four counts (Haldane, 1956), so that none is zero.
    """
    # the four cells: with the name and of the class, of the class alone, the name alone, neither
    cells = both, of_class - both, of_name - both, images - of_class - of_name + both
    with_both, with_class, with_name, with_neither = (count + 0.5 for count in cells)
    ratio = log(with_both * with_neither / (with_class * with_name))
    return ratio - Z * sqrt(sum(1 / (count + 0.5) for count in cells))
