"""Data that cannot give a finding are refused, and weak data are warned of, before any question."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from cuescope_sdk import (
    AnnotationNeed,
    Audit,
    Context,
    DataNeeds,
    Frame,
    Sample,
    UserError,
)
from cuescope_sdk.data import require_data
from cuescope_sdk.data._sufficiency import DataProfile, find_shortages

MASK = np.ones((4, 4), bool)
MASKS = AnnotationNeed(
    key="foreground", name="masks", how="Draw some", tool="segmenter"
)


def clip(number: int, label: str = "cat") -> Sample:
    """A clip of three frames; equal pixels have unlike keys, as those of a film do."""
    frames = []
    for place in range(3):
        pixels = np.full((4, 4, 3), number * 10 + place, dtype=np.uint8)
        frame = Frame.from_array(pixels)
        frames.append(replace(frame, key=f"{frame.key}/{place}"))
    return Sample(
        key=f"{label}-{number}",
        frames=tuple(frames),
        choices=("cat", "dog"),
        label=label,
    )


def still(sample: Sample) -> Sample:
    return replace(sample, frames=sample.frames[:1])


def lines(
    needs: DataNeeds, samples: Sequence[Sample], *tools: str
) -> list[tuple[str, str]]:
    profile = DataProfile.of(samples)
    return [
        (s.gravity, s.line) for s in find_shortages(needs, profile, tools, "method")
    ]


CATS = [clip(number) for number in range(8)]
DOGS = [clip(number, "dog") for number in range(8)]


@pytest.mark.parametrize(
    ("needs", "samples", "gravity", "words"),
    [
        (DataNeeds(least=9), CATS, "fatal", "at least 9 independent samples"),
        (DataNeeds(least=9), CATS, "fatal", "got 8 of 'cat'"),
        (
            DataNeeds(least=8, enough=30, enough_for="much"),
            CATS + DOGS,
            "weak",
            "About 30 of each",
        ),
        (
            DataNeeds(each="data set", enough=30, enough_for="much"),
            CATS + DOGS,
            "weak",
            "got 16",
        ),
        (DataNeeds(choices=3), CATS, "fatal", "3 labels or more, got 2"),
        (DataNeeds(questions=True), CATS, "fatal", "there is nothing to ask"),
        (
            DataNeeds(clips=True),
            [still(clip(1))],
            "weak",
            "single frames",
        ),
        (DataNeeds(annotation=MASKS), CATS, "blind", "--tool segmenter=SPEC"),
        (
            DataNeeds(),
            [*CATS, replace(clip(9), label="Cat ", choices=("Cat ", "cat"))],
            "weak",
            "got 'Cat ' and 'cat'. They count",
        ),
    ],
)
def test_what_lacks_is_said(
    needs: DataNeeds, samples: Sequence[Sample], gravity: str, words: str
) -> None:
    [(told, line)] = lines(needs, samples)
    assert told == gravity
    assert words in line


@pytest.mark.parametrize(
    ("needs", "samples", "tools"),
    [
        (DataNeeds(least=8, choices=2, clips=True), CATS + DOGS, ()),
        (DataNeeds(annotation=MASKS), CATS, ("segmenter",)),
        (
            DataNeeds(annotation=MASKS),
            [replace(CATS[0], annotations={"foreground": MASK})],
            (),
        ),
        (DataNeeds(questions=True), [replace(CATS[0], question="Which?")], ()),
        (DataNeeds(clips=True), [still(clip(5)), clip(6)], ()),
    ],
)
def test_what_is_there_is_not_asked_for(
    needs: DataNeeds, samples: Sequence[Sample], tools: Sequence[str]
) -> None:
    assert not lines(needs, samples, *tools)


def test_samples_of_one_source_count_once() -> None:
    together = [
        replace(sample, group=f"video-{n % 2}") for n, sample in enumerate(CATS)
    ]
    [(_, line)] = lines(DataNeeds(least=3), together)
    assert "got 2 of 'cat'" in line


def test_an_image_counts_for_each_object_in_it() -> None:
    both = [
        replace(s, label=None, annotations={"objects": ("cat", "dog")}) for s in CATS
    ]
    assert not lines(DataNeeds(each="object", least=8), both)
    [(_, line)] = lines(DataNeeds(each="object", least=9), both)
    assert "of each object" in line


def test_what_cannot_work_comes_first() -> None:
    needs = DataNeeds(least=20, clips=True, annotation=MASKS)
    assert [gravity for gravity, _ in lines(needs, [still(clip(1))])] == [
        "fatal",
        "weak",
        "blind",
    ]


def test_an_annotation_that_methods_cannot_read_is_told_before_any_question() -> None:
    """Fatal for the method that needs it: later it would be an error amid the answers."""
    wrong = np.zeros((3, 4), bool)
    cats = [replace(cat, annotations={"foreground": wrong}) for cat in CATS]
    [(gravity, line), *_] = lines(DataNeeds(least=2, annotation=MASKS), cats)
    assert gravity == "fatal"
    assert "got bool of shape (3, 4) in sample 'cat-0'" in line
    [(gravity, _)] = lines(DataNeeds(least=2), cats)
    assert gravity == "weak"


@pytest.mark.parametrize("asked", [False, True])
def test_what_cannot_have_a_finding_is_refused_unless_it_is_asked_for(
    asked: bool,
) -> None:
    masks = MASKS.model_copy(update={"unless": "maps_only"})
    needs = DataNeeds(annotation=masks)
    options = SimpleNamespace(maps_only=asked)
    audit = Audit(("cat", "dog"), options, list, Context(), samples=tuple(CATS))
    if asked:
        require_data(audit, needs, "mine")
        assert "nothing can be found" in audit.notes["weak data"]
        return
    with pytest.raises(UserError, match="-O maps_only=true goes on without findings"):
        require_data(audit, needs, "mine")
