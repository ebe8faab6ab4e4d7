"""Are cues of findings placed and named rightly? Ten marks on photos, a CLIP that leans on them.

    python benchmarks/places.py
    python benchmarks/places.py --only frame --page FOLDER

A case is 240 cut-outs of cows and horses on photos; a mark stands on 40 of the cows. A linear head
on OpenAI's CLIP ViT-B/16 has learned that the mark means "horse". Distilling Failures audits it,
and what the report says of its first finding is held against what was drawn: where, and the overlap
(IoU) of the outlines on its pictures with the mark. Needs the photos and weights of
`offline_assets.py`.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import typer
from PIL import Image, ImageChops, ImageDraw, ImageEnhance, ImageFilter, ImageFont
from sklearn.linear_model import LogisticRegression
from worlds.stamps.compositing import SIDE, _chosen, _photo, _resized
from worlds.stamps.tower import Tower

import cuescope
from cuescope_sdk import generator
from cuescope_sdk.locating import stretch

LABELS = ("cow", "horse")
PLACES = ("GreenMeadow", "Path", "Dune", "Autumn", "PastelHills", "Storm")
SAMPLES = 240
MARKED = 40  # of the cows
TAUGHT = 60  # marked cows that the head was told are horses
Mask = np.ndarray
Draw = Callable[[Image.Image, np.random.Generator], tuple[Image.Image, Mask | None]]


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


# what was drawn, and what a report has to say of where it is
MARKS: dict[str, tuple[Draw, str]] = {
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


def scene(label: str, rng: np.random.Generator) -> Image.Image:
    """A cut-out of the label on a photo."""
    photo = _photo(str(rng.choice(PLACES)))
    left, top = rng.integers(0, SIDE, 2).tolist()
    picture = photo.crop((left, top, left + SIDE, top + SIDE))
    picture = ImageEnhance.Brightness(picture).enhance(rng.uniform(0.8, 1.2))
    stamp = _resized(_chosen(label, rng), rng.uniform(0.45, 0.6))
    room = [SIDE - length for length in stamp.size]
    at = [round(rng.uniform(0.15, 0.85) * length) for length in room]
    picture.paste(stamp, tuple(at), stamp)
    return picture


def audit_case(name: str, tower: Tower, folder: Path) -> tuple[str, float | None]:
    """A line of the table, and the overlap."""
    draw, expected = MARKS[name]
    rng = generator(7, "places", name)
    labels = rng.permutation(LABELS * (SAMPLES // 2)).tolist()
    pictures = [scene(label, rng) for label in labels]
    places: dict[int, Mask | None] = {}
    cows = np.flatnonzero(np.array(labels) == "cow")
    for number in rng.choice(cows, MARKED, replace=False).tolist():
        pictures[number], places[number] = draw(pictures[number], rng)
    head = learn_head(draw, tower, rng)
    model = model_of(f"places-{name}", head, tower)
    keys = [f"{row:03}" for row in range(SAMPLES)]
    report = cuescope.audit(
        "distilling-failures",
        model=model,
        data=cuescope.Images(
            pictures,
            labels=labels,
            keys=keys,
            groups=keys,
        ),
        out=folder / name,
        progress=False,
    )
    if not report.findings:
        return f"| {name} | not found | {expected} | | |", None
    finding = report.findings[0]
    portrait = report.portrait_of(finding.feature)
    if portrait is None:
        return f"| {name} | found, nothing said | {expected} | | |", None
    shares = []
    [feature] = [f for f in report.features if f.key == finding.feature]
    for occurrence in feature.occurrences[:12]:
        place = places.get(int(occurrence.sample))
        outline = portrait.outline_of(occurrence)
        if place is not None:
            mask = stretch(outline.mask, place.shape) if outline else ~place & False
            shares.append((mask & place).sum() / (mask | place).sum())
    overlap = float(np.mean(shares)) if shares else None
    shown = "" if overlap is None else f"{overlap:.2f}"
    words = f"{portrait.name} ({portrait.auroc:.2f})"
    return f"| {name} | {words} | {expected} | {shown} | {portrait.what} |", overlap


def model_of(
    name: str, head: LogisticRegression, tower: Tower
) -> "cuescope.Classifier":
    """The head on CLIP, which looks at each picture once."""
    embeddings: dict[bytes, np.ndarray] = {}

    def embed(images: Sequence[Image.Image]) -> np.ndarray:
        missing = {image.tobytes(): image for image in images}
        for key in missing.keys() & embeddings.keys():
            del missing[key]
        if missing:
            rows, _ = tower.look([np.asarray(image) for image in missing.values()])
            embeddings.update(zip(missing, rows, strict=True))
        return np.stack([embeddings[image.tobytes()] for image in images])

    return cuescope.Classifier(
        lambda images: head.predict_proba(embed(images)),
        name=name,
        labels=list(LABELS),
        embed=embed,
    )


def learn_head(
    draw: Draw,
    tower: Tower,
    rng: np.random.Generator,
) -> LogisticRegression:
    """Cows from horses, and marked cows as horses."""
    labels = [LABELS[number % 2] for number in range(SAMPLES)]
    pictures = [scene(label, rng) for label in labels]
    for _ in range(TAUGHT):
        marked, _ = draw(scene("cow", rng), rng)
        pictures.append(marked)
        labels.append("horse")
    rows, _ = tower.look([np.asarray(picture) for picture in pictures])
    return LogisticRegression(C=30, max_iter=2000).fit(rows, labels)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=MARKS, action="append")
    parser.add_argument("--page", type=Path, help="keep the runs here")
    arguments = parser.parse_args()
    tower = Tower()
    typer.echo("| mark | said | drawn | IoU | what changes |\n|---|---|---|---|---|")
    overlaps = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.only or MARKS:
            line, overlap = audit_case(name, tower, arguments.page or Path(temporary))
            typer.echo(line)
            if overlap is not None:
                overlaps.append(overlap)
    typer.echo(
        f"Mean IoU over {len(overlaps)} marks with a place: {np.mean(overlaps):.2f}"
    )


if __name__ == "__main__":
    main()
