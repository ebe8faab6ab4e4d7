"""OpenAI's CLIP ViT-B/16 image tower on small pictures, and the head that is learned on it."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor
from torch.nn import functional
from transformers import CLIPVisionModelWithProjection

from cuescope_sdk.torch import quiet
from worlds.stamps.compositing import SIDE, assets

MEAN = (0.481, 0.458, 0.408)
SPREAD = (0.269, 0.261, 0.276)
CELL = 16  # pixels of a patch
AT_ONCE = 32


class Tower:
    """What CLIP makes of pictures."""

    def __init__(self) -> None:
        torch.set_num_threads(1)
        folder = assets() / "clip-vit-b16-vision"
        with quiet():
            self._network = CLIPVisionModelWithProjection.from_pretrained(
                folder, dtype=_fastest_dtype()
            )
        self._network.eval()

    def look(
        self,
        pictures: Sequence[np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Image embeddings (picture, dim), and the patches (picture, row, col, dim)."""
        embeddings = []
        tokens = []
        with torch.inference_mode():
            for start in range(0, len(pictures), AT_ONCE):
                pixels = _as_input(pictures[start : start + AT_ONCE])
                pixels = pixels.to(self._network.dtype)
                # places are those of larger pictures, interpolated
                seen = self._network(pixels, interpolate_pos_encoding=True)
                embeddings.append(seen.image_embeds)
                # the first one is no patch
                tokens.append(seen.last_hidden_state[:, 1:])
        side = SIDE // CELL
        patches = torch.cat(tokens).float().unflatten(1, (side, side))
        return torch.cat(embeddings).float().numpy(), patches.numpy()


def _as_input(pictures: Sequence[np.ndarray]) -> Tensor:
    pixels = torch.from_numpy(np.stack(pictures)).float() / 255
    pixels = (pixels - torch.tensor(MEAN)) / torch.tensor(SPREAD)
    return pixels.permute(0, 3, 1, 2)


def _fastest_dtype() -> torch.dtype:
    """A quarter of the time with bfloat16, seven times as long where the processor lacks it."""
    has_it = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.bfloat16 if has_it else torch.float32


@cache
def open_tower() -> Tower:
    """The one tower of this process."""
    return Tower()


def fit_head(features: np.ndarray, labels: Sequence[int]) -> np.ndarray:
    """A linear probe, (dim + 1, label); the last row is added."""
    mean = features.mean(axis=0)
    spread = features.std(axis=0)
    probe = LogisticRegression(C=0.02, max_iter=2000)
    probe.fit((features - mean) / spread, labels)
    # so that it is asked with features as they are
    weights = probe.coef_.T / spread[:, None]
    return np.vstack([weights, probe.intercept_ - mean @ weights])


def logits_of(features: np.ndarray, head: np.ndarray) -> np.ndarray:
    """(picture, label)."""
    return features @ head[:-1] + head[-1]


def softmax(logits: np.ndarray) -> np.ndarray:
    """Row by row."""
    return functional.softmax(torch.from_numpy(logits).double(), dim=-1).numpy()
