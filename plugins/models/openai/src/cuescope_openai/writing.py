"""A text generator on an OpenAI-compatible server."""

from collections.abc import Mapping, Sequence

from cuescope_openai.options import OpenAIWriterOptions
from cuescope_sdk import Context, Plugin


class OpenAIWriter(Plugin):
    """Completes prompts, each as a chat of its own. What was asked before costs nothing."""

    Options = OpenAIWriterOptions
    options: OpenAIWriterOptions

    def __init__(self, options: OpenAIWriterOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_openai.client import Client
        from cuescope_openai.endpoint import find_endpoint, fingerprint

        endpoint = find_endpoint(options)
        self.fingerprint = fingerprint(endpoint, options)
        self._client = Client(options, endpoint, context)

    @property
    def facts(self) -> Mapping[str, str]:
        """The server, and the builds of the model that have answered so far."""
        return self._client.facts

    def generate(self, prompts: Sequence[str]) -> list[str]:
        """The text that follows each prompt; raises UserError where the server gives none."""
        from cuescope_openai.endpoint import parameters
        from cuescope_openai.requests import ChatRequest

        fields, system = parameters(self.options), self.options.system
        # no frames: a request of text alone
        answers = self._client.ask([ChatRequest(prompt, fields, system) for prompt in prompts])
        return [answer.text for answer in answers]


__all__ = ["OpenAIWriter", "OpenAIWriterOptions"]
