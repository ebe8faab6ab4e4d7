"""A toy temporal vision-language model: it trains in seconds and learns the bias of its data."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Capabilities, Context, LazyWeights, Response, Trial, UserError
from cuescope_sdk.models import refuse_unanswerable
from cuescope_sdk.report import count_of
from cuescope_toy.loading import (
    Checkpoint,
    TrainedModel,
    Trials,
    Weights,
    training_splits,
)
from cuescope_toy.options import TEMPERATURE, ToyOptions

TRAINING_VERSION = 1  # raise it when equal recipes train other weights


class Toy(TrainedModel):
    """Frozen frame encoder, a head per frame position, a sequence head (TRoVe, appendix A).

    Trains on the splits "train" and "val" of its data before the first answer. Takes sequences
    of as many frames as it was trained with.
    """

    Options = ToyOptions
    options: ToyOptions
    owner = "toy"
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(("logits", "embedding"))
    )

    def __init__(self, options: ToyOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_toy.encoders import FrameFeatures, build_encoder

        self._features = FrameFeatures(build_encoder(options, context), context)
        self._splits = training_splits(
            options,
            context,
            self.owner,
            "train",
            "val",
            needs_labels=True,
        )
        # Data and encoder enter by their content, whatever they are called.
        by_content = {"data", "data_options", "encoder", "encoder_options"}
        recipe = options.model_dump(exclude=by_content)
        # the option may be None, which says nothing of the audit's seed
        recipe["seed"] = self.seed
        self.name_weights(
            TRAINING_VERSION,
            recipe,
            self._features.encoder.fingerprint,
            *(split.fingerprint for split in self._splits),
            tuple(self._splits[0].labels),
        )
        self._text_rows: dict[str, np.ndarray] = {}

    def train(self) -> Checkpoint:
        from cuescope_toy.training import train

        return train(
            self.options, self.context, self._features, self._splits, self.seed
        )

    def use(self, weights: Weights, dtype: Any) -> None:
        self._weights = {
            name: weight.to(self.device, dtype) for name, weight in weights.items()
        }
        # every sequence has as many, or training refuses
        first = self._splits[0][0]
        self._length = len(first.frames)
        if isinstance(self._features.encoder, LazyWeights):
            self._features.encoder.open_weights()

    def respond(self, trials: Trials) -> list[Response]:
        """Cosines over temperature for the choices, and the unit sequence embedding."""
        # first: opening the weights may mean minutes of training
        refuse_unanswerable("toy", self.capabilities, trials)
        self.open_weights()
        # only now: `use` has set the length
        for trial in trials:
            sample = trial.sample
            length = len(sample.frames)
            if length != self._length:
                raise UserError(
                    f"toy: sample '{sample.key}' has another length than the training sequences",
                    expected=f"{count_of(self._length, 'frames')}, a projection head for each",
                    got=f"{length}",
                    remedy="Train on sequences of this length: the same data set, or -O "
                    "model.data=SPEC.",
                )
        # of no trials there is no array to stack
        embeddings = self._embed(trials) if trials else ()
        return list(map(self._response, trials, embeddings))

    def embed_texts(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Frozen unit embeddings of the texts, in the space of the sequence embeddings."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._text_rows]
        if missing:
            rows = self._features.encoder.embed_texts(missing)
            # texts are frozen: one row for good
            self._text_rows |= dict(zip(missing, rows, strict=True))
        return np.stack([self._text_rows[text] for text in texts])

    def _embed(self, trials: Trials) -> Float[np.ndarray, "trial dim"]:
        import torch

        from cuescope_sdk.torch import to_array
        from cuescope_toy.network import embed, standardise
        from cuescope_toy.training import frame_positions

        positions = frame_positions(self.options.frames, self._length)
        clips = []
        for trial in trials:
            frames = trial.sample.frames
            clips.append([frames[index] for index in positions])
        features = torch.from_numpy(self._features.of_clips(clips))
        with torch.no_grad():
            inputs = standardise(
                self._weights, features.to(self._weights["input.mean"])
            )
            embeddings = embed(self._weights, inputs)
        return to_array(embeddings)

    def _response(self, trial: Trial, embedding: Float[np.ndarray, " dim"]) -> Response:
        logits = None
        if "logits" in trial.outputs:
            cosines = self.embed_texts(trial.sample.choices) @ embedding
            logits = cosines / TEMPERATURE
        output = embedding if "embedding" in trial.outputs else None
        return Response(logits=logits, embedding=output)


__all__ = ["Toy", "ToyOptions"]
