"""A small fusion transformer over video and text tokens: questions about clips and images."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int8

from cuescope_sdk import Capabilities, Context, Response, Trial, UserError
from cuescope_sdk.fusion import AverageTokens, FusionShape
from cuescope_sdk.models import refuse_unanswerable
from cuescope_toy.loading import (
    Checkpoint,
    TrainedModel,
    Trials,
    Weights,
    training_splits,
)
from cuescope_toy.options import DIM, HEADS, MLP_RATIO, ToyFusionOptions

LISTED = 5  # answers that an error lists
SHIPPED = Path(__file__).parent / "shipped"
# raise it when equal recipes train other weights, and train the shipped ones
TRAINING_VERSION = 1


class ToyFusion(TrainedModel):
    """Frames and words as tokens of one transformer; a token of the text takes up the answer.

    A frame is one token, or with `patches` a grid of them, each with its own pixels and place.

    The answer token is text, as a template's mask is: a token of neither kind could mix video and
    text where no short-circuit reaches.

    Trains on the splits "train" and "val" of its data before the first answer, unless the cache
    or the package holds the weights of an equal training. Its answers are the labels that it was
    trained with.
    """

    Options = ToyFusionOptions
    options: ToyFusionOptions
    owner = "toy-fusion"
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(("logits", "text")),
        edits=frozenset({"average-attention", "average-tokens"}),
        exposes=frozenset({"fusion", "closed-answers"}),
        min_frames=0,  # a question without its video has an answer too
    )
    fusion: FusionShape

    def __init__(self, options: ToyFusionOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_toy.encoders import ColourGrid, FrameFeatures

        grid = ColourGrid(options.patches)
        # of a patch: three channels a cell
        self._feature = 3 * grid.cells**2
        self._features = FrameFeatures(grid, context)
        self._splits = training_splits(options, context, self.owner, "train", "val")
        # The data enters by its content, and the patches by the fingerprint of the encoder.
        recipe = options.model_dump(exclude={"data", "data_options", "patches"})
        recipe["seed"] = self.seed
        self.name_weights(
            TRAINING_VERSION,
            recipe,
            self._features.encoder.fingerprint,
            *(split.fingerprint for split in self._splits),
            shipped=SHIPPED,
        )
        self.fusion = FusionShape(
            layers=options.layers,
            heads=HEADS,
            kv_heads=HEADS,
            head_dim=DIM // HEADS,
            dim=DIM,
            # widen and narrow: one multiplication for each weight
            mlp_multiplications=2 * MLP_RATIO * DIM**2,
        )

    def train(self) -> Checkpoint:
        from cuescope_toy.fusion import training

        return training.train(
            self.options, self.context, self._features, self._splits, self.seed
        )

    def use(self, weights: Weights, dtype: Any) -> None:
        from cuescope_toy.fusion.answering import FusionNetwork
        from cuescope_toy.fusion.dataset import VOCABULARY, Vocabulary

        vocabulary = Vocabulary.from_tensor(weights[VOCABULARY])
        placed = {
            name: weight.to(self.device, dtype) for name, weight in weights.items()
        }
        self._network = FusionNetwork(
            placed, vocabulary, self._features, self.options.positions
        )

    def respond(self, trials: Trials) -> list[Response]:
        """Logits of the choices, and as text the best of them, or of all answers without any."""
        # first: opening the weights may mean training
        self._refuse(trials)
        self.open_weights()
        rows = self._network.logits(trials)
        return list(map(self._response, trials, rows))

    def modalities(
        self,
        trials: Trials,
        layer: int,
    ) -> list[Int8[np.ndarray, " query_then_key"]]:
        """As of `HasFusion`: frames, words, the answer; alike for queries and keys."""
        self._refuse(trials, layer)
        self.open_weights()
        return [np.tile(tokens, 2) for tokens in self._network.modalities(trials)]

    def attention(
        self,
        trials: Trials,
        layer: int,
    ) -> list[Float[np.ndarray, "head query key"]]:
        """As of `HasFusion`; raises UserError under average-tokens, where no token has a weight."""
        self._refuse(trials, layer)
        if any(isinstance(trial.edit, AverageTokens) for trial in trials):
            raise UserError(
                "toy-fusion has no attention weights under average-tokens",
                expected="no edit, or average-attention",
            )
        self.open_weights()
        return self._network.attention(trials, layer)

    def _refuse(self, trials: Trials, *layers: int) -> None:
        """Raises UserError for what cannot be answered, and for a layer that is not there."""
        refuse_unanswerable(self.owner, self.capabilities, trials)
        for trial in trials:
            edited = getattr(trial.edit, "layers", None) or ()
            self.fusion.require_layers(self.owner, (*layers, *edited))

    def _response(self, trial: Trial, row: Float[np.ndarray, " answer"]) -> Response:
        sample = trial.sample
        answers = self._network.vocabulary.answers
        if sample.choices:
            row = choice_logits(row, answers, sample.choices, sample.key)
            answers = sample.choices
        text = None
        if "text" in trial.outputs:
            text = answers[int(row.argmax())]
        return Response(logits=row if "logits" in trial.outputs else None, text=text)


def choice_logits(
    row: Float[np.ndarray, " answer"],
    answers: Sequence[str],
    choices: Sequence[str],
    key: str,
) -> Float[np.ndarray, " choice"]:
    """The logits of the choices; one that was never trained on comes last, 1 below all answers.

    Raises UserError where all are unknown.
    """
    logits = dict(zip(answers, row.tolist(), strict=True))
    if logits.keys().isdisjoint(choices):
        ellipsis = ", ..." if len(answers) > LISTED else ""
        raise UserError(
            f"toy-fusion: sample '{key}' has no choice that was trained on",
            expected=f"any of {', '.join(answers[:LISTED])}{ellipsis}",
            got=", ".join(choices[:LISTED]),
            remedy="Train on questions with these answers: -O model.data=SPEC.",
        )
    last = float(row.min()) - 1  # finite, so that softmax and differences work
    return np.array([logits.get(choice, last) for choice in choices], np.float32)


__all__ = ["ToyFusion", "ToyFusionOptions"]
