"""A small fusion transformer over video and text tokens: questions about clips and images."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int8
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from cuescope_sdk import Capabilities, Context, Options, Plugin, Response, Trial, UserError
from cuescope_sdk.fusion import AverageTokens, FusionShape
from cuescope_sdk.models import refuse_unanswerable

SHOWN = 5  # answers in an error


class ToyFusionOptions(Options):
    """Options of `toy-fusion`; the part after `toy-fusion:` is `data`."""

    argument: ClassVar[str | None] = "data"

    data: str | None = Field(
        default=None,
        description="SPEC of the data set to train on (its splits train and val); "
        "default: the audited one",
    )
    data_options: dict[str, Any] = Field(
        default={}, description="options of `data`, as {questions: both, train: 1000}"
    )
    patches: PositiveInt = Field(
        default=1, le=32, description="a frame is cut into so many by so many video tokens"
    )
    positions: bool = Field(
        default=True, description="false: the video is a bag of frames, or of their patches"
    )
    layers: PositiveInt = Field(default=2, description="fusion layers")
    dim: PositiveInt = Field(default=64, multiple_of=8, description="width of a token")
    learning_rate: PositiveFloat = Field(default=1e-3, description="of AdamW, at its highest")
    weight_decay: NonNegativeFloat = Field(default=0.1, description="of AdamW")
    batch_size: PositiveInt = Field(default=64, description="samples in a training batch")
    epochs: PositiveInt = Field(default=40, description="most passes over the training split")
    patience: PositiveInt = Field(
        default=15, description="passes without a better validation loss before training stops"
    )
    enough: float = Field(
        default=0.995, gt=0, description="validation accuracy at which training stops"
    )
    seed: int | None = Field(
        default=None, ge=0, description="of weights and batches; default: the audit's"
    )


class ToyFusion(Plugin):
    """Frames and words as tokens of one transformer; a token of the text takes up the answer.

    A frame is one token, or with `patches` a grid of them, each with its own pixels and place.

    The answer token is text, as a template's mask is: a token of neither kind could mix video and
    text where no short-circuit reaches.

    Trains as it is built, on the splits "train" and "val" of its data, unless the cache or the
    package holds the weights of an equal training. Its answers are the labels that it was trained
    with.
    """

    Options: ClassVar[type[Options]] = ToyFusionOptions
    options: ToyFusionOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(("logits", "text")),
        edits=frozenset({"average-attention", "average-tokens"}),
        exposes=frozenset({"fusion"}),
        min_frames=0,
    )
    fingerprint: str
    facts: Mapping[str, str]
    fusion: FusionShape

    def __init__(self, options: ToyFusionOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import resolve_device, resolve_dtype
        from cuescope_toy.encoders import ColourGrid
        from cuescope_toy.frame_features import FrameFeatures
        from cuescope_toy.fusion.answering import Answering
        from cuescope_toy.fusion.network import HEADS, WIDENING
        from cuescope_toy.fusion.training import trained

        device, dtype = resolve_device(context.device), resolve_dtype(context.dtype)
        self.device = str(device)
        features = FrameFeatures(ColourGrid(options.patches), context)
        made = trained(options, context, features)
        weights = {name: tensor.to(device, dtype) for name, tensor in made.weights.items()}
        self._network = Answering(weights, made.vocabulary, features, options.positions)
        self.fingerprint, self.facts = made.fingerprint, made.facts
        dim = options.dim
        self.fusion = FusionShape(
            layers=options.layers, heads=HEADS, kv_heads=HEADS, head_dim=dim // HEADS, dim=dim,
            mlp_multiplications=2 * WIDENING * dim * dim,
        )  # fmt: skip

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits of the choices, and as text the best of them, or of all answers without any."""
        self._refuse(trials)
        rows = self._network.logits(trials)
        return [self._response(*pair) for pair in zip(trials, rows, strict=True)]

    def modalities(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Int8[np.ndarray, " query_then_key"]]:
        """As of `HasFusion`: frames, words, the answer; alike for queries and keys."""
        self._refuse(trials, layer)
        return [np.tile(kinds, 2) for kinds in self._network.modalities(trials)]

    def attention(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Float[np.ndarray, "head query key"]]:
        """As of `HasFusion`; raises UserError under average-tokens, where no token has a weight."""
        self._refuse(trials, layer)
        if any(isinstance(trial.edit, AverageTokens) for trial in trials):
            raise UserError(
                "toy-fusion has no attention weights under average-tokens",
                expected="no edit, or average-attention",
            )
        return self._network.attention(trials, layer)

    def _refuse(self, trials: Sequence[Trial], *layers: int) -> None:
        """Raises UserError for what cannot be answered, and for a layer that is not there."""
        for trial in trials:
            refuse_unanswerable("toy-fusion", self.capabilities, trial)
            for layer in (*layers, *(getattr(trial.edit, "layers", None) or ())):
                if not 0 <= layer < self.fusion.layers:
                    raise UserError(
                        f"toy-fusion has no fusion layer {layer}",
                        expected=f"layers 0 to {self.fusion.layers - 1}",
                    )

    def _response(self, trial: Trial, row: Float[np.ndarray, " answer"]) -> Response:
        answers, choices = self._network.vocabulary.answers, trial.sample.choices
        scores = choice_logits(row, answers, choices, trial.sample.key) if choices else row
        return Response(
            logits=scores if "logits" in trial.outputs else None,
            text=(choices or answers)[int(scores.argmax())] if "text" in trial.outputs else None,
        )


def choice_logits(
    row: Float[np.ndarray, " answer"], answers: Sequence[str], choices: Sequence[str], key: str
) -> Float[np.ndarray, " choice"]:
    """The logits of the choices; one that was never trained on comes last, 1 below all answers.

    Raises UserError where all are unknown.
    """
    known = dict(zip(answers, row.tolist(), strict=True))
    if not known.keys() & set(choices):
        raise UserError(
            f"toy-fusion: sample '{key}' has no choice that was trained on",
            expected=f"any of {', '.join(answers[:SHOWN])}{', ...' * (len(answers) > SHOWN)}",
            got=", ".join(choices[:SHOWN]),
            remedy="Train on questions with these answers: -M data=SPEC.",
        )
    last = float(row.min()) - 1
    return np.array([known.get(choice, last) for choice in choices], np.float32)


__all__ = ["ToyFusion", "ToyFusionOptions"]
