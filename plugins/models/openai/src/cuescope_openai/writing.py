"""A text generator on an OpenAI-compatible server."""

from collections.abc import Sequence

from cuescope_openai import ServedPlugin
from cuescope_openai.options import OpenAIWriterOptions


class OpenAIWriter(ServedPlugin):
    """Completes prompts, each as a chat of its own. What was asked before costs nothing."""

    Options = OpenAIWriterOptions
    options: OpenAIWriterOptions

    def generate(self, prompts: Sequence[str]) -> list[str]:
        """The text that follows each prompt; raises UserError where the server gives none."""
        from cuescope_openai.endpoint import parameters
        from cuescope_openai.requests import ChatRequest

        fields = parameters(self.options)
        system = self.options.system
        # no frames: a request of text alone
        answers = self._client.ask(
            [ChatRequest(prompt, fields, system) for prompt in prompts]
        )
        return [answer.text for answer in answers]


__all__ = ["OpenAIWriter", "OpenAIWriterOptions"]
