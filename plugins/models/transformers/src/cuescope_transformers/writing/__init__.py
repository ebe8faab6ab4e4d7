"""A language model of transformers on this machine as a text generator."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field, PositiveInt

from cuescope_sdk import Context, LazyWeights, Options, Plugin
from cuescope_sdk.language import TextMemory

OWNER = "transformers-llm"


class WriterOptions(Options):
    """Options of `transformers-llm`; the part after `transformers-llm:` is `model`."""

    argument: ClassVar[str | None] = "model"

    model: str = Field(
        description="a folder that save_pretrained wrote, or a hub id (Qwen/Qwen2.5-7B-Instruct)"
    )
    revision: str | None = Field(
        default=None, description="branch, tag or commit of a hub id; default: main"
    )
    trust_remote_code: bool = Field(
        default=False, description="run Python files that come with the model; read them first"
    )
    system: str = Field(default="", description="what is said before every prompt, as system")
    max_new_tokens: PositiveInt = Field(default=512, description="longest text in tokens")
    batch_size: PositiveInt = Field(default=8, description="prompts that go through together")


class TransformersWriter(Plugin, LazyWeights):
    """Completes prompts, each as a chat of its own, by the most likely tokens.

    What was written before is kept in the user's cache, by what the model is and is asked.
    """

    Options: ClassVar[type[Options]] = WriterOptions
    options: WriterOptions
    fingerprint: str
    facts: Mapping[str, str]

    def __init__(self, options: WriterOptions, context: Context) -> None:
        super().__init__(options, context)
        from cuescope_transformers.writing.network import load

        self._network = load(options.model, options.revision, options.trust_remote_code, context)
        self.fingerprint = self._network.fingerprint(options.system, options.max_new_tokens)
        self.facts = self._network.facts
        self._memory = TextMemory(self.fingerprint, context.cache)

    def open_weights(self) -> None:
        """Open the weights now."""
        _ = self._network.model

    def generate(self, prompts: Sequence[str]) -> list[str]:
        """The text that follows each prompt."""
        from cuescope_transformers.writing.network import written

        options, known = self.options, self._memory.get(prompts)
        new = sorted(
            {prompt for prompt in prompts if prompt not in known},
            key=lambda prompt: (len(prompt), prompt),
        )
        size = options.batch_size if new and self._network.takes_padding else 1
        with self.context.progress("writing", len(new)) as advance:
            for start in range(0, len(new), size):
                part = new[start : start + size]
                texts = written(self._network, part, options.system, options.max_new_tokens)
                said = dict(zip(part, texts, strict=True))
                self._memory.put(said)
                known |= said
                advance(len(part))
        return [known[prompt] for prompt in prompts]


__all__ = ["TransformersWriter", "WriterOptions"]
