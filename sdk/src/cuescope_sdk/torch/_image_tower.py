"""A stock image encoder, and where its tokens can be reached.

A model plugin describes the modules of its library once, as an `ImageTower`; hiding tokens, reading
patch features and every explainer work on that description, with hooks alone. Nothing is patched.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from PIL import Image
from torch import Tensor, nn

from cuescope_core.errors import UserError

Inputs = dict[str, Tensor]
Change = Callable[[Tensor], Tensor | None]


@dataclass(frozen=True)
class Masked:
    """A module that takes an attention mask, as its argument `name` (at `position`, if positional).

    `form` makes the argument from the visible keys: (image, token), True where a key is seen.
    `padded` says that its first argument is the tokens, which may go on after the last patch with
    some that only pad; `form` is told of those too.
    """

    module: nn.Module
    name: str
    position: int
    form: Callable[[Bool[Tensor, "image token"]], Tensor]
    padded: bool = False

    @contextmanager
    def hook_mask(self, change: Callable[[Any, Any], Tensor | None]) -> Iterator[None]:
        """While open, the mask is what `change` makes of the module's arguments."""

        def hook(module: nn.Module, args: Any, kwargs: Any) -> Any:
            mask = change(args, kwargs)
            position = self.position
            if len(args) > position:
                return (*args[:position], mask, *args[position + 1 :]), kwargs
            return args, {**kwargs, self.name: mask}

        # hooks alone: published code of the methods copies a forward pass (docs/adr/0009)
        with self.module.register_forward_pre_hook(hook, with_kwargs=True):
            yield


@dataclass(frozen=True)
class Block:
    """A residual block: tokens in as its first argument, tokens out, (image, token, dim).

    `attention` is its self-attention module, called with the normed tokens. `project` gives their
    queries, keys and values, (image, head, token, head dim), queries already scaled, so that
    softmax(q k^T) v, heads side by side, times `out_weight` transposed (plus a bias) is what
    `attention` returns; where there is an `inner_norm`, it comes before that product.
    """

    masked: Masked
    attention: nn.Module
    project: Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]
    # with it gradients of attention are exact, and the fused kernels stay (docs/adr/0009)
    out_weight: Callable[[], Float[Tensor, "dim dim"]]
    inner_norm: Callable[[Tensor], Tensor] | None = None

    @property
    def module(self) -> nn.Module:
        """The block itself."""
        return self.masked.module


@dataclass(frozen=True)
class Pooling:
    """How tokens become the image embedding.

    "token": one of the prefix tokens; where `encode` reads patches too, `module` is the last that
    they leave, and hidden ones are NaN there. "average": the mean of the patch tokens that
    `module` returns, (image, token, dim). "attention": `masked` is a module whose keys are the
    tokens from number `first` on.
    """

    kind: Literal["token", "average", "attention"]
    module: nn.Module | None = None
    masked: Masked | None = None
    first: int = 0  # some pool over the patches alone


@dataclass(frozen=True)
class ImageTower:
    """A stock image encoder. An input is one image, or `frames` of them where it takes video.

    `prepare` makes the inputs of one forward pass from the frames of one input, with a leading
    dim of 1 (images are stacked by concatenation); `canvas` the pixels that the network sees of an
    image, uint8 (row, col, 3); `encode` is the library's own forward pass, to the embeddings before
    they are normalised (input, dim). The tokens that enter `blocks[0]` are `prefix` tokens of no
    place, then the patches row by row, then whatever pads; `grid` tells rows and columns. Each
    frame is a sequence of tokens of its own, unless `joint` says that the frames of an input are
    one, frame after frame behind one prefix. A network without tokens has no blocks. `drops` False
    says that blocks are told of places beside the tokens (rotary positions), so that hidden tokens
    are masked and never taken away.
    """

    name: str
    prepare: Callable[[Sequence[Image.Image]], Inputs]
    canvas: Callable[[Image.Image], np.ndarray]
    encode: Callable[[Inputs], Float[Tensor, "input dim"]]
    grid: Callable[[Inputs], tuple[int, int]]
    blocks: tuple[Block, ...]
    pooling: Pooling
    device: torch.device
    prefix: int = 1
    frames: int = 1
    joint: bool = False
    drops: bool = True
    _changes: list[Change] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def embed(self, inputs: Inputs) -> Float[Tensor, "input dim"]:
        """Embed by `encode`, as the hooks that are open change it."""
        rows = self.encode(inputs)
        for change in self._changes:
            changed = change(rows)
            rows = rows if changed is None else changed
        return rows

    @contextmanager
    def hook_embedding(self, change: Change) -> Iterator[None]:
        """While open, embeddings are what `change` makes of them; None leaves them."""
        self._changes.append(change)
        try:
            yield
        finally:
            self._changes.remove(change)

    @property
    def layers(self) -> int:
        """How many blocks there are; 0 in a network without tokens."""
        return len(self.blocks)

    @property
    def heads(self) -> int:
        """How many attention heads a block has; raises UserError in a network without tokens."""
        block = self.block(0)
        weight = block.out_weight()
        query, _, _ = block.project(weight.new_zeros(1, 1, len(weight)))
        return int(query.shape[1])

    def block(self, layer: int) -> Block:
        """A block, counted from 0, or back from -1; raises UserError for one that is not there."""
        self.require_tokens()
        if not -self.layers <= layer < self.layers:
            raise UserError(
                f"{self.name} has no layer {layer}",
                expected=f"0 to {self.layers - 1}, or -{self.layers} to -1 from the last",
            )
        return self.blocks[layer]

    def require_tokens(self) -> None:
        """Raises UserError for a network that has none."""
        if not self.blocks:
            raise UserError(
                f"{self.name} has no image tokens to look at or to hide",
                expected="a vision transformer",
                got="a convolutional image tower",
                remedy="Take a ViT of the same family.",
            )


def additive(
    visible: Bool[Tensor, "image token"], dtype: torch.dtype
) -> Float[Tensor, "image 1 1 token"]:
    """The mask that scaled dot-product attention adds to its logits: -inf where a key is hidden."""
    mask = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    # exactly no weight, in any dtype
    return mask.masked_fill(~visible, float("-inf"))[:, None, None]


def split_heads(
    tokens: Float[Tensor, "image token dim"], heads: int
) -> Float[Tensor, "image head token head_dim"]:
    """Each head's share of a projection."""
    images, count, dim = tokens.shape
    return tokens.reshape(images, count, heads, dim // heads).transpose(1, 2)


# ------------------------------------------------------------------------------------------ tokens


@contextmanager
def hook_input(module: nn.Module, change: Change) -> Iterator[None]:
    """While open, `change` sees the first argument of the module; what it returns takes its place.

    None leaves the argument as it is.
    """

    def hook(module: nn.Module, args: Any, kwargs: Any) -> Any:
        if args:
            changed = change(args[0])
            return None if changed is None else ((changed, *args[1:]), kwargs)
        # transformers' name for it in every block
        changed = change(kwargs["hidden_states"])
        return None if changed is None else (args, {**kwargs, "hidden_states": changed})

    with module.register_forward_pre_hook(hook, with_kwargs=True):
        yield


@contextmanager
def hook_output(module: nn.Module, change: Change) -> Iterator[None]:
    """The same for what the module returns: a tensor, or the first of a tuple."""

    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        # attention of torch and of transformers returns (output, weights)
        if not isinstance(output, tuple):
            return change(output)
        changed = change(output[0])
        return None if changed is None else (changed, *output[1:])

    with module.register_forward_hook(hook):
        yield
