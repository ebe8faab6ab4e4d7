"""Contract of data sets: the same samples every time, each one whole."""

import pickle
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from cuescope_sdk import (
    Dataset,
    Frame,
    HasPlantedCues,
    HasSplits,
    Sample,
    UserError,
    digest,
)
from cuescope_sdk.data._annotation_types import annotation_faults
from cuescope_testing._contract import (
    FingerprintedContract,
    NotApplicable,
    PerClass,
    expect,
    expect_error,
    expect_no_error,
    same_pixels,
)


class DatasetContract(FingerprintedContract):
    """Checks of a data set, on up to `count` samples spread over it.

    `split_names` are the splits that it has.
    """

    kind = "dataset"
    split_names: ClassVar[tuple[str, ...]] = ("train", "val", "test")
    count: ClassVar[int] = 40
    data: PerClass[Dataset] = PerClass(lambda contract: contract.built.of(contract))
    samples: PerClass[tuple[Sample, ...]] = PerClass(
        lambda contract: contract.read(contract.data.of(contract))
    )

    @classmethod
    def read(cls, data: Dataset) -> tuple[Sample, ...]:
        """Samples spread evenly over a data set, the first and last among them."""
        # many data sets are sorted by label, so the first alone would be of one
        count = min(cls.count, len(data))
        indices = np.linspace(0, len(data) - 1, count).round()
        return tuple(data[int(index)] for index in indices)

    def has_content(self, samples: tuple[Sample, ...]) -> bool:
        """True if these are `samples` once more, pixels aside."""
        return list(map(_content, samples)) == list(map(_content, self.samples))

    @property
    def frames(self) -> list[Frame]:
        """Their frames."""
        return [frame for sample in self.samples for frame in sample.frames]

    def exercise(self) -> None:
        """Build it, read it, look at a frame."""
        # a frame too: pixels may be drawn when they are loaded
        self.read(self.build())[0].frames[0].load()

    def test_declares_labels(self) -> None:
        """`labels` is the closed label set, () for open answers."""
        labels: Any = getattr(self.data, "labels", None)
        are_names = isinstance(labels, tuple) and all(
            isinstance(name, str) and name for name in labels
        )
        expect(
            are_names and len(set(labels)) == len(labels),
            "a tuple of distinct names",
            got=repr(labels),
        )

    def test_is_a_sequence_of_samples(self) -> None:
        """There is something to audit, and `for sample in data` ends with an IndexError."""
        expect(len(self.data) > 0, "a sample or more", got=0)
        for sample in self.samples:
            expect(isinstance(sample, Sample), "a Sample", got=type(sample).__name__)
        # far beyond as well: a data set may guard the first index behind its end alone
        for index in (len(self.data), len(self.data) + 7):
            with expect_error(IndexError, f"an IndexError at {index}"):
                self.data[index]

    def test_names_each_sample_once(self) -> None:
        """Features say by key where they occur; `KEY/what was changed` is a changed sample."""
        # more than `count`, as no frame is loaded; bounded, as there may be millions
        count = min(len(self.data), 2000)
        keys = [self.data[index].key for index in range(count)]
        distinct = len(set(keys))
        expect(distinct == count, f"{count} distinct keys", got=distinct)
        starts = {
            key[:place]
            for key in keys
            for place, letter in enumerate(key)
            if letter == "/"
        }
        expect(starts.isdisjoint(keys), "no key that continues another after a slash")

    def test_gives_the_same_samples_again(self) -> None:
        """Equal fingerprints, equal samples to the pixel: sort folders, seed what is drawn."""
        again = self.read(self.build())
        # pixels of one sample alone: to load all of them twice takes long
        is_stable = self.has_content(self.read(self.data))
        expect(is_stable, "the same samples when they are read again", got="others")
        same = all(map(same_pixels, again[0].frames, self.samples[0].frames))
        is_repeated = self.has_content(again) and same
        expect(is_repeated, "the same samples from a second build", got="others")

    def test_labels_with_its_labels(self) -> None:
        """A label is of the closed set, and among the choices, or no answer can be right."""
        if not self.data.labels:
            raise NotApplicable("asks about labels, and there is no closed set")
        for sample in self.samples:
            # an image of many things has no one label
            known = {None, *sample.choices} & {None, *self.data.labels}
            expect(sample.label in known, "a label of `labels` and choices", got=sample)

    def test_groups_samples(self) -> None:
        """What was drawn together, as questions about a video, is a group; all have one or none."""
        groups = [sample.group for sample in self.samples]
        expect(all(groups) or set(groups) == {None}, "groups for all or for none")
        by_frames: dict[tuple[str, ...], set[str | None]] = {}
        for index in range(min(len(self.data), 100)):  # side by side, as questions are
            sample = self.data[index]
            # pixels that were drawn may be the same by chance, a file is not
            if sample.frames and sample.frames[0].source is not None:
                # of all frames: clips of one video may share their first frame
                keys = tuple(frame.key for frame in sample.frames)
                group = sample.group or f"alone: {sample.key}"
                by_frames.setdefault(keys, set()).add(group)
        for shared in by_frames.values():
            expect(len(shared) == 1, "one group for samples of one file", got=shared)

    def test_loads_rgb_frames(self) -> None:
        """Every model may count on three channels; equal keys are equal pixels to the cache."""
        by_key: dict[str, Frame] = {}
        for frame in self.frames:
            image = frame.load()
            is_rgb = image.mode == "RGB" and min(image.size) > 0
            expect(is_rgb, "an RGB image", got=f"{image.mode} of {image.size}")
            same = same_pixels(by_key.setdefault(frame.key, frame), frame)
            expect(same, "one picture a frame key", got=f"two of {frame.key}")

    def test_can_be_sent_to_a_worker(self) -> None:
        """Samples are pickled: loaders are module-level functions, and draw nothing."""
        # a few: pixels are loaded on both sides
        for sample in self.samples[:3]:
            with expect_no_error("samples that pickle"):
                sent = pickle.loads(pickle.dumps(sample))  # noqa: S301 - its own
            # equal keys alone would pass with a loader that draws
            same_frames = all(map(same_pixels, sent.frames, sample.frames))
            expect(
                same_frames and _content(sent) == _content(sample), "the same sample"
            )

    def test_annotates_as_methods_read_it(self) -> None:
        """Known annotations have one type each, and masks are as large as their frame."""
        for sample in self.samples:
            faults = annotation_faults(sample)
            expect(not faults, "annotations as in docs/own-data.md", got=faults)

    def test_annotates_the_cues_that_it_plants(self) -> None:
        """The answer sheet, {'red corner': (True, False)}: a bool a frame for each planted cue."""
        annotated = set[str]()
        for sample in self.samples:
            cues = sample.annotations.get("cues", {})
            expect(isinstance(cues, Mapping), "cues by key", got=repr(cues))
            for presence in cues.values():
                # numpy's bools are equal to Python's, and pass
                are_bools = set(np.atleast_1d(presence).tolist()) <= {True, False}
                whole = np.shape(presence) == (len(sample.frames),)
                expect(are_bools and whole, "a bool a frame for each cue", got=cues)
            annotated.update(cues)
        if annotated and isinstance(self.data, HasPlantedCues):
            planted = {cue.key for cue in self.data.planted_cues}
            expect(planted == annotated, f"planted_cues {annotated}", got=planted)

    def test_keeps_splits_apart(self) -> None:
        """Splits have no sample in common, and other fingerprints; unknown ones are refused."""
        if not isinstance(self.data, HasSplits):
            raise NotApplicable("asks about `split`, which this data set has not")
        splits = []
        for name in self.split_names:
            with suppress(UserError):
                splits.append(self.data.split(name))
        keys = [{sample.key for sample in self.read(split)} for split in splits]
        shared = set.intersection(*keys) if len(keys) > 1 else set()
        prints = {split.fingerprint for split in splits}
        apart = len(prints) == len(keys) and not shared
        expect(apart, "other samples in each split", got=f"shared {shared}")
        with expect_error(UserError, "a UserError for split 'no-such-split'"):
            self.data.split("no-such-split")


def _content(sample: Sample) -> tuple[object, ...]:
    frames = [frame.key for frame in sample.frames]
    asked = (sample.question, sample.choices, sample.label)
    return sample.key, sample.group, frames, asked, _comparable(sample.annotations)


def _comparable(value: object) -> object:
    """An annotation as `==` can compare it: an array by its content, a frame by its key."""
    match value:
        case np.ndarray():
            # == of arrays is an array, and has no truth value
            return digest(value)
        case Frame():
            return value.key
        case Mapping():
            return {key: _comparable(part) for key, part in value.items()}
        case tuple() | list():
            return [_comparable(part) for part in value]
        case _:
            return value
