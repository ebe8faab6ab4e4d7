"""Whether tokens learn of each other by attention alone, seen by following one that is NaN.

Each token attends to itself only while one forward pass of a few tokens runs. Whatever then carries
NaN from one token to another mixes tokens out of the reach of edits.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

from cuescope_transformers.generative.modules import arguments, blocks, language_side

ALONE = "cuescope-alone"
TOKENS = 6
LOST = 2  # the token that is NaN: others stand on both sides


def why_mixed(model: Any, attention: Sequence[Any]) -> str | None:
    """Why tokens still mix while those modules let each see itself alone; None where they do not.

    Without weights nothing is seen, and nothing said; nor of a side that reads no tokens.
    """
    if any(weight.is_meta for weight in model.parameters()):
        return None
    sides = {id(side): side for side in (language_side(model), model.get_decoder())}
    for side in sides.values():
        if not _names_of_ids(side):
            continue
        try:
            layer = _first_mixing(side, attention)
        # networks may want anything beside tokens
        except Exception as error:
            if _is_stock(model):
                continue
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            return f"whether attention alone mixes its tokens cannot be seen ({reason})"
        if layer is not None:
            return f"{layer} mixes tokens beside attention"
    return None


def _is_stock(model: Any) -> bool:
    """Whether every module is of a class of the libraries, which `why_closed` knows by its kind."""
    return all(
        type(module).__module__.startswith(("torch.", "transformers."))
        for module in model.modules()
    )


def _first_mixing(side: Any, attention: Sequence[Any]) -> str | None:
    """The layer of one side that first hands NaN on from one token to others."""
    mixing: list[str] = []

    def look(title: str, output: Any) -> None:
        state = next(_tensors(output), None)
        if state is not None and _is_spread(state):
            mixing.append(title)

    def lose(module: nn.Module, args: Any, embeddings: Tensor) -> Tensor:
        embeddings = embeddings.clone()
        embeddings[..., LOST, :] = torch.nan
        return embeddings

    with ExitStack() as stack, torch.no_grad():
        stack.enter_context(_each_alone(attention))
        table = side.get_input_embeddings()
        stack.callback(table.register_forward_hook(lose).remove)
        for index, block in enumerate(blocks(side)):
            title = f"{type(block).__name__} (layer {index})"
            hook = block.register_forward_hook(
                lambda module, args, output, title=title: look(title, output)
            )
            stack.callback(hook.remove)
        look(type(side).__name__, side(**_inputs(side, table.weight)))
    return mixing[0] if mixing else None


def _is_spread(state: Tensor) -> bool:
    """Whether others than the lost token are NaN."""
    # of some, tokens are not the last axis but one
    if not state.is_floating_point() or state.dim() < 2 or state.shape[-2] != TOKENS:
        return False
    lost = state.isnan().movedim(-2, 0).flatten(1).any(1).tolist()
    del lost[LOST]
    return any(lost)


def _inputs(side: Any, table: Tensor) -> dict[str, Any]:
    taken = arguments(side.forward)
    name, *_ = _names_of_ids(side)
    # the first rows are marks, which a family may treat in its own way
    ids = torch.arange(len(table) - TOKENS, len(table), device=table.device)[None]
    inputs: dict[str, Any] = {name: ids}
    if "use_cache" in taken:
        inputs["use_cache"] = False
    if "encoder_hidden_states" in taken and side.config.is_encoder_decoder:
        inputs["encoder_hidden_states"] = table.new_zeros(1, TOKENS, table.shape[1])
    return inputs


def _names_of_ids(side: Any) -> list[str]:
    taken = arguments(side.forward)
    return [name for name in ("input_ids", "decoder_input_ids") if name in taken]


@contextmanager
def _each_alone(attention: Sequence[Any]) -> Iterator[None]:
    """While within, each token attends to itself only."""
    AttentionInterface.register(ALONE, _attend_alone)
    AttentionMaskInterface.register(ALONE, sdpa_mask)
    configs = {id(module.config): module.config for module in attention}
    before = [(config, config._attn_implementation) for config in configs.values()]
    try:
        for config in configs.values():
            config._attn_implementation = ALONE
        yield
    finally:
        for config, name in before:
            config._attn_implementation = name


def _attend_alone(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    if value.shape[2] != query.shape[2]:
        value = value.new_zeros(*value.shape[:2], query.shape[2], value.shape[3])
    groups = query.shape[1] // value.shape[1]
    # laid out as by the library's own functions
    return value.repeat_interleave(groups, 1).transpose(1, 2).contiguous(), None


def _tensors(output: Any) -> Iterator[Tensor]:
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, dict):
        yield from _tensors(tuple(output.values()))
    elif isinstance(output, (tuple, list)):
        for part in output:
            yield from _tensors(part)
