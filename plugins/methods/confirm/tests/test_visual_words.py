"""Where a cue is, by visual words: pictures of noise, with things in them or changed as a whole."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from cuescope_confirm.locating.learned import Rows, Teller, is_held
from cuescope_confirm.locating.standing import standing_place
from cuescope_confirm.study import Frames, Samples
from cuescope_sdk import Frame, Sample
from cuescope_sdk.locating import (
    Fitting,
    Linear,
    Look,
    PixelPatches,
    Region,
    Training,
    stretch,
)
from cuescope_sdk.statistics import Groups

SIDE = 48
FRAMES = 60  # with the cue, and as many without
MISSED = 6  # of either side, that the run lists wrongly
Draw = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def _stripes(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A striped square somewhere: neither its colours nor its place alone tell it."""
    top, left = rng.integers(0, SIDE - 10, 2).tolist()
    shade = rng.integers(40, 200, 3)
    changed = pixels.copy()
    changed[top : top + 10, left : left + 10] = shade
    changed[top : top + 10 : 4, left : left + 10] = shade // 2
    changed[top + 1 : top + 10 : 4, left : left + 10] = shade // 2
    return changed


def _strip(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    changed = pixels.copy()
    changed[:, -6:] = (200, 180, 40)
    return changed


def _smooth(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return ndimage.uniform_filter(pixels, (3, 3, 1))


def _flat(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    middle = pixels.mean(axis=(0, 1))
    return np.uint8(middle + 0.5 * (pixels - middle))


def _pictures(draw: Draw, seed: int) -> tuple[list[Frame], list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    frames = []
    changes = []
    for number in range(2 * FRAMES):
        base = ndimage.zoom(rng.integers(30, 220, (4, 4, 3)), (12, 12, 1), order=1)
        plain = np.uint8((base + rng.normal(0, 12, base.shape)).clip(0, 255))
        shown = draw(plain, rng) if number < FRAMES else plain
        frames.append(Frame.from_array(shown))
        changes.append((shown != plain).any(axis=-1))
    return frames, changes


@pytest.mark.parametrize(
    ("draw", "is_everywhere"),
    [
        (_stripes, False),
        pytest.param(_strip, False, marks=pytest.mark.long),
        (_smooth, True),
        pytest.param(_flat, True, marks=pytest.mark.long),
    ],
)
def test_words_tell_a_cue_and_whether_it_has_a_place(
    draw: Draw,
    is_everywhere: bool,
) -> None:
    """Learned from a list with errors; seen on pictures that it has not learned from."""
    frames, _ = _pictures(draw, 0)
    shows = np.arange(2 * FRAMES) < FRAMES
    shows[:MISSED] = False
    shows[-MISSED:] = True
    data = Training(shows, np.full(len(shows), "cup"), Groups.single(len(shows)))
    region = Region.learn(
        PixelPatches.FINE.of(frames),
        data,
        np.random.default_rng(0),
        PixelPatches.FINE.overlap,
    )
    assert region is not None
    assert region.is_everywhere == is_everywhere
    fresh, changes = _pictures(draw, 1)
    grids = PixelPatches.FINE.of(fresh)
    right = np.array(list(map(region.shows, grids))) == (np.arange(2 * FRAMES) < FRAMES)
    # what is everywhere is told by whole pictures, and by their parts a little
    assert right.mean() > (0.65 if is_everywhere else 0.8)
    if not is_everywhere:
        masks = [stretch(region.mask(grid), (SIDE, SIDE)) for grid in grids[:FRAMES]]
        covered = [
            mask[change].mean() for mask, change in zip(masks, changes, strict=False)
        ]
        assert np.mean(covered) > 0.75
        assert np.mean(masks) < 3 * np.mean(changes[:FRAMES]) + 0.05


def _frame_of_edges(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    changed = np.full_like(pixels, (240, 150, 30))
    changed[5:-5, 5:-5] = pixels[5:-5, 5:-5]
    return changed


def _side(pixels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Along an edge, less than half of the frame, and over its middle."""
    changed = pixels.copy()
    changed[:, :22] = (240, 150, 30)
    return changed


@pytest.mark.parametrize(
    ("draw", "stands"),
    [
        pytest.param(_strip, True, marks=pytest.mark.long),
        (_frame_of_edges, True),
        (_side, False),
        pytest.param(_stripes, False, marks=pytest.mark.long),
    ],
)
def test_what_stands_is_small_or_leaves_the_middle_free(
    draw: Draw, *, stands: bool
) -> None:
    frames, changes = _pictures(draw, 3)
    shows = np.arange(2 * FRAMES) < FRAMES
    data = Training(shows, np.full(len(shows), "cup"), Groups.single(len(shows)))
    mask = standing_place(frames, data, np.random.default_rng(0))
    assert (mask is not None) == stands
    if mask is not None:
        place = stretch(mask, (SIDE, SIDE))
        truth = changes[0]
        assert (place & truth).sum() > 0.8 * (place | truth).sum()


@pytest.mark.parametrize("together", [pytest.param(0.6, marks=pytest.mark.long), 0.75])
def test_what_only_goes_with_a_cue_is_not_in_its_place(together: float) -> None:
    """A badge that stands beside a strip in most frames, and alone in some."""
    frames = []
    rng = np.random.default_rng(5)
    plain, _ = _pictures(lambda pixels, _: pixels, 2)
    shows = np.arange(len(plain)) < FRAMES
    for frame, is_shown in zip(plain, shows, strict=True):
        pixels = np.asarray(frame.load())
        if is_shown:
            pixels = _strip(pixels, rng)
        if (rng.random() < together) == is_shown:
            pixels = pixels.copy()
            pixels[:12, :12] = (30, 60, 230)
            pixels[3:9, 3:9] = (240, 240, 240)
        frames.append(Frame.from_array(pixels))
    data = Training(shows, np.full(len(shows), "cup"), Groups.single(len(shows)))
    grids = PixelPatches.FINE.of(frames)
    region = Region.learn(
        grids, data, np.random.default_rng(0), PixelPatches.FINE.overlap
    )
    assert region is not None
    assert not region.is_everywhere
    masks = np.array(
        [stretch(region.mask(grid), (SIDE, SIDE)) for grid in grids[:FRAMES]]
    )
    assert masks[:, :, -6:].mean() > 0.75
    assert masks[:, :12, :12].mean() < 0.1


@pytest.mark.parametrize(
    ("draw", "columns", "tells", "holds"),
    [
        (_strip, slice(-6, None), 1.0, True),
        (_strip, slice(0, 6), 1.0, False),
        # pictures that tell the cue worse than its place do not say where it is not
        (_strip, slice(0, 6), 0.9, True),
        pytest.param(_smooth, slice(-12, None), 1.0, False, marks=pytest.mark.long),
    ],
)
def test_a_place_that_is_filled_must_take_the_cue_along(
    draw: Draw, columns: slice, tells: float, holds: bool
) -> None:
    """The right place, another one, and a part of a frame that is changed as a whole."""
    frames, _ = _pictures(draw, 3)
    samples = {
        str(number): Sample(key=str(number), frames=(frame,), label="cup")
        for number, frame in enumerate(frames)
    }
    look = Look.learn(frames, np.random.default_rng(0))

    def read(samples: Samples, frames: Frames) -> Rows:
        return look.read([samples[key].frames[number] for key, number in frames])

    shows = np.arange(2 * FRAMES) < FRAMES
    data = Training(shows, np.full(len(shows), "cup"), Groups.single(len(shows)))
    every = [(key, 0) for key in samples]
    model = Linear.learn(
        read(samples, every), data, np.random.default_rng(0), Fitting.MANY
    )
    model = replace(model, auroc=tells)
    mask = np.zeros((SIDE, SIDE), bool)
    mask[:, columns] = True
    places = {(str(number), 0): mask for number in range(FRAMES)}
    teller = Teller(model, read)
    assert is_held(teller, 0.95, samples, places, list(places)) == holds
