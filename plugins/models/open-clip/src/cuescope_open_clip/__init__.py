"""Any stock open_clip model as a cuescope model: zero-shot over images and frame sequences."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from cuescope_sdk import Capabilities, Context, Options, Plugin, Response, Trial
from cuescope_sdk.refusals import refuse_unanswerable

if TYPE_CHECKING:
    from cuescope_open_clip.heads import Head
    from cuescope_open_clip.texts import TextTower


class OpenCLIPOptions(Options):
    """Options of `open-clip`; the part after `open-clip:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        description="ARCHITECTURE/TAG (ViT-B-16/openai), ARCHITECTURE with checkpoint=, "
        "hf-hub:OWNER/NAME, or a folder with open_clip_config.json"
    )
    checkpoint: Path | None = Field(
        default=None,
        description="local weights (.safetensors, .pt): the full model or its image tower alone",
    )
    templates: str = Field(
        default="plain",
        description="prompts around each choice: plain, action28, openai80, or a file with one "
        "prompt a line, each with {label}",
    )
    class_embeddings: Path | None = Field(
        default=None,
        description=".npz with `names` and `embeddings` (name, dim) in place of the text tower",
    )
    logit_scale: float | None = Field(
        default=None,
        gt=0,
        description="factor on the cosines; default: the model's own, 100 with class_embeddings",
    )


class OpenCLIP(Plugin):
    """Zero-shot classification over the choices of a sample; a question is not shown.

    A sequence is the mean of its frames (TRoVe, section 5.1: non-temporal models). A model with
    a text tower also has `embed_texts`; one built from an image tower alone has not.
    """

    Options = OpenCLIPOptions
    options: OpenCLIPOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset[Literal["logits", "text", "embedding"]]({"logits", "embedding"})
    )
    fingerprint: str
    facts: Mapping[str, str]
    embed_texts: Callable[[Sequence[str]], Float[np.ndarray, "text dim"]]

    def __init__(self, options: OpenCLIPOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_open_clip.frames import FrameEncoder
        from cuescope_open_clip.heads import check_sources
        from cuescope_open_clip.loading import load
        from cuescope_open_clip.texts import TextTower
        from cuescope_sdk.torch.devices import resolve_device

        check_sources(options.templates, options.class_embeddings)
        loaded = load(
            options.model, options.checkpoint, resolve_device(context.device), context.dtype
        )
        self._encoder = FrameEncoder(loaded, context.batch_size)
        tower = TextTower(loaded) if loaded.has_text_tower else None
        if tower is not None:
            self.embed_texts = tower.embed
        self._head = self._choose_head(tower, loaded.dim)
        if context.dataset is not None and context.dataset.labels:
            self._head.check(context.dataset.labels)
        self.fingerprint = loaded.fingerprint(self._head.fingerprint, self._head.uses_text_tower)
        self.device = str(loaded.device)
        self.facts = {**loaded.facts, **self._head.facts, "sequence": "mean of frame embeddings"}

    def _choose_head(self, tower: "TextTower | None", dim: int) -> "Head":
        from cuescope_open_clip.heads import EmbeddingTable, Headless, PromptHead

        if self.options.class_embeddings is not None:
            scale = self.options.logit_scale
            return EmbeddingTable.read(self.options.class_embeddings, dim, scale)
        if tower is None:
            return Headless(self.options.model)
        return PromptHead(tower, self.options.templates, self.options.logit_scale)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits over the choices and the unit sequence embedding, as each trial asks."""
        for trial in trials:
            refuse_unanswerable("open-clip", self.capabilities, trial)
        embeddings = self._encoder.embed(
            {frame.key: frame for trial in trials for frame in trial.sample.frames}
        )
        return [self._answer(trial, embeddings) for trial in trials]

    def _answer(self, trial: Trial, embeddings: Mapping[str, np.ndarray]) -> Response:
        from cuescope_open_clip.frames import unit_mean

        frames = np.stack([embeddings[frame.key] for frame in trial.sample.frames])
        embedding = unit_mean(frames)
        logits = None
        if "logits" in trial.outputs:
            logits = self._head.logits(embedding, trial.sample.choices)
        return Response(
            logits=logits, embedding=embedding if "embedding" in trial.outputs else None
        )


__all__ = ["OpenCLIP", "OpenCLIPOptions"]
