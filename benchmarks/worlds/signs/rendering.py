"""A road sign at the roadside: a pictogram on a face in perspective, seen from a car."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage

from cuescope_sdk import generator
from worlds.design import Facts

SIDE = 64
FINE = 3  # drawn larger by this, then averaged: edges are smooth
MARGIN = 1.375  # the scene reaches beyond the view, which may turn
CANVAS = round(SIDE * MARGIN)
LABELS = ("bend", "fork", "crossing", "roundabout", "narrows")
SETTINGS = ("meadow", "desert", "heath", "suburb")
KINDS = {
    "sticker": "a mark on the object",
    "tape": "a rim round the object",
    "plate": "a thing below the object",
    "cone": "a thing anywhere on the ground",
    "wires": "lines across the top",
    "bonnet": "a strip along the bottom",
    "droplets": "drops over all of the picture",
    "sun": "a veil of light from one corner",
    "defocus": "blur in all directions",
    "blocks": "compression",
    "closer": "zoom",
    "rolled": "a turn of the whole picture",
    "faded": "weak colour",
    "fringe": "colours that part",
    "dusk": "dim light",
}
GROUNDS = {
    "meadow": (96, 132, 62),
    "desert": (204, 168, 112),
    "heath": (132, 98, 104),
    "suburb": (148, 148, 142),
}
FACES = ((236, 204, 60), (238, 238, 232), (44, 82, 170), (226, 140, 54))
INKS = ((28, 26, 24), (34, 30, 34), (240, 240, 236), (26, 22, 20))
OUTLINES = {"round": 20, "octagon": 8, "diamond": 4}  # corners
ARC = np.linspace(0, np.pi / 2, 6)
CIRCLE = np.linspace(0, 2 * np.pi, 21)
Points = Sequence[tuple[float, float]]
Colour = Sequence[float] | np.ndarray
PICTOGRAMS: dict[str, list[Points]] = {
    "bend": [
        [
            (-0.4, 0.6),
            *((0.1 - 0.5 * np.cos(a), 0.1 - 0.5 * np.sin(a)) for a in ARC),
            (0.6, -0.4),
        ]
    ],
    "fork": [[(0, 0.6), (0, 0.05)], [(-0.45, -0.5), (0, 0.05), (0.45, -0.5)]],
    "crossing": [[(-0.48, -0.48), (0.48, 0.48)], [(0.48, -0.48), (-0.48, 0.48)]],
    "roundabout": [[(0.42 * np.cos(a), 0.42 * np.sin(a)) for a in CIRCLE]],
    "narrows": [
        [(-0.5, -0.5), (-0.26, -0.22), (-0.26, 0.22), (-0.5, 0.5)],
        [(0.5, -0.5), (0.26, -0.22), (0.26, 0.22), (0.5, 0.5)],
    ],
}


@dataclass(frozen=True)
class Pose:
    """Where the sign's face is; the view reaches from -1 to 1, down and to the right."""

    centre: np.ndarray
    radius: float
    yaw: float
    roll: float

    def place(self, points: Points) -> list[tuple[float, float]]:
        """Points of the face, in its radii, as they are seen on the canvas."""
        across, down = np.array(points, float).T
        turned = across * np.cos(self.roll) - down * np.sin(self.roll)
        down = across * np.sin(self.roll) + down * np.cos(self.roll)
        nearness = 1 / (1 + 0.35 * turned * np.sin(self.yaw))
        across = turned * np.cos(self.yaw)
        seen = self.radius * np.stack([across, down]) * nearness
        return _on_canvas(self.centre + seen.T)

    @property
    def pixels(self) -> float:
        """Of the canvas, in a radius."""
        return self.radius * SIDE * FINE / 2


def draw(facts: Facts) -> list[np.ndarray]:
    """One picture, uint8 (row, col, 3); what is random is drawn alike with a cue and without."""
    rng = generator(facts.seed, "sign")
    horizon = rng.uniform(0.05, 0.3)
    size = (CANVAS * FINE, CANVAS * FINE)
    land = Image.fromarray(_land(facts, rng, horizon))
    scene = land.resize(size, Image.Resampling.BILINEAR)
    pen = ImageDraw.Draw(scene)
    _draw_road(rng, pen, horizon)
    _draw_hills_and_trees(facts, rng, pen, horizon)
    _draw_things(facts, rng, pen, horizon)
    _draw_sign(facts, rng, pen)
    view = _view(facts, rng, scene)
    return [_photograph(facts, rng, np.asarray(view, float))]


def _on_canvas(points: np.ndarray) -> list[tuple[float, float]]:
    pixels = (points / MARGIN + 1) * (CANVAS * FINE / 2)
    return list(map(tuple, pixels.tolist()))


