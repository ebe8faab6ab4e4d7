"""Photos with true labels: cut-outs on photographed backgrounds, and the real CLIP tower."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from PIL import Image, ImageOps
from pydantic import Field

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    LazyWeights,
    Model,
    Options,
    Plugin,
    Response,
    Sample,
    Trial,
    UserError,
    digest,
    generator,
)

# part of every frame key: raise it when a picture gets other pixels
DRAWING_VERSION = 1
LABELS = ("bird", "cow", "fish", "insect", "fruit")
SIDE = 224
SHARE = (0.3, 0.5)  # of the side that a cut-out takes
WINDOW = (0.6, 0.95)  # of the photo's shorter side
TOWER = "clip-vit-b16-vision"


def assets() -> Path:
    """The folder of real photos and weights, which need not be there."""
    folder = os.environ.get("CUESCOPE_REAL_ASSETS", "~/.cache/cuescope-assets")
    return Path(folder).expanduser()


def has_assets() -> bool:
    """Whether photos and weights are here."""
    folders = ("stamps", "backgrounds", TOWER)
    return all((assets() / name).is_dir() for name in folders)


def require_assets() -> Path:
    """The folder; raises UserError where anything is missing."""
    if not has_assets():
        raise UserError(
            f"{assets()} lacks photos or weights",
            expected=f"folders stamps, backgrounds and {TOWER}",
            remedy="Name the folder by CUESCOPE_REAL_ASSETS",
        )
    return assets()


class CompositesOptions(Options):
    """What is drawn."""

    split: Literal["train", "val"] = Field("val", description="which split to show")
    train: int = Field(600, ge=len(LABELS), description="pictures for training")
    val: int = Field(400, ge=len(LABELS), description="pictures for audits")
    seed: int = Field(0, ge=0, description="another seed, another draw")


class Composites(Plugin):
    """A cut-out somewhere on a photo, labels in turn; backgrounds tell nothing of them.

    The last third of the cut-outs of a label is kept for "val": no animal is in both splits.
    """

    Options = CompositesOptions
    options: CompositesOptions
    labels: tuple[str, ...] = LABELS
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: CompositesOptions, context: Context) -> None:
        super().__init__(options, context)
        self._folder = require_assets()
        self.fingerprint = digest("composites", DRAWING_VERSION, options.model_dump())

    def __len__(self) -> int:
        return int(getattr(self.options, self.options.split))

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        split = self.options.split
        label = LABELS[index % len(LABELS)]
        names = ("composite", str(DRAWING_VERSION), split, str(index))
        draw = partial(_draw, self._folder, label, split, self.options.seed, names)
        key = f"{split}-{index:05d}"
        return Sample(
            key=key,
            group=key,
            frames=(Frame(digest(self.options.seed, label, names), draw),),
            choices=LABELS,
            label=label,
        )

    def split(self, name: str) -> Self:
        """The same options on "train" or "val"."""
        return self.with_options(split=name)


@cache
def _cut_outs(folder: Path, label: str, split: str) -> tuple[Path, ...]:
    files = sorted((folder / "stamps" / label).glob("*.png"))
    kept = max(1, len(files) // 3)
    return tuple(files[-kept:] if split == "val" else files[:-kept])


@cache
def _photos(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted((folder / "backgrounds").glob("*.jpg")))


def _draw(
    folder: Path,
    label: str,
    split: str,
    seed: int,
    names: tuple[str, ...],
) -> Image.Image:
    rng = generator(seed, *names)
    photos = _photos(folder)
    with Image.open(photos[rng.integers(len(photos))]) as photo:
        picture = _window(photo.convert("RGB"), rng)
    files = _cut_outs(folder, label, split)
    with Image.open(files[rng.integers(len(files))]) as file:
        stamp = file.convert("RGBA")
    stamp = stamp.crop(stamp.getchannel("A").getbbox())
    length = round(SIDE * rng.uniform(*SHARE))
    stamp = ImageOps.contain(stamp, (length, length), Image.Resampling.LANCZOS)
    if rng.random() < 0.5:
        stamp = ImageOps.mirror(stamp)
    left, top = (int(rng.integers(SIDE - side + 1)) for side in stamp.size)
    picture.paste(stamp, (left, top), stamp.getchannel("A"))
    return picture


def _window(photo: Image.Image, rng: np.random.Generator) -> Image.Image:
    side = float(rng.uniform(*WINDOW)) * min(photo.size)
    left = float(rng.uniform(0, photo.width - side))
    top = float(rng.uniform(0, photo.height - side))
    box = (left, top, left + side, top + side)
    return photo.resize((SIDE, SIDE), Image.Resampling.LANCZOS, box=box)


class TowerOptions(Options):
    """None."""


class ClipTower(Plugin, LazyWeights):
    """The image tower of OpenAI's CLIP ViT-B/16, as the folder of assets has it."""

    Options = TowerOptions
    options: TowerOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset({"embedding"}), max_frames=1
    )
    facts: ClassVar[Mapping[str, str]] = {}

    def __init__(self, options: TowerOptions, context: Context) -> None:
        super().__init__(options, context)
        folder = require_assets() / TOWER
        # a fraction of the time of float32
        fast = replace(context, dtype="bfloat16", dataset=None)
        self._model: Model = fast.build("model", f"transformers:{folder}")
        self.fingerprint = self._model.fingerprint

    def open_weights(self) -> None:
        if isinstance(self._model, LazyWeights):
            self._model.open_weights()

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Image embeddings."""
        return self._model.respond(trials)
