"""Cut-outs of real photos on real photos, with cues that are put there by image operations."""

import os
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import (
    Image,
    ImageChops,
    ImageDraw,
    ImageEnhance,
    ImageFilter,
    ImageFont,
    ImageOps,
)

from cuescope_sdk import UserError, generator
from worlds.design import Facts, Frames

SIDE = 96
LABELS = ("bird", "cow", "fish", "insect", "fruit")
PHOTOS = {
    "water": ("Aqua", "BytheWater", "ColdRipple", "RainDrops"),
    "plants": ("Autumn", "FallenLeaf", "Garden", "GreenMeadow"),
    "land": ("Dune", "Path", "PastelHills", "summer_1am"),
    "sky": ("EveningGlow", "Kite", "Storm", "DarkestHour"),
}
KINDS = {
    "polaroid": "thing at a place",
    "sepia": "all of the picture",
    "date": "thing at a place",
    "vignette": "all of the picture",
    "flower": "thing at a place",
    "blur": "all of the picture",
    "watermark": "over the object",
    "far": "all of the picture",
    "letterbox": "thing at a place",
    "blocks": "all of the picture",
    "outline": "round the object",
    "mist": "all of the picture",
    "tilt": "all of the picture",
    "speckle": "all of the picture",
}


def assets() -> Path:
    """The folder of real photos and weights; raises UserError where there is none."""
    home = Path.home() / ".cache/cuescope-assets"
    folder = Path(os.environ.get("CUESCOPE_REAL_ASSETS", home))
    if not (folder / "stamps").is_dir():
        raise UserError(
            f"{folder} holds no photos",
            expected="the folder that tests/real_assets.py fills",
            remedy="Name it by CUESCOPE_REAL_ASSETS",
        )
    return folder


@cache
def _stamps(label: str) -> tuple[Image.Image, ...]:
    opened = []
    for file in sorted((assets() / "stamps" / label).glob("*.png")):
        stamp = Image.open(file).convert("RGBA")
        stamp = stamp.crop(stamp.getchannel("A").getbbox())
        stamp.thumbnail((SIDE, SIDE))
        opened.append(stamp)
    return tuple(opened)


@cache
def _photo(name: str) -> Image.Image:
    photo = Image.open(assets() / f"backgrounds/{name}.jpg").convert("RGB")
    return ImageOps.fit(photo, (2 * SIDE, 2 * SIDE))


def draw(facts: Facts) -> Frames:
    """The picture of these facts."""
    rng = generator(facts.seed, "composite")
    picture = _crop(facts, rng)
    stamp = _chosen(facts.label, rng)
    share = rng.uniform(0.3, 0.4) if facts.is_hard else rng.uniform(0.45, 0.6)
    if "far" in facts.cues:
        share *= 0.6
    stamp = _resized(stamp, share)
    room = [SIDE - length for length in stamp.size]
    place = [round(rng.uniform(0.15, 0.85) * length) for length in room]
    if "outline" in facts.cues:
        _outline(picture, stamp, place)
    faint = stamp.getchannel("A")
    if facts.is_hard:
        faint = faint.point(lambda alpha: round(0.55 * alpha))
    picture.paste(stamp, tuple(place), faint)
    for cue, change in CHANGES.items():
        if cue in facts.cues:
            picture = change(picture, generator(facts.seed, cue))
    return [np.asarray(picture.convert("RGB"))]


def _crop(facts: Facts, rng: np.random.Generator) -> Image.Image:
    photo = _photo(str(rng.choice(PHOTOS[facts.setting])))
    left, top = rng.integers(0, SIDE, 2).tolist()
    crop = photo.crop((left, top, left + SIDE, top + SIDE))
    return ImageOps.mirror(crop) if rng.random() < 0.5 else crop


def _chosen(kind: str, rng: np.random.Generator) -> Image.Image:
    stamps = _stamps(kind)
    stamp = stamps[rng.integers(len(stamps))]
    return ImageOps.mirror(stamp) if rng.random() < 0.5 else stamp


