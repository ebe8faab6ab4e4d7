"""Any OpenAI-compatible server as a cuescope model: OpenAI, vLLM, Ollama, `transformers serve`."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt, field_validator

from cuescope_openai.endpoint import EndpointOptions, endpoint_of, fingerprint
from cuescope_sdk import Capabilities, Context, Options, Plugin, Response, Trial
from cuescope_sdk.models import refuse_unanswerable


class OpenAIOptions(EndpointOptions):
    """Options of the model `openai`; the part after `openai:` is `model`."""

    prompt: str = Field(
        default="{question}", description="what is said, with {question} where the question goes"
    )
    question: str = Field(default="", description="asked where a sample has no question")
    system: str = Field(default="", description="what is said before every question, as system")
    scoring: Literal["auto", "words", "letters"] = Field(
        default="auto",
        description="how choices are answered: `words`, the question as it is; `letters`, with the "
        "choices listed as (A) (B) ...; `auto`, words for yes and no, letters for others",
    )
    top_logprobs: int = Field(
        default=20,
        ge=0,
        le=20,
        description="how many tokens' log-probabilities are asked for; "
        "0 takes choices from the words alone",
    )
    image_format: Literal["png", "jpeg"] = Field(
        default="png", description="`png` sends the exact pixels, `jpeg` (quality 95) fewer bytes"
    )
    max_side: PositiveInt | None = Field(
        default=None, description="longer frames are made smaller, to so many pixels a side"
    )
    detail: Literal["low", "high", "auto"] | None = Field(
        default=None, description="OpenAI's image detail; default: not said"
    )

    @field_validator("prompt")
    @classmethod
    def _asks(cls, prompt: str) -> str:
        if "{question}" not in prompt:
            raise ValueError("{question} in it")
        return prompt


class OpenAI(Plugin):
    """Answers in words, and log-probabilities of choices where the server tells them.

    One request a sample gives both. The frames of a sample are shown in one message.
    """

    Options: ClassVar[type[Options]] = OpenAIOptions
    options: OpenAIOptions
    capabilities: ClassVar[Capabilities] = Capabilities(
        outputs=frozenset(("logits", "text")), min_frames=0
    )

    def __init__(self, options: OpenAIOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_openai.client import Client

        endpoint = endpoint_of(options)
        self.fingerprint = fingerprint(endpoint, options)
        self.device = "remote"
        self._client = Client(options, endpoint, context)

    @property
    def facts(self) -> Mapping[str, str]:
        """The server, and the builds of the model that have answered so far."""
        return self._client.facts

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        """Logits over the choices and the text of the answer, as each trial asks."""
        for trial in trials:
            refuse_unanswerable("openai", self.capabilities, trial)
        from cuescope_openai.asking import question_of, responses

        questions = [question_of(self.options, trial.sample) for trial in trials]
        return responses(self.options, trials, self._client.ask(questions))


__all__ = ["OpenAI", "OpenAIOptions"]
