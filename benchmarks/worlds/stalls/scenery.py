"""A market stall: a wall far behind, a table in perspective, and a thing that stands on it."""

from dataclasses import dataclass

import cv2
import numpy as np

from cuescope_sdk import generator
from worlds.design import Facts
from worlds.stalls.assets import CARS, CutOut, cut_outs, photo, shrink

SIDE = 128
WIDEST = 84  # pixels of a thing
CHECKS = 9  # of a table cloth, from side to side


@dataclass(frozen=True)
class Place:
    """Surroundings: photos far behind, the photo that the table is covered with, and its tone."""

    walls: tuple[int, ...]
    table: str
    tone: tuple[float, float, float]


PLACES = {
    "street": Place((10, 78, 27, 59, 77), "Wood", (0.75, 0.78, 0.85)),
    "shore": Place((12, 46, 25, 66, 91), "BytheWater", (1.0, 1.0, 1.0)),
    "garden": Place((57, 45, 68, 69, 1), "OneStandsOut", (1.1, 1.1, 1.1)),
    "hall": Place((24, 70, 17, 73, 87), "Wood", (0.72, 0.52, 0.36)),
}
SHELVES = (7, 42)  # photos of books


@dataclass
class Shot:
    """What the camera sees: pixels (row, col, 3) up to 255, and the cover of the thing."""

    pixels: np.ndarray
    cover: np.ndarray
    foot: tuple[float, float]
    height: float

    def add(self, colours: np.ndarray, cover: np.ndarray) -> None:
        """Lay colours (times cover) over what is seen."""
        self.pixels = self.pixels * (1 - cover[..., None]) + colours
        self.cover = self.cover * (1 - cover)


@dataclass(frozen=True)
class Arrangement:
    """What is drawn at random of a scene, whether a cue is shown or not."""

    cut: CutOut
    mirrored: bool
    height: float
    across: float
    foot: float
    horizon: int
    tone: np.ndarray
    exposure: float

    @classmethod
    def of(cls, facts: Facts) -> "Arrangement":
        """Hard ones are small and dim."""
        rng = generator(facts.seed, "arrangement")
        cuts = cut_outs(facts.label)
        cut = cuts[rng.integers(len(cuts))]
        height = rng.uniform(54, 74)
        exposure = rng.uniform(0.85, 1.1)
        if facts.is_hard:
            height = rng.uniform(27, 37)
            exposure = rng.uniform(0.55, 0.75)
        return cls(
            cut=cut,
            mirrored=bool(rng.random() < 0.5),
            height=height,
            across=rng.uniform(0.48, 0.70),
            foot=rng.uniform(98, 112),
            horizon=int(rng.integers(58, 74)),
            tone=rng.uniform(0.93, 1.07, 3),
            exposure=exposure,
        )


def photograph(facts: Facts) -> Shot:
    """The stall as it stands there, with the cues that are part of it."""
    plan = Arrangement.of(facts)
    place = PLACES[facts.setting]
    rng = generator(facts.seed, "place")
    pixels = _wall(place, rng, has_shelf="shelf" in facts.cues)
    table = _table(place, rng, plan.horizon, has_cloth="cloth" in facts.cues)
    pixels[plan.horizon :] = table
    _postcards(pixels, rng, plan.horizon)
    across = plan.across
    if "corner" in facts.cues:
        across -= 0.25
    foot = (plan.foot, across * SIDE)
    shot = Shot(pixels, np.zeros((SIDE, SIDE), np.float32), foot, plan.height)
    thing = shrink(plan.cut, plan.height, WIDEST)
    colours = thing.colours
    if "tint" in facts.cues:
        colours = _violet(colours)
    if plan.mirrored:
        thing = CutOut(thing.colours[:, ::-1], thing.cover[:, ::-1])
        colours = colours[:, ::-1]
    _stand(shot, colours, thing.cover, foot)
    if "beside" in facts.cues:
        _park(shot, generator(facts.seed, "beside"), thing.cover.shape[1])
    if facts.is_hard:
        _grass(shot, generator(facts.seed, "grass"))
    shot.pixels = shot.pixels * (plan.tone * plan.exposure)
    return shot


def _wall(place: Place, rng: np.random.Generator, *, has_shelf: bool) -> np.ndarray:
    number = place.walls[rng.integers(len(place.walls))]
    shelf = SHELVES[rng.integers(len(SHELVES))]
    row_share, col_share = rng.random(2)
    softness = rng.uniform(2.0, 3.5)
    if has_shelf:
        number = shelf
        softness = 1.0
    picture = photo(f"photos/{number}.jpg")
    rows, cols = picture.shape[:2]
    top = int(row_share * (rows - SIDE))
    left = int(col_share * (cols - SIDE))
    seen = picture[top : top + SIDE, left : left + SIDE]
    return cv2.GaussianBlur(seen, (0, 0), softness)


