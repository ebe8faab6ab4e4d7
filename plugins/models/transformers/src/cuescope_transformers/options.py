"""Options of `transformers`, `transformers-vlm` and `transformers-llm`."""

from typing import ClassVar, Literal

from pydantic import Field, PositiveFloat, PositiveInt, field_validator

from cuescope_sdk import Options
from cuescope_sdk.models import ZeroShotOptions

REVISION = "branch, tag or commit of a hub id; default: main"
REMOTE_CODE = "run Python files that come with the model; read them first"


class TransformersOptions(ZeroShotOptions):
    """Options of `transformers`; the part after `transformers:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id "
        "(openai/clip-vit-base-patch16): CLIP, SigLIP, SigLIP 2, X-CLIP, or an image tower alone"
    )
    revision: str | None = Field(default=None, description=REVISION)
    trust_remote_code: bool = Field(default=False, description=REMOTE_CODE)


class VLMOptions(Options):
    """Options of `transformers-vlm`; the part after `transformers-vlm:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id (Qwen/Qwen2.5-VL-3B-Instruct)"
        ": any image- or video-text-to-text model"
    )
    revision: str | None = Field(default=None, description=REVISION)
    trust_remote_code: bool = Field(default=False, description=REMOTE_CODE)
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


class WriterOptions(Options):
    """Options of `transformers-llm`; the part after `transformers-llm:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id (Qwen/Qwen2.5-7B-Instruct)"
    )
    revision: str | None = Field(default=None, description=REVISION)
    trust_remote_code: bool = Field(default=False, description=REMOTE_CODE)
    system: str = Field(default="", description="the system message before every prompt")
    max_new_tokens: PositiveInt = Field(default=512, description="longest text in tokens")
    batch_size: PositiveInt = Field(default=8, description="prompts that go through together")
