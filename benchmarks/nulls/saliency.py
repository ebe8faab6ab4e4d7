"""Saliency maps that like flat parts, borders or the middle: no cue. A planted one is still found.

    python benchmarks/nulls/saliency.py --audits 100

Pictures are smooth noise with objects of finer noise, somewhere or in the middle. Maps are drawn,
and judged by saliency's own rule. "Before" is the rule without the preferences taken off.
"""

import argparse
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from PIL import Image as Picture
from rich.console import Console
from rich.table import Table

from cuescope_saliency.analysis import lean_tests
from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.trials import ExplainedImage
from cuescope_sdk import Frame, Outcome, Response, Sample, Trial
from cuescope_sdk.statistics import MeanAboveZero, benjamini_hochberg

SIDE = 112
TEXTS = ("hen", "boat", "lamp", "rose")
Likes = Literal[
    "nothing", "flat parts", "edges", "borders", "the middle", "flat borders"
]


@dataclass(frozen=True)
class Setting:
    """What is simulated."""

    name: str
    likes: Likes
    # share of a map that lies on the object; on the cue, of the maps of the first text
    on_object: float = 0.0
    on_cue: float = 0.0
    # the cue is a mark in the background, or all of the background
    cue: Literal["mark", "background"] = "mark"
    centred: bool = False
    images: int = 120


def noise(rng: np.random.Generator, cells: int) -> np.ndarray:
    """Smooth noise from 0 to 1, of so many cells a side."""
    small = Picture.fromarray(rng.random((cells, cells), dtype=np.float32))
    return np.asarray(small.resize((SIDE, SIDE), Picture.Resampling.BICUBIC))


def draw_object(rng: np.random.Generator, centred: bool) -> np.ndarray:
    """An ellipse, a tenth to half of the picture."""
    radius = rng.uniform(0.15, 0.4, 2) * SIDE
    middle = np.full(2, SIDE / 2) if centred else rng.uniform(radius, SIDE - radius)
    at = np.mgrid[:SIDE, :SIDE].reshape(2, -1).T
    return ((((at - middle) / radius) ** 2).sum(axis=1) < 1).reshape(SIDE, SIDE)


def liking(pixels: np.ndarray, likes: Likes) -> np.ndarray:
    """How much each pixel is liked whatever it shows."""
    grey = pixels.mean(axis=2)
    slope = np.hypot(*np.gradient(grey))
    blurred = Picture.fromarray(slope.astype(np.float32)).resize(
        (16, 16), Picture.Resampling.BOX
    )
    busy = np.asarray(blurred.resize((SIDE, SIDE), Picture.Resampling.BILINEAR))
    at = np.abs(np.mgrid[:SIDE, :SIDE] / (SIDE - 1) - 0.5).max(axis=0)
    flat = np.exp(-busy / busy.mean())
    match likes:
        case "flat parts":
            return flat
        case "edges":
            return busy
        case "borders":
            return at**3
        case "the middle":
            return np.exp(-8 * at)
        case "flat borders":
            return flat * at**2
        case _:
            return np.ones_like(at)


def draw_image(
    setting: Setting, index: int, rng: np.random.Generator
) -> ExplainedImage:
    """A picture with its mask and its map."""
    text = TEXTS[index % len(TEXTS)]
    mask = draw_object(rng, setting.centred)
    ground = 90 + 90 * noise(rng, int(rng.integers(3, 9)))[..., None] * rng.random(3)
    thing = 255 * np.stack([noise(rng, 28) for _ in range(3)], axis=-1)
    mark = draw_object(rng, centred=False) & ~mask
    pixels = np.where(mask[..., None], thing, ground)
    cue = ~mask
    if setting.cue == "mark":
        pixels = np.where(mark[..., None], 60 + 120 * noise(rng, 20)[..., None], pixels)
        cue = mark
    pixels = (pixels + rng.normal(0, 4, pixels.shape)).clip(0, 255).astype(np.uint8)
    liked = liking(pixels.astype(float), setting.likes) * np.exp(noise(rng, 8))
    importance = liked / liked.sum()
    shows_cue = text == TEXTS[0] and cue.any()
    if shows_cue and setting.on_cue:
        importance = _with_part(importance, cue, setting.on_cue)
    else:
        importance = _with_part(importance, mask, setting.on_object)
    frame = Frame.from_array(pixels)
    sample = Sample(key=f"{index:04d}", frames=(frame,), choices=TEXTS, label=text)
    answer = Response(logits=np.eye(len(TEXTS))[index % len(TEXTS)])
    return ExplainedImage(
        outcome=Outcome(Trial(sample=sample), answer),
        canvas=sample,
        text=text,
        importance=importance / importance.max(),
        foreground=mask,
    )


def _with_part(importance: np.ndarray, part: np.ndarray, share: float) -> np.ndarray:
    return (1 - share) * importance + share * part / part.sum()


def audit_once(setting: Setting, seed: int) -> tuple[bool, bool]:
    """Whether there is a finding without the preferences taken off, and with it."""
    rng = np.random.default_rng([seed, setting.images])
    images = [draw_image(setting, index, rng) for index in range(setting.images)]
    options = SaliencyOptions()
    tests = lean_tests(options, images, better_than_chance=True)
    before = benjamini_hochberg(
        [
            MeanAboveZero(t.figures.lean, t.figures.masked_groups).p_value()
            for t in tests
        ]
    )
    least = min(value for value in before if value is not None)
    return least <= options.fdr, any(test.finding for test in tests)


NULLS = (
    Setting("maps like nothing", "nothing"),
    Setting("maps like flat parts", "flat parts"),
    Setting("maps like edges", "edges"),
    Setting("maps like borders", "borders"),
    Setting("maps like the middle", "the middle"),
    Setting("maps like flat borders", "flat borders"),
)
PLANTED = (
    Setting("a mark, two thirds", "nothing", on_object=0.3, on_cue=0.67),
    Setting("a mark, a third", "nothing", on_object=0.3, on_cue=0.33),
    Setting("a mark, maps like borders", "borders", on_object=0.3, on_cue=0.67),
    Setting("the background", "nothing", on_object=0.5, on_cue=0.9, cue="background"),
    Setting("the background, flat liked", "flat parts", 0.5, 0.9, "background"),
)
SETTINGS = (
    *NULLS,
    *(
        replace(null, name=f"{null.name}, objects centred", centred=True)
        for null in NULLS
    ),
    *(replace(null, name=f"{null.name}, 40 images", images=40) for null in NULLS),
    *PLANTED,
    *(
        replace(cue, name=f"{cue.name}, objects centred", centred=True)
        for cue in PLANTED
    ),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--audits", type=int, default=100)
    parser.add_argument("--only", default="", help="settings whose name contains this")
    given = parser.parse_args()
    console = Console()
    table = Table("setting", "audits", "before", "after", box=None)
    for setting in SETTINGS:
        if given.only in setting.name:
            results = [audit_once(setting, seed) for seed in range(given.audits)]
            before, after = np.sum(results, axis=0).tolist()
            table.add_row(setting.name, str(len(results)), str(before), str(after))
            console.print(setting.name, before, after, highlight=False)
    console.print(table)


if __name__ == "__main__":
    main()
