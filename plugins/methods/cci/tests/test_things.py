"""A thing of the class answered beside the object: seen by names, by a detector, by the maps."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cuescope_cci.analysis import is_finding, is_overall_finding, is_overall_pull
from cuescope_cci.backgrounds.measure import measure_backgrounds
from cuescope_cci.backgrounds.things import things_beside
from cuescope_cci.error_source import AnswerSource
from cuescope_cci.options import CCIOptions
from cuescope_cci.report import scores
from cuescope_sdk import Audit, Context, Detection

# quarters of the picture: the left half is the object
CLUSTERS = np.repeat(np.array([[0, 0, 1, 1]] * 3 + [[0, 0, 1, 2]]), 2, axis=1)
Make = Callable[..., AnswerSource]


def audit_of(**tools: Any) -> Audit:
    return Audit(
        labels=("owl", "toad", "hawk"),
        options=CCIOptions(),
        respond=lambda _: [],
        context=Context(),
        tools=tools,
    )


def moved(make: Make, key: str, lost: int | None, **annotations: Any) -> AnswerSource:
    """An owl that its background turns to a toad, which goes with one cluster, or with none."""
    image = make(key, "owl", "toad", "background", apart=("toad", "owl"), place="lake")
    drops = np.zeros((3, 3))
    if lost is not None:
        drops[lost] = image.logits - image.apart.objects  # type: ignore[union-attr]
    sample = replace(image.sample, annotations=annotations)
    return replace(image, sample=sample, cluster=CLUSTERS, drops=drops)


class Finder:
    def detect(self, frames: Any, names: Any) -> Any:
        box = Detection(name="toad", score=0.9, box=(0.0, 0.0, 1.0, 1.0))
        return [(box,) if number == 0 else () for number in range(len(frames))]


def test_a_small_part_that_carries_the_answer_may_be_a_thing(source: Make) -> None:
    images = [moved(source, "a", 2), moved(source, "b", 1), moved(source, "c", None)]
    beside = things_beside(audit_of(), images)
    assert beside.beside.tolist() == [True, False, False]
    assert beside.told == "the maps"


@pytest.mark.parametrize("key", ["objects", "boxes"])
def test_names_of_other_labels_decide(source: Make, key: str) -> None:
    """A small part that carries the answer is no thing where all things are named."""

    def named(*names: str) -> dict[str, Any]:
        boxes = tuple(
            Detection(name=n, score=1.0, box=(0.0, 0.0, 1.0, 1.0)) for n in names
        )
        return {key: names if key == "objects" else boxes}

    images = [
        moved(source, "a", None, **named("owl", "Toad")),
        moved(source, "b", 2, **named("owl")),
    ]
    images.append(source("c", "toad", "toad", apart=("toad", "toad")))
    beside = things_beside(audit_of(), images)
    assert beside.beside.tolist() == [True, False, False]
    assert beside.told == "annotations"


def test_boxes_of_the_object_alone_say_nothing_of_others(source: Make) -> None:
    images = [moved(source, "a", 2, objects=("owl",))]
    assert things_beside(audit_of(), images).told == "the maps"


def test_what_a_detector_misses_the_maps_may_see(source: Make) -> None:
    images = [moved(source, "a", None), moved(source, "b", 2), moved(source, "c", 1)]
    images.append(source("d", "toad", "toad", apart=("toad", "toad")))
    beside = things_beside(audit_of(detector=Finder()), images)
    assert beside.beside.tolist() == [True, True, False, False]


@pytest.mark.parametrize("lost", [2, 1])
def test_a_thing_beside_is_said_and_has_no_star(source: Make, lost: int) -> None:
    """Toads by the lake: a small thing there takes the star, the lake itself keeps it."""
    images = [moved(source, f"lake-{index}", lost) for index in range(12)]
    for index in range(12):
        plain = source(f"wood-{index}", apart=("hawk", "owl"), place="wood")
        images.append(replace(plain, cluster=CLUSTERS, drops=np.zeros((3, 3))))
        answer = "toad" if index % 2 else "hawk"
        images.append(
            source(f"{answer}-{index}", answer, answer, apart=(answer, answer))
        )
    audit, options = audit_of(), CCIOptions()
    known = audit.once(measure_backgrounds, audit, options, images)
    assert known is not None
    assert is_overall_pull(known, options)
    assert is_overall_finding(known, options) == (lost == 1)
    row = known.rows_by_pair["background|place=lake", "toad"]
    assert is_finding(row, known, options) == (lost == 1)
    [score] = [
        score
        for score in scores(audit, options, images)
        if score.label == "toad" and score.feature == row.feature
    ]
    assert score.finding == (lost == 1)
    assert (score.doubt is None) == (lost == 1)
    if score.doubt:
        assert score.doubt.startswith("In 12 of the 12 answers")
