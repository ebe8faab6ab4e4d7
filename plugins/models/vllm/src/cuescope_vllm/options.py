"""Options of `vllm`."""

from typing import Annotated, ClassVar

from pydantic import Field, PositiveInt, field_validator

from cuescope_sdk import NamesRepository, Options, RunsCode, Words


class VLLMOptions(Options):
    """Which model, over how many GPUs, and what is said to it."""

    argument: ClassVar[str | None] = "model"

    model: Annotated[str, NamesRepository()] = Field(
        description="a folder that save_pretrained wrote, or a hub id"
    )
    revision: Annotated[str | None, NamesRepository()] = Field(
        None, description="branch, tag or commit of a hub id"
    )
    trust_remote_code: Annotated[bool, RunsCode()] = Field(
        False, description="run Python files that come with the model; read them first"
    )
    gpus: PositiveInt = Field(1, description="GPUs over which the model is spread")
    memory: float = Field(0.9, gt=0, le=1, description="share of each GPU's memory to take")
    frames: PositiveInt = Field(16, description="most images in a question")
    max_model_len: PositiveInt | None = Field(
        None, description="most tokens of prompt and answer; default: the model's own"
    )
    max_new_tokens: PositiveInt = Field(32, description="longest answer in tokens")
    prompt: Annotated[str, Words()] = Field(
        "{question}", description="the user's words; the question replaces {question}"
    )
    question: Annotated[str, Words()] = Field(
        "", description="asked where a sample has no question"
    )

    @field_validator("prompt")
    @classmethod
    def _has_question(cls, prompt: str) -> str:
        if "{question}" not in prompt:
            raise ValueError("{question} in it")
        return prompt
