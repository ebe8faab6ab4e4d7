"""What a camera above a table sees of a jigsaw puzzle that is being laid, in three frames.

The puzzle shows a real cut-out before a real photo. Pieces are missing at first, and none in the
end. The table has dull felt; the puzzle is turned by a small angle.
"""

from dataclasses import dataclass

import numpy as np
from drawn_pictures import Picture, cut_outs, over, random_photo, sized
from jaxtyping import Bool, Float, Int
from PIL import Image, ImageOps
from scipy.ndimage import gaussian_filter, rotate, shift
from worlds.stamps.compositing import SIDE

FRAMES = 3
LABELS = {
    "farm": ("cow", "horse"),
    "garden": ("flower",),
    "orchard": ("fruit",),
    "sky": ("bird",),
}
NAMES = tuple(LABELS)
SHARE = (0.66, 0.8)  # of the picture's side, that a cut-out takes
FOCUS = 4  # pixels by which the photo is blurred
FADED = 0.45  # of the photo, that is white
ACROSS = 3  # pieces along a side
PIECE = 28  # pixels of a piece
MARGIN = (SIDE - ACROSS * PIECE) // 2
KNOB = 4.2  # pixels of a knob's radius
LAID = ((6, 9), (8, 10), (9, 10))  # pieces in each frame

Owner = Int[np.ndarray, "row col"]  # the piece of each pixel, -1 outside


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Places are in pixels."""

    shown: Picture
    owner: Owner
    is_laid: Bool[np.ndarray, "frame piece"]
    felt: Picture
    turn: float  # degrees
    moves: Float[np.ndarray, "frame axis"]
    light: Float[np.ndarray, " channel"]


def cut_pieces(rng: np.random.Generator) -> Owner:
    """A grid of pieces with their knobs."""
    place = np.mgrid[:SIDE, :SIDE] - MARGIN
    cell = place // PIECE
    is_outside = ((cell < 0) | (cell >= ACROSS)).any(axis=0)
    owner = np.where(is_outside, -1, ACROSS * cell[0] + cell[1])
    for axis in range(2):
        for border in range(1, ACROSS):
            for along in range(ACROSS):
                side = rng.choice([-1, 1])
                middle = np.empty(2)
                middle[axis] = PIECE * border + 2.8 * side
                middle[1 - axis] = PIECE * (along + rng.uniform(0.4, 0.6))
                mine = np.empty(2, int)
                mine[axis] = border - (side > 0)
                mine[1 - axis] = along
                away = np.hypot(*(place - middle[:, None, None]))
                owner[away < KNOB] = ACROSS * mine[0] + mine[1]
    return owner


def printed(name: str, rng: np.random.Generator) -> Picture:
    """What the puzzle shows: a cut-out of this label before a photo."""
    mine = cut_outs(LABELS[name])
    thing = mine[rng.integers(len(mine))]
    thing = ImageOps.mirror(thing) if rng.random() < 0.5 else thing
    thing = sized(thing, rng.uniform(*SHARE))
    photo = gaussian_filter(random_photo(rng), (FOCUS, FOCUS, 0))
    faded = FADED + (1 - FADED) * photo
    picture = Image.fromarray((255 * faded).astype(np.uint8))
    row, col = SIDE * rng.uniform(0.44, 0.56, 2)
    place = round(col - thing.width / 2), round(row - thing.height / 2)
    picture.paste(thing, place, thing)
    return np.asarray(picture, np.float32) / 255


def felt(rng: np.random.Generator) -> Picture:
    """Dull cloth without a pattern."""
    fibres = gaussian_filter(rng.normal(size=(SIDE, SIDE)), 0.7)
    colour = rng.uniform(0.2, 0.6) * (1 + rng.normal(0, 0.15, 3))
    return np.asarray(colour * (1 + 0.12 * fibres / fibres.std())[..., None])


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A puzzle of this label."""
    order = rng.permutation(ACROSS**2)
    laid = [rng.integers(*between) for between in LAID]
    return Scene(
        shown=printed(name, rng),
        owner=cut_pieces(rng),
        is_laid=np.array([order < count for count in np.maximum.accumulate(laid)]),
        felt=felt(rng),
        turn=rng.normal(0, 4),
        moves=rng.normal(0, 1) + rng.normal(0, 0.7, (FRAMES, 2)).cumsum(axis=0),
        light=rng.uniform(0.85, 1.1) * (1 + rng.normal(0, 0.05, 3)),
    )


def seams(owner: Owner) -> Float[np.ndarray, "row col"]:
    """From -1 to 1: dark at the lower right of each piece, bright at its upper left."""
    upper, left = (np.roll(owner, 1, axis) != owner for axis in (0, 1))
    lower, right = (np.roll(owner, -1, axis) != owner for axis in (0, 1))
    return np.asarray(1.0 * (upper | left) - 1.0 * (lower | right))


def render(scene: Scene, frame: int) -> Picture:
    """One frame before a cue."""
    is_there = np.append(scene.is_laid[frame], False)[scene.owner]
    relief = 0.2 * seams(scene.owner)[..., None]
    puzzle = np.clip(scene.shown * (1 + relief), 0, 1)

    def lie(plane: np.ndarray) -> np.ndarray:
        turned = rotate(plane, scene.turn, reshape=False, order=1)
        move = [*scene.moves[frame], 0][: plane.ndim]
        return np.asarray(shift(turned, move, order=1))

    cover = lie(is_there.astype(np.float32))
    shadow = gaussian_filter(shift(cover, (1.5, 1.5), order=1), 1)
    table = over(scene.felt, 0.6 * shadow, np.zeros(3))
    # the puzzle's edge is not mixed with the void round it
    whole = lie(np.where(is_there[..., None], puzzle, 0))
    return np.asarray((table * (1 - cover[..., None]) + whole) * scene.light)


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the noise of a camera."""
    noise = rng.normal(0, 0.012, picture.shape)
    return np.asarray(np.clip(255 * (picture + noise), 0, 255).astype(np.uint8))
