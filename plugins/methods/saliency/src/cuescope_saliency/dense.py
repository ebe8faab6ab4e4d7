"""Explainers that compare each patch with the text: MaskCLIP and CLIP Surgery."""

from contextlib import ExitStack

import torch
from torch import Tensor

from cuescope_saliency.settings import Settings
from cuescope_saliency.tracing import (
    Attended,
    each_alone,
    exchanged,
    heads_of,
    last,
    tokens_in,
    watch,
)
from cuescope_sdk.torch import ImageTower, Inputs, hook_input, hook_output

SURGERY_BLOCKS = 6


def maskclip(tower: ImageTower, inputs: Inputs, text: Tensor, settings: Settings) -> Tensor:
    """MaskCLIP (Zhou et al., 2022): the last attention gives each token its own value.

    The rest of the last block, the last norm and the projection are the model's own.
    """
    attended = Attended(tower.blocks[-1], *[torch.empty(0)] * 2)
    tokens = tokens_in(tower, inputs)

    def own_value(output: Tensor) -> Tensor:
        heads = heads_of(attended.block, attended.given, tokens)
        return exchanged(attended, heads, heads.values)

    with ExitStack() as hooks:
        watch(hooks, attended)
        hooks.enter_context(hook_output(attended.block.attention, own_value))
        return each_alone(tower, inputs, text, lambda output: output)


def clip_surgery(tower: ImageTower, inputs: Inputs, text: Tensor, settings: Settings) -> Tensor:
    """CLIP Surgery (Li et al., 2023): a second path of value-value attention, without MLPs.

    It leaves the model's own path `layers` blocks before the end, and adds up softmax(v v^T) v of
    what that path gives each attention. The original changes the model; ours reads its stock
    forward pass. Left out is the subtraction of what many texts share, as no other explainer sees
    more than the one text.
    """
    layers, tokens = last(tower, settings.layers or SURGERY_BLOCKS), tokens_in(tower, inputs)
    seen = [Attended(tower.blocks[layer], *[torch.empty(0)] * 2) for layer in layers]
    start: list[Tensor] = []

    def second_path(output: Tensor) -> Tensor:
        path = start[0]
        for attended in seen:
            heads = heads_of(attended.block, attended.given, tokens)
            values = heads.values
            scale = values.shape[-1] ** -0.5
            alike = (values @ values.transpose(1, 2) * scale).softmax(dim=-1)
            path = path + exchanged(attended, heads, alike @ values)
        return path

    with ExitStack() as hooks:
        hooks.enter_context(hook_input(seen[0].block.module, start.append))
        for attended in seen:
            watch(hooks, attended)
        return each_alone(tower, inputs, text, second_path)
