"""Every check of the data set contract catches a data set that is bad in just that way."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import numpy as np
import pytest
from PIL import Image
from pydantic import ConfigDict, Field

from cuescope_core.types import FrameSource
from cuescope_sdk import Context, Detection, Frame, PlantedCue, Sample, Words
from cuescope_sdk.data._annotation_types import KNOWN, annotation_faults
from cuescope_testing import DatasetContract, FakeDataset
from cuescope_testing._fake_data import FakeDataOptions

from .contract_proofs import checks_of, expect_caught, failed

OTHER = {"seed": 1}


def sampling(change: Callable[[Sample], Any]) -> type[FakeDataset]:
    """A data set whose samples are changed."""

    class Bad(FakeDataset):
        def __getitem__(self, index: int) -> Sample:
            return change(super().__getitem__(index))

    return Bad


def updating(**update: Any) -> type[FakeDataset]:
    return sampling(lambda sample: replace(sample, **update))


def built(change: Callable[[FakeDataset], None]) -> type[FakeDataset]:
    """A data set that is changed once it is built."""

    class Bad(FakeDataset):
        def __init__(self, options: FakeDataOptions, context: Context) -> None:
            super().__init__(options, context)
            change(self)

    return Bad


def attribute(name: str, make: Callable[[], Any]) -> type[FakeDataset]:
    return built(lambda data: setattr(data, name, make()))


def with_frames(change: Callable[[Frame], Frame]) -> type[FakeDataset]:
    return sampling(
        lambda s: replace(s, frames=tuple(change(frame) for frame in s.frames))
    )


class Loose(FakeDataOptions):
    model_config = ConfigDict(extra="ignore")


class Unexplained(FakeDataOptions):
    depth: int = 3


class Unmarked(FakeDataOptions):
    notes: Annotated[dict[str, Any], Words()] = Field({}, description="anything")


class Needy(FakeDataOptions):
    weights: Annotated[str, Words()] = Field(description="where they are")


def with_options(options: type[FakeDataOptions]) -> type[FakeDataset]:
    return type("Bad", (FakeDataset,), {"Options": options})


class Endless(FakeDataset):
    """Starts again at the end."""

    def __getitem__(self, index: int) -> Sample:
        return super().__getitem__(index % len(self))


class Empty(FakeDataset):
    def __len__(self) -> int:
        return 0


class Wandering(FakeDataset):
    """Draws as it reads."""

    _calls = count()

    def __getitem__(self, index: int) -> Sample:
        sample = super().__getitem__(index)
        return replace(sample, question=f"Where is it? {next(self._calls) // 40}")


class Reborn(FakeDataset):
    """Other noise each time it is built, under the same fingerprint."""

    def __init__(self, options: FakeDataOptions, context: Context) -> None:
        super().__init__(options, context)
        self._noise = np.random.default_rng().integers(
            0, 60, self._noise.shape, dtype=np.uint8
        )


class OneSplit(FakeDataset):
    """Shows the same samples whatever the split."""

    def split(self, name: str) -> FakeDataset:
        super().split(name)
        return self


class AnySplit(FakeDataset):
    """Takes a misspelt split for the one it shows."""

    def split(self, name: str) -> FakeDataset:
        return super().split(name if name in ("train", "val", "test") else "val")


def nested(sample: Sample) -> Sample:
    """The last sample's key continues the first one's."""
    split, number = sample.key.split("-")
    return replace(sample, key=f"{split}-000/b") if number == "149" else sample


def _grey(image: Image.Image) -> Image.Image:
    return image.convert("L")


def renamed(frame: Frame) -> Frame:
    """A key of a quarter of a digest: two hundred frames share sixteen keys."""
    return Frame(frame.key[:1], frame.loader)


FILM = Frame.from_array(np.zeros((8, 8, 3), np.uint8))


def of_one_file(frame: Frame) -> Frame:
    """The frame of a file that all samples show, each as if it had been drawn by itself."""
    return Frame(FILM.key, FILM.loader, FrameSource(Path("film.png")))


def half_grouped(sample: Sample) -> Sample:
    """Only every second sample names its group."""
    return replace(sample, group=sample.group if int(sample.key[-1]) % 2 else None)


def loaded_by_lambda(frame: Frame) -> Frame:
    return Frame(frame.key, lambda: frame.load())


# check -> (a data set that it catches, the other checks that cannot help but catch it too)
PROOFS = [
    ("test_builds", with_options(Needy), {"*"}),
    ("test_refuses_unknown_options", with_options(Loose), set()),
    ("test_declares_its_options", with_options(Unexplained), set()),
    ("test_declares_its_options", with_options(Unmarked), set()),
    ("test_leaves_global_randomness_alone", built(lambda data: random.seed(0)), set()),
    (
        "test_declares_labels",
        attribute("labels", lambda: ["top", "middle", "bottom"]),
        set(),
    ),
    ("test_states_facts_in_words", attribute("facts", lambda: {"samples": 150}), {"*"}),
    ("test_has_a_fingerprint", attribute("fingerprint", str), {"*"}),
    ("test_has_a_fingerprint", attribute("fingerprint", lambda: uuid4().hex), set()),
    (
        "test_has_another_fingerprint_for_other_options",
        built(lambda data: setattr(data, "fingerprint", data.options.split)),
        set(),
    ),
    ("test_is_a_sequence_of_samples", Empty, {"*"}),
    ("test_is_a_sequence_of_samples", Endless, set()),
    (
        "test_is_a_sequence_of_samples",
        sampling(lambda sample: sample.model_dump()),
        {"*"},
    ),
    (
        "test_names_each_sample_once",
        updating(key="sample"),
        {"test_keeps_splits_apart"},
    ),
    ("test_names_each_sample_once", sampling(nested), set()),
    ("test_gives_the_same_samples_again", Wandering, set()),
    ("test_gives_the_same_samples_again", Reborn, set()),
    (
        "test_labels_with_its_labels",
        updating(choices=("up", "down"), label="up"),
        set(),
    ),
    ("test_labels_with_its_labels", updating(choices=()), set()),
    ("test_groups_samples", sampling(half_grouped), set()),
    ("test_groups_samples", with_frames(of_one_file), set()),
    (
        "test_loads_rgb_frames",
        with_frames(lambda frame: frame.derive("grey", _grey)),
        set(),
    ),
    ("test_loads_rgb_frames", with_frames(renamed), set()),
    ("test_can_be_sent_to_a_worker", with_frames(loaded_by_lambda), set()),
    (
        "test_annotates_the_cues_that_it_plants",
        updating(annotations={"cues": {"red corner": True}}),
        set(),
    ),
    (
        "test_annotates_as_methods_read_it",
        updating(annotations={"foreground": np.zeros((3, 5), bool)}),
        set(),
    ),
    (
        "test_annotates_the_cues_that_it_plants",
        attribute("planted_cues", lambda: (PlantedCue(key="red", name="red corner"),)),
        set(),
    ),
    ("test_keeps_splits_apart", OneSplit, set()),
    ("test_keeps_splits_apart", AnySplit, set()),
]


class TestHealthy(DatasetContract):
    plugin = FakeDataset
    other_options = OTHER


def contract_of(data: type) -> type[DatasetContract]:
    facts = {"plugin": data, "other_options": OTHER}
    return type("Contract", (DatasetContract,), facts)


def test_every_check_is_proved() -> None:
    assert set(DatasetContract.checks()) == checks_of(PROOFS)


class Regrouped(FakeDataset):
    """Other groups each time it is built, under the same fingerprint."""

    def __init__(self, options: FakeDataOptions, context: Context) -> None:
        super().__init__(options, context)
        self._name = uuid4().hex

    def __getitem__(self, index: int) -> Sample:
        return replace(super().__getitem__(index), group=self._name)


def test_other_groups_in_another_build_are_caught() -> None:
    assert failed(contract_of(Regrouped)) == {"test_gives_the_same_samples_again"}


def test_an_empty_group_is_caught() -> None:
    assert failed(contract_of(updating(group=""))) == {"test_groups_samples"}


@pytest.mark.parametrize(("check", "data", "others"), PROOFS)
def test_check_catches_its_bad_data_set(
    check: str, data: type, others: set[str]
) -> None:
    expect_caught(contract_of(data), check, others)


MASK = Frame.from_array(np.zeros((2, 2, 3), np.uint8))
BAD_ANNOTATIONS: dict[str, tuple[Any, ...]] = {
    "foreground": (
        np.zeros((16, 16), np.uint8),
        np.zeros((2, 2), bool),
        MASK,
        "mask.png",
    ),
    "masks": ({"cup": np.zeros((16, 16), bool)}, {"cup": MASK}, (MASK,)),
    "boxes": ([("cup", 0, 0, 4, 4)],),
    "objects": ("cup", (1, 2)),
    "captions": ("a cup",),
    "answers": ("yes",),
    "factors": ("meadow", {1: "meadow"}),
    "times": ((0.0,), "0:01", (0.0, None)),
    "poses": (((0.0, 0.0, 0.0),) * 2,),
    "actions": ((("jump", 1, 1),), (("jump", 0, 3),), (("jump", 0),)),
}


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, bad) for key, each in BAD_ANNOTATIONS.items() for bad in each],
)
def test_an_annotation_of_another_type_is_named(key: str, value: Any) -> None:
    two_frames = (Frame.from_array(np.zeros((16, 16, 3), np.uint8)),) * 2
    sample = Sample(key="a", frames=two_frames, annotations={key: value})
    assert set(annotation_faults(sample)) == {key}


def test_every_known_annotation_has_a_bad_one() -> None:
    assert BAD_ANNOTATIONS.keys() == KNOWN.keys()


def test_annotations_of_the_stated_types_pass() -> None:
    pixels = np.zeros((4, 6, 3), np.uint8)
    known = {
        "foreground": np.zeros((4, 6), bool),
        "masks": {"cup": Frame.from_array(pixels)},
        "boxes": (Detection(name="cup", score=1.0, box=(0, 0, 2, 2)),),
        "objects": (),
        "captions": ["a cup"],
        "answers": ("yes", "yeah"),
        "factors": {"background": "meadow"},
        "times": (0.0, 1.5),
        "poses": ((0.0, 0.0, 0.0, 1.57),) * 2,
        "actions": (("jump", 0, 2),),
    }
    sample = Sample(key="a", frames=(Frame.from_array(pixels),) * 2, annotations=known)
    assert known.keys() == KNOWN.keys()
    assert not annotation_faults(sample)