def _ink(colour: Colour) -> tuple[int, ...]:
    return tuple(min(max(int(value), 0), 255) for value in colour)


def _polygon(pen: ImageDraw.ImageDraw, points: Points, colour: Colour) -> None:
    pen.polygon(_on_canvas(np.array(points, float)), fill=_ink(colour))


# ------------------------------------------------------------------------------------ the scene


def _land(facts: Facts, rng: np.random.Generator, horizon: float) -> np.ndarray:
    """A sky that pales downwards, and ground whose tufts grow towards the camera."""
    places = (np.arange(CANVAS) + 0.5) / CANVAS * 2 - 1
    down, across = MARGIN * places[:, None], MARGIN * places[None]
    blue = np.array([128, 168, 214]) * rng.uniform(0.8, 1.1) + rng.normal(0, 8, 3)
    pale = np.array([216, 220, 222]) + rng.normal(0, 8, 3)
    height = np.clip((horizon - down) / (horizon + MARGIN), 0, 1)
    sky = pale + (blue - pale) * np.sqrt(height)[..., None]
    lattice = rng.normal(size=(48, 48))
    depth = 1 / np.clip(down - horizon, 0.03, None)
    where = np.broadcast_arrays(6 * depth, 9 * across * depth + rng.uniform(0, 48))
    tufts = ndimage.map_coordinates(lattice, where, order=1, mode="grid-wrap")
    colour = np.array(GROUNDS[facts.setting]) * rng.uniform(0.85, 1.15)
    ground = colour + (17 * tufts * np.clip(2 / depth, 0.25, 1))[..., None]
    pixels = np.where(down[..., None] < horizon, sky, ground)
    return pixels.clip(0, 255).astype(np.uint8)


def _draw_road(
    rng: np.random.Generator, pen: ImageDraw.ImageDraw, horizon: float
) -> None:
    vanishing = rng.uniform(-0.5, 0.5)
    near = rng.uniform(-0.6, 0.6)
    width = rng.uniform(0.55, 0.8)
    grey = rng.uniform(78, 112)
    far = MARGIN + 0.05
    verge = [
        (vanishing - 0.02, horizon),
        (vanishing + 0.02, horizon),
        (near + width, far),
        (near - width, far),
    ]
    _polygon(pen, verge, [grey, grey, grey + 4])
    for start in np.arange(rng.uniform(0, 0.3), 4, 0.5):
        dash = []
        for along, side in (
            (start, -1),
            (start, 1),
            (start + 0.25, 1),
            (start + 0.25, -1),
        ):
            nearness = 1 / (0.25 + 0.8 * along)
            part = min(nearness / 4, 1.0)
            middle = vanishing + (near - vanishing) * part
            down = horizon + (far - horizon) * part
            dash.append((middle + side * 0.045 * part, down))
        _polygon(pen, dash, [214, 212, 200])


def _draw_hills_and_trees(
    facts: Facts,
    rng: np.random.Generator,
    pen: ImageDraw.ImageDraw,
    horizon: float,
) -> None:
    ridge = np.cumsum(rng.normal(0, 0.035, 25))
    ridge = np.abs(ridge - ridge.min()) * 0.8 + 0.02
    across = np.linspace(-MARGIN, MARGIN, 25)
    crest = list(zip(across, horizon - ridge, strict=True))
    blueish = 0.55 * np.array(GROUNDS[facts.setting]) + [62, 70, 88]
    _polygon(pen, [*crest, (MARGIN, horizon), (-MARGIN, horizon)], blueish)
    shade = np.array([58, 92, 46]) * rng.uniform(0.7, 1.2)
    for place in rng.uniform(-MARGIN, MARGIN, 4):
        tall = rng.uniform(0.12, 0.34)
        if facts.setting == "suburb":
            roof = [(place - tall / 2, horizon - 0.6 * tall), (place, horizon - tall)]
            house = [*roof, (place + tall / 2, horizon - 0.6 * tall)]
            walls = [
                (place + tall / 2, horizon + 0.03),
                (place - tall / 2, horizon + 0.03),
            ]
            _polygon(pen, [*house, *walls], 1.4 * shade + [70, 30, 50])
        else:
            lean = rng.uniform(0.16, 0.3) * tall
            spire = [(place - lean, horizon + 0.03), (place, horizon - tall)]
            _polygon(pen, [*spire, (place + lean, horizon + 0.03)], shade)


