"""A transformer in numpy that mixes frames and words, for whatever asks about fusion."""

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int8
from PIL import Image
from pydantic import Field, NonNegativeFloat

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    HideTokens,
    Options,
    Plugin,
    Response,
    Sample,
    Trial,
    UserError,
    digest,
)
from cuescope_sdk import generator as seeded
from cuescope_sdk.fusion import (
    LETTERS,
    MODALITIES,
    TEXT,
    VIDEO,
    AverageAttention,
    AverageTokens,
    FusionShape,
)
from cuescope_sdk.models._refusals import refuse_unanswerable
from cuescope_sdk.testing._fake_data import CUE_BOX, DECOY_BOX, LABELS, SIDE, SIGNAL_ROWS

NAMED = len(LABELS) + 2
STRIP = 2 * SIDE * 3
NOISE_CEILING = 60 / 255
_CORNERS = ((CUE_BOX, 0), (DECOY_BOX, 2))
SIGNAL, LEAN, NOISE = 4.0, 12.0, 1.5
LONGEST = 500.0  # of the weights of a choice as embedded


class FakeModelOptions(Options):
    """How the model errs."""

    lean: NonNegativeFloat = Field(1.0, description="reliance on the red corner; 0: none at all")
    noise: NonNegativeFloat = Field(1.0, description="errors from pixels that mean nothing")
    signal: NonNegativeFloat = Field(1.0, description="use of the green patch; 0: none at all")


