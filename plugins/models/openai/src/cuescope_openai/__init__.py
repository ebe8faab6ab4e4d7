"""Any OpenAI-compatible server as a cuescope model: OpenAI, vLLM, Ollama, `transformers serve`."""

from collections.abc import Mapping, Sequence

from cuescope_openai.options import EndpointOptions, OpenAIOptions
from cuescope_sdk import Capabilities, Context, Plugin, Response, Trial
from cuescope_sdk.models import refuse_unanswerable


class ServedPlugin(Plugin):
    """A plugin whose answers come from a server."""

    options: EndpointOptions

    def __init__(self, options: EndpointOptions, context: Context) -> None:
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


class OpenAI(ServedPlugin):
    """Answers in words, and log-probabilities of choices where the server tells them.

    One request a sample gives both. The frames of a sample are shown in one message.
    """

    Options = OpenAIOptions
    options: OpenAIOptions
    answers_version = 1
    capabilities = Capabilities(outputs=frozenset(("logits", "text")), min_frames=0)
    device = "remote"
    keeps_answers = True  # each is on the disk as soon as it has come

    @property
    def random_answers(self) -> bool:
        """Whether the server draws its words: at temperature 0 it takes the likeliest."""
        return self.options.temperature != 0

    def require_answerable(self, trials: Sequence[Trial]) -> None:
        """Raises UserError for what is not declared, no question, and too many choices."""
        refuse_unanswerable("openai", self.capabilities, trials)
        from cuescope_openai.requests import user_text

        for trial in trials:
            user_text(self.options, trial.sample)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        # first: a refusal must cost no request
        self.require_answerable(trials)
        from cuescope_openai.answers import to_responses
        from cuescope_openai.requests import chat_request

        requests = [
            chat_request(self.options, trial.sample, trial.repeat) for trial in trials
        ]
        answers = self._client.ask(requests)
        return to_responses(self.options, trials, answers)


__all__ = ["OpenAI", "OpenAIOptions"]
