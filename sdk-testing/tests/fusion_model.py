"""A transformer in numpy that mixes frames and words, for whatever asks about fusion."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int8
from scipy.special import softmax

from cuescope_sdk import (
    Capabilities,
    Context,
    Plugin,
    Response,
    Sample,
    Trial,
    UserError,
    digest,
    generator as seeded,
)
from cuescope_sdk.fusion import (
    MODALITIES,
    TEXT,
    VIDEO,
    AverageAttention,
    AverageTokens,
    FusionShape,
)
from cuescope_sdk.models import refuse_unanswerable
from cuescope_testing._fake_models import FEATURES, pixels_of

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
        refuse_unanswerable("fake", self.capabilities, [trial])
        layers = getattr(trial.edit, "layers", None) or ()
        if any(not 0 <= layer < LAYERS for layer in layers):
            raise UserError(
                "fake: layers", expected=f"0 to {LAYERS - 1}", got=str(layers)
            )
        choices = trial.sample.choices
        rows = np.array([_drawn("choice", choice) for choice in choices]).reshape(
            -1, DIM
        )
        logits = rows @ self.forward(trial)[0]
        return Response(
            logits=logits if "logits" in trial.outputs else None,
            text=choices[int(logits.argmax())]
            if choices and "text" in trial.outputs
            else None,
        )

    def modalities(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Int8[np.ndarray, " both"]]:
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
                np.reshape(
                    states @ _drawn("weights", f"{layer}{name}", DIM),
                    (-1, HEADS, HEAD_DIM),
                )
                for name, states in (("q", tokens), ("k", context), ("v", context))
            )
            logits = SHARP * np.einsum("qhd,khd->hqk", query, key) / HEAD_DIM
            if isinstance(edit, AverageTokens) and edit.size_term == "multiply":
                logits = np.where(sizes > 0, logits * sizes, logits)
            else:
                logits = logits + sizes
            weights = softmax(logits, axis=-1)
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
    frames = [FEATURES @ pixels_of(frame).ravel() for frame in sample.frames]
    readout = _drawn("frame", "features", len(FEATURES))
    tokens = np.array(words + [2 * features @ readout for features in frames])
    positions = [_drawn("place", str(index)) for index in range(len(tokens))]
    return np.asarray(tokens + 0.5 * np.array(positions))


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
    weights: Float[np.ndarray, "head query key"],
    modality: np.ndarray,
    edit: AverageAttention,
) -> Float[np.ndarray, "head query key"]:
    """QUAG, section 2.2."""
    weights = weights.copy()
    for row, col in map(edit.sides, edit.quadrants):
        block = np.ix_(range(HEADS), modality == row, modality == col)
        if weights[block].size:
            weights[block] = weights[block].mean(-1, keepdims=True)
    return weights
