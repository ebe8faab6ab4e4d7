"""Hiding at the language model's door: what it would read of a mask is not there.

The pixels under the masks are grey, so that nothing is known of them. The tokens that read one of
them are followed through the encoder, and are taken out of all that the language model is handed:
embeddings, features for its later layers, types of tokens. Positions are those of the whole prompt.

They are followed in one pass (`blind`) where a model's first batch shows that this gives what three
give (`trace`), and else in three: where an encoder compares numbers, or its convolutions overlap.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from cuescope_transformers.generative.family import DOOR
from cuescope_transformers.generative.generation import named, reach
from cuescope_transformers.generative.hiding.blind import NAN, Blind
from cuescope_transformers.generative.hiding.trace import Local, Masked, differs
from cuescope_transformers.generative.inputs import (
    Batch,
    Inputs,
    is_among,
    with_modalities,
)
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.modules import arguments, language_side

Kept = Bool[Tensor, "row token"]
Followed = tuple[Inputs, Kept]
NOISE = 4.0  # of normalised pixels, which lie within 3 or so
SEED = 0
# the language model's own affair, and that of the shorter prompt
OF_THE_PASS = (
    "past_key_values",
    "use_cache",
    "attention_mask",
    "position_ids",
    "input_ids",
)


@torch.inference_mode()
def without_visual(model: GenerativeModel, inputs: Inputs, marks: Inputs) -> Batch:
    """The batch without the visual tokens that read a pixel that is True in `marks`.

    `inputs` are of frames that are grey there; nothing in the encoder reads one of them either.
    """
    whole = with_modalities(model, inputs)
    visual = is_among(inputs["input_ids"], model.visual)
    handed, reads = _follow(model, whole, marks, visual)
    kept = inputs["attention_mask"].bool() & ~(visual & reads)
    return _shorter(model, inputs, kept, visual, handed)


def _follow(
    model: GenerativeModel, whole: Batch, marks: Inputs, visual: Kept
) -> Followed:
    """In one pass, where the model has been seen to give what three do."""
    # of each medium: images and videos may go different ways
    names = frozenset(whole.inputs)
    if model.family.hides == DOOR or model.in_one_pass.get(names) is False:
        return _follow_by_noise(model, whole, marks, visual)
    if names in model.in_one_pass:
        return _follow_by_nan(model, whole, marks, visual)
    by_noise = _follow_by_noise(model, whole, marks, visual)
    try:
        by_nan = _follow_by_nan(model, whole, marks, visual)
    # an encoder that makes indices of its numbers may raise anything
    except Exception:
        model.in_one_pass[names] = False
        return by_noise
    model.in_one_pass[names] = _are_equal(by_nan, by_noise, visual)
    return by_nan if model.in_one_pass[names] else by_noise


def _are_equal(one: Followed, other: Followed, visual: Kept) -> bool:
    """Whether the same tokens are hidden, and the others are what they were."""
    handed, reads = one
    other_handed, other_reads = other
    if not torch.equal(reads, other_reads):
        return False
    pairs = zip(_tensors_of(handed), _tensors_of(other_handed), strict=True)
    for pair in pairs:
        differing = _readers(differs, visual, *pair)
        if (differing & ~reads).any():
            return False
    return True


def _follow_by_nan(
    model: GenerativeModel, whole: Batch, marks: Inputs, visual: Kept
) -> Followed:
    """What the language side is handed, and which of its tokens have read a marked pixel."""
    hidden = {
        name: whole.inputs[name].masked_fill(marked, NAN)
        for name, marked in marks.items()
    }
    shown = replace(whole, inputs={**whole.inputs, **hidden})
    handed = reach(model, shown, language_side(model.network), Blind())
    reads = torch.zeros_like(visual)
    for part in _tensors_of(handed):
        reads |= _readers(torch.isnan, visual, part)
    return handed, reads


def _follow_by_noise(
    model: GenerativeModel, whole: Batch, marks: Inputs, visual: Kept
) -> Followed:
    """The same by two passes over unlike pixels, and one that counts."""
    noise = _noise(whole.inputs, marks)
    drawn = replace(whole, inputs={**whole.inputs, **noise})
    door = language_side(model.network)
    one = Local()
    plain = reach(model, whole, door, one)
    other = Local()
    noisy = reach(model, drawn, door, other)
    both = zip(one.seen, other.seen, strict=True)
    hidden = [mine.hidden(its) for mine, its in both]
    # a query of which every key is hidden can give nothing else
    if any(mask.all(dim=-1).any() for mask in hidden):
        noisy = reach(model, drawn, door, Local(hidden))
    reads = torch.zeros_like(visual)
    pairs = zip(_tensors_of(plain), _tensors_of(noisy), strict=True)
    for mine, its in pairs:
        reads |= _readers(differs, visual, mine, its)
    return reach(model, whole, door, Masked(hidden)), reads


def _tensors_of(handed: Any) -> Iterator[Tensor]:
    """The numbers that a language side is handed for its tokens; some are for its later layers."""
    if isinstance(handed, dict):
        handed = [part for name, part in handed.items() if name not in OF_THE_PASS]
    if isinstance(handed, list | tuple):
        for part in handed:
            yield from _tensors_of(part)
    elif isinstance(handed, Tensor) and handed.is_floating_point() and handed.ndim > 1:
        yield handed


def _readers(test: Callable[..., Tensor], visual: Kept, *parts: Tensor) -> Kept:
    """The tokens of which `test` is true of any number, in what some passes were handed alike."""
    first = parts[0]
    if first.shape[:2] == visual.shape:
        of_tokens = [part.flatten(2) for part in parts]
        return test(*of_tokens).any(dim=-1)
    none = torch.zeros_like(visual)
    if len(first) == int(visual.sum()):
        of_visual = [part.flatten(1) for part in parts]
        return none.masked_scatter(visual, test(*of_visual).any(dim=-1))
    return none


def _noise(inputs: Inputs, marks: Inputs) -> Inputs:
    """The marked pixels anew."""
    drawn = {}
    for name, marked in marks.items():
        pixels = inputs[name]
        rng = torch.Generator().manual_seed(SEED)
        noise = NOISE * torch.randn(pixels.shape, generator=rng)
        at = marked.to(pixels.device)
        drawn[name] = torch.where(at, noise.to(pixels), pixels)
    return drawn


def _shorter(
    model: GenerativeModel,
    inputs: Inputs,
    kept: Kept,
    visual: Bool[Tensor, "row token"],
    handed: Inputs,
) -> Batch:
    """The batch of the tokens that are kept; of what is handed over, theirs."""
    tokens = inputs["input_ids"]
    order = _kept_order(kept, padding_last=model.network.config.is_encoder_decoder)
    fills = ~kept.gather(1, order)
    padding = model.tokenizer.pad_token_id
    left: Inputs = {"input_ids": tokens.gather(1, order).masked_fill(fills, padding)}
    if "position_ids" in arguments(model.network.forward):
        left["position_ids"] = _positions(model, inputs, order)
    for name, value in inputs.items():
        if name not in left and getattr(value, "shape", None) == tokens.shape:
            left[name] = value.gather(1, order).masked_fill(fills, 0)
    select = partial(_select, order, fills, visual, kept)
    given = {
        name: select(value) for name, value in handed.items() if name not in OF_THE_PASS
    }
    around = partial(_handed_over, language_side(model.network), given)
    return replace(with_modalities(model, left), around=around)


def _kept_order(kept: Kept, *, padding_last: bool) -> Int[Tensor, "row kept"]:
    """The numbers of the tokens that are kept, and in rows with fewer of others, as padding."""
    most = int(kept.sum(dim=1).max())
    # stable: what stays keeps its order
    order = kept.int().argsort(dim=1, descending=padding_last, stable=True)
    return order[:, :most] if padding_last else order[:, -most:]


def _positions(
    model: GenerativeModel, inputs: Inputs, order: Int[Tensor, "row kept"]
) -> Tensor:
    """Of the tokens that are kept, as in the whole prompt: `generate` would count anew."""
    tokens = inputs["input_ids"]
    positions = model.network._prepare_position_ids_for_generation(tokens, dict(inputs))
    index = order.expand(*positions.shape[:-1], -1)
    # some families give all rows one
    of_tokens = positions.expand(*positions.shape[:-2], *tokens.shape)
    return torch.as_tensor(of_tokens.gather(-1, index))


def _select(
    order: Int[Tensor, "row kept"],
    fills: Kept,
    visual: Kept,
    kept: Kept,
    value: Any,
) -> Any:
    """What is left of an argument that has an entry for each token, or for each visual one."""
    select = partial(_select, order, fills, visual, kept)
    if isinstance(value, dict):
        return {name: select(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(select, value))
    if not isinstance(value, Tensor) or not value.ndim:
        return value
    if value.shape[:2] == kept.shape:
        beyond = [1] * (value.ndim - 2)
        places = order.view(*order.shape, *beyond)
        index = places.expand(-1, -1, *value.shape[2:])
        filled = fills.view(*fills.shape, *beyond)
        # False, where it says which tokens are visual
        return value.gather(1, index).masked_fill(filled, 0)
    if value.shape[-2:] == kept.shape:
        index = order.expand(*value.shape[:-2], -1, -1)
        return value.gather(-1, index)
    if len(value) == int(visual.sum()):
        of_visual = kept[visual]
        return value[of_visual.to(value.device)]
    return value


@contextmanager
def _handed_over(door: nn.Module, given: Inputs) -> Iterator[None]:
    """Within it the first call of the language side gets these arguments in place of its own."""
    # the prompt's; the answer's tokens come one by one
    calls: Iterator[Inputs] = iter([given])

    def hand_over(module: nn.Module, args: Any, kwargs: Any) -> Any:
        return (), {**named(module, args), **kwargs, **next(calls, {})}

    with door.register_forward_pre_hook(hand_over, with_kwargs=True):
        yield
