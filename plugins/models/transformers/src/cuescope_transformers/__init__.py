"""Stock contrastive models of transformers as cuescope models: zero-shot over images and videos."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from jaxtyping import Float

from cuescope_sdk import Context
from cuescope_sdk.models import ZeroShotModel
from cuescope_sdk.report import count_of
from cuescope_transformers.options import TransformersOptions, config_in

if TYPE_CHECKING:
    from cuescope_sdk.torch import ImageTower
    from cuescope_transformers.loading import ContrastiveModel
    from cuescope_transformers.video import PromptedTexts


class Transformers(ZeroShotModel):
    """transformers' own forward, with the edits and readouts of its image tower.

    X-CLIP takes all frames of a sample together, and its texts are conditioned on the video:
    `logits` follow that, `embed_choices` and `embed_texts` are the texts before it.
    """

    Options = TransformersOptions
    options: TransformersOptions
    answers_version = 1
    owner = "transformers"

    def __init__(
        self,
        options: TransformersOptions,
        context: Context,
        held: "ContrastiveModel | None" = None,
    ) -> None:
        super().__init__(options, context)
        # here and below: torch takes seconds, which a list of plugins must not cost
        from cuescope_transformers.loading import find_contrastive
        from cuescope_transformers.towers import text_tower

        model = held or find_contrastive(options, context)
        self._model = model
        # an image tower alone has no tokenizer
        self._texts = None if model.tokenizer is None else text_tower(model)
        files = model.files
        head = self.choose_head(files.title, str(files.device), self._texts, model.dim)
        self.fingerprint = model.fingerprint(head.fingerprint, head.uses_text_tower)
        together = f"{count_of(model.frames, 'frames')} together"
        sequence = together if model.takes_video else "mean of frame embeddings"
        self.facts = {**files.facts, **head.facts, "sequence": sequence}
        if model.shape.closed is not None:
            self.close_tower(model.shape.closed)

    @classmethod
    def takes(cls, item: object) -> bool:
        """Whether it is a contrastive model of transformers, or a tuple that begins with one."""
        config = config_in(item)
        if config is None:
            return False
        from cuescope_transformers.loading import known_kind

        return known_kind(config) is not None

    @classmethod
    def from_object(
        cls,
        item: Any,
        options: TransformersOptions,
        context: Context,
    ) -> Self:
        """From (model, processor)."""
        from cuescope_transformers.held import hold_contrastive

        return cls(options, context, hold_contrastive(item, options, context))

    def open_image_tower(self) -> "ImageTower":
        from cuescope_transformers.towers import image_tower
        from cuescope_transformers.video import video_tower

        if self._model.takes_video:
            return video_tower(self._model)
        return image_tower(self._model)

    @cached_property
    def _video_texts(self) -> "PromptedTexts | None":
        """X-CLIP's texts, unless a table stands in for its text tower."""
        from cuescope_transformers.video import PromptedTexts

        if (
            self._model.kind != "xclip"
            or self._texts is None
            or not self._head.uses_text_tower
        ):
            return None
        return PromptedTexts(
            self._model.files.network, self._texts.encode, self._templates
        )

    def pool(self, rows: Float[np.ndarray, "input size"]) -> Float[np.ndarray, " dim"]:
        """The unit embedding of a sample; X-CLIP's rows go on with what its texts look at."""
        return super().pool(rows[:, : self._model.dim])

    def logits(
        self,
        rows: Float[np.ndarray, "input size"],
        choices: Sequence[str],
    ) -> Float[np.ndarray, " choice"]:
        """scale * cosine + bias, in X-CLIP with texts that have seen the video."""
        if self._video_texts is None:
            return super().logits(rows, choices)
        dim = self._model.dim
        # behind the embedding: the video's own tokens
        texts = self._video_texts.rows(choices, rows[0, dim:].reshape(-1, dim))
        # X-CLIP learns no bias
        return np.asarray(self._head.scale * (texts @ self.pool(rows)))


__all__ = ["Transformers", "TransformersOptions"]
