"""Are cues of findings placed and named rightly? Ten marks on photos, a CLIP that leans on them.

    python benchmarks/places.py
    python benchmarks/places.py --set second
    python benchmarks/places.py --only border --page FOLDER

A case is 240 cut-outs of cows and horses on photos; a mark stands on 40 of the cows. A linear head
on OpenAI's CLIP ViT-B/16 has learned that the mark means "horse". Distilling Failures audits it,
and what the report says of its first finding is held against what was drawn: where, and the overlap
(IoU) of the outlines on its pictures with the mark. Marks are those of benchmarks/marks.py; the
fourth set has birds and fish on other photos. Needs the photos and weights that
`tests/real_assets.py` fetches.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer
from marks import SETS, Draw, Mask
from PIL import Image, ImageEnhance
from sklearn.linear_model import LogisticRegression
from worlds.stamps.compositing import SIDE, _chosen, _photo, _resized
from worlds.stamps.tower import Tower

import cuescope
from cuescope_sdk import Report, generator
from cuescope_sdk.locating import stretch

SEED = 7
SAMPLES = 240
MARKED = 40  # of the label that has the mark
TAUGHT = 60  # marked ones that the head was told are of the other label


@dataclass(frozen=True)
class Scenery:
    """Whose cut-outs stand on which photos; the first label has the mark."""

    labels: tuple[str, str]
    photos: tuple[str, ...]


FARM = Scenery(
    ("cow", "horse"),
    ("GreenMeadow", "Path", "Dune", "Autumn", "PastelHills", "Storm"),
)
POND = Scenery(
    ("bird", "fish"),
    ("Garden", "FallenLeaf", "EveningGlow", "BytheWater", "Wood", "ColdRipple"),
)
SCENERIES = {"fourth": POND}
LABELS = FARM.labels


class Eye:
    """CLIP, which looks at each picture once, whatever cases have it."""

    def __init__(self) -> None:
        self._tower = Tower()
        self._rows: dict[bytes, np.ndarray] = {}

    def embed(self, images: Sequence[Image.Image]) -> np.ndarray:
        """A row for each picture."""
        missing = {image.tobytes(): image for image in images}
        for key in missing.keys() & self._rows.keys():
            del missing[key]
        if missing:
            rows, _ = self._tower.look(
                [np.asarray(image) for image in missing.values()]
            )
            self._rows.update(zip(missing, rows, strict=True))
        return np.stack([self._rows[image.tobytes()] for image in images])


@dataclass(frozen=True, eq=False)
class Case:
    """Pictures with their labels, where the mark is on those that have it, and a head."""

    pictures: list[Image.Image]
    labels: list[str]
    places: dict[int, Mask | None]
    head: LogisticRegression


def scene(label: str, rng: np.random.Generator, scenery: Scenery = FARM) -> Image.Image:
    """A cut-out of the label on a photo."""
    photo = _photo(str(rng.choice(scenery.photos)))
    left, top = rng.integers(0, SIDE, 2).tolist()
    picture = photo.crop((left, top, left + SIDE, top + SIDE))
    picture = ImageEnhance.Brightness(picture).enhance(rng.uniform(0.8, 1.2))
    stamp = _resized(_chosen(label, rng), rng.uniform(0.45, 0.6))
    room = [SIDE - length for length in stamp.size]
    at = [round(rng.uniform(0.15, 0.85) * length) for length in room]
    picture.paste(stamp, tuple(at), stamp)
    return picture


def make_case(
    name: str, draw: Draw, eye: Eye, seed: int = SEED, scenery: Scenery = FARM
) -> Case:
    """The mark on some of a label, and a head that knows it; all marks have the same scenes."""
    rng = generator(seed, "places")
    labels = rng.permutation(scenery.labels * (SAMPLES // 2)).tolist()
    pictures = [scene(label, rng, scenery) for label in labels]
    head = learn_head(draw, eye, rng, scenery)
    of_mark = generator(seed, "places", name)
    places: dict[int, Mask | None] = {}
    may_have_it = np.flatnonzero(np.array(labels) == scenery.labels[0])
    for number in of_mark.choice(may_have_it, MARKED, replace=False).tolist():
        pictures[number], places[number] = draw(pictures[number], of_mark)
    return Case(pictures, labels, places, head)


def audit_case(name: str, case: Case, eye: Eye, folder: Path) -> Report:
    """What Distilling Failures finds."""
    keys = [f"{row:03}" for row in range(SAMPLES)]
    return cuescope.audit(
        "distilling-failures",
        model=model_of(f"places-{name}", case.head, eye),
        data=cuescope.Images(case.pictures, labels=case.labels, keys=keys, groups=keys),
        out=folder / name,
        progress=False,
    )


def judge(
    name: str, expected: str, case: Case, report: Report
) -> tuple[str, float | None]:
    """A line of the table, and the overlap."""
    if not report.findings:
        return f"| {name} | not found | {expected} | | |", None
    finding = report.findings[0]
    portrait = report.portrait_of(finding.feature)
    if portrait is None:
        return f"| {name} | found, nothing said | {expected} | | |", None
    shares = []
    [feature] = [f for f in report.features if f.key == finding.feature]
    for occurrence in feature.occurrences[:12]:
        place = case.places.get(int(occurrence.sample))
        outline = portrait.outline_of(occurrence)
        if place is not None:
            mask = stretch(outline.mask, place.shape) if outline else ~place & False
            shares.append((mask & place).sum() / (mask | place).sum())
    overlap = float(np.mean(shares)) if shares else None
    shown = "" if overlap is None else f"{overlap:.2f}"
    words = f"{portrait.name} ({portrait.auroc:.2f})"
    return f"| {name} | {words} | {expected} | {shown} | {portrait.what} |", overlap


def model_of(name: str, head: LogisticRegression, eye: Eye) -> "cuescope.Classifier":
    """The head on CLIP."""
    return cuescope.Classifier(
        lambda images: head.predict_proba(eye.embed(images)),
        name=name,
        labels=head.classes_.tolist(),
        embed=eye.embed,
    )


def learn_head(
    draw: Draw,
    eye: Eye,
    rng: np.random.Generator,
    scenery: Scenery = FARM,
) -> LogisticRegression:
    """One label from the other, and marked samples of the first as the second."""
    first, second = scenery.labels
    labels = [scenery.labels[number % 2] for number in range(SAMPLES)]
    pictures = [scene(label, rng, scenery) for label in labels]
    for _ in range(TAUGHT):
        marked, _ = draw(scene(first, rng, scenery), rng)
        pictures.append(marked)
        labels.append(second)
    rows = eye.embed(pictures)
    return LogisticRegression(C=30, max_iter=2000).fit(rows, labels)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS, default="first", dest="which")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", action="append")
    parser.add_argument("--page", type=Path, help="keep the runs here")
    arguments = parser.parse_args()
    eye = Eye()
    marks = SETS[arguments.which]
    scenery = SCENERIES.get(arguments.which, FARM)
    typer.echo("| mark | said | drawn | IoU | what changes |\n|---|---|---|---|---|")
    overlaps = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.only or marks:
            draw, expected = marks[name]
            case = make_case(name, draw, eye, arguments.seed, scenery)
            report = audit_case(name, case, eye, arguments.page or Path(temporary))
            line, overlap = judge(name, expected, case, report)
            typer.echo(line)
            if overlap is not None:
                overlaps.append(overlap)
    typer.echo(
        f"Mean IoU over {len(overlaps)} marks with a place: {np.mean(overlaps):.2f}"
    )


if __name__ == "__main__":
    main()
