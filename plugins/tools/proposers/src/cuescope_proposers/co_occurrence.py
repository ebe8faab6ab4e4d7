"""Cues that the data set itself names beside a class; no language model is asked."""

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from cuescope_proposers.counting import Counts
from cuescope_sdk import (
    Context,
    Dataset,
    HasSplits,
    Options,
    Plugin,
    Sample,
    UserError,
    digest,
    nearest,
)
from cuescope_sdk.tools import normalise_name

OWNER = "co-occurrence"
Source = Literal["all", "annotations", "captions"]
REMEDY = "Use the proposer llm or cues."


class CoOccurrenceOptions(Options):
    """Options of `co-occurrence`."""

    source: Source = Field(
        "all", description="names of `annotations` (boxes and objects), of `captions`, or `all`"
    )
    split: str | None = Field(
        None, description="count in this split (`train`); default: the audited one"
    )
    least: PositiveInt = Field(5, description="images of the class with the name, or more")
    most: PositiveInt = Field(32, description="names a class")


class CoOccurrence(Plugin):
    """Proposes names of the data set's own boxes, objects and captions, strongest bond first."""

    Options: ClassVar[type[Options]] = CoOccurrenceOptions
    options: CoOccurrenceOptions

    def __init__(self, options: CoOccurrenceOptions, context: Context) -> None:
        super().__init__(options, context)
        if context.dataset is None:
            raise UserError(f"{OWNER} counts in a data set, and there is none here", remedy=REMEDY)
        self._data = _split(context.dataset, options.split)
        self.fingerprint = digest(OWNER, 1, self._data.fingerprint, options.model_dump())

    @property
    def facts(self) -> Mapping[str, str]:
        """Where it counts."""
        split = f", split {self.options.split}" if self.options.split else ""
        return {"counted in": f"{len(self._data):,} samples{split}"}

    def propose(self, label: str) -> list[str]:
        """The names that go with a class; raises UserError for one that no image shows."""
        name = normalise_name(label)
        if name not in self._counts.of_class:
            raise UserError(
                f"{OWNER}: no image of '{label}'", expected="a class that images show",
                remedy=nearest(name, self._counts.of_class),
            )  # fmt: skip
        return self._counts.ranked(name, self.options.least)[: self.options.most]

    @cached_property
    def _counts(self) -> Counts:
        counts = Counts()
        with self.context.progress("counting names", len(self._data)) as advance:
            for index in range(len(self._data)):
                sample = self._data[index]
                counts.add(classes_of(sample), names_in(sample, self.options.source))
                advance(1)
        if not counts.of_name:
            raise UserError(
                f"{OWNER}: the data set names nothing beside its labels",
                expected="'boxes', 'objects' or 'captions' among a sample's annotations",
                remedy=REMEDY,
            )
        return counts


def classes_of(sample: Sample) -> set[str]:
    """The classes that an image shows."""
    label = () if sample.label is None else (sample.label,)
    return {normalise_name(name) for name in (*sample.annotations.get("objects", ()), *label)}


def names_in(sample: Sample, source: Source) -> set[str]:
    """What is named in an image."""
    known, found = sample.annotations, set[str]()
    if source != "captions":
        found |= {normalise_name(name) for name in known.get("objects", ())}
        found |= {normalise_name(box.name) for box in known.get("boxes", ())}
    if source != "annotations" and known.get("captions"):
        from cuescope_proposers.captions import nouns

        found |= {name for caption in known["captions"] for name in nouns(caption)}
    return found


def _split(data: Dataset, name: str | None) -> Dataset:
    if name is None:
        return data
    if not isinstance(data, HasSplits):
        raise UserError(f"{OWNER}: the data set has no split '{name}'", remedy="Leave it out.")
    return data.split(name)
