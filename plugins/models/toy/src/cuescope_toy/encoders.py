"""Frozen encoders of frames and texts, and the memory of what they made of each frame."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Literal

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from cuescope_sdk import (
    Context,
    EmbedsText,
    Frame,
    LazyWeights,
    Model,
    Sample,
    Trial,
    UserError,
    digest,
    generator,
)
from cuescope_sdk.models import FrameMemory
from cuescope_toy.options import DIM, ToyOptions

TextRows = Float[np.ndarray, "text dim"]
Features = Float[np.ndarray, "frame feature"]
Clip = Sequence[Frame]

# enters the fingerprint: raise it when equal frames get other features
GRID_VERSION = 1
CELLS = 12  # a side of the colour grid
PATCH_CELLS = 6  # a side of the colour grid of a patch, where a frame has several
FEATURES = 256
EMBEDDING: frozenset[Literal["embedding"]] = frozenset({"embedding"})
MEMORY_BYTES = 2**26  # of features: 65,536 frames of built-in ones


def build_encoder(
    options: ToyOptions, context: Context
) -> "GridEncoder | ModelEncoder":
    """The encoder that the options name; raises UserError for a model without embeddings."""
    if options.encoder == "builtin":
        return GridEncoder(DIM)
    # Without the data set: an encoder need not know the labels that nobody asks it about.
    unbound = replace(context, dataset=None)
    model = unbound.build("model", options.encoder, options.encoder_options)
    outputs = model.capabilities.outputs
    if "embedding" not in outputs:
        raise UserError(
            f"toy: encoder '{options.encoder}' gives no embeddings",
            expected="a model with the output 'embedding'",
            got=", ".join(sorted(outputs)),
            remedy="Use -O model.encoder=builtin or another model (`cuescope plugins list`).",
        )
    return ModelEncoder(model, DIM)


# -------------------------------------------------------------------------------------- built in


def colour_grid(image: Image.Image, side: int = CELLS) -> UInt8[np.ndarray, " cell"]:
    """Mean colour of each cell of a `side` x `side` grid, (row, col, channel) flattened."""
    # BOX over whole cells is their mean; other filters would mix in the neighbours.
    rgb = image.convert("RGB")
    cells = rgb.resize((side, side), Image.Resampling.BOX)
    return np.asarray(cells, np.uint8).ravel()


def random_features(grid: UInt8[np.ndarray, "frame cell"]) -> Features:
    """A fixed random layer with ReLU, its rows brought to unit length.

    Unit length, as CLIP's, is what makes a cue drown what else is in the frame: the more of it
    a bright cue fills, the less is left of the small disc that moves.
    """
    weight, bias = _random_layer(grid.shape[1])
    cells = grid.astype(np.float64)
    features = np.maximum(cells @ weight + bias, 0)  # whole numbers: exact sums
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    # whole numbers: a length is 0 or at least 1, so 1 never shortens a row
    return np.asarray(features / lengths.clip(1), np.float32)


@cache
def _random_layer(
    cells: int,
) -> tuple[Float[np.ndarray, "cell feature"], Float[np.ndarray, " feature"]]:
    """Whole numbers, so that float64 sums are exact: no batch or thread count changes a bit.

    Training would make such a bit another model.
    """
    rng = generator(0, "toy-encoder", str(GRID_VERSION))
    weight = rng.normal(0, 256 * 0.5**0.5, (cells, FEATURES))
    bias = rng.normal(0, 256 * 255 * 0.3, FEATURES)
    return np.rint(weight), np.rint(bias)


def text_embedding(text: str, dim: int) -> Float[np.ndarray, " dim"]:
    """A unit vector that depends on the words alone, and not on their meaning."""
    row = generator(0, "toy-text", text).standard_normal(dim)
    return (row / np.linalg.norm(row)).astype(np.float32)


def text_embeddings(texts: Sequence[str], dim: int) -> TextRows:
    """The `text_embedding` of each."""
    return np.stack([text_embedding(text, dim) for text in texts])


class GridEncoder:
    """Random features of the colour grid: small, frozen, and it keeps where things are."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.fingerprint = digest("grid", GRID_VERSION, CELLS, FEATURES, dim)

    def encode(self, frames: Clip) -> Features:
        """Unit rows."""
        grids = [colour_grid(frame.load()) for frame in frames]
        return random_features(np.stack(grids))

    def embed_texts(self, texts: Sequence[str]) -> TextRows:
        """Unit rows."""
        return text_embeddings(texts, self.dim)


