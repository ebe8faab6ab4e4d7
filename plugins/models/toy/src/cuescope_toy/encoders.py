"""Frozen encoders of frames and texts, and the memory of what they made of each frame."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache
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
from cuescope_toy.options import ToyOptions

GRID_VERSION = 1  # enters the fingerprint: raise it when equal frames get other features
CELLS = 12  # a side of the colour grid
PATCH_CELLS = 6  # a side of the colour grid of a patch, where a frame has several
FEATURES = 256
EMBEDDING: frozenset[Literal["embedding"]] = frozenset({"embedding"})
MEMORY_BYTES = 2**26  # of features: 65,536 frames of built-in ones


def build_encoder(options: ToyOptions, context: Context) -> "GridEncoder | ModelEncoder":
    """The encoder that the options name; raises UserError for a model without embeddings."""
    if options.encoder == "builtin":
        return GridEncoder(options.dim)
    # Without the data set: an encoder need not know the labels that nobody asks it about.
    unbound = replace(context, dataset=None)
    model = unbound.build("model", options.encoder, options.encoder_options)
    if not model.capabilities.outputs >= EMBEDDING:
        raise UserError(
            f"toy: encoder '{options.encoder}' gives no embeddings",
            expected="a model with the output 'embedding'",
            got=", ".join(sorted(model.capabilities.outputs)),
            remedy="Use -M encoder=builtin or another model (`cuescope plugins list`).",
        )
    return ModelEncoder(model, options.dim)


# -------------------------------------------------------------------------------------- built in


def colour_grid(image: Image.Image, side: int = CELLS) -> UInt8[np.ndarray, " cell"]:
    """Mean colour of each cell of a `side` x `side` grid, (row, col, channel) flattened."""
    # BOX over whole cells is their mean; other filters would mix in the neighbours.
    pooled = image.convert("RGB").resize((side, side), Image.Resampling.BOX)
    return np.asarray(pooled, np.uint8).ravel()


def random_features(grid: UInt8[np.ndarray, "frame cell"]) -> Float[np.ndarray, "frame feature"]:
    """A fixed random layer with ReLU, its rows brought to unit length.

    Unit length, as CLIP's, is what makes a cue drown what else is in the frame: the more of it
    a bright cue fills, the less is left of the small disc that moves.
    """
    weight, bias = _random_layer(grid.shape[1])
    features = np.maximum(grid.astype(np.float64) @ weight + bias, 0)  # whole numbers: exact sums
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features / lengths.clip(1), np.float32)


@cache
def _random_layer(
    cells: int,
) -> tuple[Float[np.ndarray, "cell feature"], Float[np.ndarray, " feature"]]:
    """Whole numbers, so that float64 sums are exact: no batch or thread count changes a bit.

    Training would make such a bit another model.
    """
    rng = generator(0, "toy-encoder", str(GRID_VERSION))
    weight = np.rint(rng.normal(0, 256 * 0.5**0.5, (cells, FEATURES)))
    return weight, np.rint(rng.normal(0, 256 * 255 * 0.3, FEATURES))


def text_embedding(text: str, dim: int) -> Float[np.ndarray, " dim"]:
    """A unit vector that depends on the words alone, and not on their meaning."""
    row = generator(0, "toy-text", text).standard_normal(dim)
    return (row / np.linalg.norm(row)).astype(np.float32)


class GridEncoder:
    """Random features of the colour grid: small, frozen, and it keeps where things are."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.fingerprint = digest("grid", GRID_VERSION, CELLS, FEATURES, dim)

    def encode(self, frames: Sequence[Frame]) -> Float[np.ndarray, "frame feature"]:
        """Unit rows."""
        return random_features(np.stack([colour_grid(frame.load()) for frame in frames]))

    def embed_texts(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit rows."""
        return np.stack([text_embedding(text, self.dim) for text in texts])


class ColourGrid(GridEncoder):
    """Colour grids themselves, channels between 0 and 1, for a network with a layer of its own.

    A frame is cut into `patches` x `patches` of equal size, from left to right, then down.
    """

    def __init__(self, patches: int = 1) -> None:
        self.patches, self.cells = patches, CELLS if patches == 1 else PATCH_CELLS
        sizes = () if patches == 1 else (patches, PATCH_CELLS)
        self.fingerprint = digest("colour-grid", GRID_VERSION, CELLS, *sizes)

    def encode(self, frames: Sequence[Frame]) -> Float[np.ndarray, "frame patch cell"]:
        """A row a patch."""
        side, cells = self.patches, self.cells
        grids = np.stack([colour_grid(frame.load(), side * cells) for frame in frames])
        patches = grids.reshape(len(frames), side, cells, side, cells * 3).swapaxes(2, 3)
        return patches.reshape(len(frames), side * side, -1).astype(np.float32) / 255


# ----------------------------------------------------------------------------------- other models


class ModelEncoder(LazyWeights):
    """The embeddings of another model; its text tower too where it has one."""

    def __init__(self, model: Model, dim: int) -> None:
        self.model, self.dim = model, dim
        self.fingerprint = digest("model", model.fingerprint, dim)

    def open_weights(self) -> None:
        if isinstance(self.model, LazyWeights):
            self.model.open_weights()

    def encode(self, frames: Sequence[Frame]) -> Float[np.ndarray, "frame feature"]:
        """The model's embeddings of the frames, one by one."""
        trials = [
            Trial(sample=Sample(key=frame.key, frames=(frame,)), outputs=EMBEDDING)
            for frame in frames
        ]
        embeddings = [response.embedding for response in self.model.respond(trials)]
        return np.stack([embedding for embedding in embeddings if embedding is not None])

    def embed_texts(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """The text tower's unit rows; without one, the built-in encoder's."""
        # Only a model with open weights knows whether a text tower came with them.
        self.open_weights()
        if isinstance(self.model, EmbedsText):
            return np.asarray(self.model.embed_texts(texts), np.float32)
        return np.stack([text_embedding(text, self.dim) for text in texts])


# ------------------------------------------------------------------------------ features, once


class FrameFeatures:
    """Features by frame key: a frame is encoded once, however often it is shown."""

    def __init__(self, encoder: GridEncoder | ModelEncoder, context: Context) -> None:
        self.encoder = encoder
        self._context = context
        self._rows: OrderedDict[str, np.ndarray] = OrderedDict()

    def of_clips(self, clips: Sequence[Sequence[Frame]]) -> Float[np.ndarray, "clip frame feature"]:
        """Features of clips of one length."""
        distinct = {frame.key: frame for clip in clips for frame in clip}
        row = {key: index for index, key in enumerate(distinct)}
        features = self.of_frames(tuple(distinct.values()))
        index = [[row[frame.key] for frame in clip] for clip in clips]
        return np.asarray(features[np.array(index)])

    def of_frames(
        self, frames: Sequence[Frame], description: str | None = None
    ) -> Float[np.ndarray, "frame ..."]:
        """Features of distinct frames; with a description, under a progress bar."""
        rows = {frame.key: self._rows[frame.key] for frame in frames if frame.key in self._rows}
        missing = [frame for frame in frames if frame.key not in rows]
        step = self._context.batch_size
        bar: AbstractContextManager[Callable[[int], None]] = nullcontext(lambda step: None)
        if description is not None:
            bar = self._context.progress(description, len(missing))
        with bar as advance:
            for start in range(0, len(missing), step):
                batch = missing[start : start + step]
                encoded = self.encoder.encode(batch)
                rows |= dict(zip((frame.key for frame in batch), encoded, strict=True))
                advance(len(batch))
        self._remember(rows)
        return np.stack([rows[frame.key] for frame in frames])

    def _remember(self, rows: dict[str, np.ndarray]) -> None:
        for key, row in rows.items():
            self._rows[key] = row
            self._rows.move_to_end(key)
        most = MEMORY_BYTES // max((row.nbytes for row in rows.values()), default=1)
        while len(self._rows) > most:
            self._rows.popitem(last=False)
