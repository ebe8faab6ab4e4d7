"""Where a cue is, by visual words: pictures of noise, with things in them or changed as a whole."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import ndimage

from cuescope_sdk import Frame
from cuescope_sdk.locating import PixelPatches, Region, Training, stretch
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
