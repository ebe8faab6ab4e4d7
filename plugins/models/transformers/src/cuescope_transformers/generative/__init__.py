"""Stock generative models of transformers as cuescope models: questions about videos and images."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float, Int8, UInt8
from pydantic import Field, PositiveFloat, PositiveInt, field_validator

from cuescope_sdk import Capabilities, Context, Frame, LazyWeights, Options, Plugin, Response, Trial
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.models import refuse_unanswerable

OWNER = "transformers-vlm"


class VLMOptions(Options):
    """Options of `transformers-vlm`; the part after `transformers-vlm:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id (Qwen/Qwen2.5-VL-3B-Instruct)"
        ": any image- or video-text-to-text model"
    )
    revision: str | None = Field(
        default=None, description="branch, tag or commit of a hub id; default: main"
    )
    trust_remote_code: bool = Field(
        default=False, description="run Python files that come with the model; read them first"
    )
    scoring: Literal["likelihood", "letters"] = Field(
        default="likelihood",
        description="logits of choices: `likelihood`, the log-probability of a choice as the "
        "answer; `letters`, the choices listed as (A) (B) ... and the logits of the letters",
    )
    max_new_tokens: PositiveInt = Field(default=32, description="longest answer in words' tokens")
    prompt: str = Field(
        default="{question}", description="what is said, with {question} where the question goes"
    )
    question: str = Field(
        default="", description="asked where a sample has no question; default: nothing is"
    )
    fps: PositiveFloat = Field(
        default=1.0, description="frames a second of the samples, for models that read the time"
    )

    @field_validator("prompt")
    @classmethod
    def _asks(cls, prompt: str) -> str:
        if "{question}" not in prompt:
            raise ValueError("{question} in it")
        return prompt


class TransformersVLM(Plugin, LazyWeights):
    """transformers' own `generate`: greedy answers, and choices by forcing them.

    Frames are shown as one video where the processor takes videos, a single frame as an image.
    """

    Options: ClassVar[type[Options]] = VLMOptions
    options: VLMOptions
    capabilities: Capabilities = Capabilities(
        outputs=frozenset(("logits", "text")),
        edits=frozenset({"average-attention", "average-tokens", "hide-tokens"}),
        exposes=frozenset({"fusion", "patches"}),
        min_frames=0,
    )
    fingerprint: str
    facts: Mapping[str, str]

    def __init__(self, options: VLMOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_transformers.generative.loading import load
        from cuescope_transformers.generative.patches import shows_patches

        loaded = load(options.model, options.revision, options.trust_remote_code, context)
        asked = options.model_dump(
            include={"scoring", "max_new_tokens", "prompt", "question", "fps"}
        )
        self.device = str(loaded.device)
        self.fingerprint = loaded.fingerprint(asked)
        self.facts = {**loaded.facts, "choices are scored by": options.scoring}
        self._loaded = loaded
        shown = frozenset({"patches"} if shows_patches(loaded) else ())
        self.capabilities = self.capabilities.model_copy(
            update={"exposes": shown | {"fusion"}, "min_frames": int(loaded.needs_image)}
        )

    def open_weights(self) -> None:
        """Open the weights now."""
        _ = self._loaded.opened

    @property
    def fusion(self) -> FusionShape:
        """Sizes of the fusion layers; raises UserError where they are closed."""
        from cuescope_transformers.generative.editing import shape_of

        return shape_of(self._loaded)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits over the choices and the text of the answer, as each trial asks."""
        for trial in trials:
            refuse_unanswerable(OWNER, self.capabilities, trial)
        from cuescope_transformers.generative.answering import respond

        return respond(self._loaded, self.options, trials, self.context.batch_size)

    def canvas(self, frames: Sequence[Frame]) -> list[UInt8[np.ndarray, "height width 3"]]:
        """The pixels that the image encoder sees of each frame, shown as an image."""
        from cuescope_transformers.generative.patches import canvas

        return canvas(self._loaded, frames)

    def patch_features(
        self, frames: Sequence[Frame], layer: int = -1
    ) -> list[Float[np.ndarray, "row col dim"]]:
        """Tokens after a layer of the image encoder; the last is what the language model reads."""
        from cuescope_transformers.generative.patches import patch_features

        return patch_features(self._loaded, frames, layer)

    def modalities(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Int8[np.ndarray, " query_then_key"]]:
        """OTHER, VIDEO or TEXT for each query of the prompt in a layer, and then for each key."""
        from cuescope_transformers.generative.looking import modalities

        return modalities(self._loaded, self.options, trials, layer, self.context.batch_size)

    def attention(
        self, trials: Sequence[Trial], layer: int
    ) -> list[Float[np.ndarray, "head query key"]]:
        """Attention of the prompt after the softmax, and after the trial's `AverageAttention`."""
        from cuescope_transformers.generative.looking import attention

        return attention(self._loaded, self.options, trials, layer, self.context.batch_size)


__all__ = ["TransformersVLM", "VLMOptions"]
