"""Sentence embeddings by sentence-transformers."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from jaxtyping import Float
from pydantic import Field

from cuescope_sdk import Context, LazyWeights, Names, Options, Plugin, digest
from cuescope_sdk.models import unit


class SentenceOptions(Options):
    """Options of `sentence-transformers`; the part after `sentence-transformers:` is `model`."""

    argument = "model"

    model: Annotated[str, Names.repository()] = Field(
        "sentence-transformers/all-MiniLM-L6-v2",
        description="a folder that SentenceTransformer.save wrote, or a hub id",
    )
    revision: Annotated[str | None, Names.repository()] = Field(
        None, description="branch, tag or commit of a hub id; default: main"
    )


class SentenceTransformers(Plugin, LazyWeights):
    """Sentence-BERT (Reimers and Gurevych, 2019) and its like, as released.

    A sentence beyond the model's own limit is cut at its end.
    """

    Options = SentenceOptions
    options: SentenceOptions

    def __init__(self, options: SentenceOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import resolve_device, resolve_dtype
        from cuescope_sentences.configuration import require_plain_modules
        from cuescope_sentences.loading import OWNER, content, find

        self._device = resolve_device(context.device)
        self._dtype = resolve_dtype(context.dtype)
        self._source = find(options.model, options.revision, context)
        require_plain_modules(OWNER, self._source.folder)
        self.fingerprint = digest(OWNER, 1, content(self._source.folder), context.dtype)
        self.facts = {"sentences": self._source.title}

    def open_weights(self) -> None:
        _ = self._network

    @cached_property
    def _network(self) -> Any:
        from cuescope_sentences.loading import open_network

        self.context.stop_plan_before(f"the weights of {self._source.title}")
        return open_network(self._source, self._device, self._dtype)

    def encode(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """Unit rows."""
        if not texts:
            return np.zeros(
                (0, self._network.get_embedding_dimension()), dtype=np.float32
            )
        tensors = self._network.encode(
            list(texts),
            batch_size=self.context.batch_size,
            show_progress_bar=False,
            convert_to_tensor=True,
        )
        # not every model ends with a module that normalises
        return unit(tensors.float().cpu().numpy())
