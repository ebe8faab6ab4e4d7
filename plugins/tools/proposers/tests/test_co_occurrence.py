"""What the data set names beside a class."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from cuescope_proposers.co_occurrence import CoOccurrence, CoOccurrenceOptions
from cuescope_sdk import Context, Detection, Frame, Sample, UserError

FRAME = Frame.from_array(np.zeros((4, 4, 3), dtype=np.uint8))


class Shelf:
    """A data set of the given samples."""

    labels = ("Cup", "boat")
    facts: dict[str, str] = {}

    def __init__(self, samples: Sequence[Sample], fingerprint: str = "shelf") -> None:
        self.samples, self.fingerprint, self.reads = samples, fingerprint, 0

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: int) -> Sample:
        self.reads += 1
        return self.samples[index]


class Split(Shelf):
    """One with another split, in which nothing is but a boat by the sea."""

    def split(self, name: str) -> Shelf:
        return Shelf([sample(0, objects=("boat",), captions=("A boat at sea",))], name)


def sample(number: int, label: str | None = None, **known: Any) -> Sample:
    return Sample(key=f"{number}", frames=(FRAME,), label=label, annotations=known)


def boxes(*names: str) -> tuple[Detection, ...]:
    return tuple(Detection(name=name, score=1.0, box=(0, 0, 1, 1)) for name in names)


def scenes() -> list[Sample]:
    """Cups are beside tables in 6 of 8 images, boats beside the sea; the caption names a spoon."""
    cups = [
        sample(
            i,
            objects=("Cup",),
            boxes=boxes("Cup", *["Table"] * (i < 6)),
            captions=("A spoon in a cup.",),
        )
        for i in range(8)
    ]
    boats = [
        sample(
            8 + i,
            objects=("boat",),
            boxes=boxes("boat", *["table"] * (i < 1)),
            captions=("Two boats on the sea",),
        )
        for i in range(8)
    ]
    return [*cups, *boats]


def tool(data: Any, **options: Any) -> CoOccurrence:
    return CoOccurrence(CoOccurrenceOptions(**options), Context().for_dataset(data))


def test_the_strongest_bond_is_first() -> None:
    data = Shelf(scenes())
    proposer = tool(data)
    assert data.reads == 0, "nothing is read before it is asked"
    assert proposer.propose("Cup") == ["spoon", "table"]
    assert proposer.propose("boat") == ["sea"]
    assert data.reads == 16, "once for all classes"
    assert tool(data, least=1).propose("boat") == ["sea", "table"]
    assert tool(data, least=1, most=1).propose("cup") == ["spoon"]


def test_other_classes_and_labels_count_too() -> None:
    data = Shelf(
        [sample(i, "photo of a boat", objects=("cup", "fork")) for i in range(5)]
    )
    assert tool(data).propose("cup") == ["fork"]
    assert tool(data).propose("photo of a boat") == ["cup", "fork"]


def test_it_counts_in_another_split() -> None:
    proposer = tool(Split(scenes()), split="train", least=1)
    assert proposer.propose("boat") == ["sea"]
    assert proposer.facts == {"counted in": "1 sample, split train"}
    with pytest.raises(UserError, match="the data set has no split 'train'"):
        tool(Shelf(scenes()), split="train")


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"there is no data set here\. Use the proposer llm or cues"
    ):
        CoOccurrence(CoOccurrenceOptions(), Context())
    with pytest.raises(
        UserError, match="names nothing beside its labels: expected 'boxes'"
    ):
        tool(Shelf([sample(0, "Cup")])).propose("Cup")
    with pytest.raises(UserError, match=r"no image of 'cups': .*Did you mean 'cup'\?"):
        tool(Shelf(scenes())).propose("cups")


def test_the_fingerprint_is_that_of_data_and_options() -> None:
    data = Shelf(scenes())
    found = {
        tool(data).fingerprint,
        tool(data, least=2).fingerprint,
        tool(Shelf(scenes(), "other")).fingerprint,
    }
    assert len(found) == 3
    assert tool(data).fingerprint == tool(Shelf(scenes())).fingerprint


def test_hidden_cues_are_not_read() -> None:
    known = {
        "objects": ("cup",),
        "captions": ("A cup on a table",),
        "cues": {"window": (True,)},
    }
    data = Shelf([sample(i, **known) for i in range(5)])
    assert tool(data).propose("cup") == ["table"]
