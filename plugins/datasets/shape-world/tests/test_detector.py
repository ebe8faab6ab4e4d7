"""Boxes found in pixels, on drawn frames and on changed ones."""

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from cuescope_sdk import Context, Frame, Sample
from cuescope_sdk.grounding import SCENE, SceneFrame, Thing
from cuescope_shape_world.detector import ShapeDetector
from cuescope_shape_world.pictures import SIDE, Picture, frame
from cuescope_shape_world.questions import phrase
from cuescope_shape_world.words import KINDS, PHRASES

Drawn = Callable[..., tuple[Sample, ...]]
SHAPES = (("red circle", 10, 30), ("red star", 40, 30), ("blue circle", 70, 50))
DRAWN = frame(Picture(SHAPES, (), (8,) * 12))
EVERYTHING = tuple(sorted(ShapeDetector.names))


@pytest.fixture
def detector() -> ShapeDetector:
    return ShapeDetector(ShapeDetector.Options(), Context())


def named(
    detector: ShapeDetector, shown: Frame, *names: str
) -> list[tuple[str, int, int]]:
    [found] = detector.detect([shown], names)
    return sorted((one.name, int(one.box[0]), int(one.box[1])) for one in found)


def phrases_of(thing: Thing) -> set[str]:
    colour = thing.attributes[0]
    own = {thing.name} | ({"thing", "shape"} if thing.name in KINDS else set())
    return own | {f"{colour} {name}" for name in own}


def expected(known: SceneFrame) -> set[tuple[str, tuple[float, ...]]]:
    seen = (thing for thing in known.things if thing.visible and thing.box is not None)
    return {(name, thing.box) for thing in seen for name in phrases_of(thing)}


@pytest.mark.parametrize("split", ["val", "ood"])
def test_finds_what_is_visible_where_it_is_and_nothing_else(
    detector: ShapeDetector, drawn: Drawn, split: str
) -> None:
    hidden = 0
    for sample in drawn(split)[:8]:
        found = detector.detect(sample.frames, EVERYTHING)
        for detections, known in zip(found, sample.annotations[SCENE], strict=True):
            told = [(one.name, one.box) for one in detections]
            assert len(told) == len(set(told))
            assert set(told) == expected(known)
            assert {one.score for one in detections} == {1.0}
            hidden += sum(
                phrase(t) not in dict(told) for t in known.things if not t.visible
            )
    assert hidden > 0


def test_answers_to_colour_kind_or_both(detector: ShapeDetector) -> None:
    assert named(detector, DRAWN, "red circle") == [("red circle", 10, 30)]
    assert named(detector, DRAWN, "circle") == [("circle", 10, 30), ("circle", 70, 50)]
    assert named(detector, DRAWN, "red thing") == [
        ("red thing", 10, 30),
        ("red thing", 40, 30),
    ]
    assert named(detector, DRAWN, "Red  Circle", "dog") == [("Red  Circle", 10, 30)]
    assert named(detector, DRAWN, "blue star", "wall", "grey hill", "red") == []


def test_knows_every_shape(detector: ShapeDetector) -> None:
    for name in PHRASES:
        shown = frame(Picture(((name, 3, 50),), (), (4,) * 12))
        assert named(detector, shown, *PHRASES) == [(name, 3, 50)]
    assert set(PHRASES) <= ShapeDetector.names


def shifted(image: Image.Image) -> Image.Image:
    pixels = np.asarray(image).copy()
    patch = pixels[30 : 30 + SIDE, 10 : 10 + SIDE].copy()
    pixels[30 : 30 + SIDE, 10 : 10 + SIDE] = 255
    pixels[50 : 50 + SIDE, 31 : 31 + SIDE] = patch
    return Image.fromarray(pixels)


def half_covered(image: Image.Image) -> Image.Image:
    pixels = np.asarray(image).copy()
    pixels[30 : 30 + SIDE, 10 : 10 + SIDE // 2] = 255
    return Image.fromarray(pixels)


def darker(image: Image.Image) -> Image.Image:
    return image.point(lambda level: round(level * 0.8) + 10)


def test_sees_changed_frames_as_they_are(detector: ShapeDetector) -> None:
    moved = DRAWN.derive("shifted", shifted)
    assert named(detector, moved, "red circle") == [("red circle", 31, 50)]
    assert named(detector, DRAWN.derive("half", half_covered), "red thing") == [
        ("red thing", 40, 30)
    ]
    assert named(detector, DRAWN.derive("darker", darker), *EVERYTHING) == named(
        detector, DRAWN, *EVERYTHING
    )


def test_behind_a_wall_is_not_seen(detector: ShapeDetector) -> None:
    covered = frame(Picture(SHAPES, ((6, 26, 27, 47),), (8,) * 12))
    assert named(detector, covered, "circle", "grey wall") == [
        ("circle", 70, 50),
        ("grey wall", 6, 26),
    ]


def test_an_empty_picture_shows_nothing(detector: ShapeDetector) -> None:
    blank = Frame.from_array(np.full((20, 30, 3), 255, np.uint8))
    assert named(detector, blank, *EVERYTHING) == []
