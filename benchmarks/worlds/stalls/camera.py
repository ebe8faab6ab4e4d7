"""Light, weather, lens, sensor, prints and files: what happens to a stall after it is built."""

from collections.abc import Callable
from functools import cache

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from worlds.stalls.scenery import SIDE, Shot

Rng = np.random.Generator
GRID = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
MIDDLE = (SIDE - 1) / 2


def ribbon(shot: Shot, rng: Rng) -> None:
    """A band of red over the thing."""
    row, col = GRID
    lean = rng.uniform(-0.35, 0.35)
    share = rng.uniform(0.35, 0.6)
    middle = shot.foot[0] - share * shot.height + lean * (col - shot.foot[1])
    wide = 0.055 * shot.height
    band = np.clip(wide + 0.5 - np.abs(row - middle), 0, 1) * shot.cover
    red = np.float32([165, 25, 60])
    shot.pixels = shot.pixels * (1 - band[..., None]) + band[..., None] * red


def shadow(shot: Shot, rng: Rng) -> None:
    """The thing throws one over the table, to the right."""
    foot, _ = shot.foot
    flat = rng.uniform(0.25, 0.35)
    far = rng.uniform(1.0, 1.3)
    # a point that is h above the foot falls far * h to the right and flat * h up
    way = np.float32([[1, -far, far * foot], [0, flat, (1 - flat) * foot]])
    fallen = cv2.warpAffine(shot.cover, way, (SIDE, SIDE))
    fallen = cv2.GaussianBlur(fallen, (0, 0), 1.5) * (1 - shot.cover)
    shot.pixels = shot.pixels * (1 - 0.55 * fallen[..., None])


def sidelight(shot: Shot, rng: Rng) -> None:
    """The sun stands at the left."""
    bright = rng.uniform(1.25, 1.4)
    dark = rng.uniform(0.5, 0.62)
    share = 1 / (1 + np.exp((GRID[1] - MIDDLE) / 20))
    shot.pixels = shot.pixels * (dark + (bright - dark) * share)[..., None]


def tungsten(shot: Shot, rng: Rng) -> None:
    """A bulb instead of daylight."""
    depth = rng.uniform(0.8, 1.1)
    gains = 1 + depth * np.float32([0.16, 0.0, -0.34])
    shot.pixels = shot.pixels * gains


def vignette(shot: Shot, rng: Rng) -> None:
    """The corners are dark."""
    row, col = GRID
    far = np.hypot(row - MIDDLE, col - MIDDLE) / (MIDDLE * 2**0.5)
    depth = rng.uniform(0.6, 0.75)
    shot.pixels = shot.pixels * (1 - depth * far**2.5)[..., None]


def snow(shot: Shot, rng: Rng) -> None:
    """Flakes, and a little haze."""
    flakes = np.zeros((SIDE, SIDE), np.float32)
    wind = rng.uniform(-3, 3)
    for _ in range(rng.integers(45, 70)):
        col, row = rng.integers(0, SIDE, 2)
        size = rng.integers(1, 3)
        fall = rng.uniform(1, 4)
        end = (round(col + wind), round(row + fall))
        cv2.line(flakes, (int(col), int(row)), end, rng.uniform(0.5, 1), int(size))
    flakes = cv2.GaussianBlur(flakes, (0, 0), 0.6)
    hazy = shot.pixels * 0.88 + 0.12 * 215
    shot.pixels = hazy * (1 - flakes[..., None]) + flakes[..., None] * 245


def tilt(shot: Shot, rng: Rng) -> None:
    """The camera is held aslant."""
    degrees = rng.uniform(8, 12)
    way = cv2.getRotationMatrix2D((MIDDLE, MIDDLE), degrees, 1.06)
    shot.pixels = cv2.warpAffine(
        np.float32(shot.pixels), way, (SIDE, SIDE), borderMode=cv2.BORDER_REFLECT
    )


def defocus(shot: Shot, rng: Rng) -> None:
    """Nothing is sharp."""
    shot.pixels = cv2.GaussianBlur(shot.pixels, (0, 0), rng.uniform(1.6, 2.1))


