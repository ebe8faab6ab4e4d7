"""Stock generative models of transformers as cuescope models: questions about videos and images."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from jaxtyping import Float, Float32, Int8, UInt8

from cuescope_sdk import (
    Capabilities,
    Context,
    Frame,
    LazyWeights,
    Plugin,
    Response,
    Trial,
)
from cuescope_sdk.fusion import FusionShape
from cuescope_sdk.models import refuse_unanswerable
from cuescope_transformers.options import VLMOptions, config_in

if TYPE_CHECKING:
    from cuescope_transformers.generative.loading import GenerativeModel

OWNER = "transformers-vlm"


class TransformersVLM(Plugin, LazyWeights):
    """transformers' own `generate`: greedy answers, and choices by forcing them.

    Frames are shown as one video where the processor takes videos, a single frame as an image. The
    embedding is the mean of the visual tokens that the language side reads.
    """

    Options = VLMOptions
    options: VLMOptions
    answers_version = 2
    capabilities: Capabilities = Capabilities(
        outputs=frozenset(("logits", "text", "embedding")),
        edits=frozenset({"average-attention", "average-tokens", "hide-tokens"}),
        exposes=frozenset({"fusion", "patches", "answer-words", "attention-gradients"}),
        min_frames=0,
    )

    def __init__(
        self,
        options: VLMOptions,
        context: Context,
        held: "GenerativeModel | None" = None,
    ) -> None:
        super().__init__(options, context)
        # here and below: torch takes seconds, which a list of plugins must not cost
        from cuescope_transformers.generative.embedding import embeds
        from cuescope_transformers.generative.family import HIDES, MEASURED
        from cuescope_transformers.generative.loading import find_generative
        from cuescope_transformers.generative.patches import (
            takes_pixels_apart,
            why_no_patches,
        )

        model = held or find_generative(options, context)
        self._model = model
        # `reuse_prefix` is not among them: its answers are equal within rounding
        wording = {"scoring", "max_new_tokens", "prompt", "question", "fps"}
        large = {"device_map", "quantization", "attn_implementation"}
        self.device = str(model.files.device)
        family = model.family
        if family.hides and not takes_pixels_apart(model):
            family = replace(family, why_not_hidden=MEASURED)
        self.fingerprint = model.fingerprint(options.model_dump(include=wording))
        self.facts = {
            **model.facts,
            "choices are scored by": options.scoring,
            **options.model_dump(include=large, exclude_none=True),
        }
        if family.hides:
            self.facts["tokens are hidden"] = HIDES
        outputs = {"logits", "text"}
        if embeds(model):
            outputs.add("embedding")
        why_not = why_no_patches(model)
        exposes = {"patches"} if why_not is None else set()
        edits = {"hide-tokens"} if family.hides else set()
        if family.why_not_averaged is None:
            edits |= {"average-attention", "average-tokens"}
            exposes |= {"fusion", "attention-gradients"}
        # letters stand for choices there, and not for words
        if options.scoring != "letters":
            exposes.add("answer-words")
        # transformers' own attention takes no edit and shows no weights
        if options.attn_implementation is not None:
            edits = set()
            exposes -= {"fusion", "attention-gradients"}
        notes = dict(family.notes)
        if why_not is not None:
            notes["patches"] = why_not
        changes: dict[str, Any] = {
            "outputs": frozenset(outputs),
            "edits": frozenset(edits),
            "exposes": frozenset(exposes),
            "min_frames": int(model.needs_image),
            "notes": notes,
        }
        self.capabilities = self.capabilities.model_copy(update=changes)

    @classmethod
    def takes(cls, item: object) -> bool:
        """Whether it is a model of transformers that answers in words, or begins with one."""
        config = config_in(item)
        if config is None:
            return False
        from cuescope_transformers.generative.loading import is_generative

        return is_generative(config)

    @classmethod
    def from_object(cls, item: Any, options: VLMOptions, context: Context) -> Self:
        """From (model, processor). Its attention is switched to one that edits can reach."""
        from cuescope_transformers.held import hold_generative

        return cls(options, context, hold_generative(item, options, context))

    def open_weights(self) -> None:
        _ = self._model.network

    @property
    def fusion(self) -> FusionShape:
        """Sizes of the fusion layers; raises UserError where they are closed."""
        return self._model.fusion

    def prefetch(self, trials: Sequence[Trial]) -> None:
        """Begin to load the frames of trials that are asked next."""
        frames = [frame for trial in trials for frame in trial.sample.frames]
        self._model.ahead.expect({frame.key: frame.load for frame in frames})

    def require_answerable(self, trials: Sequence[Trial]) -> None:
        """Raises UserError for what is not declared, and for frames or choices that do not fit."""
        refuse_unanswerable(OWNER, self.capabilities, trials)
        from cuescope_transformers.generative.inputs import media_of
        from cuescope_transformers.generative.prompts import (
            answer_tokens,
            require_tokens,
            user_words,
        )

        seen = set[str]()
        for trial in trials:
            sample = trial.sample
            media_of(self._model, sample)
            user_words(sample, self.options)
            # letters stand for choices, whatever these are
            if "logits" not in trial.outputs or self.options.scoring == "letters":
                continue
            for choice in sample.choices:
                # data sets ask the same choices again and again
                if choice not in seen:
                    seen.add(choice)
                    answer = answer_tokens(self._model.tokenizer, "", "", choice)
                    require_tokens(self._model.title, sample, choice, answer)

    def respond(self, trials: Sequence[Trial]) -> list[Response]:
        self.require_answerable(trials)
        from cuescope_transformers.generative.readouts import respond

        return respond(self._model, trials)

    def canvas(
        self, frames: Sequence[Frame]
    ) -> list[UInt8[np.ndarray, "height width 3"]]:
        """The pixels that the image encoder sees of each frame, shown as an image."""
        from cuescope_transformers.generative.patches import canvas

        return canvas(self._model, frames)

    def patch_features(
        self,
        frames: Sequence[Frame],
        layer: int = -1,
    ) -> list[Float[np.ndarray, "row col dim"]]:
        """Tokens after a layer of the image encoder; the last is what the language model reads."""
        from cuescope_transformers.generative.patches import patch_features

        return patch_features(self._model, frames, layer)

    def modalities(
        self,
        trials: Sequence[Trial],
        layer: int,
    ) -> list[Int8[np.ndarray, " query_then_key"]]:
        """OTHER, VIDEO or TEXT for each query of the prompt in a layer, and then for each key."""
        from cuescope_transformers.generative.readouts import modalities

        return modalities(self._model, trials, layer)

    def attention(
        self,
        trials: Sequence[Trial],
        layer: int,
    ) -> list[Float[np.ndarray, "head query key"]]:
        """Attention of the prompt after the softmax, and after the trial's `AverageAttention`."""
        from cuescope_transformers.generative.readouts import attention

        return attention(self._model, trials, layer)

    def word_log_probabilities(
        self, trials: Sequence[Trial], words: Sequence[str]
    ) -> list[Float32[np.ndarray, " word"]]:
        """Log-probability of each word after those before it, as the answer to each trial."""
        from cuescope_transformers.generative.relevance import word_log_probabilities

        return word_log_probabilities(self._model, trials, words)

    def attention_gradients(
        self, trials: Sequence[Trial], answer: str
    ) -> list[Float[np.ndarray, "layer query key"]]:
        """Positive part of attention times gradient, for an answer's first token; mean of heads."""
        from cuescope_transformers.generative.relevance import attention_gradients

        return attention_gradients(self._model, trials, answer)


__all__ = ["TransformersVLM", "VLMOptions"]
