"""What pictures of drawn worlds are made of: real cut-outs and photos, and colours laid over."""

from functools import cache

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageOps
from worlds.stamps.compositing import SIDE, assets

LARGE = 160  # pixels of a cut-out's longer side at most, before it is sized
ROW, COL = np.mgrid[:SIDE, :SIDE].astype(np.float32)

Picture = Float[np.ndarray, "row col channel"]  # from 0 to 1
Cover = Float[np.ndarray, "row col"]  # from 0 to 1


@cache
def cut_outs(kinds: tuple[str, ...]) -> tuple[Image.Image, ...]:
    """Every real thing of these kinds, without an empty rim."""
    files = [
        file
        for kind in kinds
        for file in sorted((assets() / "stamps" / kind).glob("*.png"))
    ]
    things = []
    for file in files:
        thing = Image.open(file).convert("RGBA")
        thing = thing.crop(thing.getchannel("A").getbbox())
        thing.thumbnail((LARGE, LARGE))
        things.append(thing)
    return tuple(things)


@cache
def photos() -> tuple[Image.Image, ...]:
    """Landscapes, leaves and skies."""
    files = sorted((assets() / "backgrounds").glob("*.jpg"))
    opened = [Image.open(file).convert("RGB") for file in files]
    return tuple(ImageOps.fit(photo, (2 * SIDE, 2 * SIDE)) for photo in opened)


def random_photo(rng: np.random.Generator) -> Picture:
    """A part of any photo, either way round."""
    photo = photos()[rng.integers(len(photos()))]
    left, top = rng.integers(SIDE // 2, size=2)
    side = int(rng.integers(SIDE, SIDE + SIDE // 2))
    part = photo.crop((left, top, left + side, top + side)).resize((SIDE, SIDE))
    part = ImageOps.mirror(part) if rng.random() < 0.5 else part
    return np.asarray(part, np.float32) / 255


def sized(thing: Image.Image, share: float) -> Image.Image:
    """A thing whose longer side is this share of the picture's."""
    factor = share * SIDE / max(thing.size)
    breadth, height = (max(round(factor * length), 1) for length in thing.size)
    return thing.resize((breadth, height), Image.Resampling.LANCZOS)


def over(picture: Picture, cover: Cover, colour: np.ndarray) -> Picture:
    """A colour, or another picture, in place of the picture's."""
    return np.asarray(picture + cover[..., None] * (colour - picture))
