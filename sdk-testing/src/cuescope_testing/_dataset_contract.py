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
from cuescope_sdk.data._annotation_types import annotation_faults, describe
from cuescope_testing._contract import (
    ContractViolation,
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
        indices = np.linspace(0, len(data) - 1, min(cls.count, len(data))).round()
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

    # ------------------------------------------------------------------------------ what it says

    def test_declares_labels(self) -> None:
        """The closed label set, () where there is none."""
        labels: Any = getattr(self.data, "labels", None)
        are_names = isinstance(labels, tuple) and all(
            isinstance(n, str) and n for n in labels
        )
        expect(
            are_names and len(set(labels)) == len(labels),
            "`labels`, a tuple of distinct names",
            got=repr(labels),
            remedy="Set self.labels = tuple(sorted(names)), or () for open answers",
        )

    # ----------------------------------------------------------------------------- as a sequence

    def test_has_samples(self) -> None:
        """There is something to audit."""
        expect(
            len(self.data) > 0,
            "a sample or more",
            got=0,
            remedy="Check the path and split",
        )

    def test_ends_with_an_index_error(self) -> None:
        """`for sample in data` ends there."""
        # far beyond as well: a data set may guard the first index behind its end alone
        for index in (len(self.data), len(self.data) + 7):
            with expect_error(
                IndexError,
                f"an IndexError at {index}",
                got="a sample",
                remedy="Index with range(len(self))[index]",
            ):
                self.data[index]

    def test_gives_samples(self) -> None:
        """Each item is a Sample."""
        for sample in self.samples:
            expect(
                isinstance(sample, Sample),
                "a cuescope_sdk.Sample",
                got=type(sample).__name__,
                remedy="Return Sample(key=..., frames=..., ...)",
            )

    def test_names_each_sample_once(self) -> None:
        """Features say by key where they occur."""
        # more than `count`, as no frame is loaded; bounded, as there may be millions
        keys = [self.data[index].key for index in range(min(len(self.data), 2000))]
        expect(
            len(set(keys)) == len(keys),
            f"{len(keys)} keys",
            got=f"{len(set(keys))} distinct",
            remedy="Number the samples, or use their paths relative to the root",
        )

    def test_keeps_slashes_for_changes(self) -> None:
        """`KEY/what was changed` is the key of a changed sample: no key may be another's start."""
        # a set: samples that share a key are another check's
        keys = {sample.key for sample in self.samples}
        inside = [
            key for key in keys if any(key.startswith(f"{other}/") for other in keys)
        ]
        expect(
            not inside,
            "keys of which none continues another after a slash",
            got=inside[:1],
            remedy="Add what tells them apart before the slash",
        )

    def test_gives_the_same_sample_twice(self) -> None:
        """Reading moves nothing."""
        expect(
            self.has_content(self.read(self.data)),
            "the same samples when they are read again",
            got="others",
            remedy="Draw once, in __init__, from cuescope_sdk.generator(seed, name)",
        )

    def test_gives_the_same_samples_when_built_again(self) -> None:
        """Equal fingerprints, equal samples, down to the pixels."""
        again = self.read(self.build())
        # pixels of one sample alone: to load all of them twice takes long
        expect(
            self.has_content(again)
            and all(map(same_pixels, again[0].frames, self.samples[0].frames)),
            "the same samples from a second build",
            got="others",
            remedy="Sort what a folder lists, and seed what is drawn",
        )

    # --------------------------------------------------------------------------- sample by sample

    def test_labels_with_its_labels(self) -> None:
        """A label, where there is one, is of the closed set."""
        labels = set(self.data.labels)
        # a sample may have no label
        strange = {sample.label or "" for sample in self.samples} - labels - {""}
        expect(
            not labels or not strange,
            "labels of the data set's `labels`",
            got=sorted(strange),
            remedy="Collect `labels` from the samples of every split",
        )

    def test_offers_its_labels_as_choices(self) -> None:
        """Without choices, a model has nothing to score; without the label, it cannot be right.

        An image of many things has no one label, and need not offer any.
        """
        if not self.data.labels:
            raise NotApplicable("asks about choices, and there is no closed label set")
        for sample in self.samples:
            expect(
                sample.label is None or sample.label in sample.choices,
                "choices with the label among them",
                got=f"{sample.choices} in {sample.key}",
                remedy="Set choices=self.labels",
            )

    def test_names_a_group_for_all_or_none(self) -> None:
        """Tests and splits draw groups whole; a sample that is left out would count by itself."""
        groups = [sample.group for sample in self.samples]
        # an empty text is no group, though it is no None
        without = len(groups) - sum(map(bool, groups))
        expect(
            not without or set(groups) == {None},
            "a group, which is a text that is not empty, for every sample or for none",
            got=f"{without} of {len(groups)} without one",
            remedy="Set group=key where a sample was drawn by itself",
        )

    def test_groups_samples_of_one_file(self) -> None:
        """Questions about one video are drawn together, and prove less than as many videos."""
        by_frames: dict[tuple[str, ...], list[Sample]] = {}
        for index in range(min(len(self.data), 100)):  # side by side, as questions are
            sample = self.data[index]
            # pixels that were drawn may be the same by chance, a file is not
            if sample.frames and sample.frames[0].source is not None:
                # of all frames: clips of one video may share their first frame
                keys = tuple(frame.key for frame in sample.frames)
                by_frames.setdefault(keys, []).append(sample)
        # a sample that shares its file with none may have any group
        for samples in by_frames.values():
            groups = [sample.group for sample in samples]
            expect(
                len(samples) == 1 or (groups[0] is not None and len(set(groups)) == 1),
                f"one group for {samples[0].key} and {samples[-1].key}, which show the same file",
                got=f"{groups[0]!r} and {groups[-1]!r}",
                remedy="Set group= to what was drawn: the video, the original image",
            )

    def test_loads_rgb_frames(self) -> None:
        """Every model may count on three channels."""
        for frame in self.frames:
            image = frame.load()
            expect(
                image.mode == "RGB" and min(image.size) > 0,
                "an RGB image",
                got=f"{image.mode} of {image.size}",
                remedy="Use image.convert('RGB')",
            )

    def test_has_equal_pixels_under_equal_keys(self) -> None:
        """The cache answers one frame for the other."""
        by_key: dict[str, Frame] = {}
        for frame in self.frames:
            expect(
                same_pixels(by_key.setdefault(frame.key, frame), frame),
                "one picture a frame key",
                got=f"two of {frame.key}",
                remedy="Use Frame.from_array, Frame.from_file or frame.derive, or digest content",
            )

    def test_can_be_sent_to_a_worker(self) -> None:
        """Samples are pickled, with frames that load there."""
        # a few: pixels are loaded on both sides
        for sample in self.samples[:3]:
            with expect_no_error(
                "samples that pickle",
                remedy="Use module-level functions and functools.partial as loaders",
            ):
                sent = pickle.loads(pickle.dumps(sample))  # noqa: S301 - its own
            # equal keys alone would pass with a loader that draws
            same_frames = all(map(same_pixels, sent.frames, sample.frames))
            expect(
                same_frames and _content(sent) == _content(sample),
                "the same sample after pickling",
                got="another",
                remedy="Keep loaders pure",
            )

    def test_annotates_cues_by_frame(self) -> None:
        """The answer sheet: `{cue: (present in frame 0, ...)}`."""
        for sample in self.annotated_samples():
            cues = sample.annotations["cues"]
            # what is no mapping fails below, in words
            presences = cues.values() if isinstance(cues, Mapping) else [()]
            # numpy's bools are equal to Python's, and pass
            are_bools = all(set(presence) <= {True, False} for presence in presences)
            expect(
                are_bools and {*map(len, presences)} <= {len(sample.frames)},
                "a bool a frame for each cue",
                got=repr(cues),
                remedy="Set annotations={'cues': {'red corner': (True, False)}}",
            )

    def test_plants_the_cues_that_it_annotates(self) -> None:
        """`verify` looks a planted cue up in the annotation by its key."""
        if not isinstance(self.data, HasPlantedCues):
            raise NotApplicable(
                "asks about `planted_cues`, which this data set does not declare"
            )
        planted = {cue.key for cue in self.data.planted_cues}
        # over all samples: a rare cue is in few of them
        annotated = set[str]()
        for sample in self.annotated_samples():
            annotated.update(sample.annotations["cues"])
        expect(
            planted == annotated,
            f"`planted_cues` with the keys of the 'cues' annotation, {sorted(annotated)}",
            got=sorted(planted),
            remedy="Set planted_cues = (PlantedCue(key=..., name=...), ...), one for each key",
        )

    def test_annotates_as_methods_read_it(self) -> None:
        """Known annotations have one type each, and masks are as large as their frame."""
        for sample in self.samples:
            for key, expected in annotation_faults(sample).items():
                raise ContractViolation(
                    f"annotations['{key}']: {expected}",
                    got=f"{describe(sample.annotations[key])} in {sample.key}",
                    remedy="See docs/own-data.md; what is something else needs another key",
                )

    def annotated_samples(self) -> list[Sample]:
        """The samples with cues; raises NotApplicable where there are none."""
        samples = [sample for sample in self.samples if "cues" in sample.annotations]
        if not samples:
            raise NotApplicable("asks about the 'cues' annotation, which no sample has")
        return samples

    # ------------------------------------------------------------------------------------- splits

    def test_keeps_splits_apart(self) -> None:
        """Splits for training and audit have no sample in common."""
        splits = self.splits()
        keys = [{sample.key for sample in self.read(split)} for split in splits]
        prints = {split.fingerprint for split in splits}
        shared = set.intersection(*keys) if len(keys) > 1 else set()
        expect(
            len(prints) == len(keys) and not shared,
            "other samples in each split",
            got=f"{len(prints)} fingerprints of {len(keys)} splits, {len(shared)} keys in all",
            remedy="Let the split enter keys and fingerprint",
        )

    def test_refuses_unknown_splits(self) -> None:
        """A misspelt split must not show another one."""
        data = self.with_splits()
        with expect_error(
            UserError,
            "a UserError for split 'no-such-split'",
            got="a data set",
            remedy="Check the name, and raise UserError(problem, expected=the splits, got=...)",
        ):
            data.split("no-such-split")

    def with_splits(self) -> HasSplits:
        """The data set; raises NotApplicable where it has no splits."""
        if not isinstance(self.data, HasSplits):
            raise NotApplicable("asks about `split`, which this data set has not")
        return self.data

    def splits(self) -> list[Dataset]:
        """Every split there is; names that it has not are passed over."""
        data = self.with_splits()
        splits = []
        for name in self.split_names:
            with suppress(UserError):
                # a name that the data set has not is no mistake of the plugin's
                splits.append(data.split(name))
        return splits


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
