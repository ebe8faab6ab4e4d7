"""Options of `transformers`, `transformers-vlm` and `transformers-llm`."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, PositiveFloat, PositiveInt, field_validator

from cuescope_sdk import CommandLineOnly, Context, Options
from cuescope_sdk.models import ZeroShotOptions

if TYPE_CHECKING:
    from cuescope_sdk.torch import Pretrained, Source


class StockOptions(Options):
    """Where a model's files are; the part after `NAME:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(description="a folder that save_pretrained wrote, or a hub id")
    revision: str | None = Field(
        default=None, description="branch, tag or commit of a hub id; default: main"
    )
    trust_remote_code: Annotated[bool, CommandLineOnly()] = Field(
        default=False, description="run Python files that come with the model; read them first"
    )

    def find(
        self, owner: str, context: Context, builder_of: "Callable[[Any, Source], Any]"
    ) -> "Pretrained":
        """The files, as of `find_pretrained`; raises UserError for whatever a person can mend."""
        from cuescope_sdk.torch import find_pretrained

        return find_pretrained(
            owner, self.model, self.revision, context, builder_of, self.trust_remote_code
        )


class TransformersOptions(StockOptions, ZeroShotOptions):
    """Options of `transformers`."""

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id "
        "(openai/clip-vit-base-patch16): CLIP, SigLIP, SigLIP 2, X-CLIP, or an image tower alone"
    )


class VLMOptions(StockOptions):
    """Options of `transformers-vlm`."""

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id (Qwen/Qwen2.5-VL-3B-Instruct)"
        ": any image- or video-text-to-text model"
    )
    scoring: Literal["likelihood", "letters"] = Field(
        default="likelihood",
        description="logits of choices: `likelihood`, the log-probability of a choice as the "
        "answer; `letters`, the choices listed as (A) (B) ... and the logits of the letters",
    )
    max_new_tokens: PositiveInt = Field(default=32, description="longest answer in tokens")
    prompt: str = Field(
        default="{question}", description="the user's words; the question replaces {question}"
    )
    question: str = Field(
        default="", description="asked where a sample has no question; default: nothing is"
    )
    fps: PositiveFloat = Field(
        default=1.0, description="frames a second of the samples, for models that read the time"
    )

    @field_validator("prompt")
    @classmethod
    def _has_question(cls, prompt: str) -> str:
        if "{question}" not in prompt:
            raise ValueError("{question} in it")
        return prompt


class WriterOptions(StockOptions):
    """Options of `transformers-llm`."""

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id (Qwen/Qwen2.5-7B-Instruct)"
    )
    system: str = Field(default="", description="the system message before every prompt")
    max_new_tokens: PositiveInt = Field(default=512, description="longest text in tokens")
    batch_size: PositiveInt = Field(default=8, description="prompts that go through together")


def config_in(item: object) -> Any | None:
    """The configuration of a transformers model, or of a tuple that begins with one, else None."""
    transformers = sys.modules.get("transformers")  # nobody has a model of what nobody imported
    network = item[0] if isinstance(item, tuple) and item else item
    if transformers is None or not isinstance(network, transformers.PreTrainedModel):
        return None
    return network.config