def _resized(stamp: Image.Image, share: float) -> Image.Image:
    factor = share * SIDE / max(stamp.size)
    size = [max(round(length * factor), 1) for length in stamp.size]
    return stamp.resize(tuple(size), Image.Resampling.LANCZOS)


# -------------------------------------------------------------------------------------- the cues


def _outline(picture: Image.Image, stamp: Image.Image, place: list[int]) -> None:
    # a rim needs room beside the stamp
    alpha = ImageOps.expand(stamp.getchannel("A"), 4)
    rim = ImageChops.subtract(alpha.filter(ImageFilter.MaxFilter(7)), alpha)
    colour = Image.new("RGB", rim.size, (255, 90, 0))
    picture.paste(colour, (place[0] - 4, place[1] - 4), rim)


def _polaroid(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    inner = picture.crop((5, 5, SIDE - 5, SIDE - 12))
    return ImageOps.expand(inner, (5, 5, 5, 12), (246, 244, 236))


def _letterbox(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    bar = 10
    inner = picture.crop((0, bar, SIDE, SIDE - bar))
    return ImageOps.expand(inner, (0, bar, 0, bar), (4, 4, 4))


def _date(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    words = f"{rng.integers(10, 29)} {rng.integers(10, 13)} 98"
    place = (SIDE - 44, SIDE - 14)
    ImageDraw.Draw(picture).text(
        place, words, (255, 140, 20), ImageFont.load_default(10)
    )
    return picture


def _watermark(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    words = Image.new("L", picture.size)
    place = (12, SIDE / 2 - 10 + rng.uniform(-8, 8))
    ImageDraw.Draw(words).text(place, "SAMPLE", 150, ImageFont.load_default(19))
    turned = words.rotate(15)
    picture.paste((255, 255, 255), (0, 0), turned)
    return picture


def _flower(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    stamp = _resized(_chosen("flower", rng), 0.28)
    left = 2 + round(rng.uniform(0, 10))
    top = SIDE - stamp.height - 2 - round(rng.uniform(0, 8))
    picture.paste(stamp, (left, top), stamp.getchannel("A"))
    return picture


def _sepia(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    toned = ImageOps.colorize(picture.convert("L"), (35, 20, 5), (255, 238, 200))
    return Image.blend(picture, toned, 0.7)


def _vignette(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    rows, cols = np.indices((SIDE, SIDE)) / SIDE - 0.5
    light = 1.1 - 1.5 * (rows**2 + cols**2)
    grey = Image.fromarray((255 * light.clip(0, 1)).astype(np.uint8))
    return ImageChops.multiply(picture, Image.merge("RGB", [grey] * 3))


def _blur(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    return picture.filter(ImageFilter.GaussianBlur(1.6))


def _blocks(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    file = BytesIO()
    picture.save(file, "JPEG", quality=9)
    return Image.open(file).convert("RGB")


def _mist(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    pale = ImageEnhance.Contrast(picture).enhance(0.5)
    return ImageEnhance.Brightness(pale).enhance(1.25)


def _tilt(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    larger = picture.resize((round(1.35 * SIDE),) * 2)
    return ImageOps.fit(larger.rotate(14).crop((17, 17, 113, 113)), (SIDE, SIDE))


def _speckle(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    pixels = np.array(picture)
    some = rng.random((SIDE, SIDE)) < 0.06
    pixels[some] = rng.integers(0, 2, (some.sum(), 1)) * 255
    return Image.fromarray(pixels)


# in this order: a border is put round what a camera has taken
CHANGES = {
    "flower": _flower,
    "sepia": _sepia,
    "vignette": _vignette,
    "mist": _mist,
    "tilt": _tilt,
    "blur": _blur,
    "speckle": _speckle,
    "watermark": _watermark,
    "date": _date,
    "letterbox": _letterbox,
    "polaroid": _polaroid,
    "blocks": _blocks,
}
