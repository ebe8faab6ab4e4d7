"""Stock contrastive models of transformers as cuescope models: zero-shot over images and videos."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field

from cuescope_sdk import Context, Options
from cuescope_sdk.models import ZeroShotModel, ZeroShotOptions


class TransformersOptions(ZeroShotOptions):
    """Options of `transformers`; the part after `transformers:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id "
        "(openai/clip-vit-base-patch16): CLIP, SigLIP, SigLIP 2, X-CLIP, or an image tower alone"
    )
    revision: str | None = Field(
        default=None, description="branch, tag or commit of a hub id; default: main"
    )
    trust_remote_code: bool = Field(
        default=False, description="run Python files that come with the model; read them first"
    )


class Transformers(ZeroShotModel):
    """transformers' own forward, with the edits and readings of its image tower.

    X-CLIP takes all frames of a sample together, and its texts are conditioned on the video:
    `logits` follow that, `embed_choices` and `embed_texts` are the texts before it.
    """

    Options: ClassVar[type[Options]] = TransformersOptions
    options: TransformersOptions
    owner = "transformers"

    def __init__(self, options: TransformersOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_sdk.torch import resolve_device
        from cuescope_transformers.loading import load
        from cuescope_transformers.towers import image_tower, text_tower
        from cuescope_transformers.video import PromptedTexts, video_tower

        loaded = load(
            options.model, options.revision, options.trust_remote_code,
            resolve_device(context.device), context.dtype,
        )  # fmt: skip
        video = loaded.kind == "xclip"
        tower = video_tower(loaded) if video else image_tower(loaded)
        texts = None if loaded.tokenizer is None else text_tower(loaded)
        head = self.use(tower, texts, loaded.dim)
        self._loaded, self._dim, self._prompted = loaded, loaded.dim, None
        if video and texts is not None and head.uses_text_tower:
            self._prompted = PromptedTexts(loaded.model, texts.encode, self._templates)
        self.fingerprint = loaded.fingerprint(head.fingerprint, head.uses_text_tower)
        sequence = f"{tower.frames} frames together" if video else "mean of frame embeddings"
        self.facts = {**loaded.facts, **head.facts, "sequence": sequence}

    def pooled(self, rows: Float[np.ndarray, "input size"]) -> Float[np.ndarray, " dim"]:
        """The unit embedding of a sample; X-CLIP's rows go on with what its texts look at."""
        return super().pooled(rows[:, : self._dim])

    def logits(
        self, rows: Float[np.ndarray, "input size"], choices: Sequence[str]
    ) -> Float[np.ndarray, " choice"]:
        """scale * cosine + bias, in X-CLIP with texts that have seen the video."""
        if self._prompted is None:
            return super().logits(rows, choices)
        texts = self._prompted.rows(choices, rows[0, self._dim :].reshape(-1, self._dim))
        return np.asarray(self._head.scale * (texts @ self.pooled(rows)))


__all__ = ["Transformers", "TransformersOptions"]
