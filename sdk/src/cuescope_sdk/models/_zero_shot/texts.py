"""The text tower: sentences to unit embeddings, labels to prompt ensembles."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from cuescope_sdk.models._zero_shot.templates import fill

CHUNK = 128


def unit_mean(rows: Float[np.ndarray, "row dim"]) -> Float[np.ndarray, " dim"]:
    """Mean of unit rows, made unit: a sequence from its frames, a class from its prompts.

    TRoVe (section 5.1) says of frames only "the mean of its constituent image-level embeddings".
    Rows come normalised, so that none outweighs the others by its norm, which in CLIP follows
    the content; the mean is normalised again because logits are cosines. For prompts it is the
    ensemble of Radford et al. (2021).
    """
    return unit(rows.mean(axis=0, dtype=np.float64))


def unit(vector: Float[np.ndarray, "*rows dim"]) -> Float[np.ndarray, "*rows dim"]:
    """Rows of length 1, float32; a row of zeros stays."""
    norms = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.asarray(vector / np.maximum(norms, 1e-12), dtype=np.float32)


@dataclass(frozen=True)
class TextTower:
    """A model's text encoder: `encode` takes a few texts to unnormalised rows (text, dim).

    Cosines times `scale` plus `bias` are the model's logits (bias is 0 but for SigLIP).
    """

    encode: Callable[[list[str]], Float[np.ndarray, "text dim"]]
    dim: int
    scale: float
    bias: float = 0.0

    def embed(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit float32 rows of the texts as they stand, without a template."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        chunks = [list(texts[start : start + CHUNK]) for start in range(0, len(texts), CHUNK)]
        return np.concatenate([unit(self.encode(chunk)) for chunk in chunks])

    def embed_label(self, label: str, templates: Sequence[str]) -> Float[np.ndarray, " dim"]:
        """Unit mean of the unit embeddings of a label's prompts (Radford et al., 2021)."""
        return unit_mean(self.embed([fill(template, label) for template in templates]))
