"""Answers of a contrastive model, from an image tower and a zero-shot head."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field

from cuescope_core.capabilities import Capabilities, LazyWeights
from cuescope_core.context import Context
from cuescope_core.errors import UserError
from cuescope_core.plugin import Plugin
from cuescope_core.trust.risks import NamesFile
from cuescope_core.types import Frame, Options, Output, Response, Trial
from cuescope_sdk.models._refusals import refuse_unanswerable
from cuescope_sdk.models._zero_shot.heads import (
    EmbeddingTable,
    Head,
    Headless,
    PromptHead,
    read_table,
)
from cuescope_sdk.models._zero_shot.texts import (
    PromptTower,
    Templates,
    TextTower,
    unit,
    unit_mean,
)

if TYPE_CHECKING:  # they import torch, which listing plugins must not pay for
    from cuescope_sdk.torch._encoding import TowerEncoder
    from cuescope_sdk.torch._image_tower import ImageTower

OUTPUTS: frozenset[Output] = frozenset(("logits", "embedding"))
Rows = Float[np.ndarray, "input size"]


class ZeroShotOptions(Options):
    """How choices become texts; a model plugin adds where its weights are."""

    templates: Annotated[str, NamesFile(or_words=True)] = Field(
        default="plain",
        description="prompts around each choice: plain, raw (the text as it stands), action28, "
        "pneumonia-progression (for improving and worsening; also of MS-CXR-T's other findings), a "
        "set that the model's library has, or a file: one prompt a line, each with {label}, or "
        "JSON with a list of prompts for each label",
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

    def text_content(
        self,
        owner: str,
        more: Mapping[str, Sequence[str]],
    ) -> tuple[object, ...]:
        """How choices become texts, for a digest: files count by what is in them.

        `more` are template sets of a library. Raises UserError for a set or file that is not there.
        """
        if self.class_embeddings is not None:
            names, rows = read_table(self.class_embeddings, owner)
            return "table", names, rows, self.logit_scale
        templates = Templates.find(self.templates, owner, more)
        return "prompts", templates.content, self.logit_scale


class ZeroShotModel(Plugin, LazyWeights):
    """Zero-shot classification over the choices of a sample; a question is not shown.

    A sequence is the mean of its frames (TRoVe, section 5.1: non-temporal models), unless the
    tower takes video. With a text tower the model also has `embed_texts`.

    As it is built, a subclass finds its files and calls `choose_head`; it opens the weights in
    `open_image_tower`, which runs once, when an answer is first asked for. A subclass whose tower
    is open already calls `use` in place of both.
    """

    owner: ClassVar[str]
    options: ZeroShotOptions
    capabilities = Capabilities(
        outputs=OUTPUTS,
        edits=frozenset({"hide-tokens"}),
        # declared: a pair that cannot work is refused before weights load (docs/adr/0009)
        exposes=frozenset({"patches", "choices", "image-tower", "text-tower"}),
    )
    fingerprint: str
    facts: Mapping[str, str]
    device: str
    embed_texts: Callable[[Sequence[str]], Float[np.ndarray, "text dim"]]

    def __init__(self, options: ZeroShotOptions, context: Context) -> None:
        super().__init__(options, context)
        # a wrong template set or table is reported before any weights are looked for
        if options.class_embeddings is None:
            self._templates = Templates.find(
                options.templates, self.owner, self.more_templates()
            )
        else:
            read_table(options.class_embeddings, self.owner)

    def more_templates(self) -> Mapping[str, Sequence[str]]:
        """Template sets that the model's library has."""
        return {}

    def choose_head(
        self,
        name: str,
        device: str,
        texts: TextTower | None,
        dim: int,
    ) -> Head:
        """Take what scores choices: a table, prompts through `texts`, or nothing.

        `name` is what errors call the model, `dim` the size of the space that images and texts
        share. `texts.encode` may open the weights when it is first called.
        """
        self.device = device
        self._texts = texts
        if texts is not None:
            # on the object, and only here: `EmbedsText` is told by whether the attribute is there
            self.embed_texts = texts.embed
        self._head = self._head_of(name, texts, dim)
        if self.context.dataset is not None and self.context.dataset.labels:
            # a label without a row is reported before the first image
            self._head.check(self.context.dataset.labels)
        return self._head

    def close_tower(self, reason: str) -> None:
        """For a tower whose tokens cannot be reached: a plan refuses what needs them, and why."""
        inside = frozenset({"patches", "image-tower"})
        update: dict[str, object] = {
            "edits": frozenset[str](),
            "exposes": self.capabilities.exposes - inside,
            "notes": dict.fromkeys(("hide-tokens", *sorted(inside)), reason),
        }
        self.capabilities = self.capabilities.model_copy(update=update)

    def use(self, tower: "ImageTower", texts: TextTower | None, dim: int) -> Head:
        """Answer with towers that are open already. Gives the head."""
        self.image_tower = tower
        return self.choose_head(tower.name, str(tower.device), texts, dim)

    def _head_of(self, name: str, texts: TextTower | None, dim: int) -> Head:
        options = self.options
        if options.class_embeddings is not None:
            return EmbeddingTable.read(
                self.owner, options.class_embeddings, dim, options.logit_scale
            )
        if texts is None:
            return Headless(name)
        templates = Path(options.templates).name
        return PromptHead(texts, templates, self._templates, options.logit_scale)

    def open_image_tower(self) -> "ImageTower":
        """Open the weights and give the image encoder; a plan must end here."""
        raise NotImplementedError(
            f"{type(self).__name__}: open_image_tower(), or use() at once"
        )

    @cached_property
    def image_tower(self) -> "ImageTower":
        """The image encoder; whoever asks for it first opens the weights."""
        return self.open_image_tower()

    def open_weights(self) -> None:
        """Open the weights now."""
        _ = self.image_tower  # the property opens them and keeps them

    @cached_property
    def _encoder(self) -> "TowerEncoder":
        from cuescope_sdk.torch._encoding import TowerEncoder, TowerMemory

        tower = self.image_tower
        context = self.context
        # of the same weights: the next audit of this process looks at the same pictures
        key = (
            type(self),
            self.fingerprint,
            str(tower.device),
            context.dtype,
            context.batch_size,
        )
        memory = context.memory.recall(key, TowerMemory)
        return TowerEncoder(tower, context.batch_size, memory)

    @property
    def passes(self) -> int:
        """Pictures that went through the image tower so far, with nothing changed inside it."""
        opened = self.__dict__.get("_encoder")
        return opened.passes if opened else 0

    def prefetch(self, trials: Sequence[Trial]) -> None:
        """Begin to load the frames of trials that are asked next, once the weights are open."""
        # a look at the property would open the weights, which `prefetch` must not do
        if "image_tower" in self.__dict__:
            self._encoder.prefetch(trials)

    def require_answerable(self, trials: Sequence[Trial]) -> None:
        """Raises UserError for what is not declared, and for logits over no choices."""
        refuse_unanswerable(self.owner, self.capabilities, trials)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits over the choices and the unit embedding, as each trial asks."""
        from cuescope_sdk.torch._encoding import tower_inputs

        self.require_answerable(trials)
        inputs = [tower_inputs(trial, self.image_tower.frames) for trial in trials]
        # one call for the inputs of all trials: what they share is encoded once
        rows = iter(self._encoder.embed(list(chain.from_iterable(inputs))))
        responses = []
        for trial, of_trial in zip(trials, inputs, strict=True):
            of_frames = np.stack([next(rows) for _ in of_trial])
            responses.append(self._answer(trial, of_frames))
        return responses

    def _answer(self, trial: Trial, rows: Rows) -> Response:
        logits = (
            self.logits(rows, trial.sample.choices)
            if "logits" in trial.outputs
            else None
        )
        embedding = self.pool(rows) if "embedding" in trial.outputs else None
        return Response(logits=logits, embedding=embedding)

    def pool(self, rows: Rows) -> Float[np.ndarray, " dim"]:
        """The unit embedding of a sample from what the tower gave for its inputs."""
        return unit_mean(unit(rows))  # each frame counts alike, whatever its norm

    def logits(
        self,
        rows: Rows,
        choices: Sequence[str],
    ) -> Float[np.ndarray, " choice"]:
        """scale * cosine + bias."""
        head = self._head
        cosines = head.rows(choices) @ self.pool(rows)
        return np.asarray(head.scale * cosines + head.bias)

    def embed_choices(self, choices: Sequence[str]) -> Float[np.ndarray, "choice dim"]:
        """Unit rows that image embeddings are compared with."""
        return self._head.rows(choices)

    def prompt_tower(self) -> PromptTower:
        """The text tower, to learn prompts with; raises UserError where nothing can be learned."""
        if (
            self._texts is None
            or self._texts.prompts is None
            or self.options.class_embeddings
        ):
            raise UserError(
                f"{self.owner}: no prompts can be learned for this model",
                expected="a model that names its choices by a text tower with gradients",
                got="a table of class embeddings"
                if self.options.class_embeddings
                else "none",
                remedy="Take another mitigator: last-layer needs no text tower.",
            )
        return self._texts.prompts()

    def canvas(self, frames: Sequence[Frame]) -> list[np.ndarray]:
        """The pixels that the network sees, uint8 (row, col, 3), resized and cropped."""
        return [self.image_tower.canvas(frame.load()) for frame in frames]

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[Float[np.ndarray, "row col dim"]]:
        """Patch tokens after a block, float32, on the model's own grid."""
        return [self._encoder.features(frame, layer) for frame in frames]
