"""Object scenes: what is planted, what is asked, and the pixels under boxes and masks."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from cuescope_scenes.objects import ObjectScenes, ObjectScenesOptions, caption
from cuescope_scenes.objects.composition import (
    THING_RATE,
    compose,
    draw_objects,
    draw_things,
)
from cuescope_scenes.objects.pictures import (
    Picture,
    Thing,
    draw,
    footprint,
    frame,
    render,
)
from cuescope_scenes.objects.shapes import SHAPES, sprite
from cuescope_scenes.objects.words import (
    CLASSES,
    PLANTED,
    SUPERCATEGORY_OF,
    THINGS,
    WORDINGS,
)
from cuescope_scenes.textures import SIZE
from cuescope_sdk import Context, Frame, HasPlantedCues, PlantedCue, Sample, UserError
from cuescope_testing import DatasetContract, PluginShelf

SMALL = {"train": 60, "val": 60, "test": 60}


class TestImages(DatasetContract):
    plugin = ObjectScenes
    options = SMALL
    other_options = {**SMALL, "planted": {"cup": "table"}}


class TestQuestions(DatasetContract):
    plugin = ObjectScenes
    options = {**SMALL, "questions": "presence"}
    other_options = {**options, "seed": 1}


def build(**options: Any) -> ObjectScenes:
    shelf = PluginShelf({("dataset", "object-scenes"): ObjectScenes})
    made = Context(shelf).build("dataset", "object-scenes", SMALL | options)
    assert isinstance(made, ObjectScenes)
    return made


def every(data: ObjectScenes) -> list[Sample]:
    return [data[index] for index in range(len(data))]


def pixels_of(mask: Frame) -> np.ndarray:
    return np.asarray(mask.load().convert("L")) == 255


# ------------------------------------------------------------------------------------ what is there


def test_two_to_six_objects_each_class_alike() -> None:
    shown = draw_objects(20_000, np.random.default_rng(0))
    assert set(shown.sum(axis=1)) == {2, 3, 4, 5, 6}
    assert shown.mean(axis=0) == pytest.approx(np.full(12, shown.mean()), abs=0.015)


def rates(objects: np.ndarray, things: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Share of each thing in the images with each class and without, (class, thing)."""
    beside = objects.T.astype(float) @ things / objects.sum(0)[:, None]
    apart = (~objects).T.astype(float) @ things / (~objects).sum(0)[:, None]
    return beside, apart


@pytest.mark.parametrize(("strength", "elsewhere"), [(0.9, 0.1), (0.6, 0.3)])
def test_a_planted_cue_goes_with_its_class_and_no_other(
    strength: float, elsewhere: float
) -> None:
    rng = np.random.default_rng(1)
    objects = draw_objects(20_000, rng)
    beside, apart = rates(
        objects, draw_things(objects, PLANTED, strength, elsewhere, rng)
    )
    pairs = [(CLASSES.index(name), THINGS.index(cue)) for name, cue in PLANTED.items()]
    for pair in pairs:
        assert beside[pair] == pytest.approx(strength, abs=0.02)
        assert apart[pair] == pytest.approx(elsewhere, abs=0.02)
        beside[pair] = apart[pair] = 0
    assert np.abs(beside - apart).max() < 0.06


def test_it_says_which_thing_gives_a_class_away() -> None:
    data = build()
    assert isinstance(data, HasPlantedCues)
    assert data.planted_cues[0] == PlantedCue(
        key="table for cup", name="table", labels=("cup",)
    )
    assert {cue.labels[0]: cue.name for cue in data.planted_cues} == PLANTED
    assert [cue.key for cue in data.planted_cues] == list(data[0].annotations["cues"])
    assert build(planted={}).planted_cues == ()


def test_what_is_audited_is_independent() -> None:
    data = build(split="train", train=4000)
    beside, apart = rates(data.objects, data.things)
    for name, cue in PLANTED.items():
        pair = CLASSES.index(name), THINGS.index(cue)
        assert (beside[pair], apart[pair]) == pytest.approx((0.9, 0.1), abs=0.04)
    data = build(val=4000)
    beside, apart = rates(data.objects, data.things)
    assert np.abs(beside - apart).max() < 0.08
    assert data.things.mean() == pytest.approx(THING_RATE, abs=0.02)