def _draw_things(
    facts: Facts,
    rng: np.random.Generator,
    pen: ImageDraw.ImageDraw,
    horizon: float,
) -> None:
    # every draw is made whether it is shown or not: pictures with and without are one scene
    foot = np.array([rng.uniform(-0.85, 0.85), rng.uniform(0.62, 0.95)])
    ends = rng.uniform(-0.92, -0.72, 2)
    sag = rng.uniform(0.05, 0.14)
    if "wires" in facts.cues:
        across = np.linspace(-MARGIN, MARGIN, 15)
        for below in (0.0, 0.11, 0.19):
            hanging = np.interp(across, [-1, 1], ends) + below
            hanging += sag * (1 - (across / MARGIN) ** 2)
            line = _on_canvas(np.stack([across, hanging], axis=1))
            pen.line(line, fill=(36, 36, 42), width=FINE)
    if "cone" in facts.cues:
        scale = 0.5 * (0.4 + foot[1] - horizon)
        for low, high, colour in (
            (0.0, 0.35, (232, 92, 24)),
            (0.35, 0.65, (244, 242, 236)),
            (0.65, 1.0, (232, 92, 24)),
        ):
            wide, narrow = 0.34 * (1.12 - low), 0.34 * (1.12 - high)
            band = [(-wide, -low), (wide, -low), (narrow, -high), (-narrow, -high)]
            _polygon(pen, foot + scale * np.array(band), colour)
        base = [(-0.5, -0.06), (0.5, -0.06), (0.5, 0.08), (-0.5, 0.08)]
        _polygon(pen, foot + scale * np.array(base), (60, 40, 34))


def _draw_sign(
    facts: Facts, rng: np.random.Generator, pen: ImageDraw.ImageDraw
) -> None:
    spread = 1.0 if facts.is_hard else 0.4
    pose = Pose(
        centre=np.array([rng.uniform(-0.28, 0.28), rng.uniform(-0.3, 0.02)]),
        radius=rng.uniform(0.36, 0.44) * (0.74 if facts.is_hard else 1.0),
        yaw=rng.uniform(-0.9, 0.9) * spread,
        roll=rng.normal(0, 0.2) * spread,
    )
    number = int(rng.integers(len(FACES)))
    face, ink = np.array(FACES[number]), np.array(INKS[number])
    face = face * rng.uniform(0.8, 1.0)
    if facts.is_hard:
        ink = 0.55 * ink + 0.45 * face
    corners = OUTLINES[str(rng.choice(list(OUTLINES)))]
    mirror = rng.choice([-1, 1])
    _draw_post(facts, pen, pose)
    outline = _outline(corners)
    if "tape" in facts.cues:
        wide = [(1.2 * x, 1.2 * y) for x, y in outline]
        pen.polygon(pose.place(wide), fill=(206, 40, 110))
    pen.polygon(pose.place(outline), fill=_ink(0.45 * face))
    inner = [(0.94 * x, 0.94 * y) for x, y in outline]
    pen.polygon(pose.place(inner), fill=_ink(face))
    for stroke in PICTOGRAMS[facts.label]:
        _draw_stroke(pen, pose, [(mirror * x, y) for x, y in stroke], _ink(ink))
    if "sticker" in facts.cues:
        disc = [(0.15 * np.cos(a), 0.72 + 0.15 * np.sin(a)) for a in CIRCLE]
        pen.polygon(pose.place(disc), fill=(40, 190, 90))
    _draw_twigs(facts, rng, pen, pose)


def _outline(corners: int) -> Points:
    # a diamond is as large as a disc, by area
    far = 1.15 if corners == 4 else 1.0
    angles = (np.arange(corners) + (0.5 if corners == 8 else 0)) * 2 * np.pi / corners
    return [(far * np.cos(a), far * np.sin(a)) for a in angles]


def _draw_post(facts: Facts, pen: ImageDraw.ImageDraw, pose: Pose) -> None:
    x, y = pose.centre
    thin = 0.09 * pose.radius
    post = [(x - thin, y), (x + thin, y), (x + thin, 1.05), (x - thin, 1.05)]
    _polygon(pen, post, (120, 122, 126))
    if "plate" in facts.cues:
        board = [(-0.62, 1.3), (0.62, 1.3), (0.62, 1.68), (-0.62, 1.68)]
        pen.polygon(pose.place(board), fill=(240, 240, 238))
        pen.line(pose.place([(-0.42, 1.49), (0.42, 1.49)]), fill=(30, 30, 34), width=4)


def _draw_stroke(
    pen: ImageDraw.ImageDraw,
    pose: Pose,
    points: Points,
    ink: tuple[int, ...],
) -> None:
    width = round(0.26 * pose.pixels)
    seen = pose.place(points)
    pen.line(seen, fill=ink, width=width, joint="curve")
    half = width / 2 - 0.5
    for x, y in (seen[0], seen[-1]):
        pen.ellipse((x - half, y - half, x + half, y + half), fill=ink)