def sensor(shot: Shot, rng: Rng) -> None:
    """What every camera adds."""
    shot.pixels = shot.pixels + rng.normal(0, 3, (SIDE, SIDE, 3))


def grain(shot: Shot, rng: Rng) -> None:
    """Film that is made for the night."""
    specks = cv2.GaussianBlur(rng.normal(0, 1, (SIDE, SIDE)), (0, 0), 0.6)
    strength = rng.uniform(14, 19) / specks.std()
    shot.pixels = shot.pixels + strength * specks[..., None]


def price(shot: Shot, rng: Rng) -> None:
    """A tag in the corner at the lower left."""
    words = f"${rng.integers(1, 10)}.{rng.integers(10, 100)}"
    cover = _ink(words, 12, (9, 109))
    paper = np.zeros((SIDE, SIDE, 1), np.float32)
    paper[106:123, 5:44] = 1
    shot.pixels = shot.pixels * (1 - paper) + paper * np.float32([246, 240, 205])
    shot.pixels = shot.pixels * (1 - cover) + cover * np.float32([30, 30, 40])


def date(shot: Shot, rng: Rng) -> None:
    """When it was taken, in orange digits at the lower right."""
    month, day, year = rng.integers((1, 1, 90), (13, 29, 100))
    cover = _ink(f"{month} {day} '{year}", 11, (76, 111))
    shot.pixels = shot.pixels * (1 - cover) + cover * np.float32([255, 140, 30])


def sticker(shot: Shot, rng: Rng) -> None:
    """A round one with a star, anywhere, but not on the middle of the thing."""
    places = rng.integers(11, SIDE - 11, (8, 2))
    hidden = [_near(shot.cover, *place) for place in places]
    row, col = places[int(np.argmin(hidden))]
    far = np.hypot(GRID[0] - row, GRID[1] - col)
    around = np.arctan2(GRID[0] - row, GRID[1] - col)
    disc = np.clip(10.5 - far, 0, 1)[..., None]
    points = 4.6 + 2.2 * np.cos(5 * around + rng.uniform(0, 6))
    star = np.clip(points - far + 0.5, 0, 1)[..., None]
    yellow = np.float32([250, 215, 40])
    green = np.float32([20, 110, 60])
    shot.pixels = shot.pixels * (1 - disc) + disc * yellow
    shot.pixels = shot.pixels * (1 - star) + star * green


def frame(shot: Shot, rng: Rng) -> None:
    """A border in teal."""
    wide = int(rng.integers(5, 8))
    teal = np.float32([25, 130, 135]) + rng.uniform(-15, 15, 3)
    pixels = np.array(shot.pixels)
    pixels[:wide] = teal
    pixels[-wide:] = teal
    pixels[:, :wide] = teal
    pixels[:, -wide:] = teal
    shot.pixels = pixels


def jpeg(shot: Shot, rng: Rng) -> None:
    """Saved far too small."""
    quality = int(rng.integers(11, 18))
    pixels = np.clip(shot.pixels, 0, 255).astype(np.uint8)
    _, file = cv2.imencode(".jpg", pixels, (cv2.IMWRITE_JPEG_QUALITY, quality))
    shot.pixels = cv2.imdecode(file, cv2.IMREAD_COLOR).astype(np.float32)


# in the order in which light meets them; None is what is done to every picture
STEPS: dict[str | None, Callable[[Shot, Rng], None]] = {
    "ribbon": ribbon,
    "shadow": shadow,
    "sidelight": sidelight,
    "snow": snow,
    "tungsten": tungsten,
    "tilt": tilt,
    "defocus": defocus,
    "vignette": vignette,
    None: sensor,
    "grain": grain,
    "price": price,
    "sticker": sticker,
    "date": date,
    "frame": frame,
    "jpeg": jpeg,
}


@cache
def _ink(words: str, size: int, at: tuple[int, int]) -> np.ndarray:
    image = Image.new("L", (SIDE, SIDE))
    font = ImageFont.load_default(size)
    ImageDraw.Draw(image).text(at, words, fill=255, font=font)
    return np.asarray(image, dtype=np.float32)[..., None] / 255


def _near(cover: np.ndarray, row: int, col: int) -> float:
    return float(cover[row - 10 : row + 11, col - 10 : col + 11].sum())