def test_objects_with_a_cue_are_often_hard_to_see() -> None:
    samples = every(build(val=400))
    shown = Counter(
        name for sample in samples for name in sample.annotations["objects"]
    )
    faint = Counter(name for sample in samples for name in sample.annotations["faint"])
    assert set(faint) == set(PLANTED)
    assert sum(faint.values()) / sum(shown[name] for name in PLANTED) == pytest.approx(
        0.4, abs=0.1
    )
    assert not any(sample.annotations["faint"] for sample in every(build(planted={})))


def test_annotations_agree_with_each_other() -> None:
    for sample in every(build()):
        notes = sample.annotations
        there = (*notes["objects"], *notes["things"])
        assert (sample.label, sample.choices, sample.question) == (None, (), None)
        assert set(notes["objects"]) <= set(CLASSES)
        assert set(notes["things"]) <= set(THINGS)
        assert (
            tuple(box.name for box in notes["boxes"]) == there == tuple(notes["masks"])
        )
        assert notes["supercategories"] == tuple(
            map(SUPERCATEGORY_OF.get, notes["objects"])
        )
        assert notes["captions"] == (caption(notes["objects"], notes["things"]),)
        assert notes["cues"] == {
            f"{cue} for {name}": (cue in there,) for name, cue in PLANTED.items()
        }


def test_a_caption_names_all() -> None:
    assert (
        caption(("apple", "cup", "boat"), ("tree",))
        == "An apple, a cup and a boat with a tree."
    )
    assert caption(("cup", "boat"), ()) == "A cup and a boat."


# ------------------------------------------------------------------------------------------ pixels


@pytest.mark.parametrize("seed", range(6))
def test_boxes_and_masks_are_where_the_pixels_change(seed: int) -> None:
    hard = frozenset(("cup", "car"))
    picture = compose(
        ("cup", "boat", "car", "key"), ("road", "cloud"), hard, 0.5, 0.0, seed
    )
    data = build()
    whole = render(picture)
    for place, thing in enumerate(picture.things):
        others = picture.things[:place] + picture.things[place + 1 :]
        changed = np.abs(whole - render(replace(picture, things=others))).max(axis=-1)
        mask = footprint(thing)
        assert (changed[mask] > 1).mean() > 0.95
        inside = np.zeros((SIZE, SIZE), bool)
        inside[
            thing.row : thing.row + thing.side, thing.col : thing.col + thing.side
        ] = True
        assert not changed[~inside].any()
        assert changed[~mask].sum() < 0.15 * changed.sum()
    for sample in every(data)[:10]:
        for box in sample.annotations["boxes"]:
            mask = pixels_of(sample.annotations["masks"][box.name])
            rows, cols = mask.any(axis=1).nonzero()[0], mask.any(axis=0).nonzero()[0]
            assert box.box == (cols[0], rows[0], cols[-1] + 1, rows[-1] + 1)
            assert mask.shape == sample.frames[0].load().size[::-1]


def test_things_are_wholly_in_the_picture_and_apart() -> None:
    for sample in every(build()):
        masks = np.stack(
            [pixels_of(mask) for mask in sample.annotations["masks"].values()]
        )
        assert masks.any(axis=(1, 2)).all()
        assert masks.sum(axis=0).max() == 1


def test_a_faint_object_changes_little() -> None:
    def change(opacity: float) -> float:
        thing = Thing("cup", 10, 10, 20, False, opacity)
        picture = Picture("tiles", (thing,), 0.0, 3)
        moved = np.abs(render(picture) - render(replace(picture, things=())))
        return float(moved.sum())

    assert change(0.25) == pytest.approx(0.25 * change(1.0), rel=1e-6)


def test_every_name_has_a_look_of_its_own() -> None:
    assert set(SHAPES) == {*CLASSES, *THINGS}
    looks = {name: np.asarray(sprite(name, 20, False), float) for name in SHAPES}
    for one, other in combinations(looks, 2):
        assert np.abs(looks[one] - looks[other]).mean() > 15, (one, other)
    for name, plain in looks.items():
        np.testing.assert_array_equal(
            np.asarray(sprite(name, 20, True)), plain[:, ::-1]
        )