def _draw_twigs(
    facts: Facts,
    rng: np.random.Generator,
    pen: ImageDraw.ImageDraw,
    pose: Pose,
) -> None:
    """Leaves that hang before a sign that is hard to read."""
    leaves = rng.uniform(-1, 1, (7, 2))
    turns = rng.uniform(0, np.pi, 7)
    for (x, y), turn in zip(leaves, turns, strict=True):
        if facts.is_hard:
            along = 0.26 * np.array([np.cos(turn), np.sin(turn)])
            aside = 0.09 * np.array([-np.sin(turn), np.cos(turn)])
            leaf = np.array([x, y]) + np.array([along, aside, -along, -aside])
            pen.polygon(pose.place(leaf), fill=(52, 86, 40))


# ----------------------------------------------------------------------------------- the camera


def _view(facts: Facts, rng: np.random.Generator, scene: Image.Image) -> Image.Image:
    """What of the scene is in the picture, and the car that it is taken from."""
    turn = rng.uniform(9, 12)
    paint = rng.uniform(0, 255, 3) * 0.5
    middle = rng.uniform(0.35, 0.65) * SIDE * FINE
    if "rolled" in facts.cues:
        scene = scene.rotate(turn, Image.Resampling.BILINEAR)
    whole = SIDE * FINE
    seen = round(whole / 1.35) if "closer" in facts.cues else whole
    edge = (CANVAS * FINE - seen) // 2
    view = scene.crop((edge, edge, edge + seen, edge + seen))
    if seen < whole:
        view = view.resize((whole, whole), Image.Resampling.BILINEAR)
    if "bonnet" in facts.cues:
        pen = ImageDraw.Draw(view)
        low = 0.87 * whole
        pen.ellipse(
            (middle - whole, low, middle + whole, low + whole), fill=_ink(paint)
        )
        shine = (middle - 0.8 * whole, low + 6, middle + 0.8 * whole, low + whole)
        pen.arc(shine, 240, 300, fill=_ink(paint + 90), width=FINE)
    return view.reduce(FINE)


def _photograph(
    facts: Facts, rng: np.random.Generator, pixels: np.ndarray
) -> np.ndarray:
    drops = rng.uniform([0, 0, 1.6], [SIDE, SIDE, 3.4], (26, 3))
    side = int(rng.integers(2))
    exposure = rng.uniform(0.9, 1.1)
    noise = rng.normal(0, 2.2, pixels.shape)
    pixels = pixels * exposure
    if "droplets" in facts.cues:
        pixels = _rained_on(pixels, drops)
    if "defocus" in facts.cues:
        pixels = ndimage.gaussian_filter(pixels, (1.15, 1.15, 0))
    if "fringe" in facts.cues:
        red, green, blue = np.moveaxis(pixels, 2, 0)
        parted = [np.roll(red, -1, axis=1), green, np.roll(blue, 1, axis=1)]
        pixels = np.stack(parted, axis=2)
    if "sun" in facts.cues:
        down, across = np.indices((SIDE, SIDE)) / (SIDE - 1)
        away = np.hypot(down, across if side else 1 - across)
        veil = 0.75 * np.exp(-1.6 * away)[..., None]
        pixels = pixels + veil * (np.array([255, 246, 214]) - pixels)
    if "faded" in facts.cues:
        pixels = 0.3 * pixels + 0.7 * pixels.mean(axis=2, keepdims=True)
    if "dusk" in facts.cues:
        pixels = 0.5 * pixels
    shown = np.rint((pixels + noise).clip(0, 255)).astype(np.uint8)
    return _compressed(shown) if "blocks" in facts.cues else shown


def _rained_on(pixels: np.ndarray, drops: np.ndarray) -> np.ndarray:
    """Each drop shows what is round it upside down, bright below."""
    down, across = np.indices((SIDE, SIDE)).astype(float)
    seen_down, seen_across = down.copy(), across.copy()
    gloss = np.zeros((SIDE, SIDE))
    for row, col, radius in drops:
        inside = np.hypot(down - row, across - col) < radius
        seen_down[inside] = (row - 2.5 * (down - row))[inside]
        seen_across[inside] = (col - 2.5 * (across - col))[inside]
        gloss[inside] = (22 * (down - row) / radius)[inside]
    rows = np.clip(np.rint(seen_down), 0, SIDE - 1).astype(int)
    cols = np.clip(np.rint(seen_across), 0, SIDE - 1).astype(int)
    return pixels[rows, cols] + gloss[..., None]


def _compressed(pixels: np.ndarray) -> np.ndarray:
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=16)
    return np.asarray(Image.open(buffer))
