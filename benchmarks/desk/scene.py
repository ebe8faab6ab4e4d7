"""What a camera above a desk sees in three frames: a paper cut-out that is pushed about.

Real cut-outs with a rim of white paper lie on a board of drawn wood, and throw a shadow. A large
one is of the label's kind, turned by a small angle; a fruit lies near it, whatever the label. The
hand that pushes them is never in the picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageChops, ImageFilter, ImageOps
from scipy.ndimage import gaussian_filter
from worlds.stamps.compositing import SIDE, assets

FRAMES = 3
LABELS = {
    "hoof": ("cow", "horse"),
    "paw": ("cat", "dog", "bear"),
    "wing": ("bird",),
    "small": ("fish", "insect"),
}
NAMES = tuple(LABELS)
LARGE = 160  # of a cut-out at most, before it is made small
SHARE = (0.58, 0.72)  # of the desk's side, that a cut-out takes
FRUIT = (0.12, 0.18)  # of it, that a fruit takes
TURN = 9  # degrees, that a cut-out is turned by
PUSH = 2.0  # pixels a frame
WOODS = ((0.62, 0.42, 0.25), (0.42, 0.27, 0.17), (0.8, 0.66, 0.47), (0.5, 0.47, 0.44))

Picture = Float[np.ndarray, "row col channel"]  # from 0 to 1


@dataclass(frozen=True)
class Scene:
    """What one clip shows, without any cue. Places are in pixels."""

    board: Picture
    things: Sequence[Image.Image]  # as large as they are seen, before they are turned
    places: Float[np.ndarray, "frame thing axis"]  # of the middles: row, col
    turns: Float[np.ndarray, "frame thing"]  # degrees
    slant: tuple[int, int]  # of shadows: right, down
    light: Float[np.ndarray, " channel"]


@cache
def cut_outs(kinds: tuple[str, ...]) -> tuple[Image.Image, ...]:
    """Things of these kinds, with their masks."""
    things = []
    for kind in kinds:
        for file in sorted((assets() / "stamps" / kind).glob("*.png")):
            thing = Image.open(file).convert("RGBA")
            thing = thing.crop(thing.getchannel("A").getbbox())
            thing.thumbnail((LARGE, LARGE))
            things.append(thing)
    return tuple(things)


def wood(rng: np.random.Generator) -> Picture:
    """Planks with their grain and the gaps between them, along either axis."""
    grain = gaussian_filter(rng.normal(size=(SIDE, SIDE)), (0.8, 14))
    streaks = gaussian_filter(rng.normal(size=(SIDE, SIDE)), (3, 30))
    tone = 0.05 * grain / grain.std() + 0.06 * streaks / streaks.std()
    breadth = int(rng.integers(26, 44))
    row = np.arange(SIDE) + int(rng.integers(breadth))
    tone = tone + rng.normal(0, 0.05, 8)[row // breadth][:, None]
    tone[row % breadth == 0] -= 0.3
    if rng.random() < 0.5:
        tone = tone.T
    colour = np.array(WOODS[rng.integers(len(WOODS))])
    return np.asarray(np.clip(colour * (1 + tone[..., None]), 0, 1))


def sized(thing: Image.Image, share: float) -> Image.Image:
    """A thing whose longer side takes this share of the picture's."""
    factor = share * SIDE / max(thing.size)
    size = [max(round(factor * length), 1) for length in thing.size]
    return thing.resize((size[0], size[1]), Image.Resampling.LANCZOS)


def random_scene(name: str, rng: np.random.Generator) -> Scene:
    """A desk with a cut-out of this label."""
    things = []
    for kinds, share in ((LABELS[name], SHARE), (("fruit",), FRUIT)):
        mine = cut_outs(kinds)
        thing = mine[rng.integers(len(mine))]
        thing = ImageOps.mirror(thing) if rng.random() < 0.5 else thing
        things.append(sized(thing, rng.uniform(*share)))
    middle = SIDE * rng.uniform(0.42, 0.58, 2)
    way = rng.uniform(0, 2 * np.pi)
    aside = SIDE * rng.uniform(0.36, 0.44) * np.array([np.sin(way), np.cos(way)])
    steps = np.cumsum(rng.normal(0, PUSH, (FRAMES, 2, 2)), axis=0)
    twists = np.cumsum(rng.normal(0, 4, (FRAMES, 2)), axis=0)
    return Scene(
        board=wood(rng),
        things=things,
        places=np.stack([middle, middle + aside]) + steps,
        turns=rng.normal(0, TURN, 2) + twists,
        slant=(int(rng.integers(-3, 4)), int(rng.integers(2, 4))),
        light=rng.uniform(0.88, 1.15) * (1 + rng.normal(0, 0.05, 3)),
    )


def lay(
    picture: Image.Image,
    thing: Image.Image,
    place: Float[np.ndarray, " axis"],
    turn: float,
    slant: tuple[int, int],
) -> None:
    """Put a thing, its rim of paper and its shadow on the desk."""
    turned = thing.rotate(turn, Image.Resampling.BICUBIC, expand=True)
    whole = Image.new("RGBA", (SIDE, SIDE))
    row, col = place
    whole.paste(turned, (round(col - turned.width / 2), round(row - turned.height / 2)))
    mask = whole.getchannel("A")
    paper = mask.filter(ImageFilter.MaxFilter(3))
    shadow = paper.filter(ImageFilter.GaussianBlur(1.5))
    shadow = ImageChops.offset(shadow, *slant).point(lambda alpha: alpha // 2)
    picture.paste((15, 10, 8), (0, 0), shadow)
    picture.paste((244, 242, 236), (0, 0), paper)
    picture.paste(whole, (0, 0), mask)


def render(scene: Scene, frame: int) -> Picture:
    """One frame before a cue."""
    picture = Image.fromarray((255 * scene.board).astype(np.uint8))
    # the fruit lies below the cut-out
    for number in (1, 0):
        place, turn = scene.places[frame, number], scene.turns[frame, number]
        lay(picture, scene.things[number], place, turn, scene.slant)
    return np.asarray(np.asarray(picture, np.float32) / 255 * scene.light)


def photograph(picture: Picture, rng: np.random.Generator) -> np.ndarray:
    """(row, col, channel) as bytes, with the noise of a camera."""
    noise = rng.normal(0, 0.012, picture.shape)
    return np.asarray(np.clip(255 * (picture + noise), 0, 255).astype(np.uint8))
