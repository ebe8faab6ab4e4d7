"""Trials through the trained network, those of one edit together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int8
from torch import Tensor

from cuescope_sdk.fusion import OTHER, AverageAttention, AverageTokens
from cuescope_sdk.torch import Fusion, to_array
from cuescope_toy.encoders import FrameFeatures
from cuescope_toy.fusion.dataset import Vocabulary, tokenize
from cuescope_toy.fusion.network import Batch, forward
from cuescope_toy.loading import Trials, Weights
from cuescope_toy.training import one_thread


@dataclass(frozen=True, eq=False)
class FusionNetwork:
    """The network with its vocabulary and its frame encoder."""

    weights: Weights
    vocabulary: Vocabulary
    features: FrameFeatures
    positions: bool

    def logits(self, trials: Trials) -> list[Float[np.ndarray, " answer"]]:
        """Of all answers, for each trial."""
        logits: dict[int, np.ndarray] = {}
        for indices, _, rows in self._runs(trials):
            logits |= dict(zip(indices, to_array(rows), strict=True))
        # edits group the trials in another order
        return [logits[index] for index in sorted(logits)]

    def modalities(self, trials: Trials) -> list[Int8[np.ndarray, " token"]]:
        """Of the tokens of each trial, without padding."""
        modality = to_array(self._batch(trials).modality)
        # how much padding there is hangs on the rest of the batch
        return [row[row != OTHER] for row in modality]

    def attention(
        self,
        trials: Trials,
        layer: int,
    ) -> list[Float[np.ndarray, "head query key"]]:
        """Weights of a layer for each trial, after its edit and without padding."""
        attention: dict[int, np.ndarray] = {}
        by_layer: dict[int, Tensor] = {}
        for indices, batch, _ in self._runs(trials, by_layer.__setitem__):
            for index, weights, row in zip(
                indices,
                by_layer[layer],
                batch.modality,
                strict=True,
            ):
                # of this run alone: the next one writes over `by_layer`
                tokens = row != OTHER
                attended = weights[:, tokens][:, :, tokens]
                attention[index] = to_array(attended)
        return [attention[index] for index in sorted(attention)]

    def _runs(
        self,
        trials: Trials,
        watch: Callable[[int, Tensor], None] | None = None,
    ) -> Iterator[tuple[list[int], Batch, Float[Tensor, "batch answer"]]]:
        """Of the trials of each edit: their indices, their batch, the logits of all answers."""
        for edit, indices in Fusion.by_edit(trials):
            batch = self._batch([trials[index] for index in indices])
            average = (
                edit if isinstance(edit, AverageAttention | AverageTokens) else None
            )
            fusion = Fusion(batch.modality, average, watch=watch)
            # More threads sum in another order, and an answer would depend on the machine.
            with one_thread(), torch.no_grad(), fusion.use():
                logits = forward(self.weights, batch, positions=self.positions)
            yield indices, batch, logits

    def _batch(self, trials: Trials) -> Batch:
        mean = self.weights["input.mean"]
        samples = [trial.sample for trial in trials]
        tokens = tokenize(samples, self.vocabulary, mean.device)
        # questions alone: there are no features to stack
        if not tokens.frames:
            return tokens.batch(mean.new_empty((0, 1, len(mean))))
        features = torch.from_numpy(self.features.of_frames(tokens.frames))
        return tokens.batch(features.to(mean))
