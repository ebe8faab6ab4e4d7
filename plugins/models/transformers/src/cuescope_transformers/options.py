"""Options of `transformers`, `transformers-vlm` and `transformers-llm`."""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from cuescope_sdk import Context, UserError, how_to_install
from cuescope_sdk.models import (
    PromptWords,
    QuestionPrompt,
    RepositoryName,
    StockOptions,
    ZeroShotOptions,
)

if TYPE_CHECKING:
    from cuescope_sdk.torch import Pretrained, Source

LARGE = "cuescope-transformers[large]"
Arguments = dict[str, Any]


class FoundOptions(StockOptions):
    """With what finds the files."""

    def find(
        self,
        owner: str,
        context: Context,
        builder_of: "Callable[[Any, Source], Any]",
    ) -> "Pretrained":
        """The files, as of `Pretrained.find`; raises UserError for whatever a person can mend."""
        from cuescope_sdk.torch import Pretrained

        return Pretrained.find(
            owner,
            self.model,
            self.revision,
            context,
            builder_of,
            self.trust_remote_code,
            self.loading(owner, context),
        )

    def loading(self, owner: str, context: Context) -> Arguments:
        """Further arguments of `from_pretrained`; raises UserError for what is not installed."""
        return {}


class LargeOptions(FoundOptions):
    """How a model that is too large for one GPU, or for its precision, is opened."""

    device_map: Literal["auto", "balanced", "sequential"] | None = Field(
        None, description="spread layers over all GPUs, then over memory (accelerate)"
    )
    quantization: Literal["8bit", "4bit"] | None = Field(
        None,
        description="weights of 8 or 4 bits (bitsandbytes); other answers than whole",
    )
    attn_implementation: Literal["eager", "sdpa", "flash_attention_2"] | None = Field(
        None,
        description="transformers' own attention; answers cannot be edited then; default: one "
        "that equals sdpa and takes edits",
    )

    def loading(self, owner: str, context: Context) -> Arguments:
        """Further arguments of `from_pretrained`; raises UserError for what is not installed."""
        arguments: Arguments = {}
        if self.attn_implementation is not None:
            if self.attn_implementation == "flash_attention_2":
                require_package(owner, "flash_attn", self.attn_implementation)
            arguments["attn_implementation"] = self.attn_implementation
        if self.device_map is not None:
            require_package(owner, "accelerate", f"device_map={self.device_map}")
            # "auto" would take a GPU where the CPU was asked for
            arguments["device_map"] = (
                "cpu" if context.device == "cpu" else self.device_map
            )
        if self.quantization is not None:
            option = f"quantization={self.quantization}"
            require_package(owner, "bitsandbytes", option)
            require_package(owner, "accelerate", option)
            # here: it takes seconds, which a list of plugins must not cost
            import transformers

            from cuescope_sdk.torch import resolve_device, resolve_dtype

            configuration: Any = transformers.BitsAndBytesConfig
            words: Arguments = {"load_in_8bit": True}
            if self.quantization == "4bit":
                words = {
                    "load_in_4bit": True,
                    "bnb_4bit_quant_type": "nf4",
                    "bnb_4bit_compute_dtype": resolve_dtype(context.dtype),
                }
            arguments["quantization_config"] = configuration(**words)
            device = str(resolve_device(context.device))
            # quantized weights are placed while they are read, and not moved later
            arguments.setdefault("device_map", {"": device})
        return arguments


def require_package(owner: str, package: str, option: str) -> None:
    """Raises UserError where a package that an option needs is not installed."""
    if find_spec(package) is None:
        flash = package == "flash_attn"  # no extra of ours: it is built for a GPU
        how = "pip install flash-attn" if flash else how_to_install(LARGE)
        raise UserError(
            f"{owner}: {option} needs {package}",
            got="it is missing",
            remedy=how,
        )


class TransformersOptions(FoundOptions, ZeroShotOptions):
    """Options of `transformers`."""

    model: RepositoryName = Field(
        description="a folder that save_pretrained wrote, or a hub id "
        "(openai/clip-vit-base-patch16): CLIP, MetaCLIP 2, AltCLIP, "
        "Chinese-CLIP, SigLIP, SigLIP 2, TIPSv2, ALIGN, BLIP retrieval, X-CLIP, VideoPrism, or an "
        "image tower alone"
    )


class VLMOptions(LargeOptions):
    """Options of `transformers-vlm`."""

    model: RepositoryName = Field(
        description="a folder that save_pretrained wrote, or a hub id (Qwen/Qwen2.5-VL-3B-Instruct)"
        ": any image- or video-text-to-text model"
    )
    scoring: Literal["likelihood", "letters"] = Field(
        "likelihood",
        description="logits of choices: `likelihood`, the log-probability of a choice as the "
        "answer; `letters`, the choices listed as (A) (B) ... and the logits of the letters",
    )
    max_new_tokens: PositiveInt = Field(32, description="longest answer in tokens")
    prompt: QuestionPrompt = Field(
        "{question}", description="the user's words; the question replaces {question}"
    )
    question: PromptWords = Field(
        "", description="asked where a sample has no question; default: nothing is"
    )
    fps: PositiveFloat = Field(
        1.0, description="frames a second of the samples, for models that read the time"
    )
    reuse_prefix: bool = Field(
        True,
        description="where a batch asks several things of the same frames and edits nothing, the "
        "frames go through the network once; answers are equal within rounding",
    )


class WriterOptions(LargeOptions):
    """Options of `transformers-llm`."""

    model: RepositoryName = Field(
        description="a folder that save_pretrained wrote, or a hub id (Qwen/Qwen2.5-7B-Instruct)"
    )
    system: PromptWords = Field(
        "", description="the system message before every prompt"
    )
    max_new_tokens: PositiveInt = Field(512, description="longest text in tokens")
    batch_size: PositiveInt = Field(8, description="prompts that go through together")


def config_in(item: object) -> Any | None:
    """The configuration of a transformers model, or of a tuple that begins with one, else None."""
    # nobody has a model of what nobody imported
    transformers = sys.modules.get("transformers")
    network = item
    if isinstance(item, tuple) and item:
        network = item[0]
    if transformers is None or not isinstance(network, transformers.PreTrainedModel):
        return None
    return network.config
