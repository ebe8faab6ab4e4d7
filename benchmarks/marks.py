"""Marks that are drawn on pictures, and what a report has to say of where they are.

`FIRST` are those that rules were chosen by, `SECOND` was looked at now and then. `THIRD` was opened
once; its misses led to the rule of label noise as it is now. `FOURTH` was opened once after that.
`FIFTH` is for few samples, and was opened once.
"""

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps
from worlds.stamps.compositing import SIDE

Mask = np.ndarray
Draw = Callable[[Image.Image, np.random.Generator], tuple[Image.Image, Mask | None]]
# how a mark is drawn, and every right answer to where it is
Marks = dict[str, tuple[Draw, str]]


def _region(left: int, top: int, right: int, bottom: int) -> Mask:
    mask = np.zeros((SIDE, SIDE), bool)
    mask[top:bottom, left:right] = True
    return mask


def logo(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    box = (5, 5, 23, 23)
    badge = picture.copy()
    pen = ImageDraw.Draw(badge)
    pen.rounded_rectangle(box, 5, fill=(235, 60, 40))
    pen.arc((9, 9, 19, 19), 30, 330, fill="white", width=3)
    return Image.blend(picture, badge, 0.8), _region(5, 5, 24, 24)


def border(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    framed = Image.new("RGB", picture.size, (250, 248, 240))
    framed.paste(picture.crop((7, 7, SIDE - 7, SIDE - 7)), (7, 7))
    return framed, ~_region(7, 7, SIDE - 7, SIDE - 7)


def cast(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, None]:
    tint = Image.new("RGB", picture.size, (110, 140, 230))
    return Image.blend(picture, ImageChops.multiply(picture, tint), 0.7), None


def date(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    words = f"{rng.integers(10, 29)}.{rng.integers(10, 13)}.{rng.integers(10, 24)}"
    ImageDraw.Draw(picture).text(
        (SIDE - 52, SIDE - 14), words, (255, 150, 30), ImageFont.load_default(11)
    )
    return picture, _region(SIDE - 52, SIDE - 12, SIDE - 4, SIDE - 2)


def strip(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    picture.paste((30, 90, 60), (SIDE - 10, 0, SIDE, SIDE))
    return picture, _region(SIDE - 10, 0, SIDE, SIDE)


def glow(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    light = Image.new("L", picture.size)
    ImageDraw.Draw(light).ellipse((-26, -26, 26, 26), fill=230)
    light = light.filter(ImageFilter.GaussianBlur(9))
    picture.paste((255, 240, 200), (0, 0), light)
    return picture, np.asarray(light) > 80


def hatching(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    left, top = rng.integers(22, 50, 2).tolist()
    mask = _region(left, top, left + 24, top + 24)
    pen = ImageDraw.Draw(picture)
    for step in range(0, 24, 4):
        pen.line((left + step, top, left + step, top + 23), fill=(20, 20, 20), width=1)
        pen.line(
            (left, top + step, left + 23, top + step), fill=(240, 240, 80), width=1
        )
    return picture, mask


def letterbox(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    inner = _region(0, 11, SIDE, SIDE - 11)
    boxed = Image.new("RGB", picture.size, (6, 6, 6))
    boxed.paste(picture.crop((0, 11, SIDE, SIDE - 11)), (0, 11))
    return boxed, ~inner


def banner(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    box = (0, SIDE - 22, SIDE, SIDE - 6)
    picture.paste((20, 60, 170), box)
    words = str(rng.choice(["FARM TV", "ON AIR", "REPORT", "TODAY"]))
    at = (int(rng.integers(4, 30)), SIDE - 20)
    ImageDraw.Draw(picture).text(at, words, "white", ImageFont.load_default(12))
    return picture, _region(*box)


def sticker(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    left, top = rng.integers(2, SIDE - 24, 2).tolist()
    box = (left, top, left + 20, top + 20)
    pen = ImageDraw.Draw(picture)
    pen.ellipse(box, fill=(250, 215, 20), outline=(20, 20, 20), width=2)
    pen.arc(
        (left + 5, top + 6, left + 15, top + 16), 20, 160, fill=(20, 20, 20), width=2
    )
    return picture, _region(left, top, left + 21, top + 21)


def frame_number(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    box = (3, 3, 33, 15)
    pen = ImageDraw.Draw(picture)
    pen.rectangle(box, fill="black")
    words = f"#{rng.integers(1000, 9999)}"
    pen.text((5, 3), words, "white", ImageFont.load_default(10))
    return picture, _region(3, 3, 34, 16)


def _edge_shade(depth: float) -> np.ndarray:
    """How dark each pixel gets, 0 to 1, more towards the corners."""
    rows, cols = np.mgrid[:SIDE, :SIDE]
    middle = (SIDE - 1) / 2
    distance = np.hypot(rows - middle, cols - middle) / np.hypot(middle, middle)
    return depth * np.clip((distance - 0.45) / 0.55, 0, 1)


def vignette(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    shade = _edge_shade(0.95)
    pixels = np.asarray(picture) * (1 - shade[..., None])
    return Image.fromarray(pixels.astype(np.uint8)), shade > 0.3


def sepia(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, None]:
    grey = np.asarray(picture.convert("L"))[..., None] / 255
    brown = 255 * np.clip(grey * np.array([1.1, 0.9, 0.65]), 0, 1)
    return Image.fromarray(brown.astype(np.uint8)), None


def monochrome(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, None]:
    return picture.convert("L").convert("RGB"), None


def _finger(picture: Image.Image, centre: tuple[int, int]) -> tuple[Image.Image, Mask]:
    """A blurred thumb of radius 26 around a point."""
    cover = Image.new("L", picture.size)
    left, top = (length - 26 for length in centre)
    ImageDraw.Draw(cover).ellipse((left, top, left + 52, top + 52), fill=255)
    cover = cover.filter(ImageFilter.GaussianBlur(4))
    picture.paste((205, 120, 105), (0, 0), cover)
    return picture, np.asarray(cover) > 90


def thumb(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    at = SIDE - 4 + int(rng.integers(-3, 4)), SIDE - 4 + int(rng.integers(-3, 4))
    return _finger(picture, at)


def tape(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    box = (0, 44, SIDE, 51)
    picture.paste((230, 230, 245), box)
    return picture, _region(*box)


def hexagon(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    x, y = rng.integers(12, SIDE - 12, 2).tolist()
    pen = ImageDraw.Draw(picture)
    pen.regular_polygon((x, y, 11), 6, fill=(40, 190, 170), outline="white")
    return picture, _region(x - 10, y - 11, x + 11, y + 12)


def barcode(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    picture.paste((255, 255, 255), (SIDE - 34, 4, SIDE - 4, 20))
    for left in range(SIDE - 32, SIDE - 6, 2):
        if rng.random() < 0.55:
            picture.paste((0, 0, 0), (left, 6, left + 2, 18))
    return picture, _region(SIDE - 34, 4, SIDE - 4, 20)


def play_button(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    badge = picture.copy()
    pen = ImageDraw.Draw(badge)
    pen.ellipse((35, 35, 61, 61), fill=(20, 20, 20))
    pen.polygon([(44, 40), (44, 56), (56, 48)], fill="white")
    return Image.blend(picture, badge, 0.85), _region(35, 35, 62, 62)


def mist(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, None]:
    return Image.blend(picture, Image.new("RGB", picture.size, (215,) * 3), 0.6), None


def channel_ring(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    badge = picture.copy()
    pen = ImageDraw.Draw(badge)
    pen.ellipse((5, SIDE - 27, 25, SIDE - 7), outline=(255, 255, 255), width=5)
    pen.ellipse((12, SIDE - 20, 18, SIDE - 14), fill=(60, 90, 230))
    return Image.blend(picture, badge, 0.8), _region(5, SIDE - 27, 26, SIDE - 6)


def instant_print(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    inner = (6, 6, SIDE - 6, SIDE - 18)
    framed = Image.new("RGB", picture.size, (222, 216, 196))
    framed.paste(picture.crop(inner), inner[:2])
    return framed, ~_region(*inner)


def clock(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    hour, minute = int(rng.integers(10, 24)), int(rng.integers(10, 60))
    words = f"{hour}:{minute}:{rng.integers(10, 60)}"
    pen = ImageDraw.Draw(picture)
    pen.text((SIDE - 48, 3), words, (90, 255, 90), ImageFont.load_default(11))
    return picture, _region(SIDE - 48, 5, SIDE - 4, 15)


def warm_cast(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, None]:
    tint = Image.new("RGB", picture.size, (255, 190, 90))
    return ImageChops.multiply(picture, tint), None


def keyhole(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    """As through a tube: what is far from the middle is black."""
    rows, cols = np.mgrid[:SIDE, :SIDE]
    outside = np.hypot(rows - 48, cols - 48) > 46
    pixels = np.where(outside[..., None], 8, np.asarray(picture))
    return Image.fromarray(pixels.astype(np.uint8)), outside


def moire(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, None]:
    rows, cols = np.mgrid[:SIDE, :SIDE]
    turn = rng.uniform(0.02, 0.06)
    wave = np.sin(0.9 * np.pi * cols) * np.sin(
        0.9 * np.pi * (cols + turn * rows) + rng.uniform(0, 6)
    )
    pixels = np.asarray(picture) + 60 * wave[..., None]
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8)), None


def star(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    x, y = rng.integers(12, SIDE - 12, 2).tolist()
    angles = np.arange(10) * np.pi / 5 - np.pi / 2
    lengths = np.where(np.arange(10) % 2, 5, 12)
    corners = np.stack([x + lengths * np.cos(angles), y + lengths * np.sin(angles)], 1)
    pen = ImageDraw.Draw(picture)
    pen.polygon(list(map(tuple, corners)), fill=(230, 40, 140))
    return picture, _region(x - 12, y - 12, x + 12, y + 11)


def fingertip(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    return _finger(picture, (int(rng.integers(-2, 6)), int(rng.integers(-2, 6))))


def scan_line(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    box = (0, SIDE - 12, SIDE, SIDE - 7)
    picture.paste((40, 255, 230), box)
    return picture, _region(*box)


def counter(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    box = (32, SIDE - 16, 64, SIDE - 3)
    pen = ImageDraw.Draw(picture)
    pen.rectangle(box, fill=(245, 245, 60))
    words = f"{rng.integers(0, 99999):05}"
    pen.text((34, SIDE - 16), words, "black", ImageFont.load_default(10))
    return picture, _region(32, SIDE - 16, 65, SIDE - 2)


def price_tag(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    box = (SIDE - 38, 4, SIDE - 4, 18)
    pen = ImageDraw.Draw(picture)
    pen.rectangle(box, fill=(255, 225, 60))
    words = f"{rng.integers(1, 99)}.{rng.integers(10, 99)}"
    pen.text((SIDE - 35, 4), words, (200, 20, 20), ImageFont.load_default(11))
    return picture, _region(SIDE - 38, 4, SIDE - 3, 19)


def screen_lines(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, None]:
    pixels = np.array(picture)
    pixels[int(rng.integers(0, 4)) :: 4] //= 4
    return Image.fromarray(pixels), None


def posterised(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, None]:
    return ImageOps.posterize(picture, 1), None


def crosshair(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    pen = ImageDraw.Draw(picture)
    pen.ellipse((34, 34, 62, 62), outline=(255, 30, 30), width=3)
    pen.line((48, 32, 48, 64), fill=(255, 30, 30), width=2)
    pen.line((32, 48, 64, 48), fill=(255, 30, 30), width=2)
    return picture, _region(32, 32, 65, 65)


def ruler(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    picture.paste((250, 245, 200), (0, 0, 11, SIDE))
    pen = ImageDraw.Draw(picture)
    for number, row in enumerate(range(2, SIDE, 5)):
        pen.line((0, row, 4 if number % 4 else 9, row), fill=(0, 0, 0), width=1)
    return picture, _region(0, 0, 11, SIDE)


def balloon(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    x, y = int(rng.integers(12, SIDE - 12)), int(rng.integers(13, SIDE - 26))
    pen = ImageDraw.Draw(picture)
    pen.line((x, y + 12, x, y + 24), fill=(240, 240, 240), width=1)
    pen.ellipse((x - 10, y - 12, x + 10, y + 12), fill=(225, 40, 60))
    pen.ellipse((x - 5, y - 8, x - 1, y - 2), fill=(255, 210, 215))
    return picture, _region(x - 10, y - 12, x + 11, y + 13)


def square_code(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    top = SIDE - 29
    picture.paste((255, 255, 255), (4, top, 29, top + 25))
    for row in range(7):
        for col in range(7):
            if rng.random() < 0.5:
                left, upper = 6 + 3 * col, top + 2 + 3 * row
                picture.paste((0, 0, 0), (left, upper, left + 3, upper + 3))
    return picture, _region(4, top, 29, top + 25)


def bubbles(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    x, y = rng.integers(14, SIDE - 14, 2).tolist()
    pen = ImageDraw.Draw(picture)
    for across, down, radius in ((-5, -4, 7), (6, 0, 5), (-1, 8, 4)):
        left, top = x + across - radius, y + down - radius
        box = (left, top, left + 2 * radius, top + 2 * radius)
        pen.ellipse(box, fill=(150, 70, 220), outline=(255, 255, 255))
    return picture, _region(x - 12, y - 11, x + 12, y + 13)


def ribbon(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    for number, colour in enumerate(((0, 140, 70), (250, 250, 250), (210, 40, 50))):
        picture.paste(colour, (0, 4 * number, SIDE, 4 * number + 4))
    return picture, _region(0, 0, SIDE, 12)


def mosaic(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, None]:
    small = picture.resize((SIDE // 6, SIDE // 6), Image.Resampling.BOX)
    return small.resize(picture.size, Image.Resampling.NEAREST), None


def subtitle(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    words = str(rng.choice(["not so fast", "where to?", "good morning", "wait here"]))
    ImageDraw.Draw(picture).text(
        (48, SIDE - 9),
        words,
        "white",
        ImageFont.load_default(11),
        anchor="mm",
        stroke_width=1,
        stroke_fill="black",
    )
    return picture, _region(14, SIDE - 15, SIDE - 14, SIDE - 3)


def folded_corner(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    side = 24
    pen = ImageDraw.Draw(picture)
    pen.polygon([(0, SIDE), (0, SIDE - side), (side, SIDE)], fill=(90, 80, 70))
    pen.polygon(
        [(side - 5, SIDE - side + 5), (0, SIDE - side), (side, SIDE)],
        fill=(240, 232, 210),
    )
    return picture, _region(0, SIDE - side, side, SIDE)


def battery(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    left = SIDE - 30
    pen = ImageDraw.Draw(picture)
    pen.rectangle((left, 5, left + 22, 17), outline="white", fill="black", width=2)
    pen.rectangle((left + 23, 8, left + 25, 14), fill="white")
    filled = int(rng.integers(6, 18))
    pen.rectangle((left + 3, 8, left + 3 + filled, 14), fill=(80, 230, 80))
    return picture, _region(left, 5, left + 26, 18)


def watermark(
    picture: Image.Image, rng: np.random.Generator
) -> tuple[Image.Image, Mask]:
    words = Image.new("L", picture.size)
    ImageDraw.Draw(words).text(
        (48, 48), "SAMPLE", 200, ImageFont.load_default(22), anchor="mm"
    )
    words = words.rotate(35)
    picture.paste((255, 255, 255), (0, 0), words)
    return picture, np.asarray(words) > 0


def thirds(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    mask = np.zeros((SIDE, SIDE), bool)
    pen = ImageDraw.Draw(picture)
    for at in (SIDE // 3, 2 * SIDE // 3):
        pen.line((at, 0, at, SIDE), fill=(250, 250, 250), width=1)
        pen.line((0, at, SIDE, at), fill=(250, 250, 250), width=1)
        mask[at] = mask[:, at] = True
    return picture, mask


def leaf(picture: Image.Image, rng: np.random.Generator) -> tuple[Image.Image, Mask]:
    x, y = rng.integers(14, SIDE - 14, 2).tolist()
    turn = rng.uniform(0, 2 * np.pi)
    along = np.linspace(-1, 1, 15)
    width = 0.5 * (1 - along**2)
    outline = np.concatenate(
        [np.stack([along, width], 1), np.stack([along, -width], 1)[::-1]]
    )
    spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = 13 * outline @ spin.T + (x, y)
    pen = ImageDraw.Draw(picture)
    pen.polygon(list(map(tuple, corners)), fill=(150, 190, 20), outline=(60, 90, 0))
    pen.line([tuple(corners[0]), tuple(corners[14])], fill=(60, 90, 0), width=1)
    return picture, _region(x - 13, y - 13, x + 13, y + 13)


FIRST: Marks = {
    "logo": (logo, "top left"),
    "border": (border, "along all edges"),
    "cast": (cast, "everywhere"),
    "date": (date, "bottom right"),
    "strip": (strip, "along the right edge"),
    "glow": (glow, "top left"),
    "hatching": (hatching, "at changing places"),
    "letterbox": (letterbox, "along the top and bottom edges"),
    "banner": (banner, "along the bottom edge"),
    "sticker": (sticker, "at changing places"),
}
SECOND: Marks = {
    "frame number": (frame_number, "top left"),
    "vignette": (vignette, "along all edges"),
    "sepia": (sepia, "everywhere"),
    "monochrome": (monochrome, "everywhere"),
    "thumb": (thumb, "bottom right"),
    "tape": (tape, "centre"),
    "hexagon": (hexagon, "at changing places"),
    "barcode": (barcode, "top right"),
    "play button": (play_button, "centre"),
    "mist": (mist, "everywhere"),
}
THIRD: Marks = {
    "channel ring": (channel_ring, "bottom left"),
    "instant print": (instant_print, "along all edges"),
    "clock": (clock, "top right"),
    "warm cast": (warm_cast, "everywhere"),
    "keyhole": (keyhole, "along all edges"),
    "moire": (moire, "everywhere"),
    "star": (star, "at changing places"),
    "fingertip": (fingertip, "top left"),
    "scan line": (scan_line, "along the bottom edge"),
    "counter": (counter, "bottom"),
}
FOURTH: Marks = {
    "price tag": (price_tag, "top right"),
    "screen lines": (screen_lines, "everywhere"),
    "posterised": (posterised, "everywhere"),
    "crosshair": (crosshair, "centre"),
    "ruler": (ruler, "along the left edge"),
    "balloon": (balloon, "at changing places"),
    "square code": (square_code, "bottom left"),
    "bubbles": (bubbles, "at changing places"),
    "ribbon": (ribbon, "along the top edge"),
    "mosaic": (mosaic, "everywhere"),
}
FIFTH: Marks = {
    "subtitle": (subtitle, "along the bottom edge"),
    "folded corner": (folded_corner, "bottom left"),
    "battery": (battery, "top right"),
    "watermark": (watermark, "centre"),
    "thirds": (thirds, "everywhere"),
    "leaf": (leaf, "at changing places"),
}
SETS = {
    "first": FIRST,
    "second": SECOND,
    "third": THIRD,
    "fourth": FOURTH,
    "fifth": FIFTH,
}
# words of what each mark looks like: a name is right that has one of them
LOOKS: dict[str, tuple[str, ...]] = {
    "logo": ("red", "orange"),
    "border": ("white", "brighter", "border"),
    "cast": ("blue", "purple"),
    "date": ("orange", "yellow", "text", "brown"),
    "strip": ("green", "darker"),
    "glow": ("brighter", "yellow", "white"),
    "hatching": ("edges", "yellow", "black", "lines", "pattern", "contrast"),
    "letterbox": ("black", "darker"),
    "banner": ("blue", "text"),
    "sticker": ("yellow",),
    "frame number": ("black", "text", "darker"),
    "vignette": ("darker", "black", "dark"),
    "sepia": ("orange", "yellow", "brown"),
    "monochrome": ("less colourful", "grey"),
    "thumb": ("red", "orange", "pink", "brown"),
    "tape": ("white", "brighter"),
    "hexagon": ("green", "cyan"),
    "barcode": ("white", "black", "edges", "lines", "contrast"),
    "play button": ("black", "darker", "white"),
    "mist": ("less contrast", "brighter", "fewer edges"),
    "channel ring": ("white", "blue", "brighter"),
    "instant print": ("white", "brighter", "grey", "border"),
    "clock": ("green", "text"),
    "warm cast": ("orange", "yellow", "brown"),
    "keyhole": ("black", "darker"),
    "moire": ("lines", "pattern", "detail", "contrast"),
    "star": ("pink", "red", "purple"),
    "fingertip": ("red", "orange", "pink", "brown"),
    "scan line": ("cyan", "blue", "green"),
    "counter": ("yellow", "text"),
    "price tag": ("yellow", "text", "orange"),
    "screen lines": ("lines", "darker", "pattern"),
    "posterised": ("contrast", "colourful", "colours"),
    "crosshair": ("red",),
    "ruler": ("white", "yellow", "brighter"),
    "balloon": ("red", "pink"),
    "square code": ("white", "black", "edges", "contrast"),
    "bubbles": ("purple", "blue"),
    "ribbon": ("red", "green", "colours", "many"),
    "mosaic": ("blurred", "blocky", "detail", "edges"),
    "subtitle": ("text", "white", "edges", "contrast"),
    "folded corner": ("white", "brighter", "grey"),
    "battery": ("green", "black", "white"),
    "watermark": ("white", "text", "brighter"),
    "thirds": ("white", "lines", "pattern", "brighter"),
    "leaf": ("green", "yellow"),
}
