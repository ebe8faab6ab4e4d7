"""A toy temporal vision-language model: it trains in seconds and learns the bias of its data."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt

from cuescope_sdk import Capabilities, Context, Options, Plugin, Response, Trial, UserError
from cuescope_sdk.models import refuse_unanswerable


class ToyOptions(Options):
    """Options of `toy`; the part after `toy:` is `data`."""

    argument: ClassVar[str | None] = "data"

    data: str | None = Field(
        default=None,
        description="SPEC of the data set to train on (its splits train and val); "
        "default: the audited one",
    )
    data_options: dict[str, Any] = Field(
        default={}, description="options of `data`, as {length: 2, cue: none}"
    )
    encoder: str = Field(
        default="builtin",
        description="frozen image encoder: builtin, or the SPEC of any model with embeddings",
    )
    encoder_options: dict[str, Any] = Field(
        default={}, description="options of `encoder`, as {checkpoint: FILE}"
    )
    frames: Literal["all", "first", "middle"] = Field(
        default="all", description="frames that are looked at; one makes it a non-temporal model"
    )
    temperature: PositiveFloat = Field(
        default=0.07, description="of the cosines, in training and in answers"
    )
    learning_rate: PositiveFloat = Field(default=1e-4, description="of AdamW, constant")
    weight_decay: NonNegativeFloat = Field(default=0.0, description="of AdamW; 0 is Adam")
    batch_size: PositiveInt = Field(default=256, description="sequences in a training batch")
    epochs: PositiveInt = Field(default=100, description="most passes over the training split")
    patience: PositiveInt = Field(
        default=10, description="passes without a better validation loss before training stops"
    )
    hidden: PositiveInt = Field(default=128, description="width of each frame's projection head")
    projection: PositiveInt = Field(default=64, description="dim of a projected frame")
    head: PositiveInt = Field(default=256, description="width of the sequence head")
    dim: PositiveInt = Field(
        default=64, ge=2, description="dim of the embedding, unless the encoder embeds texts"
    )
    seed: int | None = Field(
        default=None, ge=0, description="of weights and batches; default: the audit's"
    )


class Toy(Plugin):
    """Frozen frame encoder, a head per frame position, a sequence head (TRoVe, appendix A).

    Trains as it is built, on the splits "train" and "val" of its data, or takes the weights of
    an equal training from the cache. Takes sequences of as many frames as it was trained with.
    """

    Options: ClassVar[type[Options]] = ToyOptions
    options: ToyOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset[Literal["logits", "text", "embedding"]]({"logits", "embedding"})
    )
    fingerprint: str
    facts: Mapping[str, str]

    def __init__(self, options: ToyOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import resolve_device, resolve_dtype
        from cuescope_toy.encoders import chosen_encoder
        from cuescope_toy.frame_features import FrameFeatures
        from cuescope_toy.training import trained

        device, dtype = resolve_device(context.device), resolve_dtype(context.dtype)
        self.device = str(device)
        self._features = FrameFeatures(chosen_encoder(options, context), context)
        self._trained = trained(options, context, self._features)
        self._weights = {
            name: tensor.to(device, dtype) for name, tensor in self._trained.weights.items()
        }
        self._texts: dict[str, np.ndarray] = {}
        self.fingerprint = self._trained.fingerprint
        self.facts = self._trained.facts

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Cosines over temperature for the choices, and the unit sequence embedding."""
        for trial in trials:
            refuse_unanswerable("toy", self.capabilities, trial)
            refuse_other_lengths(trial, self._trained.length)
        if not trials:
            return []
        embeddings = self._embed(trials)
        return [self._answer(*pair) for pair in zip(trials, embeddings, strict=True)]

    def embed_texts(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Frozen unit embeddings of the texts, in the space of the sequence embeddings."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._texts]:
            rows = self._features.encoder.embed_texts(missing)
            self._texts |= dict(zip(missing, rows, strict=True))
        return np.stack([self._texts[text] for text in texts])

    def _embed(self, trials: Sequence[Trial]) -> Float[np.ndarray, "trial dim"]:
        import torch

        from cuescope_toy.network import embed, standardise
        from cuescope_toy.sequences import positions

        looked_at = positions(self.options.frames, self._trained.length)
        clips = [[trial.sample.frames[frame] for frame in looked_at] for trial in trials]
        features = torch.from_numpy(self._features.of_clips(clips))
        like = next(iter(self._weights.values()))
        with torch.no_grad():
            inputs = standardise(self._weights, features.to(like.device, like.dtype))
            embeddings = embed(self._weights, inputs)
        return embeddings.float().cpu().numpy()

    def _answer(self, trial: Trial, embedding: Float[np.ndarray, " dim"]) -> Response:
        logits = None
        if "logits" in trial.outputs:
            logits = self.embed_texts(trial.sample.choices) @ embedding / self.options.temperature
        return Response(
            logits=logits, embedding=embedding if "embedding" in trial.outputs else None
        )


def refuse_other_lengths(trial: Trial, length: int) -> None:
    """Raises UserError for another number of frames than the model was trained with."""
    sample = trial.sample
    if len(sample.frames) != length:
        raise UserError(
            f"toy: sample '{sample.key}' has another length than the training sequences",
            expected=f"{length} frames, a projection head for each",
            got=str(len(sample.frames)),
            remedy="Train on sequences of this length: the same data set, or -M data=SPEC.",
        )


__all__ = ["Toy", "ToyOptions"]