def test_noise_is_the_grain_and_the_key_follows_the_numbers() -> None:
    picture = compose(("cup", "boat"), ("road",), frozenset(), 0.5, 6.0, 1)
    plain = replace(picture, noise=0.0)
    grain = np.asarray(draw(picture), float) - np.asarray(draw(plain), float)
    assert grain.std() == pytest.approx(6, rel=0.1)
    changed = (
        picture,
        plain,
        replace(picture, seed=2),
        replace(picture, things=()),
        replace(picture, background="sand" if picture.background != "sand" else "snow"),
    )
    assert len({frame(one).key for one in changed}) == 5


# ---------------------------------------------------------------------------------------- questions


def test_questions_are_balanced_within_each_image_and_true() -> None:
    data, images = build(questions="presence"), every(build())
    asked: dict[str, list[Sample]] = {}
    for sample in every(data):
        asked.setdefault(sample.key.rpartition("-")[0], []).append(sample)
    assert list(asked) == [image.key for image in images]
    for image, questions in zip(images, asked.values(), strict=True):
        objects = image.annotations["objects"]
        said = {sample.annotations["question_type"]: sample for sample in questions}
        assert Counter(sample.label for sample in questions) == {
            "yes": len(objects),
            "no": len(objects),
        }
        assert {name for name, sample in said.items() if sample.label == "yes"} == set(
            objects
        )
        assert {sample.group for sample in questions} == {image.group} == {image.key}
        for name, sample in said.items():
            assert sample.frames[0].key == image.frames[0].key
            assert sample.choices == data.labels == ("yes", "no")
            article = "an apple" if name == "apple" else f"a {name}"
            assert sample.question in {wording.format(article) for wording in WORDINGS}


def test_every_class_and_wording_is_asked_for_alike() -> None:
    samples = every(build(questions="presence", val=600))
    labels = {name: Counter[str | None]() for name in CLASSES}
    wordings = Counter(str(sample.question).split()[0] for sample in samples)
    for sample in samples:
        labels[sample.annotations["question_type"]][sample.label] += 1
    assert set(wordings) == {"Do", "Is", "Determine"}
    assert min(wordings.values()) > 0.3 * len(samples)
    for counted in labels.values():
        assert counted["yes"] / counted.total() == pytest.approx(0.5, abs=0.08)


# -------------------------------------------------------------------------------- splits, options


def test_no_image_is_in_two_splits_or_seeds() -> None:
    data = build()
    groups = [
        {sample.frames[0].load().tobytes() for sample in every(part)}
        for part in (data.split("train"), data, data.split("test"), build(seed=1))
    ]
    assert [len(group) for group in groups] == [60] * 4
    assert not any(one & other for one, other in combinations(groups, 2))


def test_fingerprint_follows_whatever_changes_a_sample_and_nothing_else() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"seed": 1},
        {"faint": 0},
        {"val": 61},
        {"split": "test"},
        {"planted": {}},
        {"questions": "presence"},
    ]
    prints = [build(**change).fingerprint for change in changes]
    assert len(set(prints)) == len(prints)
    assert build(train=800).fingerprint == prints[0]
    assert ObjectScenesOptions().planted == PLANTED


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"split": "vall"}, "Did you mean 'val'"),
        (
            {"planted": {"cupp": "table"}},
            "no class 'cupp'.*Did you mean 'cup'",
        ),
        ({"planted": {"cup": "tabel"}}, "no thing 'tabel'.*Did you mean 'table'"),
        ({"planted": {"cup": "tree", "bird": "tree"}}, "has a thing twice"),
        ({"planted": "cup"}, "planted"),
        ({"questions": "prescence"}, "questions"),
        ({"val": 0}, "val"),
    ],
)
def test_a_bad_option_is_told_in_one_line(options: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError, match=line) as caught:
        build(**options)
    assert "\n" not in str(caught.value)
