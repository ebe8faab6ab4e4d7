"""Frozen encoders of frames and texts: the built-in one, and any model with embeddings."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from cuescope_sdk import (
    Context,
    EmbedsText,
    Frame,
    Model,
    Sample,
    Trial,
    UserError,
    digest,
    generator,
)

if TYPE_CHECKING:
    from cuescope_toy import ToyOptions

GRID_VERSION = 1  # enters the fingerprint: raise it when equal frames get other features
CELLS = 12  # a side of the colour grid
PATCH_CELLS = 6  # a side of the colour grid of a patch, where a frame has several
FEATURES = 256
EMBEDDING = frozenset({"embedding"})


class Encoder(Protocol):
    """Frozen: equal fingerprints give equal features and texts."""

    fingerprint: str

    def encode(self, frames: Sequence[Frame]) -> Float[np.ndarray, "frame ..."]:
        """Features of frames."""
        ...

    def embed_texts(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit rows."""
        ...


def chosen_encoder(options: "ToyOptions", context: Context) -> Encoder:
    """The encoder that the options name; raises UserError for a model without embeddings."""
    if options.encoder == "builtin":
        return GridEncoder(options.dim)
    # without the data set: an encoder need not know the labels that nobody asks it about
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
    pooled = image.convert("RGB").resize((side, side), Image.Resampling.BOX)
    return np.asarray(pooled, np.uint8).ravel()


def random_features(grid: UInt8[np.ndarray, "frame cell"]) -> Float[np.ndarray, "frame feature"]:
    """A fixed random layer with ReLU, its rows brought to unit length.

    Unit length, as CLIP's, is what makes a cue drown what else is in the frame: the more of it
    a bright cue fills, the less is left of the small disc that moves.
    """
    weight, bias = _random_layer(grid.shape[1])
    features = np.maximum(grid.astype(np.float64) @ weight + bias, 0)
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
    drawn = generator(0, "toy-text", text).standard_normal(dim)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


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
        cut = () if patches == 1 else (patches, PATCH_CELLS)
        self.fingerprint = digest("colour-grid", GRID_VERSION, CELLS, *cut)

    def encode(self, frames: Sequence[Frame]) -> Float[np.ndarray, "frame patch cell"]:
        """A row a patch."""
        grids = np.stack([self._cut(frame.load()) for frame in frames])
        return grids.astype(np.float32) / 255

    def _cut(self, image: Image.Image) -> UInt8[np.ndarray, "patch cell"]:
        side, cells = self.patches, self.cells
        rows = colour_grid(image, side * cells).reshape(side, cells, side, cells * 3)
        return rows.swapaxes(1, 2).reshape(side * side, -1)


# ----------------------------------------------------------------------------------- other models


class ModelEncoder:
    """The embeddings of another model; its text tower too where it has one."""

    def __init__(self, model: Model, dim: int) -> None:
        self.model, self.dim = model, dim
        self.fingerprint = digest("model", model.fingerprint, dim)

    def encode(self, frames: Sequence[Frame]) -> Float[np.ndarray, "frame feature"]:
        """The model's embeddings of the frames, one by one."""
        trials = [
            Trial(sample=Sample(key=frame.key, frames=(frame,)), outputs=EMBEDDING)
            for frame in frames
        ]
        found = [response.embedding for response in self.model.respond(trials)]
        return np.stack([embedding for embedding in found if embedding is not None])

    def embed_texts(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """The text tower's unit rows; without one, the built-in encoder's."""
        if isinstance(self.model, EmbedsText):
            return np.asarray(self.model.embed_texts(texts), np.float32)
        return np.stack([text_embedding(text, self.dim) for text in texts])