class ColourGrid(GridEncoder):
    """Colour grids themselves, channels between 0 and 1, for a network with a layer of its own.

    A frame is cut into `patches` x `patches` of equal size, from left to right, then down.
    """

    def __init__(self, patches: int = 1) -> None:
        self.patches = patches
        self.cells = CELLS
        # nothing for whole frames: the names of shipped weights hang on this digest
        sizes: tuple[int, ...] = ()
        if patches > 1:
            self.cells = PATCH_CELLS
            sizes = (patches, PATCH_CELLS)
        self.fingerprint = digest("colour-grid", GRID_VERSION, CELLS, *sizes)

    def encode(self, frames: Clip) -> Float[np.ndarray, "frame patch cell"]:
        """A row a patch."""
        side = self.patches
        cells = self.cells
        grids = [colour_grid(frame.load(), side * cells) for frame in frames]
        blocks = np.stack(grids).reshape(len(frames), side, cells, side, cells * 3)
        patches = blocks.swapaxes(2, 3).reshape(len(frames), side * side, -1)
        return patches.astype(np.float32) / 255


# ----------------------------------------------------------------------------------- other models


class ModelEncoder(LazyWeights):
    """The embeddings of another model; its text tower too where it has one."""

    def __init__(self, model: Model, dim: int) -> None:
        self.model = model
        self.dim = dim
        # `dim` decides the texts where the model has no text tower
        self.fingerprint = digest("model", model.fingerprint, dim)

    def open_weights(self) -> None:
        if isinstance(self.model, LazyWeights):
            self.model.open_weights()

    def encode(self, frames: Clip) -> Features:
        """The model's embeddings of the frames, one by one."""
        trials = []
        for frame in frames:
            sample = Sample(key=frame.key, frames=(frame,))
            trials.append(Trial(sample=sample, outputs=EMBEDDING))
        responses = self.model.respond(trials)
        return np.stack([np.asarray(response.embedding) for response in responses])

    def embed_texts(self, texts: Sequence[str]) -> TextRows:
        """The text tower's unit rows; without one, the built-in encoder's."""
        # Only a model with open weights knows whether a text tower came with them.
        self.open_weights()
        if isinstance(self.model, EmbedsText):
            return np.asarray(self.model.embed_texts(texts), np.float32)
        return text_embeddings(texts, self.dim)


# ------------------------------------------------------------------------------ features, once


def number_frames(
    clips: Sequence[Clip],
) -> tuple[tuple[Frame, ...], list[list[int]]]:
    """The distinct frames, told apart by their keys; and for each clip the numbers of its own."""
    distinct = {frame.key: frame for clip in clips for frame in clip}
    number = dict(zip(distinct, range(len(distinct)), strict=True))
    rows = [[number[frame.key] for frame in clip] for clip in clips]
    return tuple(distinct.values()), rows


class FrameFeatures:
    """Features by frame key: a frame is encoded once, however often it is shown."""

    def __init__(self, encoder: GridEncoder | ModelEncoder, context: Context) -> None:
        self.encoder = encoder
        self._context = context
        self._memory = FrameMemory(encoder.encode, context.batch_size, MEMORY_BYTES)

    def of_clips(
        self, clips: Sequence[Clip]
    ) -> Float[np.ndarray, "clip frame feature"]:
        """Features of clips of one length."""
        frames = list(chain.from_iterable(clips))
        features = self.of_frames(frames)
        return features.reshape(len(clips), -1, features.shape[-1])

    def of_frames(
        self,
        frames: Clip,
        description: str | None = None,
    ) -> Float[np.ndarray, "frame ..."]:
        """Features of frames; with a description, under a progress bar."""
        if description is None:
            return np.stack(self._memory.rows(frames))
        with self._context.progress(description, len(frames)) as advance:
            return np.stack(self._memory.rows(frames, advance))
