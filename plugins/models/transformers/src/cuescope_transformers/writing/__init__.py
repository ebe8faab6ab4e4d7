"""A language model of transformers on this machine as a text generator."""

from collections.abc import Sequence

from cuescope_sdk import Context, LazyWeights, Plugin
from cuescope_transformers.options import WriterOptions
from cuescope_transformers.writing.memory import TextMemory


class TransformersWriter(Plugin, LazyWeights):
    """Completes prompts, each as a chat of its own, by the most likely tokens.

    What was written before is kept in the user's cache, by what the model is and is asked.
    """

    Options = WriterOptions
    options: WriterOptions

    def __init__(self, options: WriterOptions, context: Context) -> None:
        super().__init__(options, context)
        # here: torch takes seconds, which a list of plugins must not cost
        from cuescope_transformers.writing.network import find_writer

        self._model = model = find_writer(options, context)
        self.fingerprint = model.fingerprint(options.system, options.max_new_tokens)
        self.facts = model.facts
        self._memory = TextMemory(self.fingerprint, context.cache)

    def open_weights(self) -> None:
        _ = self._model.files.network

    def generate(self, prompts: Sequence[str]) -> list[str]:
        from cuescope_transformers.writing.network import write

        options = self.options
        texts = self._memory.get(prompts)
        missing = set(prompts) - texts.keys()
        # shortest first, so that prompts of a batch need little padding
        new = sorted(missing, key=lambda prompt: (len(prompt), prompt))
        # `takes_padding` opens the weights: only where something is left to write
        size = options.batch_size if new and self._model.takes_padding else 1
        with self.context.progress("writing", len(new)) as advance:
            for start in range(0, len(new), size):
                batch = new[start : start + size]
                answers = write(
                    self._model, batch, options.system, options.max_new_tokens
                )
                written = dict(zip(batch, answers, strict=True))
                # batch by batch: what was written stays written when the next one is killed
                self._memory.put(written)
                texts |= written
                advance(len(batch))
        return [texts[prompt] for prompt in prompts]


__all__ = ["TransformersWriter", "WriterOptions"]
