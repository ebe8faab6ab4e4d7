"""Real photos that a stall is built from; `offline_assets.py` fetches them."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from cuescope_sdk import UserError

GROUPS = {
    "bird": ("bird",),
    "cattle": ("cow", "horse"),
    "fish": ("fish",),
    "flower": ("flower",),
    "fruit": ("fruit",),
}
CARS = "car"
LARGEST = 96  # pixels of a cut-out's longer side
WALL = 200  # of a photo's shorter side


@dataclass(frozen=True)
class CutOut:
    """A photographed thing: colours (row, col, 3) times cover, and cover (row, col), up to 1."""

    colours: np.ndarray
    cover: np.ndarray


def folder() -> Path:
    """Where the photos and weights lie."""
    given = os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
    return Path(given).expanduser()


def asset(path: str) -> Path:
    """A file of theirs."""
    file = folder() / path
    if not file.exists():
        raise UserError(
            f"world 5 needs real photos and weights; {file} is missing. "
            "Run offline_assets.py stamps photos detector"
        )
    return file


@cache
def cut_outs(label: str) -> tuple[CutOut, ...]:
    """Those of a label, or the toy cars."""
    files: list[Path] = []
    for group in GROUPS.get(label, (label,)):
        files.extend(sorted(asset(f"stamps/{group}").glob("*.png")))
    return tuple(map(_cut_out, files))


@cache
def photo(path: str) -> np.ndarray:
    """A photo, float32 (row, col, 3), up to 255."""
    with Image.open(asset(path)) as image:
        image = image.convert("RGB")
        share = WALL / min(image.size)
        size = (round(image.width * share), round(image.height * share))
        image = image.resize(size, Image.Resampling.LANCZOS)
        return np.asarray(image, dtype=np.float32)


def shrink(cut: CutOut, height: float, width: float) -> CutOut:
    """As large as fits into a height and a width."""
    rows, cols = cut.cover.shape
    share = min(height / rows, width / cols)
    size = (max(2, round(cols * share)), max(2, round(rows * share)))
    colours = cv2.resize(cut.colours, size, interpolation=cv2.INTER_AREA)
    cover = cv2.resize(cut.cover, size, interpolation=cv2.INTER_AREA)
    return CutOut(colours, cover)


def _cut_out(file: Path) -> CutOut:
    with Image.open(file) as image:
        image = image.convert("RGBA")
        image = image.crop(image.getchannel("A").getbbox())
        pixels = np.asarray(image, dtype=np.float32)
    cover = pixels[..., 3] / 255
    whole = CutOut(pixels[..., :3] * cover[..., None], cover)
    return shrink(whole, LARGEST, LARGEST)
