"""Look at or change the tokens that enter and leave a module, while a stock forward pass runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from cuescope_sdk.torch._image_tower import Masked

Change = Callable[[Tensor], Tensor | None]


@contextmanager
def hook_input(module: nn.Module, change: Change) -> Iterator[None]:
    """While open, `change` sees the first argument of the module; what it returns takes its place.

    None leaves the argument as it is.
    """

    def hook(module: nn.Module, args: Any, kwargs: Any) -> Any:
        if args:
            changed = change(args[0])
            return None if changed is None else ((changed, *args[1:]), kwargs)
        changed = change(kwargs["hidden_states"])
        return None if changed is None else (args, {**kwargs, "hidden_states": changed})

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def hook_output(module: nn.Module, change: Change) -> Iterator[None]:
    """The same for what the module returns: a tensor, or the first of a tuple."""

    def hook(module: nn.Module, args: Any, output: Any) -> Any:
        if not isinstance(output, tuple):
            return change(output)
        changed = change(output[0])
        return None if changed is None else (changed, *output[1:])

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def without_mask(masked: Masked) -> Iterator[None]:
    """While open, the module is given no attention mask."""

    def hook(module: nn.Module, args: Any, kwargs: Any) -> Any:
        place = masked.position
        if len(args) > place:
            return (*args[:place], None, *args[place + 1 :]), kwargs
        return args, {**kwargs, masked.name: None}

    handle = masked.module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()
