"""Trials through the trained network, those of one edit together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int8
from torch import Tensor

from cuescope_sdk import Edit, Trial
from cuescope_sdk.fusion import OTHER, AverageAttention, AverageTokens
from cuescope_sdk.torch import Fusion, group_by_edit, use_fusion
from cuescope_toy.fitting import one_thread
from cuescope_toy.frame_features import FrameFeatures
from cuescope_toy.fusion.network import Asked, answer
from cuescope_toy.fusion.reading import Vocabulary, shown
from cuescope_toy.network import Weights


@dataclass(frozen=True, eq=False)
class Answering:
    """The network with all it takes to ask it."""

    weights: Weights
    vocabulary: Vocabulary
    features: FrameFeatures
    positions: bool

    def logits(self, trials: Sequence[Trial]) -> list[Float[np.ndarray, " answer"]]:
        """Of all answers, for each trial."""
        found: dict[int, np.ndarray] = {}
        for edit, indices in group_by_edit(trials):
            asked = self._asked([trials[index] for index in indices])
            rows = self._answered(asked, Fusion(asked.modality, averaging(edit)))
            found |= dict(zip(indices, rows.float().cpu().numpy(), strict=True))
        return [found[index] for index in range(len(trials))]

    def modalities(self, trials: Sequence[Trial]) -> list[Int8[np.ndarray, " token"]]:
        """Of the tokens of each trial, without padding."""
        kinds = self._asked(trials).modality.cpu().numpy()
        return [row[row != OTHER] for row in kinds]

    def attention(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Float[np.ndarray, "head query key"]]:
        """Weights of a layer for each trial, after its edit and without padding."""
        found: dict[int, np.ndarray] = {}
        for edit, indices in group_by_edit(trials):
            asked = self._asked([trials[index] for index in indices])
            seen: dict[int, Tensor] = {}
            self._answered(asked, Fusion(asked.modality, averaging(edit), watch=seen.__setitem__))
            for index, weights, kinds in zip(indices, seen[layer], asked.modality, strict=True):
                kept = kinds != OTHER
                found[index] = weights[:, kept][:, :, kept].float().cpu().numpy()
        return [found[index] for index in range(len(trials))]

    def _answered(self, asked: Asked, fusion: Fusion) -> Float[Tensor, "batch answer"]:
        with one_thread(), torch.no_grad(), use_fusion(fusion):
            return answer(self.weights, asked, positions=self.positions)

    def _asked(self, trials: Sequence[Trial]) -> Asked:
        mean = self.weights["input.mean"]
        numbered = shown([trial.sample for trial in trials], self.vocabulary, mean.device)
        features = mean.new_empty((0, 1, len(mean)))
        if numbered.frames:
            features = torch.from_numpy(self.features.of_frames(numbered.frames)).to(mean)
        return numbered.batch(features)


def averaging(edit: Edit | None) -> AverageAttention | AverageTokens | None:
    """The edit, where it is one of fusion."""
    return edit if isinstance(edit, AverageAttention | AverageTokens) else None
