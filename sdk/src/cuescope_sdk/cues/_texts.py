"""Directions of words in the space of a text tower."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Float32

from cuescope_core.auditing import Audit
from cuescope_core.errors import UserError
from cuescope_core.types import Readout, Sample, Trial


class Texts(Readout):
    """Unit rows (text, dim) of texts by the text tower beside the embedding."""

    name: ClassVar[str] = "cue-texts-1"
    gives: ClassVar[Any] = Float32[np.ndarray, "text dim"]
    of_embedding: ClassVar[bool] = True
    texts: tuple[str, ...]

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """The same for every trial; raises UserError for what reads no texts."""
        if not hasattr(model, "embed_texts"):
            raise UserError(
                "neither the model nor an embedder reads text",
                expected="a text tower, as open-clip has it",
                remedy="Add --tool embedder=open-clip:...",
            )
        return [np.asarray(model.embed_texts(self.texts), np.float32)] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A row for each text."""
        is_table = super().accepts(array, trial)
        return is_table and len(array) == len(self.texts) and array.size > 0


def text_directions(
    audit: Audit, sample: Sample, phrases: Sequence[str], labels: Sequence[str]
) -> Float[np.ndarray, "phrase dim"]:
    """Embeddings of phrases, less what the texts of labels have in common.

    They are asked about beside any `sample`. Raises UserError where nothing reads text.
    """
    texts = Texts(texts=(*phrases, *labels))
    [outcome] = audit.respond([texts.of(sample)])
    rows = np.asarray(outcome.response.readout, dtype=np.float64)
    return np.asarray(rows[: len(phrases)] - rows[len(phrases) :].mean(axis=0))
