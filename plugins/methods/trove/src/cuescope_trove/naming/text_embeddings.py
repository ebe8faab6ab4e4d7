"""What the model's own text tower makes of words."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float32

from cuescope_sdk import Readout, Trial, UserError


class TextEmbeddings(Readout):
    """Unit rows (text, dim) of texts by the model's own text tower."""

    name = "text-embeddings-1"
    gives: ClassVar[Any] = Float32[np.ndarray, "text dim"]
    of_embedding = True
    texts: tuple[str, ...]

    def read(self, model: Any, trials: Sequence[Trial]) -> list[np.ndarray]:
        """The same for every trial; raises UserError for a model that reads no texts."""
        if not hasattr(model, "embed_texts"):
            raise UserError(
                "the model has no text tower to compare frames with words",
                expected="a model with embed_texts, for this namer",
                remedy="Take another, --tool namer=detected-names:DETECTOR",
            )
        return [np.asarray(model.embed_texts(self.texts), np.float32)] * len(trials)

    def accepts(self, array: np.ndarray, trial: Trial) -> bool:
        """A row for each text."""
        is_table = super().accepts(array, trial)
        return is_table and len(array) == len(self.texts) and array.size > 0
