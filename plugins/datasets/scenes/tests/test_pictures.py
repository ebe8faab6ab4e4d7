"""Pixels and masks against the numbers of a scene."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from cuescope_scenes.composition import compose
from cuescope_scenes.pictures import Scene, Thing, coverage, foreground, frame, render
from cuescope_scenes.shapes import outline
from cuescope_scenes.textures import texture
from cuescope_scenes.words import (
    BACKGROUNDS,
    COLOURS,
    DISTRACTORS,
    FAMILIES,
    LABELS,
    PARTNER_OF,
)


def scene(name: str = "cookie", **changes: object) -> Scene:
    thing = Thing(name, "red", 40.0, 50.0, 20.0, 0.5)
    return replace(Scene("grass", (thing,), 0.0, 0.0, 3), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(12))
def test_objects_change_pixels_under_the_mask_alone(seed: int) -> None:
    made = compose(LABELS[seed % 8], BACKGROUNDS[seed % 7], 0.0, 0.0, seed).scene
    moved = np.abs(render(made) - render(replace(made, things=()))).max(axis=-1) > 0
    mask = foreground(made.things)
    covered = np.stack([coverage(thing) for thing in made.things]).max(axis=0)
    assert not moved[covered == 0].any()
    assert moved[mask].mean() > 0.99  # a mark may have the very colour of what it hides
    assert mask[covered == 1].all()
    assert 0.02 < mask.mean() < 0.5


@pytest.mark.parametrize("name", [*LABELS, *DISTRACTORS])
def test_coverage_is_the_area_of_the_outline(name: str) -> None:
    thing = Thing(name, "red", 47.0, 48.0, 30.0, 0.7)
    col, row = outline(name).T
    area = abs(np.sum(col * np.roll(row, -1) - np.roll(col, -1) * row)) / 2 * 30**2
    hole = np.pi * (0.36 * 30) ** 2 if name in ("donut", "wreath") else 0.0
    assert coverage(thing).sum() == pytest.approx(area - hole, rel=0.03)
    assert np.hypot(col, row).max() <= 1.001, (
        "within the radius that keeps objects apart"
    )


def test_turning_moves_the_object_clockwise_about_its_centre() -> None:
    upright = Thing("triangle", "red", 48.0, 48.0, 20.0, 0.0)  # its tip points right
    right = coverage(upright)[:, 60:].sum()
    down = coverage(replace(upright, turn=np.pi / 2))[60:].sum()
    assert right == pytest.approx(down, rel=0.05)
    assert coverage(upright)[48, 66] > 0.5
    assert coverage(replace(upright, turn=np.pi / 2))[66, 48] > 0.5


def test_the_object_has_its_colour_and_its_marks() -> None:
    shown = scene("crate")
    inside = render(shown)[coverage(shown.things[0]) == 1]
    red = np.array(COLOURS["red"])
    share_of_fill = (inside / red).std(axis=-1) < 1e-6
    assert 0.3 < share_of_fill.mean() < 0.8
    assert (inside[~share_of_fill] == (28, 20, 20)).all()


@pytest.mark.parametrize("pair", FAMILIES.values(), ids=FAMILIES)
def test_look_alikes_differ_in_their_marks_alone(pair: tuple[str, str]) -> None:
    one, other = (scene(name) for name in pair)
    np.testing.assert_array_equal(foreground(one.things), foreground(other.things))
    assert np.abs(render(one) - render(other)).max() > 100


def test_backgrounds_differ_from_each_other_more_than_from_themselves() -> None:
    means = np.array(
        [
            [
                texture(name, np.random.default_rng(seed)).mean(axis=(0, 1))
                for seed in range(8)
            ]
            for name in BACKGROUNDS
        ]
    )
    own = np.linalg.norm(means - means.mean(axis=1, keepdims=True), axis=-1).mean()
    middles = means.mean(axis=1)
    apart = np.linalg.norm(middles[:, None] - middles, axis=-1)[~np.eye(8, dtype=bool)]
    assert apart.min() > own
    assert set(PARTNER_OF.values()) == set(BACKGROUNDS)


def test_noise_and_blur_do_what_they_say() -> None:
    plain = np.asarray(frame(scene()).load(), float)
    grainy = np.asarray(frame(scene(noise=5.0)).load(), float)
    assert (grainy - plain).std() == pytest.approx(5, rel=0.1)
    soft = np.asarray(frame(scene(blur=1.2)).load(), float)
    assert (
        np.abs(np.diff(soft, axis=1)).mean()
        < 0.7 * np.abs(np.diff(plain, axis=1)).mean()
    )


def test_a_frame_draws_the_same_again_and_its_key_follows_the_scene() -> None:
    shown = frame(scene(noise=5.0))
    again = pickle.loads(pickle.dumps(shown))
    np.testing.assert_array_equal(again.load(), shown.load())
    keys = {
        frame(changed).key
        for changed in (
            scene(),
            scene("daisy"),
            scene(noise=1.0),
            scene(blur=1.0),
            scene(seed=4),
            scene(background="sand"),
            scene(things=()),
        )
    }
    assert len(keys) == 7
