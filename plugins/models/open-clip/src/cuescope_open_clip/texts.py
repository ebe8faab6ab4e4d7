"""The text tower: sentences to unit embeddings, labels to prompt ensembles."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch.nn.functional import normalize

from cuescope_open_clip.frames import unit_mean
from cuescope_open_clip.templates import fill

if TYPE_CHECKING:
    from cuescope_open_clip.loading import Loaded

CHUNK = 128


class TextTower:
    """Tokenizer and text encoder of a loaded model."""

    def __init__(self, loaded: "Loaded") -> None:
        self._loaded = loaded
        self._tokenize = loaded.tokenizer()

    @property
    def scale_and_bias(self) -> tuple[float, float]:
        """What the model was trained to multiply cosines by and add (SigLIP; else 0)."""
        model = self._loaded.model
        bias = getattr(model, "logit_bias", None)
        return float(model.logit_scale.float().exp()), float(bias) if bias is not None else 0.0

    def embed(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit float32 rows of the texts as they stand, without a template."""
        if not texts:
            return np.zeros((0, self._loaded.dim), np.float32)
        return np.concatenate(list(self._chunks(list(texts))))

    def embed_label(self, label: str, templates: Sequence[str]) -> Float[np.ndarray, " dim"]:
        """Unit mean of the unit embeddings of a label's prompts (Radford et al., 2021)."""
        rows = self.embed([fill(template, label) for template in templates])
        return unit_mean(rows)

    @torch.inference_mode()
    def _chunks(self, texts: list[str]) -> Iterator[np.ndarray]:
        for start in range(0, len(texts), CHUNK):
            tokens = self._tokenize(texts[start : start + CHUNK]).to(self._loaded.device)
            features = self._loaded.model.encode_text(tokens)
            yield normalize(features.float(), dim=-1).cpu().numpy()
