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
from torch.nn.functional import cosine_similarity, normalize

from cuescope_saliency.options import Settings
from cuescope_sdk.torch import (
    Block,
    ImageTower,
    Inputs,
    hook_input,
    hook_output,
    split_heads,
)

EMPTY = torch.empty(0)
PerHead = Float[Tensor, "head token head_dim"]


@dataclass
class AttentionCall:
    """What the self-attention of a block got (normed tokens) and returned, (1, token, dim)."""

    block: Block
    input: Tensor = EMPTY
    output: Tensor = EMPTY
    bias: Tensor = EMPTY  # of the projection, once known


@dataclass(frozen=True)
class Heads:
    """Inside an attention, (head, token, head dim): queries scaled, `weights` after softmax."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    weights: Float[Tensor, "head token token"]


@dataclass(frozen=True)
class Texts:
    """The text that is explained, a unit `row` (dim), and the choices that it is one of.

    `choices` (choice, dim) are unit rows and `index` is that of `row`; `scale` times a cosine is a
    logit. A text of its own is its only choice. `empty` is the row of the empty text, where it is
    wanted and the model has one.
    """

    row: Float[Tensor, " dim"]
    choices: Float[Tensor, "choice dim"]
    index: int = 0
    scale: float = 1.0
    empty: Float[Tensor, " dim"] | None = None


@dataclass(frozen=True)
class Case:
    """One image as the tower takes it, the text that is explained in it, and the settings."""

    tower: ImageTower
    inputs: Inputs
    texts: Texts
    settings: Settings

    @property
    def tokens(self) -> int:
        """Prefix tokens and patches: what follows is padding."""
        rows, cols = self.tower.grid(self.inputs)
        return self.tower.prefix + rows * cols

    @property
    def patches(self) -> slice:
        """The tokens that are patches."""
        return slice(self.tower.prefix, self.tokens)

    @property
    def embedding_tokens(self) -> slice:
        """The tokens whose last state makes the embedding: the class token, or all the patches."""
        return slice(0, 1) if self.tower.pooling.kind == "token" else self.patches

    def encode(self) -> Float[Tensor, "image dim"]:
        """The embedding of the image."""
        return self.tower.encode(self.inputs)

    def last_blocks(self, count: int | None) -> list[Block]:
        """The last `count` blocks; all of them for None, or where there are fewer."""
        # Counted from the end: the last blocks are those whose attention the embedding still reads.
        # -0 is 0: all blocks
        return list(self.tower.blocks[-(count or 0) :])

    def patch_map(self, values: Float[Tensor, " patch"]) -> Float[Tensor, "row col"]:
        """The values of the patches in their places."""
        return values.reshape(self.tower.grid(self.inputs))


def similarity(
    embedding: Float[Tensor, "image dim"], text: Float[Tensor, " dim"]
) -> Tensor:
    """Cosine of each image embedding with the text, float32."""
    # half precision is too coarse for the small changes of a cosine
    return cosine_similarity(embedding.float(), text[None].float())


Replace = Callable[[AttentionCall], Tensor]


def record_attention(
    case: Case,
    blocks: Sequence[Block],
    replace: Replace | None = None,
) -> tuple[Float[Tensor, "1 dim"], list[AttentionCall]]:
    """Embedding of the image, and what the attention of these blocks got and returned.

    `replace` makes another output of each call, with which the tower goes on.
    """
    calls = [AttentionCall(block) for block in blocks]
    with ExitStack() as hooks:
        for call in calls:
            record(hooks, call, replace)
        # The calls fill while the tower runs, so they are returned with its result.
        return case.encode(), calls


def differentiate(
    case: Case,
    blocks: Sequence[Block],
    replace: Replace | None = None,
) -> tuple[Tensor, list[AttentionCall]]:
    """Similarity of the image to the text, in a graph that starts at the first of the blocks."""
    first = blocks[0].module
    # Cut off before the first block: the blocks below need no graph, which saves their memory.
    with (
        torch.enable_grad(),
        hook_input(first, lambda tokens: tokens.detach().requires_grad_()),
    ):
        embedding, calls = record_attention(case, blocks, replace)
        return similarity(embedding, case.texts.row)[0], calls


def record(
    hooks: ExitStack,
    call: AttentionCall,
    replace: Replace | None = None,
) -> None:
    """Keep what enters and leaves the attention of the block."""

    def keep_input(tokens: Tensor) -> None:
        call.input = tokens  # returns nothing: a hook's result would replace the tokens

    def keep_output(tokens: Tensor) -> Tensor | None:
        call.output = tokens
        if replace is None:
            return None
        call.output = replace(call)
        return call.output

    hooks.enter_context(hook_input(call.block.attention, keep_input))
    hooks.enter_context(hook_output(call.block.attention, keep_output))


def heads_of(block: Block, normed: Tensor, tokens: int) -> Heads:
    """What the heads of one image's attention make of its first `tokens` tokens, float32."""
    queries, keys, values = (
        part[0, :, :tokens].float() for part in block.project(normed)
    )
    # The fused kernel never returns its weights, so they are made again, in float32.
    return attend(queries, keys, values)


