"""Hiding at the language model's door: what it would read of a mask is not there.

The tokens that have read a hidden pixel are followed through the encoder (`blind`), and are taken
out of all that the language model is handed: embeddings, features for its later layers, types of
tokens. Positions are those of the whole prompt.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from cuescope_sdk import UserError
from cuescope_sdk.fusion import OTHER
from cuescope_transformers.generative.generation import named, reach
from cuescope_transformers.generative.hiding.blind import NAN, Blind
from cuescope_transformers.generative.inputs import (
    Batch,
    Inputs,
    is_among,
    with_modalities,
)
from cuescope_transformers.generative.loading import GenerativeModel
from cuescope_transformers.generative.modules import arguments, language_side

Kept = Bool[Tensor, "row token"]
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
    if reads.any() and not (reads & visual).any():
        raise UserError(
            f"{model.title} cannot leave tokens out",
            got="only tokens that are no placeholders have read missing pixels",
            remedy="Mend image_token_id or video_token_id in config.json.",
        )
    kept = inputs["attention_mask"].bool() & ~(visual & reads)
    return _shorter(model, inputs, kept, visual, handed)


def _follow(
    model: GenerativeModel, whole: Batch, marks: Inputs, visual: Kept
) -> tuple[Inputs, Kept]:
    """What the language side is handed, and which of its tokens have read a marked pixel."""
    handed = _reach_blind(model, whole, marks)
    reads = torch.zeros_like(visual)
    for part in _tensors_of(handed):
        reads |= _readers(visual, part)
    return handed, reads


def _reach_blind(model: GenerativeModel, whole: Batch, marks: Inputs) -> Inputs:
    """What the language side is handed where the marked pixels are NaN.

    Raises UserError where an encoder cannot work with NaN: some make indices of their numbers.
    """
    hidden = {
        name: whole.inputs[name].masked_fill(marked, NAN)
        for name, marked in marks.items()
    }
    shown = replace(whole, inputs={**whole.inputs, **hidden})
    try:
        return reach(model, shown, language_side(model.network), Blind())
    except torch.OutOfMemoryError:
        raise
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        raise UserError(
            f"{model.title} cannot leave tokens out",
            got=f"its encoder cannot work around missing pixels ({error})",
        ) from error


def _tensors_of(handed: Any) -> Iterator[Tensor]:
    """The numbers that a language side is handed for its tokens; some are for its later layers."""
    if isinstance(handed, dict):
        handed = [part for name, part in handed.items() if name not in OF_THE_PASS]
    if isinstance(handed, list | tuple):
        for part in handed:
            yield from _tensors_of(part)
    elif isinstance(handed, Tensor) and handed.is_floating_point() and handed.ndim > 1:
        yield handed


def _readers(visual: Kept, part: Tensor) -> Kept:
    """The tokens that are NaN in a part of what the language side was handed."""
    if part.shape[:2] == visual.shape:
        return part.flatten(2).isnan().any(dim=-1)
    none = torch.zeros_like(visual)
    if len(part) == int(visual.sum()):
        return none.masked_scatter(visual, part.flatten(1).isnan().any(dim=-1))
    return none


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


@torch.inference_mode()
def without_keys(model: GenerativeModel, inputs: Inputs, marks: Inputs) -> Batch:
    """The batch of a model that crosses over to its frames (Mllama), without the hidden patches.

    The class token of each tile stays, and so does what pads the tiles.
    """
    whole = with_modalities(model, inputs)
    if whole.cross is None:
        raise ValueError("the keys of cross-attention are not known")
    handed = _reach_blind(model, whole, marks)["cross_attention_states"]
    hidden = handed.reshape(*whole.cross.shape, -1).isnan().any(dim=-1)
    states = handed.nan_to_num(0.0)
    cross = whole.cross.masked_fill(hidden, OTHER)
    around = partial(_crossing, language_side(model.network), states, hidden)
    return replace(whole, cross=cross, around=around)


@contextmanager
def _crossing(side: nn.Module, states: Tensor, hidden: Tensor) -> Iterator[None]:
    """Within it words cross over to `states`, and to none of the keys that are `hidden`."""

    def enter(module: nn.Module, args: Any, kwargs: Any) -> Any:
        mask = kwargs["cross_attention_mask"]
        if mask is not None:
            # not -inf: a row that sees no key would become NaN
            lowest = torch.finfo(mask.dtype).min
            mask = mask.masked_fill(hidden[:, None, None], lowest)
        changed = {"cross_attention_mask": mask}
        # after the prompt the keys are in the cache
        if kwargs["cross_attention_states"] is not None:
            changed["cross_attention_states"] = states
        return args, {**kwargs, **changed}

    with side.register_forward_pre_hook(enter, with_kwargs=True):
        yield
