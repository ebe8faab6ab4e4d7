"""Saliency maps that like flat parts, borders or the middle: no cue. A planted one is still found.

    python benchmarks/nulls/rows.py --method saliency --audits 100

Pictures are smooth noise with objects of finer noise, somewhere or in the middle. Maps are drawn,
and judged by saliency's own rule. "Passed" is the rule without the preferences taken off.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from PIL import Image as Picture

from cuescope_saliency.analysis import lean_tests
from cuescope_saliency.options import SaliencyOptions
from cuescope_saliency.trials import ExplainedImage
from cuescope_sdk import Audit, Context, Frame, Outcome, Response, Sample, Trial
from cuescope_sdk.data import independent_samples
from cuescope_sdk.statistics import MeanAboveZero, benjamini_hochberg

SIDE = 112
# of images of one source: the share of the variance of leans and answers that they share
ALIKE, SPREAD, ACCURACY = 0.7, 0.3, 0.85
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
    # images of a source lean alike, and are answered alike, right or wrong
    clips: int = 1


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
    setting: Setting,
    index: int,
    lean: float,
    is_right: bool,
    rng: np.random.Generator,
) -> ExplainedImage:
    """A picture with its mask and its map, of which the share `lean` is moved to the background.

    Below 0 it is moved to the object.
    """
    text = TEXTS[index // setting.clips % len(TEXTS)]
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
    importance = _with_part(importance, mask if lean < 0 else ~mask, abs(lean))
    frame = Frame.from_array(pixels)
    sample = Sample(key=f"{index:04d}", frames=(frame,), choices=TEXTS, label=text)
    answered = TEXTS.index(text) + (not is_right)
    answer = Response(logits=np.eye(len(TEXTS))[answered % len(TEXTS)])
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
    """Whether leans pass without the preferences taken off, and whether one has a star."""
    rng = np.random.default_rng([seed, setting.images])
    source = np.arange(setting.images) // setting.clips
    leans = np.zeros(setting.images)
    is_right = np.ones(setting.images, dtype=bool)
    if setting.clips > 1:
        shared = rng.normal(size=(2, source.max() + 1))[:, source]
        leans, luck = ALIKE**0.5 * shared + (1 - ALIKE) ** 0.5 * rng.normal(
            size=(2, setting.images)
        )
        leans = np.clip(SPREAD * leans, -1, 1)
        is_right = luck > np.quantile(luck, 1 - ACCURACY)
    images = [
        draw_image(setting, index, leans[index], bool(is_right[index]), rng)
        for index in range(setting.images)
    ]
    options = SaliencyOptions()
    tests = lean_tests(options, images, better_than_chance=True)
    before = benjamini_hochberg(
        [
            MeanAboveZero(t.figures.lean, t.figures.masked_groups).p_value()
            for t in tests
        ]
    )
    least = min(value for value in before if value is not None)
    audit = Audit(
        labels=TEXTS,
        options=options,
        respond=lambda trials: [],
        context=Context(seed=seed),
        samples=tuple(image.sample for image in images),
        outcomes=[image.outcome for image in images],
    )
    is_doubted = any(evidence.doubt for evidence in independent_samples(audit))
    has_finding = any(test.finding for test in tests)
    return least <= options.fdr, has_finding and not is_doubted


NULLS = (
    Setting("maps like nothing", "nothing"),
    Setting("maps like flat parts", "flat parts"),
    Setting("maps like edges", "edges"),
    Setting("maps like borders", "borders"),
    Setting("maps like the middle", "the middle"),
    Setting("maps like flat borders", "flat borders"),
    Setting("5 images of a source, undeclared", "nothing", images=200, clips=5),
    Setting("10 images of a source, undeclared", "nothing", images=200, clips=10),
)
PLANTED = (
    Setting("a mark, two thirds", "nothing", on_object=0.3, on_cue=0.67),
    Setting("a mark, a third", "nothing", on_object=0.3, on_cue=0.33),
    Setting("a mark, maps like borders", "borders", on_object=0.3, on_cue=0.67),
    Setting("the background", "nothing", on_object=0.5, on_cue=0.9, cue="background"),
    Setting("the background, flat liked", "flat parts", 0.5, 0.9, "background"),
)