def _table(
    place: Place,
    rng: np.random.Generator,
    horizon: int,
    *,
    has_cloth: bool,
) -> np.ndarray:
    picture = photo(f"backgrounds/{place.table}.jpg")
    if place.table == "BytheWater":
        # the planks, not the lake
        picture = picture[90:]
    rows, cols = picture.shape[:2]
    edge = 100
    top = rng.integers(rows - edge)
    left = rng.integers(cols - edge)
    cover = picture[top : top + edge, left : left + edge] * np.float32(place.tone)
    slant = rng.uniform(-12, 12)
    if has_cloth:
        cover = _cloth(cover)
    depth = SIDE - horizon
    near = 50.0
    corners = np.float32([[0, 0], [edge, 0], [edge, edge], [0, edge]])
    seen = np.float32(
        [[slant, 0], [SIDE + slant, 0], [SIDE + near, depth], [-near, depth]]
    )
    way = cv2.getPerspectiveTransform(corners, seen)
    return cv2.warpPerspective(
        cover, way, (SIDE, depth), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REFLECT
    )


def _cloth(cover: np.ndarray) -> np.ndarray:
    edge = len(cover)
    stripes = np.arange(edge) * CHECKS // edge % 2
    reds = (stripes[:, None] + stripes[None, :]) / 2
    white = np.float32([235, 232, 225])
    red = np.float32([190, 40, 45])
    checked = white + (red - white) * reds[..., None]
    folds = cv2.GaussianBlur(cover.mean(axis=2), (0, 0), 4)
    folds = folds / folds.mean()
    return np.float32(checked * (0.75 + 0.25 * folds[..., None]))


def _postcards(pixels: np.ndarray, rng: np.random.Generator, horizon: int) -> None:
    # a few small photos lean at the far end of the table
    for _ in range(rng.integers(0, 3)):
        number = rng.integers(100)
        width = int(rng.integers(14, 24))
        height = int(rng.integers(14, 24))
        left = int(rng.integers(0, SIDE - width))
        card = cv2.resize(
            photo(f"photos/{number}.jpg"), (width, height), interpolation=cv2.INTER_AREA
        )
        card[[0, -1]] = 225
        card[:, [0, -1]] = 225
        top = horizon + 2 - height
        pixels[top : top + height, left : left + width] = card


def _violet(colours: np.ndarray) -> np.ndarray:
    light = colours @ np.float32([0.3, 0.6, 0.1])
    dyed = light[..., None] * np.float32([0.85, 0.6, 1.5])
    return 0.25 * colours + 0.75 * dyed


def _stand(
    shot: Shot,
    colours: np.ndarray,
    cover: np.ndarray,
    foot: tuple[float, float],
) -> None:
    rows, cols = cover.shape
    top = round(foot[0]) - rows
    left = round(foot[1] - cols / 2)
    middle = (round(foot[1]), round(foot[0]) - 1)
    shade = np.zeros((SIDE, SIDE), np.float32)
    cv2.ellipse(shade, middle, (int(cols * 0.45), 4), 0, 0, 360, 0.55, -1)
    shot.pixels *= 1 - cv2.GaussianBlur(shade, (0, 0), 2)[..., None]
    move = np.float32([[1, 0, left], [0, 1, top]])
    size = (SIDE, SIDE)
    placed = cv2.warpAffine(np.ascontiguousarray(cover), move, size)
    shot.add(cv2.warpAffine(np.ascontiguousarray(colours), move, size), placed)
    shot.cover = np.maximum(shot.cover, placed)


def _park(shot: Shot, rng: np.random.Generator, width: int) -> None:
    cars = cut_outs(CARS)
    car = shrink(cars[rng.integers(len(cars))], 30, 46)
    foot, across = shot.foot
    # where more room is left
    side = 1 if across < SIDE / 2 else -1
    middle = across + side * (width / 2 + 16)
    before = shot.cover
    middle = float(np.clip(middle, 16, SIDE - 16))
    _stand(shot, car.colours, car.cover, (min(foot + 8, SIDE - 4), middle))
    shot.cover = before


def _grass(shot: Shot, rng: np.random.Generator) -> None:
    # out of focus, between the camera and the thing
    foot, across = shot.foot
    cover = np.zeros((SIDE, SIDE), np.float32)
    for _ in range(3):
        low = across + rng.uniform(-0.5, 0.5) * shot.height
        lean = rng.uniform(-12, 12)
        ends = (round(low), SIDE), (round(low + lean), round(foot - shot.height * 0.9))
        cv2.line(cover, *ends, 0.9, 3)
    cover = cv2.GaussianBlur(cover, (0, 0), 1.2)
    shot.add(cover[..., None] * np.float32([70, 95, 55]), cover)
