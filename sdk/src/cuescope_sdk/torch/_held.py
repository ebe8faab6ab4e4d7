"""Models that the caller holds in memory: what they are made of, as their files would say it."""

from collections.abc import Iterator
from hashlib import blake2b

import torch
from torch import Tensor, nn

from cuescope_core.digest import digest
from cuescope_core.errors import UserError

# not None: state that a forward pass leaves begins as None
PLAIN = (bool, int, float, str)
NOT_CONTENT = ("training", "name_or_path")
CHUNK = 2**24  # numbers of a tensor that are brought to the CPU at a time


def network_digest(network: nn.Module) -> str:
    """Digest of a network as it is now: its tensors, its modules, their plain attributes.

    Attributes too: heads, activations and epsilons are in no tensor.
    """
    state = blake2b(digest_size=16)
    for name, tensor in sorted(network.state_dict().items()):
        if isinstance(tensor, Tensor):
            state.update(f"{name} {tensor.dtype} {tuple(tensor.shape)};".encode())
            flat = tensor.detach().reshape(-1)
            for start in range(0, len(flat), CHUNK):
                part = flat[start : start + CHUNK].cpu().contiguous()
                # numpy has no bfloat16
                state.update(part.view(torch.uint8).numpy().tobytes())
    return digest(state.hexdigest(), list(_structure(network)))


def _structure(network: nn.Module) -> Iterator[tuple[object, ...]]:
    for name, module in network.named_modules():
        attributes = sorted(vars(module).items())
        # hooks, and methods put on the object, are not seen (docs/adr/0015)
        content = {key: value for key, value in attributes if _is_content(key, value)}
        yield name, type(module).__qualname__, content


def _is_content(name: str, value: object) -> bool:
    if name.startswith("_") or name in NOT_CONTENT:
        return False
    if isinstance(value, tuple | list):
        return all(isinstance(item, PLAIN) for item in value)
    return isinstance(value, PLAIN)


def place_of(
    owner: str,
    network: nn.Module,
    tower: nn.Module | None = None,
) -> tuple[torch.device, torch.dtype]:
    """Device and dtype of a network that is held in memory: those of the first matrix in `tower`.

    Raises UserError for one without weights, and for one that is still in training mode: its
    answers would be drawn.
    """
    if network.training:
        raise UserError(
            f"{owner}: the model is in training mode",
            expected="one that answers the same twice",
            remedy="Call model.eval() first",
        )
    for parameter in (tower or network).parameters():
        if parameter.ndim > 1:
            return parameter.device, parameter.dtype
    raise UserError("the model in memory has no weights", got=type(network).__name__)
