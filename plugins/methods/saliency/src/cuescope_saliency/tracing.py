"""One forward pass of a stock image encoder, with what its attention did, and the gradients.

The library's own fused attention runs; hooks catch what enters and leaves its modules. The rest is
linear algebra on the block's own projections, so that it agrees with what really ran.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cosine_similarity

from cuescope_sdk.torch import (
    Block,
    ImageTower,
    Inputs,
    hook_input,
    hook_output,
    split_heads,
    without_mask,
)


@dataclass
class Attended:
    """What the self-attention of a block was given (normed tokens) and gave, (1, token, dim)."""

    block: Block
    given: Tensor
    gave: Tensor


@dataclass(frozen=True)
class Heads:
    """Inside an attention, (head, token, head dim): queries scaled, `weights` after softmax."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    weights: Float[Tensor, "head token token"]


def similarity(embedding: Float[Tensor, "image dim"], text: Float[Tensor, " dim"]) -> Tensor:
    """Cosine of each image embedding with the text, float32."""
    return cosine_similarity(embedding.float(), text[None].float())


def attend(
    tower: ImageTower, inputs: Inputs, layers: Sequence[int]
) -> tuple[Float[Tensor, "1 dim"], list[Attended]]:
    """Embedding of one image, and what the attention of these blocks was given and gave."""
    seen = [Attended(tower.blocks[layer], *[torch.empty(0)] * 2) for layer in layers]
    with ExitStack() as hooks:
        for attended in seen:
            watch(hooks, attended)
        return tower.encode(inputs), seen


def differentiate(
    tower: ImageTower, inputs: Inputs, text: Float[Tensor, " dim"], layers: Sequence[int]
) -> tuple[Tensor, list[Attended]]:
    """Similarity of one image to the text, in a graph that starts at the first of the blocks."""
    first = tower.blocks[min(layers)].module
    with torch.enable_grad(), hook_input(first, lambda tokens: tokens.detach().requires_grad_()):
        embedding, seen = attend(tower, inputs, layers)
        return similarity(embedding, text)[0], seen


def watch(hooks: ExitStack, attended: Attended) -> None:
    """Keep what enters and leaves the attention of the block."""

    def given(tokens: Tensor) -> None:
        attended.given = tokens

    def gave(tokens: Tensor) -> None:
        attended.gave = tokens

    hooks.enter_context(hook_input(attended.block.attention, given))
    hooks.enter_context(hook_output(attended.block.attention, gave))


def last(tower: ImageTower, count: int | None) -> list[int]:
    """Numbers of the last `count` blocks; of all of them for None, or where there are fewer."""
    depth = len(tower.blocks)
    return list(range(depth - min(count or depth, depth), depth))


def tokens_in(tower: ImageTower, inputs: Inputs) -> int:
    """Prefix tokens and patches: what follows is padding."""
    rows, cols = tower.grid(inputs)
    return tower.prefix + rows * cols


def heads_of(block: Block, given: Tensor, tokens: int) -> Heads:
    """What the heads of one image's attention make of its first `tokens` tokens, float32."""
    queries, keys, values = (part[0, :, :tokens].float() for part in block.project(given))
    weights = (queries @ keys.transpose(1, 2)).softmax(dim=-1)
    return Heads(queries, keys, values, weights)


def heads_gradient(
    block: Block, output_gradient: Float[Tensor, "1 token dim"], heads: Heads
) -> Float[Tensor, "head token head_dim"]:
    """Gradient with respect to what each head answers each token, o = A v.

    The attention returns o W^T + b, so dS/do = dS/d(output) W.
    """
    count, tokens, _ = heads.values.shape
    gradient = output_gradient[:, :tokens].float() @ block.out_weight().float()
    return split_heads(gradient, count)[0]


def weights_gradient(
    answer_gradient: Float[Tensor, "head token head_dim"], heads: Heads
) -> Float[Tensor, "head token token"]:
    """Gradient with respect to the attention weights: dS/dA[h, i, j] = <dS/do[h, i], v[h, j]>."""
    return answer_gradient @ heads.values.transpose(1, 2)


def exchanged(
    attended: Attended, heads: Heads, answers: Float[Tensor, "head token head_dim"]
) -> Float[Tensor, "1 token dim"]:
    """What the attention would have returned with other answers of its heads: bias and all."""
    change = answers - heads.weights @ heads.values
    flat = change.transpose(0, 1).flatten(1) @ attended.block.out_weight().float().T
    output = attended.gave.clone()
    output[0, : len(flat)] += flat.to(output.dtype)
    return output


def answering_rows(tower: ImageTower, tokens: int) -> slice:
    """The tokens whose last state makes the embedding: the class token, or all the patches."""
    return slice(0, 1) if tower.pooling.kind == "token" else slice(tower.prefix, tokens)


def each_alone(
    tower: ImageTower, inputs: Inputs, text: Float[Tensor, " dim"], path: Callable[[Tensor], Tensor]
) -> Float[Tensor, "row col"]:
    """Similarity of each patch, as `path` makes it of the last block's output, (1, token, dim).

    Each patch becomes an image of its own, every token of which is this patch. Whatever pools (a
    class token, a mean, an attention over equal keys) then gives this patch in the shared space,
    through the library's own last norm and projection.
    """

    def split(output: Tensor) -> Tensor:
        patches = path(output)[0, tower.prefix : tokens_in(tower, inputs), None]
        return patches.expand(-1, tower.prefix + 1, -1)

    with ExitStack() as hooks:
        hooks.enter_context(hook_output(tower.blocks[-1].module, split))
        if tower.pooling.masked is not None:
            hooks.enter_context(without_mask(tower.pooling.masked))
        return similarity(tower.encode(inputs), text).reshape(tower.grid(inputs))


def repeated(inputs: Inputs, images: int) -> Inputs:
    """The inputs of one image, as many times; nothing is copied."""
    return {name: one.expand(images, *one.shape[1:]) for name, one in inputs.items()}
