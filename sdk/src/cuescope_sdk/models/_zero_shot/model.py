"""Answers of a contrastive model, from an image tower and a zero-shot head."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field

from cuescope.capabilities import Capabilities
from cuescope.context import Context
from cuescope.plugin import Plugin
from cuescope.types import Frame, Options, Output, Response, Trial
from cuescope_sdk.models._refusals import refuse_unanswerable
from cuescope_sdk.models._zero_shot.heads import (
    EmbeddingTable,
    Head,
    Headless,
    PromptHead,
    read_table,
)
from cuescope_sdk.models._zero_shot.texts import TextTower, templates_of, unit, unit_mean

if TYPE_CHECKING:
    from cuescope_sdk.torch._image_tower import ImageTower

OUTPUTS: frozenset[Output] = frozenset(("logits", "embedding"))


class ZeroShotOptions(Options):
    """How choices become texts; a model plugin adds where its weights are."""

    templates: str = Field(
        default="plain",
        description="prompts around each choice: plain, raw (the text as it stands), action28, a "
        "set that the model's library has, or a file with one prompt a line, each with {label}",
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


class ZeroShotModel(Plugin):
    """Zero-shot classification over the choices of a sample; a question is not shown.

    A sequence is the mean of its frames (TRoVe, section 5.1: non-temporal models), unless the
    tower takes video. A subclass loads its weights, then calls `use`. With a text tower it also
    has `embed_texts`.
    """

    owner: ClassVar[str]
    options: ZeroShotOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=OUTPUTS,
        edits=frozenset({"hide-tokens"}),
        exposes=frozenset({"patches", "choices", "image-tower"}),
    )
    fingerprint: str
    facts: Mapping[str, str]
    image_tower: "ImageTower"
    embed_texts: Callable[[Sequence[str]], Float[np.ndarray, "text dim"]]

    def __init__(self, options: ZeroShotOptions, context: Context) -> None:
        super().__init__(options, context)
        if options.class_embeddings is None:  # told before any weights load
            self._templates = templates_of(options.templates, self.owner, self.more_templates())
        else:
            read_table(options.class_embeddings, self.owner)

    def more_templates(self) -> Mapping[str, Sequence[str]]:
        """Template sets that the model's library has."""
        return {}

    def use(self, tower: "ImageTower", texts: TextTower | None, dim: int) -> Head:
        """Answer with these towers; `dim` is the size of their shared space. Gives the head."""
        from cuescope_sdk.torch._encoding import TowerEncoder

        self.image_tower = tower
        self.device = str(tower.device)
        self._encoder = TowerEncoder(tower, self.context.batch_size)
        if texts is not None:
            self.embed_texts = texts.embed
        self._head = self._choose_head(texts, dim)
        if self.context.dataset is not None and self.context.dataset.labels:
            self._head.check(self.context.dataset.labels)
        return self._head

    def _choose_head(self, texts: TextTower | None, dim: int) -> Head:
        options = self.options
        if options.class_embeddings is not None:
            return EmbeddingTable.read(
                self.owner, options.class_embeddings, dim, options.logit_scale
            )
        if texts is None:
            return Headless(self.image_tower.name)
        name = Path(options.templates).name
        return PromptHead(texts, name, self._templates, options.logit_scale)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits over the choices and the unit embedding, as each trial asks."""
        from cuescope_sdk.torch._encoding import tower_inputs

        for trial in trials:
            refuse_unanswerable(self.owner, self.capabilities, trial)
        shown = [tower_inputs(trial, self.image_tower.frames) for trial in trials]
        rows = iter(self._encoder.embed([one for of_trial in shown for one in of_trial]))
        return [
            self._answer(trial, np.stack([next(rows) for _ in of_trial]))
            for trial, of_trial in zip(trials, shown, strict=True)
        ]

    def _answer(self, trial: Trial, rows: Float[np.ndarray, "input size"]) -> Response:
        embedding = self.pooled(rows)
        logits = self.logits(rows, trial.sample.choices) if "logits" in trial.outputs else None
        return Response(
            logits=logits, embedding=embedding if "embedding" in trial.outputs else None
        )

    def pooled(self, rows: Float[np.ndarray, "input size"]) -> Float[np.ndarray, " dim"]:
        """The unit embedding of a sample from what the tower gave for its inputs."""
        return unit_mean(unit(rows))

    def logits(
        self, rows: Float[np.ndarray, "input size"], choices: Sequence[str]
    ) -> Float[np.ndarray, " choice"]:
        """scale * cosine + bias."""
        head = self._head
        return np.asarray(head.scale * (head.rows(choices) @ self.pooled(rows)) + head.bias)

    def embed_choices(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """Unit rows that image embeddings are compared with."""
        return self._head.rows(choices)

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The pixels that the network sees, uint8 (row, col, 3), resized and cropped."""
        return [self.image_tower.canvas(frame.load()) for frame in frames]

    def patch_features(
        self, frames: Sequence[Frame], layer: int = -1
    ) -> list[Float[np.ndarray, "row col dim"]]:
        """Patch tokens after a block, float32, on the model's own grid."""
        return [self._encoder.features(frame, layer) for frame in frames]
