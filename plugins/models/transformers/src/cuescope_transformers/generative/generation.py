"""One run of `generate` over a batch: what is fed, what is edited, what comes out."""

from collections.abc import Iterator, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import (
    DynamicCache,
    GenerationMixin,
    LogitsProcessor,
    LogitsProcessorList,
)

from cuescope_sdk.fusion import TEXT, VIDEO
from cuescope_sdk.torch import Fusion, quiet
from cuescope_transformers.generative.inputs import Batch, Inputs
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.modules import blocks, language_side
from cuescope_transformers.generative.prompts import Tokens

Steps = Int[Tensor, "row step"]

SLIDING = "sliding_attention"


class _Steps(LogitsProcessor):
    """Counts the steps of `generate`; with tokens, each row goes on with its own, step by step.

    Feeding them through `generate` itself leaves positions, caches and cross-attention to the
    library, family by family.
    """

    def __init__(self, tokens: Steps | None = None) -> None:
        self.taken = 0
        self._tokens = tokens

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """The scores, or such as leave one token a row."""
        self.taken += 1
        if self._tokens is None:
            return scores
        wanted = self._tokens[:, self.taken - 1, None].to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, wanted, 0.0)


def generate_tokens(
    model: GenerativeModel,
    batch: Batch,
    fusion: Fusion | None,
    most: int,
) -> Steps:
    """The most likely tokens after the prompts, until all have ended, `most` of them at most."""
    steps = _Steps()
    output = _generate(model, batch, fusion, most, steps)
    # an encoder-decoder gives no prompt back
    return torch.as_tensor(output.sequences)[:, -steps.taken :]


def predict_logits(
    model: GenerativeModel,
    batch: Batch,
    fusion: Fusion | None,
    fed: Sequence[Tokens],
) -> Float[Tensor, "row step vocabulary"]:
    """Raw logits after the prompts, and after each token that is fed; rows end with padding."""
    most = max(map(len, fed)) + 1
    padding = model.tokenizer.pad_token_id
    # what follows a row's own tokens is never read
    tokens = [[*row, *[padding] * (most - len(row))] for row in fed]
    steps = _Steps(torch.tensor(tokens))
    # logits before `_Steps` has changed them
    output = _generate(model, batch, fusion, most, steps, output_logits=True)
    return torch.stack(output.logits, dim=1).cpu()


@torch.inference_mode()
def _generate(
    model: GenerativeModel,
    batch: Batch,
    fusion: Fusion | None,
    most: int,
    steps: _Steps,
    **options: Any,
) -> Any:
    with quiet(), batch.around(), follow(model.network, fusion):
        return _library_call(model.network)(
            # a prefix brings a cache of its own
            **(_cache(model.network) | batch.inputs),
            **options,
            # a model's own generation_config may sample
            do_sample=False,
            num_beams=1,
            max_new_tokens=most,
            use_cache=True,
            logits_processor=LogitsProcessorList([steps]),
            return_dict_in_generate=True,
        )


def _library_call(network: Any) -> Any:
    """`generate`; the library's own where a family's takes the processors and may keep them."""
    own = type(network).generate is not GenerationMixin.generate
    if own and "logits_processor" in signature(network.generate).parameters:
        return partial(GenerationMixin.generate, network)
    return network.generate


class _ReachedError(Exception):
    """A module has got its arguments: nothing more has to run."""


def reach(
    model: GenerativeModel,
    batch: Batch,
    module: nn.Module,
    within: AbstractContextManager[Any] | None = None,
) -> Inputs:
    """What a module is first called with, by name; all else of the pass is left out."""
    got: Inputs = {}

    def stop(module: nn.Module, args: Any, kwargs: Any) -> None:
        got.update(named(module, args), **kwargs)
        raise _ReachedError

    with (
        within or nullcontext(),
        module.register_forward_pre_hook(stop, with_kwargs=True),
        suppress(_ReachedError),
    ):
        # the pass ends before the token
        generate_tokens(model, batch, None, most=1)
    return got


def named(module: nn.Module, args: Sequence[Any]) -> Inputs:
    """Arguments by place, under the names that the module's forward pass has for them."""
    return dict(zip(signature(module.forward).parameters, args, strict=False))


def visual_tokens(
    model: GenerativeModel, batch: Batch
) -> tuple[Float[Tensor, "row token dim"], Bool[Tensor, "row token"]]:
    """What the first layer of the language side gets, and which of it is visual.

    All else of the pass is left out.
    """
    side = language_side(model.network)
    first = blocks(side)[0]
    got = reach(model, batch, first)
    if batch.cross is None:
        # families differ in what their layers call their tokens
        tokens = got[next(iter(signature(first.forward).parameters))]
        # Gemma 3n's layers work on several versions of a token at once
        if tokens.ndim > 3:
            tokens = reach(model, batch, side)["inputs_embeds"]
        return tokens, (batch.modality == VIDEO).to(tokens.device)
    # Mllama's layers are handed the tiles of a row one by one
    tiles = got["cross_attention_states"]
    tiles = tiles.reshape(len(batch.cross), -1, tiles.shape[-1])
    return tiles, (batch.cross == VIDEO).to(tiles.device)


def _cache(network: Any) -> Inputs:
    """A cache of every key where windows slide: edits must know which tokens the keys are of."""
    config = network.config.get_text_config()
    layers = set(getattr(config, "layer_types", None) or ())
    # a sliding layer's own cache forgets keys, and the modality of those left would be unknown
    slides = SLIDING in layers and layers <= {SLIDING, "full_attention"}
    whole = slides and not network.config.is_encoder_decoder
    return {"past_key_values": DynamicCache()} if whole else {}


@contextmanager
def follow(network: Any, fusion: Fusion | None) -> Iterator[None]:
    """Within it the fusion layers follow `fusion`, if there is one.

    An encoder reads the prompt; to its decoder that is the other sequence, and its own is TEXT.
    """
    if fusion is None:
        yield
    elif network.config.is_encoder_decoder:
        prompt = fusion.modality
        answer = prompt.new_full((len(prompt), 1), TEXT)
        decoder = replace(fusion, modality=answer, cross=prompt)
        with decoder.use(), _within(network.get_encoder(), fusion):
            yield
    else:
        with fusion.use():
            yield


@contextmanager
def _within(module: Any, fusion: Fusion) -> Iterator[None]:
    """Only while `module` runs do the fusion layers follow `fusion`."""
    inside = ExitStack()

    def enter(*_: Any) -> None:
        inside.enter_context(fusion.use())

    def leave(*_: Any) -> None:
        # the decoder runs after it, with its own modalities
        inside.close()

    with (
        inside,
        module.register_forward_pre_hook(enter),
        module.register_forward_hook(leave),
    ):
        yield
