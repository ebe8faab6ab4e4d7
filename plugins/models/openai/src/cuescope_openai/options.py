"""The options of the model and of the tool."""

from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from cuescope_sdk import Address, Names, NeedsAllow, OpensGuard, Options
from cuescope_sdk.models import PromptWords, QuestionPrompt

OPENAI = "https://api.openai.com/v1"
ChoiceOrder = Literal["alphabet", "given"]
# Fields of a request that the plugin sets itself.
OWN = frozenset({"model", "messages", "stream", "n", "logprobs", "top_logprobs"})


class AskingOptions(Options):
    """Which model is asked, and how it is to answer: all of it enters the fingerprint."""

    argument = "model"

    model: PromptWords = Field(
        description="the model as the server calls it (gpt-4o-mini, qwen2.5vl:7b)"
    )
    temperature: NonNegativeFloat | None = Field(
        0.0, description="0 takes the likeliest words; `none` leaves it to the server"
    )
    max_tokens: PositiveInt | None = Field(
        64, description="longest answer in tokens; `none` leaves it to the server"
    )
    extra: Annotated[
        dict[str, Any],
        NeedsAllow("such fields choose models, prices, tools and addresses"),
    ] = Field(
        {}, description="further fields of a request: {seed: 1, reasoning_effort: low}"
    )

    @field_validator("extra")
    @classmethod
    def _refuse_own_fields(cls, extra: dict[str, Any]) -> dict[str, Any]:
        taken = OWN & extra.keys()
        if taken:
            raise ValueError(f"fields other than {', '.join(sorted(taken))}")
        return extra


class EndpointOptions(AskingOptions):
    """Which server is asked, how requests are sent, and what they may cost."""

    base_url: Annotated[Address | None, Names.host()] = Field(
        None,
        description=f"address of the server up to /v1; default: OPENAI_BASE_URL, else {OPENAI}",
    )
    key_env: Annotated[str, Names.secret()] = Field(
        "OPENAI_API_KEY", description="the environment variable that holds the key"
    )
    insecure: Annotated[bool, OpensGuard("key and images are sent in clear")] = Field(
        False,
        description="allow http:// to another machine: who is on the way reads key and images",
    )
    timeout: PositiveFloat = Field(
        120.0, description="seconds for a whole answer, from sending to its last byte"
    )
    retries: NonNegativeInt = Field(
        6, description="how often a request is sent again after a fault that may pass"
    )
    backoff: PositiveFloat = Field(
        1.0,
        description="seconds before the first retry, twice as long before each next",
    )
    concurrency: PositiveInt = Field(8, description="requests under way together")
    max_calls: PositiveInt | None = Field(
        None, description="stop after so many requests, retries included"
    )


class OpenAIOptions(EndpointOptions):
    """Options of the model `openai`; the part after `openai:` is `model`."""

    prompt: QuestionPrompt = Field(
        "{question}", description="text of a request, with {question} in it"
    )
    question: PromptWords = Field(
        "", description="asked where a sample has no question"
    )
    system: PromptWords = Field("", description="system message before every question")
    scoring: Literal["auto", "words", "letters"] = Field(
        "auto",
        description="`words`: the question as it is; `letters`: the choices listed as (A) (B) ...; "
        "`auto`: words for the choices yes and no, letters for others",
    )
    order: ChoiceOrder = Field(
        "alphabet",
        description="how listed choices stand: `alphabet`: the same choices are one question "
        "however they are dealt; `given`: as the data have them, where their order is studied",
    )
    guided: Literal["vllm", "sglang"] | None = Field(
        None,
        description="that server's way to allow no answer but a choice; default: not asked for",
    )
    # OpenAI's API lists no more than 20
    top_logprobs: int = Field(
        20,
        ge=0,
        le=20,
        description="how many tokens' log-probabilities are asked for; "
        "0 takes choices from the text alone",
    )
    frames: Literal["first", "last"] = Field(
        "first",
        description="`first`: a server that caches prefixes reads an image once for all questions "
        "of it; `last`: it reads a long prompt once for all images",
    )
    video: Literal["vllm"] | None = Field(
        None,
        description="`vllm`: several frames go as one video in vLLM's form, JPEG of quality 95; "
        "default: as images. SGLang takes encoded films alone, and is shown images",
    )
    max_side: PositiveInt | None = Field(
        None, description="longer frames are made smaller, to so many pixels a side"
    )
    detail: Literal["low", "high", "auto"] | None = Field(
        None, description="OpenAI's image detail; default: not sent"
    )

    @model_validator(mode="after")
    def _require_vllm(self) -> "OpenAIOptions":
        if self.video is not None and self.guided == "sglang":
            raise ValueError("no video with guided=sglang: SGLang is shown images")
        return self


class OpenAIWriterOptions(EndpointOptions):
    """Options of the tool `openai`; the part after `openai:` is `model`."""

    system: PromptWords = Field("", description="system message before every prompt")
    max_tokens: PositiveInt | None = Field(
        512, description="longest text in tokens; `none` leaves it to the server"
    )