class FakeModel(Plugin):
    """A linear readout of the green patch, the two corners, and a strip of noise.

    It takes what shows the red corner for "top", as far as `lean` says, and errs on about one
    clip in ten for no reason, as far as `noise` says; without `signal` it does not look at the
    green patch. Choices that it was not made for are read
    out by random weights of their own.
    """

    Options: ClassVar[type[Options]] = FakeModelOptions
    options: FakeModelOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(["logits", "text", "embedding"]),
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches", "choices"}),
    )

    def __init__(self, options: FakeModelOptions, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("fake-model", options.model_dump())
        self.facts = {"reliance on the red corner": str(options.lean)}

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Whatever each trial asks for."""
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        """One response; raises UserError for an edit that is not declared."""
        seen = self.see(trial)
        choices, outputs = trial.sample.choices, trial.outputs
        logits = (
            np.array([seen @ self.readout(choice) for choice in choices])
            if outputs & {"logits", "text"}
            else None
        )
        return Response(
            logits=logits if "logits" in outputs else None,
            text=_best(choices, logits) if "text" in outputs and logits is not None else None,
            embedding=np.append(seen * EMBEDDED, 0) if "embedding" in outputs else None,
        )

    def see(self, trial: Trial) -> Float[np.ndarray, " dim"]:
        """Green patch of each class, red corner, blue corner (0 to 1), then noise; grey gives 0."""
        pixels = np.stack([pixels_of(frame) for frame in trial.sample.frames])
        if trial.edit is not None:
            if not isinstance(trial.edit, HideTokens):
                raise UserError("fake: edit", expected="hide-tokens", got=f"'{trial.edit.kind}'")
            _check_shape(trial.edit.shape, len(pixels))
            pixels = np.where(_at_cells(trial.edit.mask)[..., None], 0.0, pixels)
        return np.asarray(FEATURES @ pixels.mean(axis=0).ravel())

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The 8 x 8 pixels that it sees, uint8."""
        return [np.rint(pixels_of(frame) * 255).astype(np.uint8) for frame in frames]

    def patch_features(self, frames: Sequence[Frame], layer: int = -1) -> list[np.ndarray]:
        """A patch is a pixel; its features are its colour, and whether it is read as noise."""
        strip = np.zeros((SIDE, SIDE, 1))
        strip[:, 3:5] = 1
        seen = [np.concatenate([pixels_of(frame), strip], axis=2) for frame in frames]
        return [features.astype(np.float32) for features in seen]

    def embed_choices(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """Rows whose dot products with an embedding are the logits, but for one factor.

        A last number, which every embedding has as 0, makes weights of any length unit rows.
        """
        weights = np.stack([self.readout(choice) for choice in choices]) / EMBEDDED
        reach = LONGEST * (1 + self.options.lean + self.options.noise)
        rest = np.sqrt(reach**2 - (weights**2).sum(axis=1))
        return np.column_stack([weights, rest]) / reach

    def readout(self, choice: str) -> Float[np.ndarray, " dim"]:
        """The weights of a choice."""
        random = _random_readout(choice)
        if choice not in LABELS:
            return random
        weights = np.zeros(NAMED + STRIP)
        weights[LABELS.index(choice)] = SIGNAL * self.options.signal
        weights[len(LABELS)] = LEAN * self.options.lean * (choice == LABELS[0])
        weights[NAMED:] = NOISE * self.options.noise * random[NAMED:]
        return weights


def _feature_matrix() -> Float[np.ndarray, "dim value"]:
    """What each feature takes of each pixel value (row, col, channel)."""
    places = [(rows, slice(5, 8), 1) for rows in SIGNAL_ROWS]
    places += [(slice(y0, y1), slice(x0, x1), channel) for (x0, y0, x1, y1), channel in _CORNERS]
    weights = np.zeros((NAMED, SIDE, SIDE, 3))
    for weight, (rows, cols, channel) in zip(weights, places, strict=True):
        weight[rows, cols, channel] = 1
        weight[rows, cols, (channel + 1) % 3] = -1  # grey noise cancels, colour stays
        weight /= (weight > 0).sum()
    strip = np.zeros((SIDE, 2, 3, SIDE, SIDE, 3))
    for row, col, channel in np.ndindex(SIDE, 2, 3):
        strip[row, col, channel, row, 3 + col] = -1 / 3
        strip[row, col, channel, row, 3 + col, channel] += 1
    return np.concatenate([weights.reshape(NAMED, -1), strip.reshape(STRIP, -1) / NOISE_CEILING])


FEATURES = _feature_matrix()
EMBEDDED = np.concatenate([np.ones(NAMED), np.full(STRIP, 0.05)])


@cache
def _random_readout(choice: str) -> Float[np.ndarray, " dim"]:
    return seeded(0, "fake-model", choice).normal(size=NAMED + STRIP)


def pixels_of(frame: Frame) -> Float[np.ndarray, "row col 3"]:
    image = frame.load()
    if image.size != (SIDE, SIDE):
        image = image.resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(image, dtype=np.float64) / 255


def _check_shape(shape: tuple[int, int, int], frames: int) -> None:
    fits = all(SIDE % side == 0 or side % SIDE == 0 for side in shape[1:])
    if shape[0] != frames or not fits:
        raise UserError(
            "fake: a mask that does not fit",
            got=f"shape {shape}",
            expected=f"{frames} frames of {SIDE} x {SIDE} cells, or so many parts of them",
        )


def _at_cells(mask: np.ndarray) -> np.ndarray:
    """A mask of any resolution, at the model's."""
    row = np.arange(SIDE) * mask.shape[1] // SIDE
    col = np.arange(SIDE) * mask.shape[2] // SIDE
    return mask[:, row][:, :, col]


def _best(choices: Sequence[str], logits: np.ndarray) -> str:
    return choices[int(logits.argmax())] if choices else ""


# ------------------------------------------------------------------------------------- fake fusion


LAYERS, HEADS, DIM = 2, 2, 16
HEAD_DIM = DIM // HEADS
SHARP = 3.0  # attention far from even, so that averaging it shows


class FakeFusionModel(Plugin):
    """Random weights; frames are video tokens, words text tokens, after a text token that answers.

    A question without frames, or frames without a question, is answered too.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(["logits", "text"]),
        edits=frozenset({"average-attention", "average-tokens"}),
        exposes=frozenset({"fusion"}),
        min_frames=0,
    )
    fusion = FusionShape(
        layers=LAYERS,
        heads=HEADS,
        kv_heads=HEADS,
        head_dim=HEAD_DIM,
        dim=DIM,
        mlp_multiplications=0,
    )

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        self.fingerprint = digest("fake-fusion")
        self.facts: dict[str, str] = {}

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits over the choices, and the best of them as text."""
        return [self.answer(trial) for trial in trials]

    def answer(self, trial: Trial) -> Response:
        """One response; raises UserError for a layer that is not there."""
        refuse_unanswerable("fake", self.capabilities, trial)
        asked = getattr(trial.edit, "layers", None) or ()
        if any(not 0 <= layer < LAYERS for layer in asked):
            raise UserError("fake: layers", expected=f"0 to {LAYERS - 1}", got=str(asked))
        choices = trial.sample.choices
        rows = np.array([_drawn("choice", choice) for choice in choices]).reshape(-1, DIM)
        logits = rows @ self.forward(trial)[0]
        return Response(
            logits=logits if "logits" in trial.outputs else None,
            text=choices[int(logits.argmax())] if choices and "text" in trial.outputs else None,
        )

    def modalities(self, trials: Sequence[Trial], layer: int) -> list[Int8[np.ndarray, " both"]]:
        """Text and video, for queries and keys alike."""
        return [np.tile(_modality(trial.sample), 2) for trial in trials]

    def attention(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Float[np.ndarray, "head query key"]]:
        """What a layer's softmax gives, averaged where the edit says so."""
        return [self.forward(trial, layer).astype(np.float32) for trial in trials]

    def forward(self, trial: Trial, look_at: int | None = None) -> np.ndarray:
        """The tokens after the last layer, or the attention of one of them."""
        modality = _modality(trial.sample)
        tokens = _embedded(trial.sample)
        for layer in range(LAYERS):
            layers = getattr(trial.edit, "layers", None)
            edit = trial.edit if layers is None or layer in layers else None
            context, sizes = tokens, np.zeros(len(tokens))
            if isinstance(edit, AverageTokens):
                context, sizes = _shortened(tokens, modality, edit)
            query, key, value = (
                np.reshape(states @ _drawn("weights", f"{layer}{name}", DIM), (-1, HEADS, HEAD_DIM))
                for name, states in (("q", tokens), ("k", context), ("v", context))
            )
            logits = SHARP * np.einsum("qhd,khd->hqk", query, key) / HEAD_DIM
            if isinstance(edit, AverageTokens) and edit.size_term == "multiply":
                logits = np.where(sizes > 0, logits * sizes, logits)
            else:
                logits = logits + sizes
            weights = np.exp(logits - logits.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            if isinstance(edit, AverageAttention):
                weights = _averaged(weights, modality, edit)
            if layer == look_at:
                return np.asarray(weights)
            tokens = tokens + np.einsum("hqk,khd->qhd", weights, value).reshape(-1, DIM)
        return tokens


def _drawn(kind: str, name: str, rows: int = 1) -> Float[np.ndarray, "row dim"]:
    """Random weights of a name; one row comes without its axis."""
    drawn = seeded(0, "fake-fusion", kind, name).normal(size=(rows, DIM)) / np.sqrt(DIM)
    return np.asarray(drawn if rows > 1 else drawn[0] * np.sqrt(DIM))


def _words(sample: Sample) -> list[str]:
    return ["[answer]", *(sample.question or "").split()]


def _modality(sample: Sample) -> Int8[np.ndarray, " token"]:
    kinds = [TEXT] * len(_words(sample)) + [VIDEO] * len(sample.frames)
    return np.array(kinds, dtype=np.int8)


def _embedded(sample: Sample) -> Float[np.ndarray, "token dim"]:
    """Words by their name, frames by their features, both with their place."""
    words = [_drawn("word", word) for word in _words(sample)]
    seen = [FEATURES @ pixels_of(frame).ravel() for frame in sample.frames]
    readout = _drawn("frame", "features", len(FEATURES))
    tokens = np.array(words + [2 * features @ readout for features in seen])
    places = [_drawn("place", str(place)) for place in range(len(tokens))]
    return np.asarray(tokens + 0.5 * np.array(places))


def _shortened(
    tokens: Float[np.ndarray, "token dim"], modality: np.ndarray, edit: AverageTokens
) -> tuple[Float[np.ndarray, "key dim"], Float[np.ndarray, " key"]]:
    """Tokens with an average for each modality of the edit, and the log of their sizes."""
    averaged = [modality == MODALITIES[name] for name in sorted(edit.modalities)]
    averaged = [block for block in averaged if block.any()]
    kept = ~np.any([*averaged, np.zeros(len(tokens), bool)], axis=0)
    means = [tokens[block].mean(0, keepdims=True) for block in averaged]
    sizes = [*np.zeros(kept.sum()), *(np.log(block.sum()) for block in averaged)]
    return np.concatenate([tokens[kept], *means]), np.array(sizes)


def _averaged(
    weights: Float[np.ndarray, "head query key"], modality: np.ndarray, edit: AverageAttention
) -> Float[np.ndarray, "head query key"]:
    """QUAG, section 2.2."""
    weights = weights.copy()
    for row, col in (map(LETTERS.__getitem__, quadrant) for quadrant in edit.quadrants):
        block = np.ix_(range(HEADS), modality == row, modality == col)
        if weights[block].size:
            weights[block] = weights[block].mean(-1, keepdims=True)
    return weights
