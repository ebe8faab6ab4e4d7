"""Hidden pixels as NaN: what has read one is NaN itself.

Linear maps, norms and mergers work token by token, so NaN stays in the tokens that read it. Only
attention would carry it on: there a key that is NaN is read by nobody, and a query that is NaN
gives NaN. So the pass that follows the hidden pixels is the one that leaves them out.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as nnf
from jaxtyping import Bool, Float
from torch import Tensor
from torch.overrides import TorchFunctionMode

Mask = Bool[Tensor, "*row query_or_1 key"]

NAN = float("nan")
SOFTMAX = (torch.softmax, nnf.softmax, Tensor.softmax)
CONVOLUTIONS = (torch.conv1d, torch.conv2d, torch.conv3d)
PRODUCTS = (torch.matmul, torch.bmm, Tensor.matmul, Tensor.__matmul__, Tensor.bmm)


class Blind(TorchFunctionMode):
    """Within it no query of an attention reads a key that is NaN."""

    def __init__(self) -> None:
        super().__init__()
        # of the last weights that are still to be multiplied by their values
        self._weighed: torch.Size | None = None

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = dict(kwargs or {})
        if function is nnf.scaled_dot_product_attention:
            return _attend(*args, **kwargs)
        if function in SOFTMAX and is_attention(args[0]):
            return self._weigh(function, *args, **kwargs)
        if function in PRODUCTS and args[0].shape == self._weighed:
            self._weighed = None
            weights, values = args
            # a weight of 0 does not hold NaN back
            return function(weights, values.nan_to_num())
        if function in CONVOLUTIONS:
            return _convolve(function, *args, **kwargs)
        return function(*args, **kwargs)

    def _weigh(
        self, softmax: Callable[..., Tensor], scores: Tensor, *args: Any, **kwargs: Any
    ) -> Tensor:
        """Weights of the keys that are seen; a query that is NaN gives NaN to each."""
        self._weighed = scores.shape
        hidden = scores.isnan().all(dim=-2, keepdim=True)
        if not hidden.any():
            return softmax(scores, *args, **kwargs)
        lowest = torch.finfo(scores.dtype).min
        seen = scores.masked_fill(hidden, lowest)
        weights = softmax(seen, *args, **kwargs)
        reads_nothing = hidden.all(dim=-1, keepdim=True)
        return weights.masked_fill(reads_nothing, NAN)


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **others: Any,
) -> Tensor:
    given = {
        "query": query,
        "key": key,
        "value": value,
        "attn_mask": attn_mask,
        "dropout_p": dropout_p,
        "is_causal": is_causal,
        **others,
    }
    hidden = _hidden_keys(key, value)
    # nothing is hidden: the call is the library's own, to the bit
    if not hidden.any():
        return nnf.scaled_dot_product_attention(**given)
    is_one_sequence = query.ndim == 4 and len(query) == 1
    if is_one_sequence and attn_mask is None and not is_causal:
        return _attend_fewer(given, hidden[0, 0, 0])
    seen = {name: given[name].nan_to_num() for name in ("query", "key", "value")}
    masked = masked_arguments({**given, **seen}, hidden)
    attended = nnf.scaled_dot_product_attention(**masked)
    # what a query gives that reads no key is hidden too
    lost = _with_nan(query) | hidden.all(dim=-1)
    return attended.masked_fill(lost[..., None], NAN)


def _attend_fewer(given: dict[str, Any], hidden: Bool[Tensor, " key"]) -> Tensor:
    """Of one sequence: what is hidden is taken out, which is less work than a mask."""
    query, key, value = (given[name] for name in ("query", "key", "value"))
    lost = _with_nan(query).any(dim=1)[0]
    asks = ~lost
    shape = (*query.shape[:-1], value.shape[-1])
    attended: Tensor = query.new_full(shape, NAN)
    if hidden.all():
        return attended
    visible = ~hidden
    parts = {
        "query": query[:, :, asks],
        "key": key[:, :, visible],
        "value": value[:, :, visible],
    }
    attended[:, :, asks] = nnf.scaled_dot_product_attention(**{**given, **parts})
    return attended


def masked_arguments(given: dict[str, Any], hidden: Mask) -> dict[str, Any]:
    """The arguments of an attention in which no query reads a hidden key."""
    query = given["query"]
    bias = _bias(hidden, query.dtype)
    mask = given["attn_mask"]
    if given["is_causal"]:
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


def _with_nan(numbers: Tensor) -> Bool[Tensor, "*row"]:
    """The rows in which some number is NaN: their sum is, and takes half the time to look at."""
    return numbers.sum(dim=-1).isnan()


def _hidden_keys(key: Tensor, value: Tensor) -> Mask:
    hidden = _with_nan(key) | _with_nan(value)
    # (row, head, key): heads of a layer see the same tokens
    if hidden.ndim > 2:
        hidden = hidden.any(dim=-2, keepdim=True)
    return hidden[..., None, :]


def _convolve(
    function: Callable[..., Tensor],
    pixels: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution; some kernels would multiply the NaN of a neighbour by 0, which is NaN."""
    # nothing is hidden: the call is the library's own, to the bit
    if not _with_nan(pixels.flatten(1)).any():
        return function(pixels, weight, bias, stride, padding, dilation, groups)
    axes = weight.ndim - 2
    strides = (stride,) * axes if isinstance(stride, int) else tuple(stride)
    is_apart = strides == weight.shape[2:]
    is_unpadded = padding in (0, (0,) * axes, "valid")
    is_dense = groups == 1 and dilation in (1, (1,) * axes)
    if is_apart and is_unpadded and is_dense:
        return _embed_patches(pixels, weight, bias)
    seen = pixels.nan_to_num()
    output = function(seen, weight, bias, stride, padding, dilation, groups)
    # the same convolution counts the hidden pixels that each place reads
    hidden = pixels.isnan().any(dim=1, keepdim=True)
    ones = torch.ones_like(weight[:1, :1])
    read = function(hidden.to(pixels.dtype), ones, None, stride, padding, dilation)
    return output.masked_fill(read > 0, NAN)


def _embed_patches(
    pixels: Float[Tensor, "image channel *pixel"],
    weight: Float[Tensor, "dim channel *side"],
    bias: Float[Tensor, " dim"] | None,
) -> Float[Tensor, "image dim *patch"]:
    """A convolution whose cells lie side by side: a linear map of each patch without NaN."""
    counts = []
    cells: list[int] = []
    for axis, side in enumerate(weight.shape[2:], start=2):
        count = pixels.shape[axis] // side
        # a cell that is cut off is no patch
        pixels = pixels.narrow(axis, 0, count * side)
        counts.append(count)
        cells += (count, side)
    divided = pixels.reshape(*pixels.shape[:2], *cells)
    # a patch's number along each axis, then its channels and the places within it
    number = range(2, divided.ndim, 2)
    within = range(3, divided.ndim, 2)
    patches = divided.permute(0, *number, 1, *within)
    rows = patches.reshape(-1, weight[0].numel())
    seen = ~_with_nan(rows)
    embedded = rows.new_full((len(rows), len(weight)), NAN)
    embedded[seen] = nnf.linear(rows[seen], weight.flatten(1), bias)
    return embedded.view(len(pixels), *counts, -1).movedim(-1, 1)