def attend(queries: PerHead, keys: PerHead, values: PerHead) -> Heads:
    """The heads with their weights."""
    # no scale here: the block's projection has scaled the queries
    weights = (queries @ keys.transpose(1, 2)).softmax(dim=-1)
    return Heads(queries, keys, values, weights)


def join(heads: PerHead) -> Float[Tensor, "token dim"]:
    """The heads side by side."""
    return heads.transpose(0, 1).flatten(1)


def heads_gradient(
    block: Block,
    output_gradient: Float[Tensor, "1 padded dim"],
    heads: Heads,
) -> PerHead:
    """Gradient with respect to what each head answers each token, o = A v.

    The attention returns o W^T + b, so dS/do = dS/d(output) W, taken back through a norm where
    one stands between.
    """
    count, tokens, _ = heads.values.shape
    # float32: products of half-precision gradients lose digits; padding is cut off
    gradient = output_gradient[:, :tokens].float()
    answers = gradient @ block.out_weight().float()
    if block.inner_norm is not None:
        with torch.enable_grad():
            joined = join(heads.weights @ heads.values).detach().requires_grad_()
            normed = inner_norm(block, joined)
        (answers,) = torch.autograd.grad(normed, joined, answers[0])
        answers = answers[None]
    return split_heads(answers, count)[0]


def inner_norm(block: Block, rows: Float[Tensor, "token dim"]) -> Tensor:
    """Heads side by side as the output projection reads them, float32."""
    if block.inner_norm is None:
        return rows
    # in the dtype of its weights; it norms each token by itself
    return block.inner_norm(rows.to(block.out_weight().dtype)).float()


def weights_gradient(
    answer_gradient: PerHead, heads: Heads
) -> Float[Tensor, "head token token"]:
    """Gradient with respect to the attention weights: dS/dA[h, i, j] = <dS/do[h, i], v[h, j]>."""
    return answer_gradient @ heads.values.transpose(1, 2)


def with_answers(
    call: AttentionCall,
    heads: Heads,
    answers: PerHead,
) -> Float[Tensor, "1 padded dim"]:
    """What the attention would have returned with other answers of its heads: bias and all."""
    # Only the difference is projected: the rest stays what the library itself computed.
    given = inner_norm(call.block, join(heads.weights @ heads.values))
    change = inner_norm(call.block, join(answers)) - given
    flat = change @ call.block.out_weight().float().T
    # in place it would change what the model itself computed
    output = call.output.clone()
    # padding behind the tokens stays as the library has it
    output[0, : len(flat)] += flat.to(output.dtype)
    return output


def single_head(heads: Heads) -> Heads:
    """The same projections as one head as wide as the model, scaled as such a head is."""
    # the heads' queries are scaled by their own width, which is less than the model's
    queries = join(heads.queries)[None] / len(heads.queries) ** 0.5
    keys = join(heads.keys)[None]
    values = join(heads.values)[None]
    return attend(queries, keys, values)


def as_single_head(call: AttentionCall, tokens: int) -> Float[Tensor, "1 padded dim"]:
    """What the attention would return if its projections were those of a single head.

    The call keeps the bias of the output projection, which nothing else tells.
    """
    heads = heads_of(call.block, call.input, tokens)
    weight = call.block.out_weight().float()
    stock = inner_norm(call.block, join(heads.weights[:, :1] @ heads.values)) @ weight.T
    bias = call.output[0, 0].float() - stock[0]
    call.bias = bias.detach()
    head = single_head(heads)
    (answers,) = head.weights @ head.values
    output = call.output.clone()
    # detached above: the bias is a constant here, and must pass no gradient on
    projected = inner_norm(call.block, answers) @ weight.T + call.bias
    output[0, :tokens] = projected.to(output.dtype)
    return output


def patch_embeddings(
    case: Case, path: Callable[[Tensor], Tensor]
) -> Float[Tensor, "patch dim"]:
    """Unit embedding of each patch, as `path` makes it of the last block's output, (1, token, dim).

    Each patch becomes an image of its own, every token of which is this patch. Whatever pools (a
    class token, a mean, an attention over equal keys) then gives this patch in the shared space,
    through the library's own last norm and projection.
    """
    tower = case.tower

    def split(output: Tensor) -> Tensor:
        # Copies enough for any pooling: it may read the first token, or all that follow the prefix.
        patches = path(output)[0, case.patches, None]
        return patches.expand(-1, tower.prefix + 1, -1)

    with ExitStack() as hooks:
        hooks.enter_context(hook_output(tower.blocks[-1].module, split))
        # A padding mask is as long as the stock sequence, and the patches here are alone.
        if tower.pooling.masked is not None:
            hooks.enter_context(
                tower.pooling.masked.hook_mask(lambda args, kwargs: None)
            )
        embeddings = case.encode().float()
    return normalize(embeddings, dim=-1)


def repeat(inputs: Inputs, images: int) -> Inputs:
    """The inputs of one image, as many times; nothing is copied."""
    return {
        name: tensor.expand(images, *tensor.shape[1:])
        for name, tensor in inputs.items()
    }
