"""Explainers that compare each patch with the text: MaskCLIP and CLIP Surgery."""

from contextlib import ExitStack

from torch import Tensor

from cuescope_saliency.explainers.tracing import (
    AttentionCall,
    count_tokens,
    heads_of,
    last_blocks,
    patch_similarities,
    record,
    with_answers,
)
from cuescope_saliency.options import Settings
from cuescope_sdk.torch import ImageTower, Inputs, hook_input, hook_output

SURGERY_BLOCKS = 6


def maskclip(tower: ImageTower, inputs: Inputs, text: Tensor, settings: Settings) -> Tensor:
    """MaskCLIP (Zhou et al., 2022): the last attention gives each token its own value.

    The rest of the last block, the last norm and the projection are the model's own.
    """
    call = AttentionCall(tower.blocks[-1])
    tokens = count_tokens(tower, inputs)

    def own_value(output: Tensor) -> Tensor:
        heads = heads_of(call.block, call.input, tokens)
        return with_answers(call, heads, heads.values)

    with ExitStack() as hooks:
        # Hooks run in the order of their entry: `record` must see the output before it is replaced.
        record(hooks, call)
        hooks.enter_context(hook_output(call.block.attention, own_value))
        return patch_similarities(tower, inputs, text, lambda output: output)


def clip_surgery(tower: ImageTower, inputs: Inputs, text: Tensor, settings: Settings) -> Tensor:
    """CLIP Surgery (Li et al., 2023): a second path of value-value attention, without MLPs.

    It leaves the model's own path `layers` blocks before the end, and adds up softmax(v v^T) v of
    what that path gives each attention. The original changes the model; ours reads its stock
    forward pass. Left out is the subtraction of what many texts share, as no other explainer sees
    more than the one text.
    """
    layers = last_blocks(tower, settings.layers or SURGERY_BLOCKS)
    calls, tokens = [AttentionCall(tower.blocks[i]) for i in layers], count_tokens(tower, inputs)
    start: list[Tensor] = []

    def second_path(output: Tensor) -> Tensor:
        path = start[0]
        for call in calls:
            heads = heads_of(call.block, call.input, tokens)
            values = heads.values
            scale = values.shape[-1] ** -0.5  # recorded queries have it already, values do not
            # Values in the place of queries and keys: tokens attend to those of their own kind.
            alike = (values @ values.transpose(1, 2) * scale).softmax(dim=-1)
            path = path + with_answers(call, heads, alike @ values)
        return path

    with ExitStack() as hooks:
        hooks.enter_context(hook_input(calls[0].block.module, start.append))
        for call in calls:
            record(hooks, call)
        return patch_similarities(tower, inputs, text, second_path)
