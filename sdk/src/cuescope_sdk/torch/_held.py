"""Models that the caller holds in memory: what they are made of, as their files would say it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from cuescope.context import Context
from cuescope.digest import digest
from cuescope.errors import UserError
from cuescope_sdk.torch._pretrained import Pretrained, Source, config_content

HELD = "in memory"
PLAIN = (
    bool,
    int,
    float,
    str,
)  # not None: state that a forward pass leaves begins as None
NOT_CONTENT = ("training", "name_or_path")
CHUNK = 2**24  # numbers of a tensor that are brought to the CPU at a time
PROBES = (
    (37, 53),
    (64, 64),
    (90, 41),
)  # sizes that no resizing and cropping treats alike


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
                state.update(
                    part.view(torch.uint8).numpy().tobytes()
                )  # numpy has no bfloat16
    return digest(state.hexdigest(), list(_structure(network)))


def _structure(network: nn.Module) -> Iterator[tuple[object, ...]]:
    for name, module in network.named_modules():
        attributes = sorted(vars(module).items())
        content = {key: value for key, value in attributes if _is_content(key, value)}
        yield name, type(module).__qualname__, content


def _is_content(name: str, value: object) -> bool:
    if name.startswith("_") or name in NOT_CONTENT:
        return False
    if isinstance(value, tuple | list):
        return all(isinstance(item, PLAIN) for item in value)
    return isinstance(value, PLAIN)


def require_evaluation(owner: str, network: nn.Module) -> None:
    """Raises UserError for a network that is still in training mode: its answers would be drawn."""
    if network.training:
        raise UserError(
            f"{owner}: the model is in training mode",
            expected="one that answers the same twice",
            remedy="Call model.eval() first",
        )


def placed(network: nn.Module) -> tuple[torch.device, torch.dtype]:
    """Device and dtype of a network: those of its first matrix."""
    for parameter in network.parameters():
        if parameter.ndim > 1:
            return parameter.device, parameter.dtype
    raise UserError("the model in memory has no weights", got=type(network).__name__)


def preprocess_digest(owner: str, preprocess: Callable[[Image.Image], Tensor]) -> str:
    """Digest of what a function makes of probe images.

    Raises UserError for one that gives another tensor the second time, as for training.
    """
    rng = np.random.default_rng(0)
    made = []
    for shape in PROBES:
        pixels = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
        image = Image.fromarray(pixels)
        first = preprocess(image).numpy()
        if not np.array_equal(first, preprocess(image).numpy()):
            raise UserError(
                f"{owner}: the preprocessing draws at random",
                expected="the one for evaluation",
                remedy="create_model_and_transforms gives it last",
            )
        made.append(first)
    return digest(*made)


def normalisation(preprocess: Callable[[Image.Image], Tensor]) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (channel) that a function subtracts and divides by.

    Read off what it makes of a black and of a white image: 0 and 1 before it normalises.
    """

    def mean_of(colour: str) -> Tensor:
        channels = preprocess(Image.new("RGB", (64, 64), colour))
        return channels.float().mean(dim=(1, 2))

    black = mean_of("black")
    deviation = 1 / (mean_of("white") - black)
    return -black * deviation, deviation


@dataclass(frozen=True)
class HeldPretrained(Pretrained):
    """A transformers model in memory, with what its files would have said."""

    held: Any = None

    @property
    def network(self) -> Any:
        """The caller's own."""
        return self.held

    @property
    def network_class(self) -> Any:
        """Its class."""
        return type(self.held)

    def fingerprint(self, *parts: object) -> str:
        """Digest of the network, its configuration, the dtype and what else is said."""
        network = network_digest(self.held)
        config = config_content(self.held.config)
        return digest("held", network, config, str(self.dtype), *parts)


def hold_pretrained(
    owner: str, network: Any, title: str, context: Context
) -> HeldPretrained:
    """A transformers model of the caller; raises UserError for one in training mode."""
    require_evaluation(owner, network)
    source = Source(owner, Path(), title)
    device, dtype = placed(network)
    return HeldPretrained(
        source, network.config, type(network), context, device, dtype, held=network
    )
