"""A text generator on an OpenAI-compatible server."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field, PositiveInt

from cuescope_openai.endpoint import EndpointOptions, endpoint_of, fingerprint, parameters
from cuescope_sdk import Context, Options, Plugin


class OpenAIWriterOptions(EndpointOptions):
    """Options of the tool `openai`; the part after `openai:` is `model`."""

    system: str = Field(default="", description="what is said before every prompt, as system")
    max_tokens: PositiveInt | None = Field(
        default=512, description="longest text in tokens; `none` leaves it to the server"
    )


class OpenAIWriter(Plugin):
    """Completes prompts, each as a chat of its own. What was asked before costs nothing."""

    Options: ClassVar[type[Options]] = OpenAIWriterOptions
    options: OpenAIWriterOptions

    def __init__(self, options: OpenAIWriterOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_openai.client import Client

        endpoint = endpoint_of(options)
        self.fingerprint = fingerprint(endpoint, options)
        self._client = Client(options, endpoint, context)

    @property
    def facts(self) -> Mapping[str, str]:
        """The server, and the builds of the model that have answered so far."""
        return self._client.facts

    def generate(self, prompts: Sequence[str]) -> list[str]:
        """The text that follows each prompt; raises UserError where the server gives none."""
        from cuescope_openai.question import Question

        asked, system = parameters(self.options), self.options.system
        answers = self._client.ask([Question(prompt, asked, system) for prompt in prompts])
        return [answer.text for answer in answers]


__all__ = ["OpenAIWriter", "OpenAIWriterOptions"]
