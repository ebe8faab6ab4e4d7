"""Who reads hidden pixels: the attention of an image encoder, held to what is visible.

Encoders of all families are one kind of thing here: attention mixes patches, and all else (mergers,
pixel shuffles, projectors) works on the spot. So a pass in which attention mixes nothing shows
where each pixel goes. Two of them, with other pixels under the mask, differ in what is hidden: in
the keys of every attention, and in the tokens that the language model would read. In the pass that
counts, these keys are masked. Where convolutions mix neighbours, a token's own place in them is
followed instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as nnf
from jaxtyping import Bool, Float
from torch import Tensor
from torch.overrides import TorchFunctionMode

Mask = Bool[Tensor, "*row query_or_1 key"]

# in the order of `scaled_dot_product_attention`
ATTENTION_ARGUMENTS = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
SOFTMAX = (torch.softmax, nnf.softmax, Tensor.softmax)
CONVOLUTIONS = (torch.conv1d, torch.conv2d, torch.conv3d)
POOLS: Mapping[int, Callable[..., Tensor]] = {
    1: nnf.adaptive_avg_pool1d,
    2: nnf.adaptive_avg_pool2d,
    3: nnf.adaptive_avg_pool3d,
}
NORMS = (nnf.group_norm, torch.group_norm)
# two passes over equal pixels differ by rounding alone, over other pixels by far more
ROUNDING = 1e-4
COARSE_ROUNDING = 2e-2  # of half precision
SMALLEST = 1e-6


@dataclass(frozen=True)
class Seen:
    """What an attention was given of each key, (*row, key, feature); of scores a query is one.

    A key is another one if any of its features is; a query that is hidden itself gives another
    score to every key, so that of scores all have to be.
    """

    values: Float[Tensor, "*row key feature"]
    scores: bool = False

    def hidden(self, other: "Seen") -> Mask:
        """The keys that differ, to be masked for every query and head."""
        apart = differs(self.values, other.values)
        keys = apart.all(dim=-1) if self.scores else apart.any(dim=-1)
        # (row, head, key): heads of a layer see the same tokens
        if keys.ndim > 2:
            keys = keys.any(dim=-2, keepdim=True)
        return keys[..., None, :]


class Local(TorchFunctionMode):
    """Within it attention mixes nothing and a convolution reads its own place; keys are kept.

    Where queries are not the keys (a resampler's), they get nothing, but for those of which all
    keys are among the `hidden` ones of that attention: what they give is hidden too.
    """

    def __init__(self, hidden: Sequence[Tensor] = ()) -> None:
        super().__init__()
        self.seen: list[Seen] = []
        self._hidden = hidden

    def _marked(self, nothing: Tensor) -> Tensor:
        """What queries get, with 1 for those that have no key left in the last attention."""
        # none is known in a first pass
        if not self._hidden:
            return nothing
        hidden = self._hidden[len(self.seen) - 1]
        return nothing + hidden.all(dim=-1)[..., None]

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if function is nnf.scaled_dot_product_attention:
            return self._attend(*args, **kwargs)
        if function in SOFTMAX and is_attention(args[0]):
            return self._weigh(args[0])
        if function in CONVOLUTIONS:
            return _convolve_in_place(function, *args, **kwargs)
        if function in NORMS:
            return args[0]
        return function(*args, **kwargs)

    def _attend(
        self, query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any
    ) -> Tensor:
        self.seen.append(Seen(torch.cat([key, value], dim=-1)))
        if query.shape[-2] != key.shape[-2]:
            shape = (*query.shape[:-1], value.shape[-1])
            return self._marked(value.new_zeros(shape))
        groups = query.shape[-3] // value.shape[-3]
        return value.repeat_interleave(groups, dim=-3)

    def _weigh(self, scores: Tensor) -> Tensor:
        """Each query its own key; scores of a hidden key differ for every query."""
        self.seen.append(Seen(scores.mT, scores=True))
        rows, columns = scores.shape[-2:]
        if rows != columns:
            return self._marked(torch.zeros_like(scores))
        own = torch.eye(rows, dtype=scores.dtype, device=scores.device)
        return own.expand_as(scores)


class Masked(TorchFunctionMode):
    """Within it no query reads a key that `hidden` names, attention by attention."""

    def __init__(self, hidden: Sequence[Tensor]) -> None:
        super().__init__()
        self._hidden = iter(hidden)

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = dict(kwargs or {})
        if function is nnf.scaled_dot_product_attention:
            by_place = zip(ATTENTION_ARGUMENTS, args, strict=False)
            given = dict(by_place) | kwargs
            return function(**masked_arguments(given, next(self._hidden)))
        if function in SOFTMAX and is_attention(args[0]):
            scores, *others = args
            lowest = torch.finfo(scores.dtype).min
            masked = scores.masked_fill(next(self._hidden), lowest)
            return function(masked, *others, **kwargs)
        return function(*args, **kwargs)


def masked_arguments(given: dict[str, Any], hidden: Mask) -> dict[str, Any]:
    """The arguments of an attention in which no query reads a hidden key."""
    # nothing is hidden: the call is the library's own, to the bit
    if not hidden.any():
        return given
    query = given["query"]
    bias = _bias(hidden, query.dtype)
    mask = given.get("attn_mask")
    if given.get("is_causal", False):
        size = (query.shape[-2], given["key"].shape[-2])
        ones = torch.ones(size, dtype=torch.bool, device=query.device)
        mask = ones.tril()
    if mask is not None and mask.dtype == torch.bool:
        mask = _bias(~mask, query.dtype)
    if mask is not None:
        bias = bias + mask
    return {**given, "attn_mask": bias, "is_causal": False}


def _bias(hidden: Tensor, dtype: torch.dtype) -> Tensor:
    """What is added to scores, so that hidden ones weigh nothing."""
    lowest = torch.finfo(dtype).min
    bias = torch.zeros_like(hidden, dtype=dtype)
    return bias.masked_fill(hidden, lowest)


def is_attention(scores: Tensor) -> bool:
    """Whether a softmax is over keys: others are over experts, or words for an image."""
    rows, columns = scores.shape[-2:]
    return scores.ndim > 3 or (scores.ndim == 3 and rows == columns)


def differs(one: Tensor, other: Tensor) -> Bool[Tensor, "*shape"]:
    """Where two passes differ by more than rounding, which grows with the whole token."""
    is_exact = one.dtype in (torch.float32, torch.float64)
    rounding = ROUNDING if is_exact else COARSE_ROUNDING
    first = one.float()
    largest = first.abs().amax(dim=-1, keepdim=True)
    gap = (first - other.float()).abs()
    return gap > largest.clamp_min(SMALLEST) * rounding


def strides_of(stride: Any, axes: int) -> tuple[int, ...]:
    """The strides of a convolution, which may be given as one number for all axes."""
    if isinstance(stride, int):
        return (stride,) * axes
    return tuple(stride)


def _convolve_in_place(
    function: Callable[..., Tensor],
    pixels: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution; one that reads over the borders of its cells gets the mean of each cell."""
    axes = weight.ndim - 2
    output = function(pixels, weight, bias, stride, padding, dilation, groups)
    if tuple(weight.shape[2:]) == strides_of(stride, axes):
        return output
    pool: Any = POOLS[axes]
    cells = pool(pixels, tuple(output.shape[2:]))
    # the same weight all over a cell
    means = weight.flatten(2).mean(dim=-1)
    ones = [1] * axes
    middle = means.view(*means.shape, *ones)
    return function(cells, middle, bias, groups=groups)
